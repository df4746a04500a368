// Routes cut where they are held.
#include "topology/given_wires.hpp"

#include <algorithm>
#include <utility>

#include "tenex/topology/routes.hpp"
#include "tenex/topology/wires.hpp"
#include "topology/links_by_target.hpp"
#include "topology/route_table.hpp"

namespace tenex {

GivenWires::GivenWires(const Topology& network) : network_(network) {
  if (network.route_table() == nullptr) return;
  Router router(network);
  for (std::size_t to = 0; to < network.npus(); ++to)
    for (std::size_t from = 0; from < network.npus(); ++from) {
      Pair pair{NpuId::at(from), NpuId::at(to), router.route(NpuId::at(from), NpuId::at(to))};
      const bool given = std::ranges::any_of(pair.links, [&](LinkId link) {
        return !network.route_table()->next(network.source(link), pair.source, pair.destination).empty();
      });
      if (given) pairs_.push_back(std::move(pair));
    }
  for (const Pair& pair : pairs_)
    for (auto& path : paths_of(pair)) paths_[network.source(path.front())].push_back(std::move(path));
  for (auto& [holder, paths] : paths_) {
    std::ranges::sort(paths);
    paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  }
}

std::vector<std::vector<LinkId>> GivenWires::paths_of(const Pair& pair) const {
  std::vector<std::vector<LinkId>> paths;
  for (const LinkId link : pair.links) {
    if (!cuts_through(network_, network_.source(link))) paths.emplace_back();
    paths.back().push_back(link);
  }
  return paths;
}

std::span<const std::vector<LinkId>> GivenWires::from(VertexId holder) const {
  const auto found = paths_.find(holder);
  return found == paths_.end() ? std::span<const std::vector<LinkId>>() : found->second;
}

Topology GivenWires::give_routes(const Topology& wired, const std::vector<VertexId>& holder_of) const {
  if (pairs_.empty()) return wired;
  const LinksByTarget wires(wired);
  GivenRoutes given;
  for (const Pair& pair : pairs_) {
    GivenRoute route;
    route.from = {pair.source.value(), pair.source.value()};
    route.to = {pair.destination.value(), pair.destination.value()};
    for (const auto& path : paths_of(pair)) {
      const VertexId begin = holder_of[network_.source(path.front()).index()];
      const VertexId end = holder_of[network_.target(path.back()).index()];
      const auto parallel = wires.between(begin, end);
      const auto same = std::ranges::find_if(parallel, [&](LinkId wire) {
        return std::ranges::equal(wired.wires()->spans(wire), path, {}, &WireSpan::link);
      });
      ensure(same != parallel.end(), "the path of a given route is a wire");
      if (begin != vertex_of(pair.source)) route.through.push_back(begin);
      route.links.push_back(static_cast<std::uint32_t>(same - parallel.begin()));
    }
    given.routes.push_back(std::move(route));
  }
  auto table = RouteTable::make(wired, given);
  ensure(table.ok(), "given routes over wires are sound");
  return wired.with_route_table(*std::move(table));
}

}  // namespace tenex
