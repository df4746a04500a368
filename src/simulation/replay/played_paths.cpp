// A path goes hop by hop, or wire by wire where the network is one of wires.
#include "simulation/replay/played_paths.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tenex/topology/wires.hpp"

namespace tenex {

/// Finds the paths one after another.
class PlayedPathFinder {
 public:
  PlayedPathFinder(const Topology& network, std::size_t links) : network_(network), wires_(network.wires()) {
    paths_.begins_.reserve(links + 1);
  }

  /// Adds the path of the next unwound link; returns whether the network has one. Where no wire takes its links, for
  /// there are wires over some of many parallel paths only, it ends with the shortest wire to the same NPU.
  bool add(const Link& ends, std::span<const LinkId> path) {
    auto& hops = paths_.hops_;
    if (wires_ == nullptr) {
      hops.insert(hops.end(), path.begin(), path.end());
    } else {
      for (auto at = ends.source; at != ends.target; at = network_.target(hops.back())) {
        auto wire = longest_wire(at, path);
        path = wire.exists() ? path.subspan(wires_->spans(wire).size()) : std::span<const LinkId>();
        if (!wire.exists()) wire = shortest_wire(at, ends.target);
        if (!wire.exists()) return false;
        hops.push_back(wire);
      }
    }
    paths_.begins_.push_back(hops.size());
    return true;
  }
  [[nodiscard]] PlayedPaths take() { return std::move(paths_); }

 private:
  /// The wire from `from` that takes the most links of the beginning of the path, and no other; none if there is none.
  [[nodiscard]] LinkId longest_wire(VertexId from, std::span<const LinkId> path) const {
    LinkId longest = LinkId::none();
    std::size_t most = 0;
    for (const auto wire : network_.out_links(from)) {
      const auto spans = wires_->spans(wire);
      if (spans.size() <= most || spans.size() > path.size()) continue;
      const bool same = std::equal(spans.begin(), spans.end(), path.begin(),
                                   [](const auto& span, LinkId link) { return span.link == link; });
      if (!same) continue;
      longest = wire;
      most = spans.size();
    }
    return longest;
  }

  /// The wire between two vertices that takes the fewest links; none if there is none.
  [[nodiscard]] LinkId shortest_wire(VertexId from, VertexId to) const {
    LinkId shortest = LinkId::none();
    for (const auto wire : network_.out_links(from))
      if (network_.target(wire) == to &&
          (!shortest.exists() || wires_->spans(wire).size() < wires_->spans(shortest).size()))
        shortest = wire;
    return shortest;
  }

  const Topology& network_;
  const Wires* wires_;
  PlayedPaths paths_;
};

namespace {

/// Whether these physical links lead from one end of an unwound link to the other.
bool joins(const Topology& physical, std::span<const LinkId> path, const Link& ends) {
  auto at = ends.source;
  for (const auto link : path) {
    if (link.index() >= physical.links() || physical.source(link) != at) return false;
    at = physical.target(link);
  }
  return at == ends.target;
}

}  // namespace

Result<PlayedPaths> find_played_paths(const Topology& network, const UnwoundNetwork& unwound) {
  const auto links = unwound.topology.links();
  PlayedPathFinder finder(network, links);
  for (std::size_t l = 0; l < links; ++l) {
    const auto path = unwound.path(LinkId::at(l));
    const auto ends = unwound.topology.link(LinkId::at(l));
    if (!joins(physical_network(network), path, ends) || !finder.add(ends, path))
      return input_error({}, fmt::format("the network has no path for the unwound link {}", l),
                         "it was not made from this network", "name the network that was unwound");
  }
  return finder.take();
}

}  // namespace tenex
