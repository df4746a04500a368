// The checker of cut certificates. It shares no code with the search: it counts what every single member must send
// across, takes each leaving link by itself, and finds the time by its own bisection in 128 bits.
#include <algorithm>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/bound/cut.hpp"

namespace tenex {

namespace {

__extension__ using Exact = __int128;

/// What leaves the set for one chunk size: chunks, and the links that may carry them.
struct Crossing {
  const BoundProblem& problem;
  const std::vector<LinkId>& links;
  Bytes size;
  Exact chunks;

  /// What the links can have delivered by `time`: chunks, or bytes where sends may carry several chunks.
  [[nodiscard]] bool done_by(Exact time) const {
    const Exact wanted = problem.single_chunks ? chunks : chunks * size.count();
    Exact delivered = 0;
    for (const auto id : links) {
      const auto& link = problem.topology.classes()[problem.topology.class_of(id)];
      if (problem.single_chunks) {
        const auto hop = hop_time(link, size, problem.occupancy);
        if (time >= hop.latency.count()) delivered += (time - hop.latency.count()) / hop.busy.count() + 1;
      } else if (time > link.alpha.count()) {
        delivered += (time - link.alpha.count()) * link.effective_bandwidth().count() / 1'000'000'000'000;
      }
      if (delivered >= wanted) return true;
    }
    return wanted == 0;
  }

  [[nodiscard]] SimTime time() const {
    Exact low = -1;
    Exact high = SimTime::max().count();
    if (!done_by(high)) return SimTime::max();
    while (high - low > 1) (done_by((low + high) / 2) ? high : low) = (low + high) / 2;
    return picoseconds(static_cast<std::int64_t>(high));
  }
};

/// Chunks that one member must send to the other side (or get from inside, in a reduction), summed over the group.
Exact count_chunks(const Collective& collective, const ProcessGroup& group, const std::vector<char>& in) {
  Exact inside = 0;
  Exact outside = 0;
  for (const auto member : group.members) (in[member.index()] != 0 ? inside : outside) += 1;
  if (inside == 0 || outside == 0) return 0;
  const Exact each = collective.chunks_per_npu();
  const bool root_inside = in[group.members[collective.root()].index()] != 0;
  Exact chunks = 0;
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
  std::vector<LinkId> leaving;
  for (const auto vertex : inside)
    for (const auto link : topology.out_links(vertex))
      if (in[topology.target(link).index()] == 0) leaving.push_back(link);

  const auto& collective = problem.collective;
  Bytes smallest = collective.chunk_sizes().front();
  for (const auto size : collective.chunk_sizes()) smallest = std::min(smallest, size);
  std::vector<Exact> of_size(collective.chunk_sizes().size(), 0);
  Exact all = 0;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto chunks = count_chunks(collective, collective.groups()[g], in);
    of_size[collective.size_class(GroupId::at(g))] += chunks;
    all += chunks;
  }
  SimTime time = Crossing{problem, leaving, smallest, all}.time();
  for (std::size_t s = 0; s < of_size.size(); ++s)
    time = std::max(time, Crossing{problem, leaving, collective.chunk_sizes()[s], of_size[s]}.time());
  return time;
}

}  // namespace tenex
