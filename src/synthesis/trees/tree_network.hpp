// The network as trees use it: how long a chunk keeps each link busy, and the ways between NPUs.
//
// An edge of a tree is a way: a link between two NPUs, or several links over switches that only store chunks and pass
// them on. A switch that neither copies nor adds passes the partial sums of a chunk on in the order in which they came.
// If two sums of a chunk meet in a switch, the one that came first may so take the other's way; both NPUs above still
// receive as many sums as they wait for, each sum is sent on once, and none before it has come. So what is planned way
// by way is valid. It stays so where a switch could copy: the chunk comes to it as often as it is to be sent on. Where
// a switch reduces, a send takes all partial sums along that have come, so reductions are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// An edge of trees.
using WayId = Id<struct WayKind>;

/// Links, and ways over them. Reads a topology that must outlive it. O(links + links of ways) memory.
class TreeNetwork {
 public:
  /// Expects: chunks of one size. O(links).
  explicit TreeNetwork(const Instance& instance);

  [[nodiscard]] const Topology& topology() const { return topology_; }
  /// How long a chunk keeps a link busy, and when it arrives.
  [[nodiscard]] const HopTime& hop(LinkId link) const { return hops_[topology_.class_of(link)]; }
  /// Whether every link has an equal one the other way.
  [[nodiscard]] bool symmetric() const { return !opposite_.empty(); }
  /// That link. Only where symmetric().
  [[nodiscard]] LinkId opposite(LinkId link) const { return opposite_[link.index()]; }

  /// The way over these links, which must follow each other. A link alone is the way of its own number. O(log ways).
  [[nodiscard]] WayId way_over(std::span<const LinkId> links);
  /// The way back. Only where symmetric(). O(log ways).
  [[nodiscard]] WayId opposite_way(WayId way);
  [[nodiscard]] std::span<const LinkId> links(WayId way) const {
    return std::span(links_).subspan(first_[way.index()], first_[way.index() + 1] - first_[way.index()]);
  }
  [[nodiscard]] NpuId source(WayId way) const { return npu_of(topology_.source(links(way).front())); }
  [[nodiscard]] NpuId target(WayId way) const { return npu_of(topology_.target(links(way).back())); }
  /// From the start of a chunk's first send until its arrival, if it waits nowhere.
  [[nodiscard]] SimTime latency(WayId way) const;

 private:
  const Topology& topology_;
  std::vector<HopTime> hops_;  ///< per link class
  std::vector<LinkId> opposite_;
  std::vector<std::uint32_t> first_;
  std::vector<LinkId> links_;
  std::map<std::vector<LinkId>, WayId> longer_;  ///< ways of two links and more
};

/// How long each link is idle at least, at the beginning and the end: a chunk comes to its source from the nearest NPU,
/// and goes on from its target to the nearest one. Zero between NPUs. O(links) for each level of switches.
[[nodiscard]] std::vector<SimTime> idle_times(const TreeNetwork& network);

/// Whether the collective is that of all NPUs. O(1).
[[nodiscard]] bool is_one_group_of_all(const SynthesisProblem& problem);

/// Why no tree can be packed on these groups and switches, for the user; nullopt if it can. O(vertices).
[[nodiscard]] std::optional<std::string> tree_network_unsuitable(const SynthesisProblem& problem);

/// Two NPUs of which the second cannot be reached from the first, although the collective needs it; nullopt where there
/// are none, and where not all NPUs are one group. A Broadcast needs ways from its root alone, a Reduce ways to it.
/// O(links).
[[nodiscard]] std::optional<std::pair<NpuId, NpuId>> find_unreachable_npus(const SynthesisProblem& problem);

}  // namespace tenex
