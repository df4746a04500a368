// Given routes that repeat what a rule of routes takes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "tenex/topology/given_routes.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex::support {

/// Which of the parallel links a link is.
inline std::uint32_t number_of(const Topology& topology, LinkId link) {
  const auto row = topology.out_links(topology.source(link));
  return static_cast<std::uint32_t>(std::ranges::count_if(
      row, [&](LinkId other) { return other < link && topology.target(other) == topology.target(link); }));
}

/// A route for every pair of NPUs, with its links: what a rule takes.
inline GivenRoutes repeated_routes(const Topology& topology, RouteChoice choice = {}) {
  GivenRoutes given;
  Router router(topology, choice);
  for (std::uint32_t to = 0; to < topology.npus(); ++to)
    for (std::uint32_t from = 0; from < topology.npus(); ++from) {
      if (from == to) continue;
      GivenRoute route{{}, {from, from}, {to, to}, {}, {}};
      for (const LinkId link : router.route(NpuId(from), NpuId(to))) {
        if (topology.target(link).value() != to) route.through.push_back(topology.target(link));
        route.links.push_back(number_of(topology, link));
      }
      if (!route.links.empty()) given.routes.push_back(std::move(route));
    }
  return given;
}

/// A next hop with its link for every vertex and NPU, where the choice does not depend on the source.
inline GivenRoutes repeated_hops(const Topology& topology) {
  GivenRoutes given;
  Router router(topology);
  std::set<std::pair<VertexId, std::uint32_t>> told;
  for (std::uint32_t to = 0; to < topology.npus(); ++to)
    for (std::uint32_t from = 0; from < topology.npus(); ++from)
      for (const LinkId link : router.route(NpuId(from), NpuId(to)))
        if (told.emplace(topology.source(link), to).second)
          given.hops.push_back({{}, topology.source(link), {to, to}, topology.target(link), number_of(topology, link)});
  return given;
}

}  // namespace tenex::support
