// The cut bound against all sets of vertices of small graphs, and against numbers derived by hand. Chunks of 1 MB,
// links of 50 GB/s without alpha: a chunk takes 20 us on a link.
#include "tenex/bound/cut.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "bound/graphs.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

using enum CollectiveKind;

using support::link;

constexpr SimTime kCutStep = microseconds(20);
constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

Collective cut_megabytes(CollectiveKind kind, std::size_t npus, std::int64_t chunks = 1) {
  const std::int64_t pieces = has_root(kind) ? chunks : chunks * static_cast<std::int64_t>(npus);
  return support::collective(kind, npus, bytes(1'000'000) * pieces, chunks);
}

CertifiedBound bound_of(const Topology& topology, const Collective& collective) {
  return cut_bound({topology, collective, Occupancy::serialization}, kNoLimit).value();
}

/// Chunks that must leave a set per GB/s of the links that leave it, by the definitions in cut.hpp; infinite without
/// links.
double density(const Topology& topology, const Collective& collective, std::uint32_t set) {
  const auto has = [&](VertexId vertex) { return (set >> vertex.value() & 1U) != 0; };
  double inside = 0;
  double outside = 0;
  for (std::uint32_t npu = 0; npu < topology.npus(); ++npu) (has(VertexId(npu)) ? inside : outside) += 1;
  double chunks = 0;
  const auto c = static_cast<double>(collective.chunks_per_npu());
  switch (collective.kind()) {
    case all_gather:
      chunks = outside > 0 ? inside * c : 0;
      break;
    case reduce_scatter:
      chunks = inside > 0 ? outside * c : 0;
      break;
    case all_reduce:
      chunks = inside > 0 && outside > 0 ? (inside + outside) * c : 0;
      break;
    case broadcast:
      chunks = has(VertexId(0)) && outside > 0 ? c : 0;
      break;
    case reduce:
      chunks = !has(VertexId(0)) && inside > 0 ? c : 0;
      break;
    case all_to_all:
      chunks = inside * outside * c;
      break;
    default:
      ADD_FAILURE() << "other kinds have tests of their own";
  }
  double bandwidth = 0;
  for (std::size_t l = 0; l < topology.links(); ++l)
    if (has(topology.source(LinkId::at(l))) && !has(topology.target(LinkId::at(l))))
      bandwidth += static_cast<double>(topology.bandwidth(LinkId::at(l)).count()) / 1e9;
  if (chunks == 0) return 0;
  return bandwidth == 0 ? std::numeric_limits<double>::infinity() : chunks / bandwidth;
}

double densest(const Topology& topology, const Collective& collective) {
  double most = 0;
  for (std::uint32_t set = 1; set + 1 < 1U << topology.vertices(); ++set)
    most = std::max(most, density(topology, collective, set));
  return most;
}

std::uint32_t bits_of(const std::vector<VertexId>& inside) {
  std::uint32_t set = 0;
  for (const auto vertex : inside) set |= 1U << vertex.value();
  return set;
}

constexpr CollectiveKind kSearched[] = {all_gather, reduce_scatter, broadcast, reduce, all_reduce};

// A thousand chunks per NPU, so that whole chunks do not hide the ratio: the set found has the ratio of the densest.
void expect_densest(const Topology& topology, CollectiveKind kind, double precision) {
  const auto collective = cut_megabytes(kind, topology.npus(), 1000);
  const auto found = bound_of(topology, collective);
  EXPECT_EQ(check_cut({topology, collective, Occupancy::serialization}, found.inside), found.time);
  const double most = densest(topology, collective);
  const double its = density(topology, collective, bits_of(found.inside));
  if (its != most) {
    EXPECT_NEAR(its / most, 1, precision) << to_string(kind);
  }
  EXPECT_TRUE(found.densest);
}

TEST(Cut, IsTheDensestSetOfEveryGraphOfFourVertices) {
  const std::uint32_t pairs[12][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 2}, {1, 3},
                                      {2, 0}, {2, 1}, {2, 3}, {3, 0}, {3, 1}, {3, 2}};
  for (std::uint32_t graph = 1; graph < 1U << 12; ++graph) {
    std::vector<Link> links;
    for (std::uint32_t pair = 0; pair < 12; ++pair)
      if ((graph >> pair & 1U) != 0) links.push_back(link(pairs[pair][0], pairs[pair][1]));
    const auto topology = support::graph(4, links);
    for (const auto kind : kSearched) expect_densest(topology, kind, 0);
    if (HasFailure()) FAIL() << "graph " << graph;
  }
}

// Links of three bandwidths (rounded to 2^-20 of the fastest in the search), parallel links, and a switch.
RC_GTEST_PROP(CutProperties, IsTheDensestSetOfRandomGraphs, ()) {
  const auto npus = *rc::gen::inRange<std::uint32_t>(2, 7);
  const auto switches = *rc::gen::inRange<std::uint32_t>(0, 3);
  TopologyBuilder builder(npus);
  for (std::uint32_t s = 0; s < switches; ++s) builder.add_switch();
  const auto vertices = npus + switches;
  const auto count = *rc::gen::inRange<std::uint32_t>(vertices, 4 * vertices);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto from = *rc::gen::inRange<std::uint32_t>(0, vertices);
    const auto step = *rc::gen::inRange<std::uint32_t>(1, vertices);
    builder.add_link(link(from, (from + step) % vertices, *rc::gen::element<std::int64_t>(25, 50, 300)));
  }
  const auto topology = std::move(builder).build().value();
  for (const auto kind : kSearched) expect_densest(topology, kind, 1e-4);
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(Cut, OfAnAllToAllIsTheMiddleOfAMeshWithoutItsShape) {
  // 18 * 18 chunks go over the six links between two halves of a 6x6 mesh: 54 steps. A 4x4x6 grid: 48 * 48 over 16.
  EXPECT_EQ(bound_of(support::mesh(6, 6, SimTime::zero()).without_shape(), cut_megabytes(all_to_all, 36)).time,
            kCutStep * 54);
  const auto grid = support::shape("grid(4,4,6)", {SimTime::zero()});
  EXPECT_EQ(bound_of(grid.without_shape(), cut_megabytes(all_to_all, 96)).time, kCutStep * 144);
}

TEST(Cut, OfAnAllToAllIsASwitchBehindSlowLinks) {
  // SW(8)_SW(64) with 180 and 50 GB/s per NPU, 512 chunks of 1 MB each: 504 of them leave the NPU's own switch, 20 us
  // each. A limit of a millisecond is enough to find that.
  const auto topology =
      support::shape("SW(8)_SW(64)", {SimTime::zero()}, {gigabytes_per_second(180), gigabytes_per_second(50)}, true);
  const auto collective = cut_megabytes(all_to_all, 512);
  EXPECT_EQ(cut_bound({topology, collective, Occupancy::serialization}, 1U << 16U)->time, microseconds(10'080));
}

TEST(Cut, OfAnAllToAllIsABoxBehindSwitchesOfFullSpeed) {
  // Two rings of four NPUs; NPUs 0 and 4 reach a common switch by links as fast as all others: 16 chunks over one.
  TopologyBuilder builder(8);
  builder.add_switch();
  for (const std::uint32_t box : {0U, 4U}) {
    for (std::uint32_t i = 0; i < 4; ++i) builder.add_link_pair(link(box + i, box + (i + 1) % 4));
    builder.add_link_pair(link(box, 8));
  }
  const auto boxes = std::move(builder).build().value();
  EXPECT_EQ(bound_of(boxes, cut_megabytes(all_to_all, 8)).time, kCutStep * 16);
}

TEST(Cut, OfAnAllToAllIsAPodBelowSwitchesOnSwitches) {
  // 4 pods of 2 leaves with 2 NPUs each; both leaves of a pod are joined to its 2 middle switches, and these to one
  // core, all links alike. 4 * 12 chunks leave a pod over 2 links, 24 steps; 2 * 14 a leaf over 2, and 15 an NPU.
  TopologyBuilder builder(16);
  const VertexId core = builder.add_switch();
  for (std::uint32_t pod = 0; pod < 4; ++pod) {
    const VertexId leaves[] = {builder.add_switch(), builder.add_switch()};
    const VertexId middle[] = {builder.add_switch(), builder.add_switch()};
    for (std::uint32_t npu = 0; npu < 4; ++npu) builder.add_link_pair(link(4 * pod + npu, leaves[npu / 2].value()));
    for (const VertexId above : middle) {
      for (const VertexId leaf : leaves) builder.add_link_pair(link(leaf.value(), above.value()));
      builder.add_link_pair(link(above.value(), core.value()));
    }
  }
  const auto tree = std::move(builder).build().value();
  const auto bound = bound_of(tree, cut_megabytes(all_to_all, 16));
  EXPECT_EQ(bound.time, kCutStep * 24);
}

TEST(Cut, OfAnAllToAllIsTheOneWeakLeafWithinAMillisecond) {
  // 64 leaves of 8 NPUs with 4 links up, but leaf 40 has one: 8 * 504 chunks leave it. A look at every leaf takes
  // longer than the limit.
  const auto intact = support::shape("leaf_spine(8,64,4)", {SimTime::zero()});
  std::vector<std::pair<VertexId, VertexId>> failed;
  for (std::uint32_t spine = 0; spine < 3; ++spine) failed.emplace_back(VertexId(512 + 40), VertexId(512 + 64 + spine));
  const auto topology = remove_links(intact, failed).value();
  const auto collective = cut_megabytes(all_to_all, 512);
  EXPECT_EQ(cut_bound({topology, collective, Occupancy::serialization}, 1U << 16U)->time, kCutStep * (8 * 504));
}

TEST(Cut, IsTheCornerOfAMesh) {
  const auto mesh = support::mesh(10, 10, SimTime::zero());
  // 99 chunks over the corner's two links: 50 on one of them.
  const auto gather = bound_of(mesh, cut_megabytes(all_gather, 100));
  EXPECT_EQ(gather.time, kCutStep * 50);
  EXPECT_EQ(gather.inside.size(), 99U);
  EXPECT_TRUE(gather.densest);
  const auto scatter = bound_of(mesh, cut_megabytes(reduce_scatter, 100));
  EXPECT_EQ(scatter.time, kCutStep * 50);
  EXPECT_EQ(scatter.inside.size(), 1U);
}

TEST(Cut, FindsTheLinksBetweenTwoBoxes) {
  // The 4 chunks of one box take 400 us to the other, where an NPU's own in-links need 3 steps.
  const auto boxes = support::two_boxes();
  EXPECT_EQ(bound_of(boxes, cut_megabytes(all_gather, 8)).time, microseconds(400));
  EXPECT_EQ(bound_of(boxes, cut_megabytes(broadcast, 8, 3)).time, microseconds(300));
  // All 8 chunks need contributions from the other box; 16 pairs of NPUs exchange a chunk each way.
  EXPECT_EQ(bound_of(boxes, cut_megabytes(all_reduce, 8)).time, microseconds(800));
  const auto exchange = bound_of(boxes, cut_megabytes(all_to_all, 8));
  EXPECT_EQ(exchange.time, microseconds(1600));
  EXPECT_FALSE(exchange.densest);
}

TEST(Cut, OfAnAllToAllOnTwoSwitchDimensionsIsAPlane) {
  // 512 NPUs with 180 GB/s in switches of 8 and 50 GB/s in switches of 64. The 8 NPUs of one small switch have 8 * 504
  // chunks of 1 MB for the others, over 8 links of 50 GB/s: 504 * 20 us.
  const auto topology =
      support::shape("SW(8)_SW(64)", {SimTime::zero()}, {gigabytes_per_second(180), gigabytes_per_second(50)}, true);
  EXPECT_EQ(bound_of(topology, cut_megabytes(all_to_all, 512)).time, kCutStep * 504);
}

TEST(Cut, AddsTheCountsOfGroups) {
  // A line of four with the groups {0, 3} and {1, 2}: one chunk of each goes over the middle link each way.
  const auto line = support::line(4, SimTime::zero());
  const auto groups =
      Collective::make({all_gather, 4, {{{NpuId(0), NpuId(3)}}, {{NpuId(1), NpuId(2)}}}, 1, bytes(2'000'000), 0})
          .value();
  const auto bound = bound_of(line, groups);
  EXPECT_EQ(bound.time, kCutStep * 2);
  EXPECT_FALSE(bound.densest);
  EXPECT_EQ(check_cut({line, groups, Occupancy::serialization}, std::vector{VertexId(0), VertexId(1)}), kCutStep * 2);
}

TEST(Cut, CountsBytesWhereSendsMayCarrySeveralChunks) {
  // Under `transfer` with an alpha of 1 us three chunks on one link take 3 * 21 us one by one, 61 us in one send.
  const auto line = support::line(4, microseconds(1));
  const auto gather = cut_megabytes(all_gather, 4);
  EXPECT_EQ(cut_bound({line, gather, Occupancy::transfer}, kNoLimit)->time, microseconds(63));
  const BoundProblem shared{{line, gather, Occupancy::transfer}, true, false};
  const auto bound = cut_bound(shared, kNoLimit);
  EXPECT_EQ(bound->time, microseconds(61));
  EXPECT_EQ(check_cut(shared, bound->inside), microseconds(61));
}

// Three chunks of 100 bytes at 60 GB/s, each 1,666.7 ps: one by one 3 * 1,667 ps, in one send 5,000 ps. Over two links
// two of them share one, and in bytes half of all would: chunks are not cut.
TEST(Cut, CountsWholeChunksOfSendsThatCarrySeveral) {
  const auto gather = support::collective(all_gather, 2, bytes(600), 3);
  const auto line = support::line(2, SimTime::zero(), gigabytes_per_second(60));
  const std::vector<VertexId> first{VertexId(0)};
  EXPECT_EQ(check_cut({line, gather, Occupancy::serialization}, first), picoseconds(5001));
  const BoundProblem all{{line, gather, Occupancy::serialization}, true, false};
  EXPECT_FALSE((BoundProblem{line, gather}.holds_for_all()));
  EXPECT_TRUE(all.holds_for_all());
  EXPECT_EQ(check_cut(all, first), picoseconds(5000));
  EXPECT_EQ(cut_time(all, first), picoseconds(5000));
  const auto ring = support::graph(2, {{VertexId(0), VertexId(1), SimTime::zero(), gigabytes_per_second(60)},
                                       {VertexId(0), VertexId(1), SimTime::zero(), gigabytes_per_second(60)},
                                       {VertexId(1), VertexId(0), SimTime::zero(), gigabytes_per_second(60)},
                                       {VertexId(1), VertexId(0), SimTime::zero(), gigabytes_per_second(60)}});
  const BoundProblem twice{{ring, gather, Occupancy::transfer}, true, false};
  EXPECT_EQ(check_cut(twice, first), picoseconds(3334));
  EXPECT_EQ(cut_time(twice, first), picoseconds(3334));
}

TEST(Cut, IsABoundWhereverItsWorkEnds) {
  const auto mesh = support::mesh(8, 8, SimTime::zero());
  const auto gather = cut_megabytes(all_gather, 64);
  for (std::uint64_t work = 1; work < 100'000; work *= 3) {
    const auto bound = cut_bound({mesh, gather, Occupancy::serialization}, work);
    ASSERT_TRUE(bound);
    EXPECT_EQ(check_cut({mesh, gather, Occupancy::serialization}, bound->inside), bound->time);
  }
}

TEST(Cut, ACertificateOfAllOrNoVerticesProvesNothing) {
  const auto ring = support::ring(4, SimTime::zero());
  const auto gather = cut_megabytes(all_gather, 4);
  const BoundProblem problem{ring, gather, Occupancy::serialization};
  EXPECT_EQ(check_cut(problem, {}), SimTime::zero());
  EXPECT_EQ(check_cut(problem, std::vector{VertexId(0), VertexId(1), VertexId(2), VertexId(3)}), SimTime::zero());
  EXPECT_THROW((void)check_cut(problem, std::vector{VertexId(4)}), InvariantError);
}

}  // namespace
}  // namespace tenex
