// Wires from a breadth-first search per holder, over the switches that it reaches without passing another holder.
//
// Path `rank` of a pair is found backward: at each vertex the rank chooses among the links from the level before, whose
// sources have as many shortest paths as were counted on the way out. A bundle of parallel links between two switches
// counts once. A path over bundles becomes two wires: one takes every bundle's link for the target, as messages to it
// do (lanes.hpp), so that partial sums for one NPU meet; the other the links for the source, so that what one NPU sends
// to several stays together up to the switch at which it parts. Reversed, the one is the other.
#include "tenex/topology/wires.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "tenex/topology/hand_over.hpp"
#include "tenex/topology/plan.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/transform.hpp"
#include "topology/given_wires.hpp"
#include "topology/lanes.hpp"
#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

constexpr std::uint32_t kNotReached = std::numeric_limits<std::uint32_t>::max();

/// A wire before it has a number.
struct FoundWire {
  LinkId first_link;
  VertexId target;
  std::uint64_t first_span = 0;
  std::uint32_t spans = 0;
};

/// Searches from one holder at a time. Its tables are cleared by recording the entries that were changed.
class WireSearch {
 public:
  explicit WireSearch(const Topology& network)
      : network_(network), bundles_(network), hops_(network.vertices(), kNotReached), paths_(network.vertices()) {}

  /// Adds the wires that begin at a holder, `paths` among them. False where there are too many.
  bool add_from(VertexId holder, std::span<const std::vector<LinkId>> paths) {
    const std::size_t before = found_.size();
    for (const LinkId link : network_.out_links(holder))
      if (!cuts_through(network_, network_.target(link))) add_link(link);
    search(holder);
    for (const VertexId reached : reached_)
      if (reached != holder && !cuts_through(network_, reached)) add_paths(holder, reached);
    for (const VertexId vertex : reached_) hops_[vertex.index()] = kNotReached;
    reached_.clear();
    add_missing(before, paths);
    return found_.size() <= kMostWires;
  }

  [[nodiscard]] Wires finish(std::shared_ptr<const Topology> network) {
    std::stable_sort(found_.begin(), found_.end(), [](const FoundWire& a, const FoundWire& b) {
      return std::pair(a.first_link, a.target) < std::pair(b.first_link, b.target);
    });
    std::vector<std::uint64_t> first{0};
    std::vector<WireSpan> spans;
    first.reserve(found_.size() + 1);
    spans.reserve(spans_.size());
    for (const FoundWire& wire : found_) {
      const auto begin = spans_.begin() + static_cast<std::ptrdiff_t>(wire.first_span);
      spans.insert(spans.end(), begin, begin + wire.spans);
      first.push_back(spans.size());
    }
    return {std::move(network), std::move(first), std::move(spans)};
  }

 private:
  void add_link(LinkId link) {
    found_.push_back({link, network_.target(link), spans_.size(), 1});
    spans_.push_back({link, SimTime::zero()});
  }

  /// Adds those of the paths that are no wire of found_ from number `first` on.
  void add_missing(std::size_t first, std::span<const std::vector<LinkId>> paths) {
    if (paths.empty()) return;
    std::set<std::vector<LinkId>> known;
    for (const FoundWire& wire : std::span(found_).subspan(first)) {
      path_.clear();
      for (std::uint32_t i = 0; i < wire.spans; ++i) path_.push_back(spans_[wire.first_span + i].link);
      known.insert(path_);
    }
    for (const auto& path : paths) {
      if (known.contains(path)) continue;
      path_.assign(path.rbegin(), path.rend());
      add_wire(network_.target(path.back()));
    }
  }

  /// Counts the shortest paths to all vertices that are reached over cut-through switches.
  void search(VertexId holder) {
    reach(holder, 0, 1);
    for (std::size_t head = 0; head < reached_.size(); ++head) {
      const VertexId at = reached_[head];
      if (head > 0 && !cuts_through(network_, at)) continue;
      for (const LinkId link : network_.out_links(at)) {
        const VertexId next = network_.target(link);
        if (head == 0 && !cuts_through(network_, next)) continue;  // a wire of one link
        if (bundles_.first_of(link) != link) continue;
        const std::uint32_t hops = hops_[at.index()] + 1;
        if (hops_[next.index()] == kNotReached)
          reach(next, hops, paths_[at.index()]);
        else if (hops_[next.index()] == hops)
          paths_[next.index()] += paths_[at.index()];
      }
    }
  }

  void reach(VertexId vertex, std::uint32_t hops, double paths) {
    hops_[vertex.index()] = hops;
    paths_[vertex.index()] = paths;
    reached_.push_back(vertex);
  }

  /// Counts are whole numbers in doubles: exact up to 2^53, and beyond it evenly spread is all that is asked for.
  [[nodiscard]] std::uint64_t paths_to(VertexId vertex) const {
    constexpr double most = 9e15;
    return static_cast<std::uint64_t>(std::min(paths_[vertex.index()], most));
  }

  void add_paths(VertexId holder, VertexId target) {
    const std::uint64_t all = paths_to(target);
    const std::uint64_t taken = std::min<std::uint64_t>(all, kMostWiresPerPair / (bundles_.empty() ? 1 : 2));
    for (std::uint64_t i = 0; i < taken; ++i)
      add_path(holder, target, (all / taken * i + holder.index() + target.index()) % all);
  }

  void add_path(VertexId holder, VertexId target, std::uint64_t rank) {
    path_.clear();
    for (VertexId at = target; hops_[at.index()] > 0; at = network_.source(path_.back()))
      path_.push_back(choose_link(at, rank));
    if (bundles_.empty()) return add_wire(target);
    const auto of_source = through_bundles(holder);
    path_ = through_bundles(target);
    const bool differ = of_source != path_;
    add_wire(target);
    path_ = of_source;
    if (differ) add_wire(target);
  }

  /// The path over the links of bundles that are for `end`.
  [[nodiscard]] std::vector<LinkId> through_bundles(VertexId end) const {
    std::vector<LinkId> path = path_;
    for (LinkId& link : path) link = bundles_.lane(link, end);
    return path;
  }

  /// Adds the wire of path_, which is backward.
  void add_wire(VertexId target) {
    FoundWire wire{path_.back(), target, spans_.size(), static_cast<std::uint32_t>(path_.size())};
    SimTime offset;
    for (auto link = path_.rbegin(); link != path_.rend(); ++link) {
      spans_.push_back({*link, offset});
      offset = saturating_sum(offset, network_.alpha(*link));
    }
    found_.push_back(wire);
  }

  /// The link over which path `rank` enters `at`; `rank` becomes that of the path to the link's source.
  LinkId choose_link(VertexId at, std::uint64_t& rank) {
    LinkId chosen = LinkId::none();
    for (const LinkId link : network_.in_links(at)) {
      const VertexId from = network_.source(link);
      if (hops_[from.index()] + 1 != hops_[at.index()] || hops_[from.index()] == kNotReached) continue;
      if (hops_[from.index()] > 0 && !cuts_through(network_, from)) continue;
      if (bundles_.first_of(link) != link) continue;
      chosen = link;
      const std::uint64_t paths = paths_to(from);
      if (rank < paths) break;
      rank -= paths;
    }
    return chosen;
  }

  const Topology& network_;
  Bundles bundles_;
  std::vector<std::uint32_t> hops_;  ///< from the present holder
  std::vector<double> paths_;        ///< shortest paths from there
  std::vector<VertexId> reached_;
  std::vector<LinkId> path_;
  std::vector<FoundWire> found_;
  std::vector<WireSpan> spans_;
};

/// Whether a link serializes more slowly than another.
bool slower(const LinkClass& a, const LinkClass& b) {
  __extension__ using Wide = __int128;
  return Wide{a.slowdown} * b.bandwidth.count() > Wide{b.slowdown} * a.bandwidth.count();
}

/// The wire as one link between holders.
Link as_link(const Topology& network, std::span<const WireSpan> spans, const std::vector<VertexId>& holder_of) {
  Link link = network.link(spans.front().link);
  LinkClass slowest{link.alpha, link.bandwidth, link.slowdown};
  for (const WireSpan& span : spans.subspan(1)) {
    const LinkClass& each = network.classes()[network.class_of(span.link)];
    if (slower(each, slowest)) slowest = each;
    link.alpha = saturating_sum(link.alpha, each.alpha);
  }
  link.bandwidth = slowest.bandwidth;
  link.slowdown = slowest.slowdown;
  link.source = holder_of[network.source(spans.front().link).index()];
  link.target = holder_of[network.target(spans.back().link).index()];
  return link;
}

/// The shape whose switches are wires; nullopt where the network is no intact product.
std::optional<Shape> wired_shape(const Topology& network) {
  if (!network.shape() || !network.shape()->is_product()) return std::nullopt;
  Shape shape = *network.shape();
  for (Block& block : shape.blocks)
    if (block.rule->wired != nullptr) block.rule = block.rule->wired(block);
  return shape;
}

}  // namespace

bool any_cuts_through(const Topology& topology) {
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v)
    if (cuts_through(topology, VertexId::at(v))) return true;
  return false;
}

Wires Wires::reversed() const {
  std::vector<WireSpan> turned;
  turned.reserve(spans_.size());
  for (std::size_t wire = 0; wire < size(); ++wire) {
    const auto path = spans(LinkId::at(wire));
    SimTime offset;
    for (auto span = path.rbegin(); span != path.rend(); ++span) {
      turned.push_back({span->link, offset});
      offset += network_->alpha(span->link);
    }
  }
  return {std::make_shared<const Topology>(network_->reversed()), first_, std::move(turned)};
}

Wires Wires::exchanged() const {
  return {std::make_shared<const Topology>(network_->mirrored().reversed()), first_, spans_};
}

Wires Wires::without_shape() const {
  return {std::make_shared<const Topology>(network_->without_shape()), first_, spans_};
}

namespace {

/// Errors (unsupported): switches that cut through beside others with virtual cut-through.
Status check_one_kind(const Topology& topology) {
  if (!any_cuts_through(topology) || !any_passes_on_early(topology)) return success();
  return unsupported_error(
      {}, "some switches have forwarding = \"cut_through\", others \"virtual_cut_through\"",
      "a send over the first takes its whole path at once, so nothing of it may wait in the others",
      "give all of them the same: virtual_cut_through is what real switches do");
}

}  // namespace

Result<Topology> wires_of(const Topology& topology) {
  ensure(topology.wires() == nullptr, "wires are made once");
  if (auto one_kind = check_one_kind(topology); !one_kind) return one_kind.errors();
  std::vector<VertexId> holders;
  std::vector<VertexId> holder_of(topology.vertices(), VertexId::none());
  TopologyBuilder builder(topology.npus());
  for (std::size_t v = 0; v < topology.vertices(); ++v) {
    const VertexId vertex = VertexId::at(v);
    if (cuts_through(topology, vertex)) continue;
    holder_of[v] = VertexId::at(holders.size());
    holders.push_back(vertex);
    if (!topology.is_npu(vertex)) builder.add_switch(topology.switch_properties(vertex));
  }
  if (holders.size() == topology.vertices()) return topology;
  WireSearch search(topology);
  const GivenWires given(topology);
  for (const VertexId holder : holders)
    if (!search.add_from(holder, given.from(holder)))
      return resource_error(
          fmt::format("more than {} paths lead over the cut-through switches", kMostWires),
          "each is kept, so that sends which share a link can be told apart",
          "use fewer NPUs, smaller switches, or switches that store and forward (forwarding = \"store_and_forward\")");
  auto wires = std::make_shared<const Wires>(search.finish(std::make_shared<const Topology>(topology)));
  builder.reserve_links(wires->size());
  for (std::size_t wire = 0; wire < wires->size(); ++wire)
    builder.add_link(as_link(topology, wires->spans(LinkId::at(wire)), holder_of));
  if (auto shape = wired_shape(topology); shape && holders.size() == topology.npus())
    builder.declare_shape(*std::move(shape));
  builder.declare_wires(std::move(wires));
  auto wired = std::move(builder).build();
  if (!wired) return wired;
  return given.give_routes(*wired, holder_of);
}

namespace {

/// The ways of a network whose switches buffer, and the links that they are.
class RelayWires {
 public:
  RelayWires(const Topology& network, Bytes chunk) : network_(network), chunk_(chunk), builder_(network.npus()) {}

  /// Adds all ways that begin with a link, in order of their last link. False where one is no way.
  bool add_from(LinkId link) {
    const VertexId next = network_.target(link);
    if (network_.is_npu(next)) return add(std::array{link});
    return std::ranges::all_of(network_.out_links(next), [&](LinkId down) {
      return network_.target(down) == network_.source(link) || add(std::array{link, down});
    });
  }

  /// Adds the way over these links of a path. False where they are no way: they differ, nothing may wait at the switch,
  /// or they are more than two. Over links that are alike, virtual cut-through passes on from the first byte on.
  bool add(std::span<const LinkId> path) {
    Link way = network_.link(path.front());
    spans_.push_back({path.front(), SimTime::zero()});
    for (const LinkId down : path.subspan(1)) {
      if (path.size() > 2 || cuts_through(network_, way.target)) return false;
      if (network_.class_of(down) != network_.class_of(path.front())) return false;
      const SimTime received =
          passes_on_early(network_, way.target)
              ? way.alpha
              : way.alpha + serialization_time(chunk_, network_.classes()[network_.class_of(down)]);
      spans_.push_back({down, received});
      way.target = network_.target(down);
      way.alpha = received + network_.alpha(down);
    }
    builder_.add_link(way);
    first_.push_back(spans_.size());
    return true;
  }

  void declare(Shape shape) { builder_.declare_shape(std::move(shape)); }
  void declare(UnwoundShape shape) { builder_.declare_unwound_shape(std::move(shape)); }

  std::optional<Topology> build() && {
    builder_.declare_wires(std::make_shared<const Wires>(std::make_shared<const Topology>(network_), std::move(first_),
                                                         std::move(spans_)));
    auto built = std::move(builder_).build();
    return built ? std::optional(*std::move(built)) : std::nullopt;
  }

 private:
  const Topology& network_;
  Bytes chunk_;
  TopologyBuilder builder_;
  std::vector<std::uint64_t> first_{0};
  std::vector<WireSpan> spans_;
};

}  // namespace

std::optional<Topology> relay_wires_of(const Topology& topology, Bytes chunk) {
  if (topology.switches() == 0 || topology.wires() != nullptr) return std::nullopt;
  auto shape = wired_shape(topology);
  if (!shape || count_wires(*topology.shape()).wires > kMostWires) return std::nullopt;
  RelayWires ways(topology, chunk);
  for (std::size_t link = 0; link < topology.links(); ++link)
    if (topology.is_npu(topology.source(LinkId::at(link))) && !ways.add_from(LinkId::at(link))) return std::nullopt;
  ways.declare(*std::move(shape));
  return std::move(ways).build();
}

std::optional<Topology> relay_wires_of(const Topology& topology, const UnwoundNetwork& unwound, Bytes chunk) {
  const auto& shape = unwound.topology.unwound_shape();
  if (!shape || topology.wires() != nullptr || topology.varies()) return std::nullopt;
  RelayWires ways(topology, chunk);
  for (std::size_t link = 0; link < unwound.topology.links(); ++link)
    if (!ways.add(unwound.path(LinkId::at(link)))) return std::nullopt;
  ways.declare(*shape);
  return std::move(ways).build();
}

WireCounts count_wires(const Shape& shape) {
  const auto counts = count_shape(shape);
  if (counts.switches == 0) return {};
  const std::uint64_t npus = shape.npus();
  if (!shape.is_product()) {
    constexpr std::uint64_t longest = 6;  // links of a path up and down three levels of switches
    const std::uint64_t wires = npus * (npus - 1) * kMostWiresPerPair;
    return {wires, wires * longest};
  }
  WireCounts wires;
  for (std::size_t index = 0; index < shape.dimensions(); ++index) {
    const Block& block = shape.blocks[index];
    const bool switched = block.rule->wired != nullptr;
    const std::uint64_t links =
        (switched ? block.rule->wired(block) : block.rule)->count_links(dimension_of(shape, index));
    wires.wires += links;
    wires.spans += switched ? links * block.rule->diameter_hops(block) : links;
  }
  return wires;
}

std::uint64_t wire_bytes(std::uint64_t npus, const WireCounts& counts) {
  // The search's lists and their sorted copies; then the topology of wires while it is built.
  return counts.wires * (sizeof(FoundWire) + sizeof(std::uint64_t)) + counts.spans * 2 * sizeof(WireSpan) +
         topology_bytes({npus, 0, counts.wires});
}

}  // namespace tenex
