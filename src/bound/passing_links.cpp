// Least alphas and widest paths from all holders at once, by Dijkstra over the cut-through switches.
#include "bound/passing_links.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "tenex/bound/bound.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {

namespace {

/// Per vertex, the best path over cut-through switches from any holder (or to any, `backward`); `none` for holders.
template <class Value, class Better, class Extend>
std::vector<Value> best_paths(const Topology& network, bool backward, Value none, Value worst, Better better,
                              Extend extend) {
  std::vector<Value> best(network.vertices(), worst);
  using Entry = std::pair<Value, VertexId>;
  const auto later = [&](const Entry& a, const Entry& b) { return better(b.first, a.first); };
  std::priority_queue<Entry, std::vector<Entry>, decltype(later)> open(later);
  for (std::size_t v = 0; v < network.vertices(); ++v) {
    if (cuts_through(network, VertexId::at(v))) continue;
    best[v] = none;
    open.emplace(none, VertexId::at(v));
  }
  while (!open.empty()) {
    const auto [value, at] = open.top();
    open.pop();
    if (better(best[at.index()], value)) continue;
    for (const LinkId link : backward ? network.in_links(at) : network.out_links(at)) {
      const VertexId next = backward ? network.source(link) : network.target(link);
      const Value there = extend(value, link);
      if (!cuts_through(network, next) || !better(there, best[next.index()])) continue;
      best[next.index()] = there;
      open.emplace(there, next);
    }
  }
  return best;
}

std::vector<SimTime> least_alphas(const Topology& network, bool backward) {
  return best_paths(network, backward, SimTime::zero(), SimTime::max(), std::less<>(),
                    [&](SimTime before, LinkId link) { return saturating_sum(before, network.alpha(link)); });
}

std::vector<Bandwidth> widest_paths(const Topology& network, bool backward) {
  return best_paths(network, backward, Bandwidth::max(), Bandwidth::zero(), std::greater<>(),
                    [&](Bandwidth before, LinkId link) { return std::min(before, network.bandwidth(link)); });
}

}  // namespace

std::shared_ptr<const PassingLinks> passing_links(const Topology& network) {
  bool any = false;
  for (std::size_t v = network.npus(); v < network.vertices(); ++v) any = any || cuts_through(network, VertexId::at(v));
  if (!any) return nullptr;
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
