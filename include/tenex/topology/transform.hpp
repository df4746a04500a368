// Transformations that give a point its own topology: switch unwinding and link removal. Bounds, simulation and
// baselines then use the transformed topology.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Replaces every switch by direct links (TACOS, section IV-G). NPU i of a switch's N NPUs (in id order) gets a link to
/// each of its next d neighbours i+1 .. i+d (mod N). The new link has the alpha of the NPU's link into the switch and
/// beta times d (bandwidth rounded down). Where the link out of the switch to the neighbour is slower than the one in,
/// its bandwidth and slowdown count. The new links stand where the NPU's link into the switch stood. d is capped at N-1
/// per switch. A topology without switches is returned unchanged. Errors (input): d = 0, a switch attached to another
/// switch, an NPU attached one way only or by parallel links. The product that was unwound is
/// Topology::unwound_shape(). O(links * d).
[[nodiscard]] Result<Topology> unwind_switches(const Topology& topology, std::uint32_t degree);

/// What a link of an unwound network stands for in the network with switches.
struct UnwoundLink {
  LinkId first;   ///< the NPU's link into the switch, or the link itself if it joins two NPUs
  LinkId second;  ///< the link out of the switch; none() where there is no switch
  bool operator==(const UnwoundLink&) const = default;
};

/// An unwound network, and what each of its links stands for.
struct UnwoundNetwork {
  Topology topology;
  std::vector<UnwoundLink> links;
};

/// unwind_switches(), with the origin of every link. Same errors and cost.
[[nodiscard]] Result<UnwoundNetwork> unwind_with_origins(const Topology& topology, std::uint32_t degree);

/// Removes all links between each pair of vertices, both directions. Errors (input): a pair that no link joins (the
/// nearest existing neighbours are named). The shape is forgotten. O(links + pairs * degree).
[[nodiscard]] Result<Topology> remove_links(const Topology& topology,
                                            const std::vector<std::pair<VertexId, VertexId>>& pairs);

/// Links that serialize more slowly: those from `source` to `target` or, without a target, all links that leave or
/// enter `source`.
struct Slowdown {
  VertexId source;
  std::optional<VertexId> target;
  std::int64_t thousandths =
      kNoSlowdown;  ///< the serialization time is multiplied by thousandths/1000; alpha is unchanged
};

/// Slows links down. Link::slowdown becomes the largest factor of the slowdowns that name the link; the bandwidth
/// stays. The shape is kept because routes depend on it. The links of a dimension may then differ, so use
/// Topology::without_shape() for anything that relies on equal dimensions (bounds, synthesis). Errors (input): a vertex
/// or a link that does not exist. Before wires are made. O(links).
[[nodiscard]] Result<Topology> slow_links(const Topology& topology, const std::vector<Slowdown>& slowdowns);

}  // namespace tenex
