// Link total: all links together must carry every send that has to happen.
//
// Bound: the least T with sum over links of count(T) >= sends that have to happen.
//
// Counts, per chunk of a group of n NPUs:
// - All-Gather, Broadcast: n-1 arrivals, one at every NPU that does not start with the chunk; on the NPUs' in-links.
// - Reduce-Scatter, Reduce: n-1 sends, the contribution of every NPU but the owner; on the NPUs' out-links.
// - All-to-All, Gather, Scatter: 1 arrival at the chunk's destination, none where that is its source.
// - Stored conditions: 1 arrival at each destination.
// - All-Reduce: 2(n-1) arrivals. Put all arrivals of the chunk in time order and let v be the first NPU that is
//   complete, at the k-th arrival. Each of the n-1 others' contributions has left its NPU by a send that has arrived
//   by then, and these sends have distinct sources: k >= n-1. The n-1 others are not complete yet, and each needs an
//   arrival after the k-th. (These are the 2n-2 one-way calls of gossiping.) Arrivals of distinct sends are distinct
//   unless a switch adds them, so with a reducing switch only n arrivals are claimed, one at every NPU. Sends from NPUs
//   are 2(n-1) too, unless a switch copies: those of the n-1 others have arrived by the k-th arrival, and the arrivals
//   after it come from sends that have not.
// A send from an NPU makes one arrival at an NPU, unless a switch adds or copies: elsewhere sends count as arrivals and
// arrivals as sends. Otherwise one is certain of each, or n sends for an All-Reduce. Where there are switches, arrivals
// over the links into NPUs and sends over those out of them are both counted, as these links may differ.
// Several groups: the counts of all groups add up (sized_needs.hpp says how chunks of several sizes count).
#include <algorithm>
#include <vector>

#include "bound/demand.hpp"
#include "bound/methods.hpp"
#include "bound/sized_needs.hpp"

namespace tenex {

namespace {

/// Whether some switch adds, or copies.
struct SwitchAbilities {
  bool reduce = false;
  bool copy = false;
};

SwitchAbilities abilities_of(const Topology& topology) {
  SwitchAbilities found;
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v) {
    found.reduce = found.reduce || topology.switch_properties(VertexId::at(v)).reduce;
    found.copy = found.copy || topology.switch_properties(VertexId::at(v)).copy;
  }
  return found;
}

/// Arrivals at NPUs (or sends from NPUs, `outgoing`) of each chunk of a group of n that stores no conditions.
std::int64_t sends_per_chunk(CollectiveKind kind, std::int64_t n, bool outgoing, SwitchAbilities switches) {
  if (n < 2) return 0;
  switch (kind) {
    case CollectiveKind::all_gather:
    case CollectiveKind::broadcast:
      return outgoing && switches.copy ? 1 : n - 1;
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::reduce:
      return !outgoing && switches.reduce ? 1 : n - 1;
    case CollectiveKind::all_reduce:
      return (outgoing ? switches.copy : switches.reduce) ? n : 2 * (n - 1);
    default:
      return 1;
  }
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

/// Adds the arrivals (or sends) of a group, by size class.
void add_sends(const BoundProblem& problem, GroupId group, bool outgoing, SwitchAbilities switches,
               std::vector<std::int64_t>& sends) {
  const auto& collective = problem.collective;
  const auto kind = collective.kind(group);
  const std::int64_t c = collective.chunks_per_npu(group);
  const auto conditions = collective.conditions(group);
  for (std::size_t q = 0; q < conditions.size(); ++q) {
    const auto destinations = static_cast<std::int64_t>(conditions[q].destinations.size());
    sends[collective.size_class(chunk_of_condition(collective, group, q))] +=
        c * (outgoing && switches.copy ? 1 : destinations);
  }
  if (!conditions.empty()) return;
  const auto n = static_cast<std::int64_t>(collective.groups()[group.index()].members.size());
  auto chunks = static_cast<std::int64_t>(collective.chunks_in(group));
  if (kind == CollectiveKind::all_to_all) chunks -= n * c;
  if (kind == CollectiveKind::gather || kind == CollectiveKind::scatter) chunks -= c;
  sends[collective.size_class(group)] += chunks * sends_per_chunk(kind, n, outgoing, switches);
}

}  // namespace

std::optional<SimTime> link_total_bound(const BoundProblem& problem) {
  const auto& collective = problem.collective;
  const auto kind = collective.kind();
  const auto switches = abilities_of(problem.topology);
  const bool leaves = kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::reduce;
  const bool both = problem.topology.switches() > 0;
  SimTime bound = SimTime::zero();
  for (const bool outgoing : {false, true}) {
    if (!both && outgoing != leaves) continue;
    std::vector<std::int64_t> sends(collective.chunk_sizes().size(), 0);
    for (std::size_t g = 0; g < collective.groups().size(); ++g)
      add_sends(problem, GroupId::at(g), outgoing, switches, sends);
    const auto links = npu_links(problem.topology, outgoing);
    bound = std::max(bound, least_time_of_sizes(problem, links, sparse_needs(sends)));
  }
  return bound;
}

}  // namespace tenex
