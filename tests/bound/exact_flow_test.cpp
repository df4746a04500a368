// The exact flow bound: numbers derived by hand, and the optimum of another linear program on small graphs. Chunks of
// 1 MB, links of 50 GB/s without alpha unless said otherwise: 20 us per chunk and link, a step. Loads are those of one
// chunk per pair; every pair has 1000, so that times of whole chunks are close to those of flows.
#include "bound/exact/methods.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <ClpSimplex.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "bound/graphs.hpp"
#include "tenex/bound/flow.hpp"

namespace tenex {
namespace {

constexpr std::int64_t kFlowChunks = 1000;
constexpr SimTime kFlowsStep = microseconds(20) * kFlowChunks;

/// Every member has 1000 chunks of 1 MB for every member of its group.
Collective all_pairs(std::size_t npus, std::string_view groups = "all") {
  const auto members = parse_groups(groups, npus).value().front().members.size();
  return support::collective(CollectiveKind::all_to_all, npus,
                             bytes(1'000'000) * (kFlowChunks * static_cast<std::int64_t>(members)), kFlowChunks,
                             groups);
}

SimTime fluid_flow_time(const Topology& topology, std::string_view groups = "all", bool single_chunks = true) {
  const auto collective = all_pairs(topology.npus(), groups);
  BoundProblem problem{{topology, collective, Occupancy::serialization}};
  problem.single_chunks = single_chunks;
  problem.divisible = !single_chunks;
  const auto found = exact_flow_bound(problem).value();
  EXPECT_EQ(check_flow(problem, found.weights), found.time);
  return found.time;
}

/// The rows and columns of a linear program, as Clp takes them.
struct Columns {
  std::vector<int> starts{0};
  std::vector<int> rows;
  std::vector<double> values;
  std::vector<double> costs;

  void put(std::size_t row, double value) {
    rows.push_back(static_cast<int>(row));
    values.push_back(value);
  }
  void end(double cost) {
    starts.push_back(static_cast<int>(rows.size()));
    costs.push_back(cost);
  }
};

/// The time of the best flow in picoseconds for one chunk per pair, as a program of its own: per source and link, what
/// the link carries of the source's chunks. Every vertex but the source keeps one chunk if it is to have one. The
/// greatest time of a link is the least possible.
double best_flow(const Topology& topology, const Collective& collective) {
  Columns columns;
  std::vector<double> kept;  // per row: a source and a vertex
  for (const auto& group : collective.groups())
    for (const auto from : group.members) {
      const auto first_row = topology.links() + kept.size();
      kept.resize(kept.size() + topology.vertices(), 0);
      for (const auto to : group.members)
        if (to != from) kept[first_row - topology.links() + to.index()] = 1;
      for (std::size_t l = 0; l < topology.links(); ++l) {
        const auto link = topology.link(LinkId::at(l));
        if (link.target == vertex_of(from)) continue;
        columns.put(l, 1e18 / static_cast<double>(link.bandwidth.count()));
        columns.put(first_row + link.target.index(), 1);
        if (link.source != vertex_of(from)) columns.put(first_row + link.source.index(), -1);
        columns.end(0);
      }
    }
  for (std::size_t l = 0; l < topology.links(); ++l) columns.put(l, -1e7);
  columns.end(1);  // the time in 10 us: numbers near one
  ClpSimplex solver;
  solver.setLogLevel(0);
  solver.resize(static_cast<int>(topology.links() + kept.size()), 0);
  for (int row = 0; row < solver.numberRows(); ++row) {
    const auto vertex_row = static_cast<std::size_t>(row) - topology.links();
    if (static_cast<std::size_t>(row) < topology.links())
      solver.setRowBounds(row, -COIN_DBL_MAX, 0);
    else
      solver.setRowBounds(row, kept[vertex_row], kept[vertex_row]);
  }
  solver.addColumns(static_cast<int>(columns.costs.size()), nullptr, nullptr, columns.costs.data(),
                    columns.starts.data(), columns.rows.data(), columns.values.data());
  solver.dual();
  EXPECT_EQ(solver.status(), 0);
  return solver.objectiveValue() * 1e7;
}

/// The bound over the best flow. By bytes, where nothing is rounded to chunks.
double share_of_best_flow(const Topology& topology, std::string_view groups = "all") {
  const auto bound = static_cast<double>(fluid_flow_time(topology, groups, false).count());
  return bound / kFlowChunks / best_flow(topology, all_pairs(topology.npus(), groups));
}

RC_GTEST_PROP(ExactFlowProperties, IsTheBestFlowOfSmallGraphs, ()) {
  const auto npus = *rc::gen::inRange<std::uint32_t>(2, 8);
  const auto topology = support::random_graph(npus, *rc::gen::inRange<std::uint32_t>(0, 3));
  const std::string groups = npus < 4 || *rc::gen::arbitrary<bool>() ? "all" : npus < 6 ? "0,2; 1,3" : "0-2; 3-5";
  const auto share = share_of_best_flow(topology, groups);
  RC_ASSERT(!testing::Test::HasFailure());
  RC_ASSERT(share >= 1 - 2e-6);
  RC_ASSERT(share <= 1 + 1e-7);
  const auto collective = all_pairs(npus, groups);
  const auto searched = flow_bound({topology, collective, Occupancy::serialization}, 1'000'000).value().time;
  RC_ASSERT(static_cast<double>(fluid_flow_time(topology, groups).count()) >=
            static_cast<double>(searched.count()) * 0.99999);
}

TEST(ExactFlow, IsTheBestFlowOfGraphsWithoutSymmetry) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const auto topology = support::random_connected_topology(seed, 24, false);
    std::vector<Link> links;  // without alpha, and some of half the bandwidth
    for (std::size_t l = 0; l < topology.links(); ++l) {
      links.push_back(topology.link(LinkId::at(l)));
      links.back().alpha = SimTime::zero();
      links.back().bandwidth = gigabytes_per_second(seed % 2 == 0 && l % 3 == 0 ? 25 : 50);
    }
    EXPECT_NEAR(share_of_best_flow(support::graph(topology.npus(), links)), 1, 1e-6) << seed;
  }
}

TEST(ExactFlow, OfLinesAndMeshesIsTheirMiddle) {
  // Half of the NPUs send to the other half over the links of the middle: 4 * 4 chunks over one link each way, 32 * 32
  // over 8, 72 * 72 over 12. A line of 5: 2 * 3 over one.
  EXPECT_EQ(fluid_flow_time(support::line(5, SimTime::zero())), kFlowsStep * 6);
  EXPECT_EQ(fluid_flow_time(support::line(8, SimTime::zero())), kFlowsStep * 16);
  EXPECT_EQ(fluid_flow_time(support::mesh(8, 8, SimTime::zero())), kFlowsStep * 128);
  EXPECT_EQ(fluid_flow_time(support::mesh(12, 12, SimTime::zero())), kFlowsStep * 432);
}

TEST(ExactFlow, OfAMeshWithoutALinkOfItsMiddle) {
  // 32 * 32 chunks over the 7 links that are left: 1024 / 7 chunks of each pair's 1000, rounded up to whole chunks.
  const auto mesh = support::mesh(8, 8, SimTime::zero());
  std::vector<bool> drop(mesh.links(), false);
  for (std::size_t l = 0; l < mesh.links(); ++l)
    drop[l] = mesh.source(LinkId::at(l)) == VertexId(19) && mesh.target(LinkId::at(l)) == VertexId(20);
  EXPECT_EQ(fluid_flow_time(mesh.without(drop)), microseconds(20) * 146286);
}

TEST(ExactFlow, OfRingsAndToriIsTheirDistances) {
  // A ring of even n: distances from an NPU add up to n^2/4; n of them over 2n links make n^2/8. In a torus of 8 x 8
  // the other 63 NPUs are 2 * 8 * 16 = 256 links away together: 64 * 256 over 256 links.
  EXPECT_EQ(fluid_flow_time(support::ring(8, SimTime::zero())), kFlowsStep * 8);
  EXPECT_EQ(fluid_flow_time(support::ring(12, SimTime::zero())), kFlowsStep * 18);
  EXPECT_EQ(fluid_flow_time(support::torus(8, 8, SimTime::zero())), kFlowsStep * 64);
}

TEST(ExactFlow, OfSwitchesIsTheLinksToThem) {
  // 7 chunks leave each of 8 NPUs. In two dimensions, with 180 and 50 GB/s, 56 of 63 take the slow one.
  EXPECT_EQ(fluid_flow_time(support::switched(8, SimTime::zero())), kFlowsStep * 7);
  const auto product =
      support::shape("SW(8)_SW(8)", {SimTime::zero()}, {gigabytes_per_second(180), gigabytes_per_second(50)}, true);
  EXPECT_EQ(fluid_flow_time(product), kFlowsStep * 56);
}

TEST(ExactFlow, OfBoxesAndDragonfliesIsTheLinksBetweenThem) {
  // 16 chunks each way over a link of 10 GB/s.
  EXPECT_EQ(fluid_flow_time(support::two_boxes()), kFlowsStep * 80);
  // 9 fully connected groups of 4, a link of 25 GB/s (two steps) each way per pair of groups: 16 chunks over it.
  std::vector<Link> links;
  for (std::uint32_t a = 0; a < 36; ++a)
    for (std::uint32_t b = 0; b < 36; ++b) {
      const auto ahead = (b / 4 + 9 - a / 4) % 9;  // groups from a's to b's
      if (a != b && ahead == 0) links.push_back(support::link(a, b));
      if (ahead != 0 && (ahead - 1) / 2 == a % 4 && (8 - ahead) / 2 == b % 4) links.push_back(support::link(a, b, 25));
    }
  EXPECT_EQ(fluid_flow_time(support::graph(36, links)), kFlowsStep * 32);
}

TEST(ExactFlow, AddsUpParallelLinksAndGroups) {
  // 1000 chunks over 25 and 50 GB/s together: 333 take 13.32 ms on the slow link, 667 take 13.34 ms on the fast one.
  EXPECT_EQ(
      fluid_flow_time(support::graph(2, {support::link(0, 1, 25), support::link(0, 1), support::link(1, 0, 300)})),
      microseconds(13'340));
  // A line of 4: the middle carries a chunk of 0 and 3 and one of 1 and 2.
  EXPECT_EQ(fluid_flow_time(support::line(4, SimTime::zero()), "0,3; 1,2"), kFlowsStep * 2);
  // NPUs of no group pass chunks on: 0 and 2 of a ring of 4 have two ways.
  EXPECT_EQ(fluid_flow_time(support::ring(4, SimTime::zero()), "0,2"), kFlowsStep / 2);
}

TEST(ExactFlow, HasNoBoundWhereItDoesNotApply) {
  const auto ring = support::ring(4);
  const auto gather = support::collective(CollectiveKind::all_gather, 4, bytes(4'000'000), 1);
  EXPECT_FALSE(exact_flow_bound({ring, gather, Occupancy::transfer}));
  const auto pair = all_pairs(2);
  EXPECT_FALSE(exact_flow_bound({support::graph(2, {}), pair, Occupancy::transfer}));
  EXPECT_EQ(fluid_flow_time(support::graph(2, {support::link(0, 1)})), SimTime::max());  // no way back
}

TEST(ExactFlow, IsSilentAndTheSameAgain) {
  const auto topology = support::random_connected_topology(3, 20, true);
  const auto collective = all_pairs(topology.npus());
  const BoundProblem problem{{topology, collective, Occupancy::transfer}};
  testing::internal::CaptureStdout();
  const auto once = exact_flow_bound(problem).value();
  const auto again = exact_flow_bound(problem).value();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(once.time, again.time);
  EXPECT_EQ(once.weights, again.weights);
}

}  // namespace
}  // namespace tenex
