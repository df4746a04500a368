// The checker of cut certificates. It shares no code with the search: it counts what every single member must send
// across, takes each leaving link by itself, and finds the time by its own bisection in 128 bits.
#include <algorithm>
#include <map>
#include <vector>

#include "bound/checked_time.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/bound/cut.hpp"

namespace tenex {

namespace {

/// Chunks that one member must send to the other side (or get from inside, in a reduction), summed over the group.
CheckedSum count_chunks(const Collective& collective, GroupId id, const std::vector<char>& in) {
  const auto& members = collective.groups()[id.index()].members;
  const auto kind = collective.kind(id);
  CheckedSum inside = 0;
  CheckedSum outside = 0;
  for (const auto member : members) (in[member.index()] != 0 ? inside : outside) += 1;
  if (inside == 0 || outside == 0) return 0;
  const CheckedSum each = collective.chunks_per_npu(id);
  const bool root_inside = in[members[collective.root(id)].index()] != 0;
  CheckedSum chunks = 0;
  for (const auto member : members) {
    const bool is_inside = in[member.index()] != 0;
    if (kind == CollectiveKind::all_gather && is_inside) chunks += each;
    if (kind == CollectiveKind::reduce_scatter && !is_inside) chunks += each;
    if (kind == CollectiveKind::all_reduce) chunks += each;  // all have contributions on both sides
    if (kind == CollectiveKind::all_to_all && is_inside) chunks += each * outside;
    if (kind == CollectiveKind::gather && is_inside && !root_inside) chunks += each;
    if (kind == CollectiveKind::scatter && !is_inside && root_inside) chunks += each;
  }
  if (kind == CollectiveKind::broadcast && root_inside) chunks = each;
  if (kind == CollectiveKind::reduce && !root_inside) chunks = each;
  return chunks;
}

/// Adds what must leave, by size.
void count_group(const Collective& collective, GroupId id, const std::vector<char>& in,
                 std::map<Bytes, CheckedSum>& of_size) {
  if (!stores_conditions(collective.kind(id))) {
    of_size[collective.chunk_bytes(collective.first_chunk(id))] += count_chunks(collective, id, in);
    return;
  }
  const auto alike = static_cast<std::size_t>(collective.chunks_per_npu(id));  // chunks of a condition are numbered on
  for (std::size_t i = 0; i < collective.chunks_in(id); i += alike) {
    const auto chunk = ChunkId::at(collective.first_chunk(id).index() + i);
    if (in[collective.source(chunk).index()] == 0) continue;
    bool leaves = false;
    collective.for_each_destination(chunk, [&](NpuId npu) { leaves = leaves || in[npu.index()] == 0; });
    if (leaves) of_size[collective.chunk_bytes(chunk)] += static_cast<CheckedSum>(alike);
  }
}

}  // namespace

SimTime check_cut(const BoundProblem& problem, std::span<const VertexId> inside) {
  const auto& topology = problem.topology;
  std::vector<char> in(topology.vertices(), 0);
  for (const auto vertex : inside) {
    ensure(vertex.index() < in.size(), "a certificate names a vertex that does not exist");
    in[vertex.index()] = 1;
  }
  std::vector<std::uint32_t> leaving(topology.links(), 0);
  for (const auto vertex : inside)
    for (const auto link : topology.out_links(vertex))
      if (in[topology.target(link).index()] == 0) leaving[link.index()] = 1;

  const auto& collective = problem.collective;
  std::map<Bytes, CheckedSum> of_size;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) count_group(collective, GroupId::at(g), in, of_size);
  if (collective.kind() > CollectiveKind::all_to_all) return checked_time_of_sizes(problem, leaving, of_size);
  Bytes smallest = collective.chunk_sizes().front();
  for (const auto size : collective.chunk_sizes()) smallest = std::min(smallest, size);
  CheckedSum all = 0;
  for (const auto& [size, chunks] : of_size) all += chunks;
  SimTime time = checked_time(problem, leaving, smallest, all);
  for (const auto& [size, chunks] : of_size) time = std::max(time, checked_time(problem, leaving, size, chunks));
  return time;
}

}  // namespace tenex
