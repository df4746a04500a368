// Topology: a directed multigraph of NPUs and switches whose links have a latency alpha and a bandwidth.
//
// Encoding: NPUs are vertices 0 .. npus-1, switches follow. Links are stored as structure of arrays; the few distinct
// (alpha, bandwidth) pairs are link classes, two bytes per link. Out- and in-links are CSR rows, in link order.
// O(vertices + links) memory, never a vertex-by-vertex table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/csr.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/topology/shape.hpp"

namespace tenex {

/// The slowdown of a link that is as fast as its bandwidth says.
inline constexpr std::int64_t kNoSlowdown = 1000;

/// The properties that equal links share.
struct LinkClass {
  SimTime alpha;                        ///< latency of one hop, with `overhead`
  Bandwidth bandwidth;                  ///< of one direction; positive
  std::int64_t slowdown = kNoSlowdown;  ///< serialization takes slowdown/1000 times as long; at least 1000
  /// 0: the bandwidth is the same at all times; otherwise Topology::windows() has the times at which it is not.
  std::uint16_t windows = 0;
  /// The part of alpha in which the source prepares a message: the link is taken for it, too (LogGP's o).
  SimTime overhead = {};
  bool operator==(const LinkClass&) const = default;

  /// bandwidth * 1000 / slowdown, rounded up to whole B/s: a bound that relies on it holds. O(1).
  [[nodiscard]] constexpr Bandwidth effective_bandwidth() const {
    __extension__ using Wide = __int128;
    const Wide scaled = static_cast<Wide>(bandwidth.count()) * kNoSlowdown;
    return Bandwidth::of(static_cast<std::int64_t>((scaled + slowdown - 1) / slowdown));
  }
};

/// One directed link, by value.
struct Link {
  VertexId source;
  VertexId target;
  SimTime alpha;
  Bandwidth bandwidth;
  std::int64_t slowdown = kNoSlowdown;  ///< as LinkClass::slowdown
  SimTime overhead = {};                ///< as LinkClass::overhead
  bool operator==(const Link&) const = default;
};

/// A time in which links are slower still: what they send from `from` until `until` takes thousandths/1000 times as
/// long as LinkClass says (slow_windows.hpp).
struct SlowWindow {
  SimTime from;
  SimTime until;                           ///< after `from`
  std::int64_t thousandths = kNoSlowdown;  ///< more than 1000
  bool operator==(const SlowWindow&) const = default;
};
/// The windows of a link, in order of time; none overlaps another.
using SlowWindows = std::vector<SlowWindow>;

/// How a switch passes chunks on.
enum class Forwarding : std::uint8_t {
  store_and_forward,  ///< it receives all of a chunk before it sends the chunk on; chunks may wait in its buffer
  cut_through,        ///< a send takes its whole path over switches at once; nothing waits there (wires.hpp)
  /// It passes a chunk on while the chunk arrives, over every link at that link's own pace, and chunks may wait in its
  /// buffer: Kermani and Kleinrock, "Virtual cut-through: a new computer communication switching technique", 1979
  /// (hand_over.hpp).
  virtual_cut_through,
};

inline constexpr std::array kForwardings = {Forwarding::store_and_forward, Forwarding::cut_through,
                                            Forwarding::virtual_cut_through};

[[nodiscard]] constexpr std::string_view to_string(Forwarding forwarding) {
  constexpr std::array<std::string_view, kForwardings.size()> names = {"store_and_forward", "cut_through",
                                                                       "virtual_cut_through"};
  return names[static_cast<std::size_t>(forwarding)];
}

/// The buffer of a switch in which any number of chunks may wait.
inline constexpr std::uint32_t kUnlimitedBuffer = std::numeric_limits<std::uint32_t>::max();

/// What a switch can do. By default it stores and forwards with an unlimited buffer, and neither copies nor reduces.
struct SwitchProperties {
  bool copy = false;    ///< may forward one arrival over several out-links
  bool reduce = false;  ///< may add arrivals of the same chunk before forwarding
  Forwarding forwarding = Forwarding::store_and_forward;
  /// Chunks that may wait at once: a chunk waits from its whole arrival until its last send from here starts, and one
  /// whose last send starts by then does not wait. Not for switches in which nothing waits (cut_through).
  std::uint32_t buffer = kUnlimitedBuffer;
  bool operator==(const SwitchProperties&) const = default;
};

class Wires;       // wires.hpp
class RouteTable;  // internal to the module: routes that a machine states itself (given_routes.hpp)

/// A product of blocks whose switches became direct links (transform.hpp).
struct UnwoundShape {
  Shape shape;               ///< with its switches
  std::uint32_t degree = 1;  ///< an NPU sends to as many next ones of each switch, at most to all others
  bool operator==(const UnwoundShape&) const = default;
};

/// An immutable directed multigraph. Built by TopologyBuilder or build_topology().
class Topology {
 public:
  [[nodiscard]] std::size_t npus() const { return npus_; }
  [[nodiscard]] std::size_t switches() const { return switches_.size(); }
  [[nodiscard]] std::size_t vertices() const { return npus_ + switches_.size(); }
  [[nodiscard]] std::size_t links() const { return source_.size(); }
  [[nodiscard]] bool is_npu(VertexId vertex) const { return vertex.index() < npus_; }

  [[nodiscard]] VertexId source(LinkId link) const { return source_[link.index()]; }
  [[nodiscard]] VertexId target(LinkId link) const { return target_[link.index()]; }
  [[nodiscard]] std::uint16_t class_of(LinkId link) const { return class_of_[link.index()]; }
  [[nodiscard]] std::span<const LinkClass> classes() const { return classes_; }
  [[nodiscard]] SimTime alpha(LinkId link) const { return classes_[class_of(link)].alpha; }
  /// LinkClass::effective_bandwidth().
  [[nodiscard]] Bandwidth bandwidth(LinkId link) const { return classes_[class_of(link)].effective_bandwidth(); }
  /// Precondition: its bandwidth does not vary.
  [[nodiscard]] Link link(LinkId id) const {
    const auto& [alpha, bandwidth, slowdown, windows, overhead] = classes_[class_of(id)];
    ensure(windows == 0, "a link whose bandwidth varies is not copied without its windows");
    return {source(id), target(id), alpha, bandwidth, slowdown, overhead};
  }
  [[nodiscard]] std::span<const LinkId> out_links(VertexId vertex) const { return out_.row(vertex.index()); }
  [[nodiscard]] std::span<const LinkId> in_links(VertexId vertex) const { return in_.row(vertex.index()); }
  [[nodiscard]] const SwitchProperties& switch_properties(VertexId vertex) const {
    return switches_[vertex.index() - npus_];
  }

  /// Whether all links share one class.
  [[nodiscard]] bool homogeneous() const { return classes_.size() <= 1; }
  /// The shape that the topology was built from, as long as it is intact (no link removed, no switch unwound).
  /// Dimension-order routes and translation groups rely on it.
  [[nodiscard]] const std::optional<Shape>& shape() const { return shape_; }
  /// The shape whose switches were unwound, as long as its links are intact otherwise.
  [[nodiscard]] const std::optional<UnwoundShape>& unwound_shape() const { return unwound_shape_; }
  /// The paths over cut-through switches that the links stand for; null where every link is a physical one. Links that
  /// share a physical link must not use it at the same time.
  [[nodiscard]] const Wires* wires() const { return wires_.get(); }

  /// The routes that a machine states itself (given_routes.hpp); null where it states none. A topology that has them
  /// has no shape.
  [[nodiscard]] const std::shared_ptr<const RouteTable>& route_table() const { return route_table_; }
  /// The same vertices and links with the given routes of a topology that has the same. O(links).
  [[nodiscard]] Topology with_route_table(std::shared_ptr<const RouteTable> table) const;

  /// Whether the bandwidth of some link varies with time.
  [[nodiscard]] bool varies() const { return windows_ != nullptr; }
  /// The windows of links of this class; empty where their bandwidth does not vary.
  [[nodiscard]] std::span<const SlowWindow> windows(std::uint16_t link_class) const {
    const auto list = classes_[link_class].windows;
    return list == 0 ? std::span<const SlowWindow>() : std::span(windows_->at(list - 1U));
  }
  /// The same links where link i has the windows lists[list_of_link[i] - 1], or none where that number is 0. Errors
  /// (input): more than 65,535 link classes. Precondition: no wires, a number per link, lists as SlowWindows says.
  /// O(links).
  [[nodiscard]] Result<Topology> with_windows(const std::vector<std::uint16_t>& list_of_link,
                                              std::vector<SlowWindows> lists) const;
  /// The same links at their bandwidth outside all windows. O(links).
  [[nodiscard]] Topology without_windows() const;

  /// Whether every link is a physical one between NPUs: no switch, and no wires over switches.
  [[nodiscard]] bool direct() const { return switches_.empty() && !wires_; }

  /// The same vertices, links and wires without a shape, in the network of the wires too. O(links + spans).
  [[nodiscard]] Topology without_shape() const;

  /// The same vertices and links where every switch has these properties. O(links).
  [[nodiscard]] Topology with_switches(SwitchProperties properties) const;
  /// The same where switch i, vertex npus() + i, has properties[i].
  [[nodiscard]] Topology with_switches(std::vector<SwitchProperties> properties) const;
  /// The same links with source and target exchanged; link ids are kept. Given routes are dropped. O(links).
  [[nodiscard]] Topology reversed() const;
  /// reversed(), where each switch copies if it reduced and reduces if it copied: what is a reduction here is a
  /// multicast there. O(links).
  [[nodiscard]] Topology mirrored() const;
  /// The same vertices without the links for which `drop` is set (one flag per link); link ids are renumbered in order.
  /// Given routes go on as given_routes.hpp says. Not for topologies of wires. O(links), with next hops as
  /// with_routes().
  [[nodiscard]] Topology without(const std::vector<bool>& drop) const;

 private:
  friend class TopologyBuilder;
  std::size_t npus_ = 0;
  std::vector<SwitchProperties> switches_;
  std::vector<VertexId> source_;
  std::vector<VertexId> target_;
  std::vector<std::uint16_t> class_of_;
  std::vector<LinkClass> classes_;
  std::shared_ptr<const std::vector<SlowWindows>> windows_;
  Csr<LinkId> out_;
  Csr<LinkId> in_;
  std::optional<Shape> shape_;
  std::optional<UnwoundShape> unwound_shape_;
  std::shared_ptr<const Wires> wires_;
  std::shared_ptr<const RouteTable> route_table_;
};

/// Collects vertices and links, then checks and freezes them.
class TopologyBuilder {
 public:
  explicit TopologyBuilder(std::size_t npus) : npus_(npus) {}

  /// Reserves memory for links, where their number is known.
  void reserve_links(std::size_t links) { links_.reserve(links); }
  /// Adds a switch; its vertex id is npus + the switches before it.
  VertexId add_switch(SwitchProperties properties = {});
  /// Adds a directed link. Parallel links are allowed.
  LinkId add_link(Link link);
  /// Adds a link each way; the first id is source to target.
  LinkId add_link_pair(Link link);
  /// Declares that the links form this shape, intact.
  void declare_shape(Shape shape) { shape_ = std::move(shape); }
  /// Declares that the links form this shape with its switches unwound, intact.
  void declare_unwound_shape(UnwoundShape shape) { unwound_shape_ = std::move(shape); }
  /// Declares that the links are these wires, in their order.
  void declare_wires(std::shared_ptr<const Wires> wires) { wires_ = std::move(wires); }

  /// Errors (input): no NPU, a link to a vertex that does not exist, a self-link, a bandwidth that is not positive, a
  /// negative alpha, a slowdown below 1000, more than 65,535 link classes. Connectivity is not checked here. O(links).
  [[nodiscard]] Result<Topology> build() &&;

 private:
  std::size_t npus_;
  std::vector<SwitchProperties> switches_;
  std::vector<Link> links_;
  std::optional<Shape> shape_;
  std::optional<UnwoundShape> unwound_shape_;
  std::shared_ptr<const Wires> wires_;
};

/// Two vertices with no path from the first to the second; nullopt when the topology is strongly connected. O(links).
[[nodiscard]] std::optional<std::pair<VertexId, VertexId>> find_disconnected_pair(const Topology& topology);

}  // namespace tenex
