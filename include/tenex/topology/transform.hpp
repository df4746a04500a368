// Transformations that give a point its own topology: switch unwinding and link removal. Bounds, simulation and
// baselines then use the transformed topology.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Links that are slower: those from `source` to `target` or, without a target, all links that leave or enter `source`.
struct Slowdown {
  VertexId source;
  std::optional<VertexId> target;
  std::int64_t thousandths = kNoSlowdown;        ///< the serialization time is multiplied by thousandths/1000
  std::int64_t alpha_thousandths = kNoSlowdown;  ///< alpha is
};

/// Replaces every switch by direct links (TACOS, section IV-G). NPU i of a switch's N NPUs (in id order) gets a link to
/// each of its next d neighbours i+1 .. i+d (mod N). The new link has the alpha of the NPU's link into the switch and
/// beta times d (bandwidth rounded down). Where the link out of the switch to the neighbour is slower than the one in,
/// its bandwidth and slowdown count. `slowed` is what slow_links() has done to the topology: what it added to the alpha
/// of the link out of the switch is added to that of the new link. The new links stand where the NPU's link into the
/// switch stood. d is capped at N-1 per switch.
///
/// Switches that are joined with each other are unwound as one. The i-th of its NPUs that can send gets links to the
/// next d after the i-th of those that can receive (i scaled where their numbers differ; d is raised until everyone
/// receives), over shortest paths: alpha is the sum of their links' but the last, and each link on a path gives it an
/// equal share of its bandwidth beside the other paths over it. A topology without switches is returned unchanged.
/// Errors (input): d = 0, a bandwidth that rounds to zero. The product that was unwound is Topology::unwound_shape(),
/// unless its switches are joined. O(links * d); where switches are joined, times the links between them.
[[nodiscard]] Result<Topology> unwind_switches(const Topology& topology, std::uint32_t degree,
                                               const std::vector<Slowdown>& slowed = {});

/// An unwound network, and what each of its links stands for in the network with switches.
struct UnwoundNetwork {
  Topology topology;
  std::vector<LinkId> hops;         ///< the paths of all links, one after another
  std::vector<std::size_t> begins;  ///< where each path begins in hops, and their end

  /// The path of a link: the NPU's link into a switch up to the link out of a switch to the neighbour, or the link
  /// itself if it joins two NPUs.
  [[nodiscard]] std::span<const LinkId> path(LinkId link) const {
    return std::span(hops).subspan(begins[link.index()], begins[link.index() + 1] - begins[link.index()]);
  }
};

/// The most links that a path of the network has; 1 without links. O(links).
[[nodiscard]] std::size_t longest_path(const UnwoundNetwork& unwound);

/// The most paths that take one link; 1 without links. O(links of all paths).
[[nodiscard]] std::size_t most_paths_over_a_link(const UnwoundNetwork& unwound);

/// unwind_switches(), with the path of every link. Same errors and cost.
[[nodiscard]] Result<UnwoundNetwork> unwind_with_origins(const Topology& topology, std::uint32_t degree,
                                                         const std::vector<Slowdown>& slowed = {});

/// Removes all links between each pair of vertices, both directions. Errors (input): a pair that no link joins (the
/// nearest existing neighbours are named). The shape is forgotten. O(links + pairs * degree).
[[nodiscard]] Result<Topology> remove_links(const Topology& topology,
                                            const std::vector<std::pair<VertexId, VertexId>>& pairs);

/// The topology without the vertices that are not `kept`, which must have no links. `kept`: in order; they get
/// the ids 0, 1, ... in that order. Links and their classes keep their ids; the shape is forgotten. O(vertices +
/// links).
[[nodiscard]] Topology keep_vertices(const Topology& topology, const std::vector<VertexId>& kept);

/// Slows links down. Link::slowdown becomes the largest factor of the slowdowns that name the link; the bandwidth
/// stays. Link::alpha is multiplied by the largest factor of alpha, rounded up to picoseconds (SimTime::max() where
/// that does not fit). The shape is kept because routes depend on it. The links of a dimension may then differ in
/// either, so use Topology::without_shape() for anything that relies on equal dimensions (bounds, synthesis). Errors
/// (input): a vertex or a link that does not exist. Once per topology, before wires are made. O(links).
[[nodiscard]] Result<Topology> slow_links(const Topology& topology, const std::vector<Slowdown>& slowdowns);

/// Adds an overhead to every link that leaves an NPU: to Link::overhead, and to Link::alpha, of which it is a part. The
/// shape is kept, as by slow_links(). Errors: none for a sound topology. Before wires are made. O(links).
[[nodiscard]] Result<Topology> with_overhead(const Topology& topology, SimTime overhead);

/// For every link an opposite link of the same class, such that each link is the opposite of exactly one; nullopt if
/// some link has none. Exchanging each link with its opposite maps the topology to its reverse and keeps every vertex.
/// Parallel links are paired in order. O(links) for few parallel links.
[[nodiscard]] std::optional<std::vector<LinkId>> opposite_links(const Topology& topology);

}  // namespace tenex
