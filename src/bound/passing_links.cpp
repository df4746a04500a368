// Least alphas and widest paths from all holders at once, by Dijkstra over the cut-through switches.
#include "bound/passing_links.hpp"

#include <algorithm>
#include <functional>

#include "tenex/base/graph/shortest_paths.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {

namespace {

/// Per vertex, the best path over cut-through switches from any holder (or to any, `backward`); `none` for holders.
template <class Better, class Value, class Extend>
std::vector<Value> best_paths(const Topology& network, bool backward, Value none, Value worst, Extend extend) {
  std::vector<Value> best(network.vertices(), worst);
  BestPaths<Value, Better> paths(best);
  for (std::uint32_t v = 0; v < network.vertices(); ++v)
    if (!cuts_through(network, VertexId(v))) paths.reach(v, none);
  while (const auto at = paths.next()) {
    const VertexId vertex(at->vertex);
    for (const LinkId link : backward ? network.in_links(vertex) : network.out_links(vertex)) {
      const VertexId next = backward ? network.source(link) : network.target(link);
      if (cuts_through(network, next)) paths.reach(next.value(), extend(at->cost, link));
    }
  }
  return best;
}

std::vector<SimTime> least_alphas(const Topology& network, bool backward) {
  return best_paths<std::less<>>(network, backward, SimTime::zero(), SimTime::max(), [&](SimTime before, LinkId link) {
    return saturating_sum(before, network.alpha(link));
  });
}

std::vector<Bandwidth> widest_paths(const Topology& network, bool backward) {
  return best_paths<std::greater<>>(
      network, backward, Bandwidth::max(), Bandwidth::zero(),
      [&](Bandwidth before, LinkId link) { return std::min(before, network.bandwidth(link)); });
}

}  // namespace

std::shared_ptr<const PassingLinks> passing_links(const Topology& network) {
  if (!any_cuts_through(network)) return nullptr;
  const auto alphas_to = least_alphas(network, false);
  const auto alphas_from = least_alphas(network, true);
  const auto width_to = widest_paths(network, false);
  const auto width_from = widest_paths(network, true);
  TopologyBuilder builder(network.npus());
  for (std::size_t v = network.npus(); v < network.vertices(); ++v)
    builder.add_switch(network.switch_properties(VertexId::at(v)));
  builder.reserve_links(network.links());
  for (std::size_t l = 0; l < network.links(); ++l) {
    Link link = network.link(LinkId::at(l));
    const auto from = link.source.index();
    const auto to = link.target.index();
    const Bandwidth width = std::min(width_to[from], width_from[to]);
    // A link to or from a switch without another way on carries nothing; it may count as it is.
    const bool passes = cuts_through(network, link.source) || cuts_through(network, link.target);
    if (passes && width > Bandwidth::zero()) {
      link.alpha = saturating_sum(saturating_sum(alphas_to[from], link.alpha), alphas_from[to]);
      link.bandwidth = std::min(width, network.bandwidth(LinkId::at(l)));
      link.slowdown = kNoSlowdown;
    }
    builder.add_link(link);
  }
  if (network.shape()) builder.declare_shape(*network.shape());
  PassingLinks links{std::move(builder).build().value(), {}};
  links.own_alpha.assign(links.topology.classes().size(), SimTime::max());
  for (std::size_t l = 0; l < network.links(); ++l) {
    auto& least = links.own_alpha[links.topology.class_of(LinkId::at(l))];
    least = std::min(least, network.alpha(LinkId::at(l)));
  }
  return std::make_shared<const PassingLinks>(std::move(links));
}

}  // namespace tenex
