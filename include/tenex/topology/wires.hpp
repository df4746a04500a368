// Wires: the paths over cut-through switches, as links of a network without these switches.
//
// A cut-through send takes a whole path over switches at once (include/tenex/README.md, Switches): D is the time in
// which the path's slowest link serializes the chunk, link i of the path is busy [t + alphas before it, + D), and the
// chunk arrives at t + all alphas + D. So the path is one link, a wire, whose alpha is the sum and whose bandwidth is
// the least; and the switches need no vertices. What remains of them is that wires share physical links: two sends
// whose wires have a physical link in common must not use it at once, unless they are one signal there. They are one
// signal if they carry the same chunk and
// - start at the same vertex at the same time, over the same links so far, and part at a switch that copies; or
// - carry partial sums to the same vertex, arrive at the same time, over the same links from here on, and have met at a
//   switch that reduces.
// Either way their D must be the same: nothing is stored, so a signal has one speed.
//
// The same serves plans in which a switch with a buffer passes each chunk on as soon as it may (relay_wires_of()):
// there link i of the path is busy from that time on.
//
// Wires join holders: NPUs and switches that store and forward. Paths are those with the fewest links; of more than
// kMostWiresPerPair between two holders as many are taken, evenly spread over all of them and turned by the pair, so
// that the wires of all pairs together use all links alike. Parallel links between two switches are one link of a path
// here, and a path over them has two wires: the first takes the links on which messages to its target go, the second
// those on which messages to its source go (SW(32,8) in tenex/topology/shape.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tenex/topology/topology.hpp"

namespace tenex {

struct UnwoundNetwork;  // transform.hpp

/// A physical link of a wire.
struct WireSpan {
  LinkId link;     ///< of Wires::network()
  SimTime offset;  ///< from the start of a send until this link becomes busy: the alphas before it, and what switches
                   ///< that store and forward take to receive the chunk
  bool operator==(const WireSpan&) const = default;
};

/// Beside the paths of given routes.
inline constexpr std::uint32_t kMostWiresPerPair = 4;
/// More wires than this are refused.
inline constexpr std::uint64_t kMostWires = std::uint64_t{1} << 26;

/// The physical links of every wire. O(wires * links of a path) memory.
class Wires {
 public:
  /// `spans` of wire w are [first[w], first[w + 1]).
  Wires(std::shared_ptr<const Topology> network, std::vector<std::uint64_t> first, std::vector<WireSpan> spans)
      : network_(std::move(network)), first_(std::move(first)), spans_(std::move(spans)) {}

  /// The network with all its switches.
  [[nodiscard]] const Topology& network() const { return *network_; }
  [[nodiscard]] std::size_t size() const { return first_.size() - 1; }
  /// In the order of the path; never empty.
  [[nodiscard]] std::span<const WireSpan> spans(LinkId wire) const {
    return std::span(spans_).subspan(first_[wire.index()], first_[wire.index() + 1] - first_[wire.index()]);
  }
  /// The wires of the reversed network: paths backward. O(spans).
  [[nodiscard]] Wires reversed() const;
  /// The same wires of the network whose switches copy if they reduced and reduce if they copied. O(spans).
  [[nodiscard]] Wires exchanged() const;
  /// The same wires of the network without its shape. O(links + spans).
  [[nodiscard]] Wires without_shape() const;

 private:
  std::shared_ptr<const Topology> network_;
  std::vector<std::uint64_t> first_;
  std::vector<WireSpan> spans_;
};

/// The network with all its switches and physical links: `topology` itself unless its links are wires. O(1).
[[nodiscard]] inline const Topology& physical_network(const Topology& topology) {
  return topology.wires() != nullptr ? topology.wires()->network() : topology;
}

/// Whether a vertex is a switch that cuts through. O(1).
[[nodiscard]] inline bool cuts_through(const Topology& topology, VertexId vertex) {
  return !topology.is_npu(vertex) && topology.switch_properties(vertex).forwarding == Forwarding::cut_through;
}
/// Whether some switch does. O(switches).
[[nodiscard]] bool any_cuts_through(const Topology& topology);

/// The network whose links are the wires of `topology`: its NPUs, then its switches that store and forward, and one
/// link per wire, in the order of the physical links at which they begin, then of the holders at which they end. A
/// topology without cut-through switches is returned unchanged. The paths of given routes are wires, and the routes of
/// their pairs go over these. Of an intact product shape the wires form the same shape, in which an NPU reaches all
/// others of a switch directly. Errors: (resource) more than kMostWires wires; (unsupported) switches with virtual
/// cut-through beside them. O(holders * links of a holder's switches + spans), with given routes O(NPUs^2 * links of a
/// route) more.
[[nodiscard]] Result<Topology> wires_of(const Topology& topology);

/// The network whose links are the ways from NPU to NPU over at most one switch, for chunks of one size that no switch
/// keeps longer than it must: a way up and down takes both hops, the second as soon as the first has arrived (with
/// virtual cut-through as soon as its first byte has), so that nothing waits in a buffer. relayed()
/// (tenex/schedule/views/relayed.hpp) makes a schedule on it one on `topology`. nullopt unless `topology` is an intact
/// product of blocks with switches, none of which cuts through without a buffer, links up and down are alike, and there
/// are at most kMostWires ways. O(wires).
[[nodiscard]] std::optional<Topology> relay_wires_of(const Topology& topology, Bytes chunk);
/// The same of the paths of an unwound network's links alone, in their order: a network of the same translations
/// (translation.hpp). `topology`: what was unwound, an intact product of switches that are joined with no others.
/// O(unwound links).
[[nodiscard]] std::optional<Topology> relay_wires_of(const Topology& topology, const UnwoundNetwork& unwound,
                                                     Bytes chunk);

/// The wires of a shape whose switches all cut through, and their spans: for memory plans. An upper bound where the
/// shape is no product. O(dimensions).
struct WireCounts {
  std::uint64_t wires = 0;
  std::uint64_t spans = 0;
};
[[nodiscard]] WireCounts count_wires(const Shape& shape);
/// Bytes of wires and of the topology whose links they are. O(1).
[[nodiscard]] std::uint64_t wire_bytes(std::uint64_t npus, const WireCounts& counts);

}  // namespace tenex
