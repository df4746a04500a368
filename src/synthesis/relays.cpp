// The relay search: breadth first with cost 0 (a participant) and 1 (a bystander), on a deque.
#include "synthesis/relays.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <utility>

#include "tenex/base/contract.hpp"

namespace tenex {

namespace {

constexpr std::uint32_t kFar = std::numeric_limits<std::uint32_t>::max();

enum class Role : std::uint8_t { bystander, member, relay };

/// Searches from one vertex at a time. Its tables are cleared by recording the entries that were changed.
class RelaySearch {
 public:
  explicit RelaySearch(const Topology& topology)
      : topology_(topology),
        cost_(topology.vertices(), kFar),
        parent_(topology.vertices()),
        role_(topology.vertices(), Role::bystander) {}

  /// Adds to `group` the bystanders on cheapest paths from its `start`-th vertex to all members (against the links if
  /// `backward`). Returns the first member that was not reached, or none().
  VertexId connect(Participants& group, std::size_t start, bool backward) {
    for (std::size_t i = 0; i < group.vertices.size(); ++i)
      role_[group.vertices[i].index()] = i < group.members ? Role::member : Role::relay;
    search(group.vertices[start], group.members, backward);
    VertexId unreached = VertexId::none();
    for (std::size_t i = 0; i < group.members && !unreached.exists(); ++i) {
      if (cost_[group.vertices[i].index()] == kFar)
        unreached = group.vertices[i];
      else
        add_path(group, group.vertices[i]);
    }
    for (const VertexId vertex : group.vertices) role_[vertex.index()] = Role::bystander;
    for (const VertexId vertex : touched_) cost_[vertex.index()] = kFar;
    touched_.clear();
    return unreached;
  }

 private:
  void search(VertexId start, std::size_t members_left, bool backward) {
    std::deque<std::pair<std::uint32_t, VertexId>> frontier;
    reach(start, 0, VertexId::none());
    frontier.emplace_back(0, start);
    while (!frontier.empty() && members_left > 0) {
      const auto [cost, vertex] = frontier.front();
      frontier.pop_front();
      if (cost != cost_[vertex.index()]) continue;  // a cheaper path has been found since
      if (role_[vertex.index()] == Role::member) --members_left;
      for (const LinkId link : backward ? topology_.in_links(vertex) : topology_.out_links(vertex)) {
        const VertexId next = backward ? topology_.source(link) : topology_.target(link);
        const bool free = role_[next.index()] != Role::bystander;
        const std::uint32_t next_cost = cost + (free ? 0U : 1U);
        if (next_cost >= cost_[next.index()]) continue;
        reach(next, next_cost, vertex);
        if (free)
          frontier.emplace_front(next_cost, next);
        else
          frontier.emplace_back(next_cost, next);
      }
    }
  }

  void reach(VertexId vertex, std::uint32_t cost, VertexId from) {
    if (cost_[vertex.index()] == kFar) touched_.push_back(vertex);
    cost_[vertex.index()] = cost;
    parent_[vertex.index()] = from;
  }

  /// Removes each vertex from its path, so that vertices shared by several paths are walked once: O(vertices) for all
  /// paths.
  void add_path(Participants& group, VertexId vertex) {
    while (vertex.exists()) {
      if (role_[vertex.index()] == Role::bystander) {
        role_[vertex.index()] = Role::relay;
        group.vertices.push_back(vertex);
      }
      vertex = std::exchange(parent_[vertex.index()], VertexId::none());
    }
  }

  const Topology& topology_;
  std::vector<std::uint32_t> cost_;
  std::vector<VertexId> parent_;
  std::vector<Role> role_;
  std::vector<VertexId> touched_;
};

Diagnostic unreachable(VertexId from, VertexId to) {
  return input_error({}, fmt::format("NPU {} cannot be reached from NPU {}", to.value(), from.value()),
                     "no path of links leads there, and the collective needs one",
                     "add links, or put the NPUs into different process groups");
}

}  // namespace

Result<std::vector<Participants>> find_participants(const Topology& topology, const Collective& collective) {
  TENEX_EXPECTS(collective.kind() == CollectiveKind::all_gather || collective.kind() == CollectiveKind::broadcast,
                "an All-Gather or a Broadcast");
  if (!topology.direct())
    return input_error({}, "the topology has switches", "this synthesizer sends only over direct links between NPUs",
                       "unwind the switches to a degree, for example 1");
  const bool broadcast = collective.kind() == CollectiveKind::broadcast;
  RelaySearch search(topology);
  std::vector<Participants> all;
  Diagnostics errors;
  for (const auto& group : collective.groups()) {
    auto& participants = all.emplace_back();
    participants.members = group.members.size();
    for (const NpuId member : group.members) participants.vertices.push_back(vertex_of(member));
    const std::size_t start = broadcast ? collective.root() : 0;
    const VertexId hub = participants.vertices[start];
    const VertexId lost = search.connect(participants, start, false);
    if (lost.exists()) errors.push_back(unreachable(hub, lost));
    if (!broadcast && !lost.exists()) {
      const VertexId mute = search.connect(participants, start, true);
      if (mute.exists()) errors.push_back(unreachable(mute, hub));
    }
    std::sort(participants.vertices.begin() + static_cast<std::ptrdiff_t>(participants.members),
              participants.vertices.end());
  }
  if (!errors.empty()) return errors;
  return all;
}

bool any_relays(const std::vector<Participants>& participants) {
  return std::any_of(participants.begin(), participants.end(),
                     [](const Participants& group) { return group.vertices.size() > group.members; });
}

}  // namespace tenex
