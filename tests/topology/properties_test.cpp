// Properties over random graphs and random shapes, against slow and obvious references.
#include <algorithm>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/topologies.hpp"
#include "tenex/topology/distance.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/transform.hpp"
#include "topology/neighbours.hpp"

namespace tenex {
namespace {

using support::all_links;

constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 4;

/// Least total cost from every vertex to every vertex by relaxing all links until nothing changes.
template <class Cost>
std::vector<std::vector<std::int64_t>> naive_distances(const Topology& topology, Cost&& cost) {
  std::vector distances(topology.vertices(), std::vector<std::int64_t>(topology.vertices(), kFar));
  for (std::size_t from = 0; from < topology.vertices(); ++from) {
    distances[from][from] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const Link& link : all_links(topology)) {
        const std::int64_t by_link = distances[from][link.source.index()] + cost(link);
        if (by_link >= distances[from][link.target.index()]) continue;
        distances[from][link.target.index()] = by_link;
        changed = true;
      }
    }
  }
  return distances;
}

Topology random_graph() {
  const auto seed = *rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>());
  return support::random_connected_topology(seed, 12, *rc::gen::arbitrary<bool>());
}

/// A number from the whole range in every case; rapidcheck's own generator starts with small ones.
template <class T>
T draw(T least, T beyond) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(least, beyond));
}

/// A random product of up to three blocks with up to five NPUs each, or eight on a tree of switches.
Shape random_product() {
  const auto names = rc::gen::element("RI", "FC", "SW", "LI");
  Shape shape;
  const int dimensions = draw(1, 4);
  const auto trees = rc::gen::element("SW(4,2)", "SW(6,3)", "SW(8,4:2)", "SW(8,2,4:2)");
  for (int i = 0; i < dimensions; ++i)
    shape.blocks.push_back(draw(0, 5) > 0 ? support::block(*names, draw(1U, 6U)) : parse_shape(*trees)->blocks[0]);
  return shape;
}

Topology build(const Shape& shape) {
  ShapeLinks links;
  for (std::size_t i = 0; i < shape.dimensions(); ++i) {
    links.alpha.push_back(nanoseconds(draw(0, 5)));
    links.bandwidth.push_back(gigabytes_per_second(draw(1, 5)));
  }
  return build_topology(shape, links).value();
}

RC_GTEST_PROP(TopologyProperties, RandomTopologiesAreConnected, ()) {
  RC_ASSERT(!find_disconnected_pair(random_graph()).has_value());
}

RC_GTEST_PROP(TopologyProperties, ReversingTwiceIsTheIdentity, ()) {
  const Topology topology = *rc::gen::arbitrary<bool>() ? random_graph() : build(random_product());
  const Topology back = topology.reversed().reversed();
  RC_ASSERT(all_links(back) == all_links(topology));
  RC_ASSERT(back.shape() == topology.shape());
  for (std::size_t v = 0; v < topology.vertices(); ++v) {
    const auto vertex = VertexId::at(v);
    RC_ASSERT(std::ranges::equal(back.out_links(vertex), topology.out_links(vertex)));
    RC_ASSERT(std::ranges::equal(back.in_links(vertex), topology.in_links(vertex)));
  }
}

RC_GTEST_PROP(TopologyProperties, ReversalTurnsDistancesAround, ()) {
  const Topology topology = random_graph();
  const Topology turned = topology.reversed();
  const auto hops = [](const Link&) { return 1; };
  const auto there = naive_distances(topology, hops);
  const auto back = naive_distances(turned, hops);
  for (std::size_t a = 0; a < topology.vertices(); ++a) {
    for (std::size_t b = 0; b < topology.vertices(); ++b) RC_ASSERT(there[a][b] == back[b][a]);
  }
}

RC_GTEST_PROP(RouteProperties, RoutesOfGraphsHaveFewestHopsAndTheLowestLinks, ()) {
  const Topology topology = random_graph();
  const auto distance = naive_distances(topology, [](const Link&) { return 1; });
  Router router(topology);
  for (std::size_t at = 0; at < topology.npus(); ++at) {
    for (std::size_t to = 0; to < topology.npus(); ++to) {
      LinkId lowest = LinkId::none();
      for (const LinkId link : topology.out_links(VertexId::at(at))) {
        const bool nearer = distance[topology.target(link).index()][to] == distance[at][to] - 1;
        if (nearer) lowest = std::min(lowest, link);
      }
      RC_ASSERT(router.next_link(VertexId::at(at), NpuId::at(at), NpuId::at(to)) == lowest);
      RC_ASSERT(static_cast<std::int64_t>(router.route(NpuId::at(at), NpuId::at(to)).size()) == distance[at][to]);
    }
  }
}

RC_GTEST_PROP(RouteProperties, RoutesOfProductsAreShortestAndInDimensionOrder, ()) {
  const Shape shape = random_product();
  const Topology topology = build(shape);
  const auto distance = naive_distances(topology, [](const Link&) { return 1; });
  Router router(topology);
  for (std::uint32_t from = 0; from < topology.npus(); ++from) {
    for (std::uint32_t to = 0; to < topology.npus(); ++to) {
      const auto route = router.route(NpuId(from), NpuId(to));
      RC_ASSERT(static_cast<std::int64_t>(route.size()) == distance[from][to]);
      // Once a dimension is right, it and those before it stay right.
      std::size_t settled = 0;
      const auto goal = coordinates_of(shape, NpuId(to));
      for (const LinkId link : route) {
        if (!topology.is_npu(topology.target(link))) continue;
        const auto here = coordinates_of(shape, npu_of(topology.target(link)));
        const auto right = static_cast<std::size_t>(std::ranges::mismatch(here, goal).in1 - here.begin());
        RC_ASSERT(right >= settled);
        settled = right;
      }
    }
  }
}

RC_GTEST_PROP(DistanceProperties, ArrivalsMatchRelaxation, ()) {
  const Topology topology = random_graph();
  const Bytes size = bytes(draw<std::int64_t>(0, 100'000));
  const auto reference = naive_distances(
      topology, [&](const Link& link) { return (link.alpha + serialization_time(size, link.bandwidth)).count(); });
  for (std::size_t from = 0; from < topology.vertices(); ++from) {
    const auto arrival = arrival_times(topology, VertexId::at(from), size);
    for (std::size_t to = 0; to < topology.vertices(); ++to) RC_ASSERT(arrival[to].count() == reference[from][to]);
  }
}

RC_GTEST_PROP(DistanceProperties, DiameterByDimensionEqualsTheSearch, ()) {
  const Topology topology = build(random_product());
  RC_ASSERT(latency_diameter(topology) == latency_diameter(support::without_shape(topology)));
}

RC_GTEST_PROP(UnwindingProperties, UnwindingKeepsConnectionAndOutgoingBandwidth, ()) {
  const std::uint32_t npus = draw(2U, 12U);
  const std::uint32_t degree = draw(1U, 14U);
  const Topology direct = unwind_switches(support::switched(npus), degree).value();
  RC_ASSERT(direct.switches() == 0U);
  RC_ASSERT(!find_disconnected_pair(direct).has_value());
  const std::uint32_t used = std::min(degree, npus - 1);
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    RC_ASSERT(direct.out_links(VertexId(npu)).size() == used);
    RC_ASSERT(direct.in_links(VertexId(npu)).size() == used);
    Bandwidth total;
    for (const LinkId link : direct.out_links(VertexId(npu))) total += direct.bandwidth(link);
    // Rounding down loses less than 1 B/s per link.
    RC_ASSERT(total <= support::kBandwidth);
    RC_ASSERT((support::kBandwidth - total).count() < used);
  }
}

}  // namespace
}  // namespace tenex
