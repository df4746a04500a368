// The checker of cut certificates. It shares no code with the search: it counts what every single member must send
// across, takes each leaving link by itself, and finds the time by its own bisection in 128 bits.
#include <algorithm>
#include <vector>

#include "bound/checked_time.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/bound/cut.hpp"

namespace tenex {

namespace {

/// Chunks that one member must send to the other side (or get from inside, in a reduction), summed over the group.
CheckedSum count_chunks(const Collective& collective, const ProcessGroup& group, const std::vector<char>& in) {
  CheckedSum inside = 0;
  CheckedSum outside = 0;
  for (const auto member : group.members) (in[member.index()] != 0 ? inside : outside) += 1;
  if (inside == 0 || outside == 0) return 0;
  const CheckedSum each = collective.chunks_per_npu();
  const bool root_inside = in[group.members[collective.root()].index()] != 0;
  CheckedSum chunks = 0;
  for (const auto member : group.members) {
    const bool is_inside = in[member.index()] != 0;
    if (collective.kind() == CollectiveKind::all_gather && is_inside) chunks += each;
    if (collective.kind() == CollectiveKind::reduce_scatter && !is_inside) chunks += each;
    if (collective.kind() == CollectiveKind::all_reduce) chunks += each;  // all have contributions on both sides
    if (collective.kind() == CollectiveKind::all_to_all && is_inside) chunks += each * outside;
  }
  if (collective.kind() == CollectiveKind::broadcast && root_inside) chunks = each;
  if (collective.kind() == CollectiveKind::reduce && !root_inside) chunks = each;
  return chunks;
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
  Bytes smallest = collective.chunk_sizes().front();
  for (const auto size : collective.chunk_sizes()) smallest = std::min(smallest, size);
  std::vector<CheckedSum> of_size(collective.chunk_sizes().size(), 0);
  CheckedSum all = 0;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto chunks = count_chunks(collective, collective.groups()[g], in);
    of_size[collective.size_class(GroupId::at(g))] += chunks;
    all += chunks;
  }
  SimTime time = checked_time(problem, leaving, smallest, all);
  for (std::size_t s = 0; s < of_size.size() && of_size.size() > 1; ++s)
    time = std::max(time, checked_time(problem, leaving, collective.chunk_sizes()[s], of_size[s]));
  return time;
}

}  // namespace tenex
