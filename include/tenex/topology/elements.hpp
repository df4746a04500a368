// The parts of a network that fail as one, by name: NICs, leaf and spine switches, planes.
//
// Names are those of the network as it was built, before links are removed or slowed, so that "nic 3" is one thing
// whatever else a study does to it. In a shape, the fabric is the last dimension or level that joins NPUs with
// switches: the rails of SW(8)_SW(32), the leaves of rail_spine(8,4,2). In a machine file that lists its links, which
// has no dimensions, it is what the slowest links between NPUs and switches lead to: NVLinks are faster than NICs.
//
//   nic    a link between an NPU and a switch of the fabric, both ways; in order of the NPUs, then of the links. If a
//          machine file lists NICs as vertices, the link between such a vertex and the fabric. A switch is a NIC if the
//          NPUs below it are of one box, joined without it, and it leads to one other switch
//   leaf   a switch of the fabric with a nic; in order of their vertices
//   spine  a switch as far from NPUs as any, behind a leaf at least; in order of their vertices
//   plane  the switches of the fabric that are joined with each other; in order of their first ones. Every rail of
//          SW(8)_SW(32) is a plane
//   link   all links between two vertices, both ways; in order of the lower, then of the higher one
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

enum class NetworkElement : std::uint8_t { npu, nic, leaf, spine, plane, link };
inline constexpr NetworkElement kNetworkElements[] = {NetworkElement::npu,   NetworkElement::nic,
                                                      NetworkElement::leaf,  NetworkElement::spine,
                                                      NetworkElement::plane, NetworkElement::link};

/// "npu", "nic", "leaf", "spine", "plane", "link".
[[nodiscard]] std::string_view to_string(NetworkElement element);

/// A link between an NPU, or a vertex that is a NIC, and a switch of the fabric, one of those that join both.
struct NicLink {
  VertexId from;
  VertexId hub;
  std::uint32_t parallel = 0;  ///< its number among the links from `from` to the switch
  std::vector<NpuId> npus;     ///< that send through it: `from`, or those below the NIC
};

/// The named parts of a network. O(links) memory.
class NetworkElements {
 public:
  /// O(links log links).
  explicit NetworkElements(const Topology& topology);

  [[nodiscard]] std::size_t count(NetworkElement element) const;
  /// The ends of links, the lower id first.
  [[nodiscard]] const std::vector<std::pair<VertexId, VertexId>>& linked() const { return linked_; }
  [[nodiscard]] const std::vector<NicLink>& nics() const { return nics_; }
  [[nodiscard]] const std::vector<VertexId>& leaves() const { return leaves_; }
  [[nodiscard]] const std::vector<VertexId>& spines() const { return spines_; }
  /// The switches of each plane, in order of their ids.
  [[nodiscard]] const std::vector<std::vector<VertexId>>& planes() const { return planes_; }

 private:
  void find_nics(const Topology& topology);
  void climb_to_fabric(const Topology& topology);
  void find_planes(const Topology& topology);

  std::size_t npus_;
  std::vector<std::pair<VertexId, VertexId>> linked_;
  std::vector<NicLink> nics_;
  std::vector<VertexId> leaves_;
  std::vector<VertexId> spines_;
  std::vector<std::vector<VertexId>> planes_;
};

/// The boxes that are left without some switches, which are sorted. By vertex the least NPU of its box, that is of
/// those that reach each other over other vertices; the largest number where no NPU leads. O(links log switches).
[[nodiscard]] std::vector<std::uint32_t> boxes_without(const Topology& topology, const std::vector<VertexId>& switches);

}  // namespace tenex
