// Link total: all links together must carry every send that has to happen.
//
// Counts, per chunk of a group of n NPUs:
// - All-Gather, Broadcast: n-1 arrivals, one at every NPU that does not start with the chunk; on the NPUs' in-links.
// - Reduce-Scatter, Reduce: n-1 sends, the contribution of every NPU but the owner; on the NPUs' out-links.
// - All-to-All: 1 arrival at the chunk's destination, none where that is its owner.
// - All-Reduce: 2(n-1) arrivals. Put all arrivals of the chunk in time order and let v be the first NPU that is
//   complete, at the k-th arrival. Each of the n-1 others' contributions has left its NPU by a send that has arrived
//   by then, and these sends have distinct sources: k >= n-1. The n-1 others are not complete yet, and each needs an
//   arrival after the k-th. (These are the 2n-2 one-way calls of gossiping.) Arrivals of distinct sends are distinct
//   unless a switch adds them, so with a reducing switch only n arrivals are claimed, one at every NPU.
// Several groups: the counts of all groups add up, with every chunk taken to be as small as the smallest; each chunk
// size is also counted by itself.
#include <algorithm>
#include <vector>

#include "bound/capacity.hpp"
#include "bound/methods.hpp"

namespace tenex {

namespace {

bool has_reducing_switch(const Topology& topology) {
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v)
    if (topology.switch_properties(VertexId::at(v)).reduce) return true;
  return false;
}

std::int64_t sends_per_chunk(CollectiveKind kind, std::int64_t n, bool reducing_switch) {
  if (n < 2) return 0;
  if (kind != CollectiveKind::all_reduce) return n - 1;
  return reducing_switch ? n : 2 * (n - 1);
}

/// The number of links of each class that end (or begin) at an NPU.
std::vector<std::int64_t> npu_links(const Topology& topology, bool outgoing) {
  std::vector<std::int64_t> count(topology.classes().size(), 0);
  for (std::size_t i = 0; i < topology.links(); ++i) {
    const LinkId link = LinkId::at(i);
    if (topology.is_npu(outgoing ? topology.source(link) : topology.target(link))) ++count[topology.class_of(link)];
  }
  return count;
}

}  // namespace

std::optional<SimTime> link_total_bound(const BoundProblem& problem) {
  const auto& topology = problem.topology;
  const auto& collective = problem.collective;
  const auto kind = collective.kind();
  const bool reducing = has_reducing_switch(topology);
  std::vector<std::int64_t> sends_of_size(collective.chunk_sizes().size(), 0);
  std::int64_t total = 0;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto n = static_cast<std::int64_t>(collective.groups()[g].members.size());
    const auto chunks = static_cast<std::int64_t>(collective.chunks_in(GroupId::at(g)));
    const std::int64_t sends = kind == CollectiveKind::all_to_all ? chunks - n * collective.chunks_per_npu()
                                                                  : chunks * sends_per_chunk(kind, n, reducing);
    if (sends > 0) sends_of_size[collective.size_class(collective.first_chunk(GroupId::at(g)))] += sends;
    total += sends;
  }
  const bool outgoing = kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::reduce;
  const auto links = npu_links(topology, outgoing);
  const auto time = [&](Bytes size, std::int64_t sends) { return least_time(problem, links, size, sends); };
  const auto& sizes = collective.chunk_sizes();
  SimTime bound = time(*std::min_element(sizes.begin(), sizes.end()), total);
  for (std::size_t s = 0; s < sizes.size(); ++s) bound = std::max(bound, time(sizes[s], sends_of_size[s]));
  return bound;
}

}  // namespace tenex
