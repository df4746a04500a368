// Packed Hamiltonian cycles: that they fit, that they are the best on small networks, and which of them take chunks.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "algorithm/ring_packing.hpp"
#include "algorithm/untimed_run.hpp"
#include "support/collectives.hpp"
#include "support/draws.hpp"
#include "support/topologies.hpp"

namespace tenex {
namespace {

constexpr std::uint32_t kNoLimit = 4096;

RingNetwork network_of(const Topology& topology) {
  return ring_networks(topology, support::collective(CollectiveKind::all_reduce, topology.npus(), bytes(10000)))[0];
}

/// Checks that rings are Hamiltonian cycles over arcs, and adds their rates to the loads of the network's links.
void add_loads(const RingNetwork& network, const std::vector<Ring>& rings, std::vector<std::int64_t>& load) {
  for (const auto& [order, rate] : rings) {
    EXPECT_GT(rate, 0);
    auto sorted = order;
    std::ranges::sort(sorted);
    std::vector<std::uint32_t> everyone(network.members());
    std::iota(everyone.begin(), everyone.end(), 0U);
    ASSERT_EQ(sorted, everyone);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto arc = network.arc(order[i], order[(i + 1) % order.size()]);
      ASSERT_NE(arc, RingNetwork::kNoArc);
      for (const auto link : network.links(arc)) load[link] += rate;
    }
  }
}

std::int64_t capacity_of(const RingNetwork& network, const std::vector<std::uint32_t>& links) {
  std::int64_t total = 0;
  for (const auto link : links) total += network.capacities()[link];
  return total;
}

/// The packings of a network, each checked to fit; their total rates in GB/s, increasing.
std::vector<RingPacking> checked_packings(const RingNetwork& network, std::uint32_t most = kNoLimit) {
  auto packings = pack_rings(network, most);
  std::int64_t before = 0;
  for (const auto& packing : packings) {
    EXPECT_GT(packing.rate(), before) << "each is better than those before";
    for (const auto& cut : network.cuts()) EXPECT_LE(packing.rate(), capacity_of(network, cut));
    EXPECT_LE(packing.rings.size(), most);
    before = packing.rate();
    std::vector<std::int64_t> load(network.capacities().size(), 0);
    add_loads(network, packing.rings, load);
    for (std::size_t link = 0; link < load.size(); ++link) EXPECT_LE(load[link], network.capacities()[link]);
  }
  return packings;
}

/// The largest total rate by definition: all cycles, and a textbook simplex tableau with the rule of Bland, in B/s.
double slow_best_rate(const RingNetwork& network) {
  std::vector<std::vector<double>> columns;
  std::vector<std::uint32_t> order(network.members());
  std::iota(order.begin(), order.end(), 0U);
  const auto links = network.capacities().size();
  do {
    std::vector<double> column(links, 0);
    bool exists = true;
    for (std::size_t i = 0; i < order.size() && exists; ++i) {
      const auto arc = network.arc(order[i], order[(i + 1) % order.size()]);
      exists = arc != RingNetwork::kNoArc;
      if (exists)
        for (const auto link : network.links(arc)) ++column[link];
    }
    if (exists) columns.push_back(column);
  } while (std::next_permutation(order.begin() + 1, order.end()));
  const auto width = columns.size() + links + 1;
  std::vector<std::vector<double>> rows(links + 1, std::vector<double>(width, 0));
  for (std::size_t link = 0; link < links; ++link) {
    for (std::size_t c = 0; c < columns.size(); ++c) rows[link][c] = columns[c][link];
    rows[link][columns.size() + link] = 1;
    rows[link].back() = static_cast<double>(network.capacities()[link]) / 1e9;
  }
  for (std::size_t c = 0; c < columns.size(); ++c) rows[links][c] = -1;
  std::vector<std::size_t> basic(links);
  std::iota(basic.begin(), basic.end(), columns.size());
  while (true) {
    std::size_t enters = 0;
    while (enters + 1 < width && rows[links][enters] > -1e-9) ++enters;
    if (enters + 1 == width) return rows[links].back() * 1e9;
    std::size_t leaves = links;
    for (std::size_t row = 0; row < links; ++row) {
      if (rows[row][enters] < 1e-9) continue;
      const auto ratio = [&](std::size_t r) { return rows[r].back() / rows[r][enters]; };
      if (leaves == links || ratio(row) < ratio(leaves) - 1e-12 ||
          (ratio(row) < ratio(leaves) + 1e-12 && basic[row] < basic[leaves]))
        leaves = row;
    }
    const double pivot = rows[leaves][enters];
    for (auto& entry : rows[leaves]) entry /= pivot;
    for (std::size_t row = 0; row <= links; ++row) {
      const double factor = rows[row][enters];
      if (row == leaves || factor == 0) continue;
      for (std::size_t i = 0; i < width; ++i) rows[row][i] -= factor * rows[leaves][i];
    }
    basic[leaves] = enters;
  }
}

/// 3 to 6 NPUs; three of four pairs are linked one way or both, with bandwidths that have no common divisor.
Topology with_odd_bandwidths(std::uint64_t seed) {
  constexpr std::array<std::int64_t, 6> bandwidths{7, 11, 29, 53, 71, 97};
  Random random(seed, 0x6f6464);
  const auto npus = 3 + random.below(4);
  TopologyBuilder builder(npus);
  for (std::uint32_t from = 0; from < npus; ++from)
    for (std::uint32_t to = 0; to < npus; ++to) {
      const auto bandwidth = gigabytes_per_second(bandwidths[random.below(bandwidths.size())]);
      if (from != to && random.below(4) != 0)
        builder.add_link({VertexId(from), VertexId(to), support::kAlpha, bandwidth});
    }
  return std::move(builder).build().value();
}

TEST(RingPackings, AreTheBestOnSmallNetworks) {
  int with_cycles = 0;
  int unequal = 0;
  const int cases = support::draws(60, 200);
  for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(cases); ++seed) {
    SCOPED_TRACE(seed);
    const auto topology =
        seed % 2 == 0 ? with_odd_bandwidths(seed) : support::random_connected_topology(seed, 6, seed % 4 == 1);
    const auto network = network_of(topology);
    const auto packings = checked_packings(network);
    const double best = slow_best_rate(network);
    ASSERT_EQ(packings.empty(), best == 0);
    if (packings.empty()) continue;
    ++with_cycles;
    ASSERT_NEAR(static_cast<double>(packings.back().rate()), best, 1e-6 * best);
    const auto& rings = packings.back().rings;
    unequal += std::ranges::any_of(rings, [&](const Ring& ring) { return ring.rate != rings[0].rate; }) ? 1 : 0;
  }
  EXPECT_GT(with_cycles, cases * 3 / 4);
  EXPECT_GT(unequal, cases * 3 / 20) << "the linear program is needed";
}

TEST(RingPackings, AreTheBestOnSmallShapes) {
  for (const auto* shape : {"FC(4)", "FC(6)", "RI(3)_SW(2)", "SW(5)", "RI(2)_FC(3)", "LI(2)_LI(3)", "SW(2)_SW(3)"}) {
    SCOPED_TRACE(shape);
    auto bandwidths = std::vector{gigabytes_per_second(50), gigabytes_per_second(20)};
    bandwidths.resize(static_cast<std::size_t>(std::ranges::count(std::string_view(shape), '(')));
    const auto network = network_of(support::shape(shape, {support::kAlpha}, bandwidths));
    const double best = slow_best_rate(network);
    ASSERT_NEAR(static_cast<double>(checked_packings(network).back().rate()), best, 1e-6 * best);
  }
}

TEST(RingPackings, OfADgx1AreSixRingsThatUseEveryBrick) {
  // 6 bricks of 25 GB/s leave each of 8 NPUs: no more than 150 GB/s of cycles, and 6 rings of 8 hops are 48 bricks.
  const auto network = network_of(support::dgx1());
  const auto packings = checked_packings(network);
  const auto& best = packings.back();
  ASSERT_EQ(best.rings.size(), 6U);
  std::vector<std::int64_t> load(network.capacities().size(), 0);
  add_loads(network, best.rings, load);
  EXPECT_TRUE(std::ranges::equal(load, network.capacities()));
  // Three cycles, each both ways.
  std::set<std::set<std::pair<std::uint32_t, std::uint32_t>>> cycles;
  for (const auto& ring : best.rings) {
    EXPECT_EQ(ring.rate, 25'000'000'000);
    std::set<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (std::size_t i = 0; i < 8; ++i) pairs.insert(std::minmax(ring.order[i], ring.order[(i + 1) % 8]));
    cycles.insert(pairs);
  }
  EXPECT_EQ(cycles.size(), 3U);
  // The links of two bricks alone form a cycle: two rings of 50 GB/s.
  EXPECT_EQ(checked_packings(network, 2).back().rate(), 100'000'000'000);
}

TEST(RingPackings, UseAllLinksOfToriAndFullyConnectedNetworks) {
  // Every NPU has `degree` links of 50 GB/s; the packings take them all. (Cycles of all links: Kotzig 1973 and Foregger
  // 1978 for tori; Walecki 1883 for FC of an odd number, both ways; Tillson 1980 for FC(8) and FC(16).)
  struct Case {
    const char* shape;
    std::size_t degree;
  };
  for (const auto& [shape, degree] :
       {Case{"RI(9)", 2}, Case{"RI(4)_RI(4)", 4}, Case{"RI(5)_RI(7)", 4}, Case{"RI(16)_RI(16)", 4},
        Case{"RI(3)_RI(4)_RI(5)", 6}, Case{"RI(8)_RI(8)_RI(8)", 6}, Case{"RI(2)_RI(2)_RI(2)_RI(2)", 4},
        Case{"FC(5)", 4}, Case{"FC(8)", 7}, Case{"FC(16)", 15}, Case{"FC(33)", 32}, Case{"RI(4)_FC(4)_SW(4)", 6}}) {
    const auto best = checked_packings(network_of(support::shape(shape))).back();
    EXPECT_EQ(best.rings.size(), degree) << shape;
    EXPECT_EQ(best.rate(), static_cast<std::int64_t>(degree) * 50'000'000'000) << shape;
  }
}

TEST(RingPackings, UseAllLinksOfNetworksWithoutAPlan) {
  // Rates that no packing can exceed: those of the links out of an NPU, in GB/s. An odd degree needs cycles of half a
  // link's rate, or cycles that differ in the two directions.
  struct Case {
    const char* shape;
    std::vector<std::int64_t> bandwidths;
    std::int64_t rate;
  };
  for (const auto& [shape, bandwidths, rate] :
       {Case{"RI(2)_RI(2)_RI(2)_RI(2)_RI(2)", {50}, 250}, Case{"dragonfly(4,5)", {50}, 200},
        Case{"dragonfly(8,9)", {50}, 400}, Case{"slim_fly(5)", {50}, 350}, Case{"RI(4)_FC(4)", {50}, 250},
        Case{"RI(8)_RI(8)", {100, 25}, 250}, Case{"RI(4)_RI(4)_RI(4)", {100, 50, 25}, 350}}) {
    std::vector<Bandwidth> links;
    for (const auto each : bandwidths) links.push_back(gigabytes_per_second(each));
    const auto packings = checked_packings(network_of(support::shape(shape, {support::kAlpha}, links)));
    EXPECT_EQ(packings.back().rate(), rate * 1'000'000'000) << shape;
  }
}

TEST(RingPackings, FitOnLargerNetworksOfUnequalLinks) {
  // Checked by checked_packings(); the rates here are only those that any search should find.
  for (const auto* shape :
       {"RI(2)_FC(4)_SW(4)", "LI(3)_LI(6)_RI(5)", "SW(4)_SW(8)", "FC(4)_RI(3)_SW(2)", "dragonfly(4,5)"}) {
    SCOPED_TRACE(shape);
    const auto text = std::string(shape);
    auto bandwidths = std::vector{gigabytes_per_second(90), gigabytes_per_second(40), gigabytes_per_second(30)};
    bandwidths.resize(text == "dragonfly(4,5)" ? 1 : static_cast<std::size_t>(std::ranges::count(text, '(')));
    const auto packings = checked_packings(network_of(support::shape(shape, {support::kAlpha}, bandwidths)), 16);
    ASSERT_FALSE(packings.empty());
  }
}

TEST(RingNetworks, HaveCutsThatEveryCycleTakes) {
  int cuts = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const auto network = network_of(seed % 2 == 0 ? with_odd_bandwidths(seed)
                                                  : support::shape(seed % 4 == 1 ? "SW(3)_SW(2)" : "LI(2)_LI(3)"));
    std::vector<std::uint32_t> order(network.members());
    std::iota(order.begin(), order.end(), 0U);
    const auto all = network.cuts();
    cuts += static_cast<int>(all.size());
    do {
      std::set<std::uint32_t> taken;
      bool exists = true;
      for (std::size_t i = 0; i < order.size() && exists; ++i) {
        const auto arc = network.arc(order[i], order[(i + 1) % order.size()]);
        exists = arc != RingNetwork::kNoArc;
        if (exists) taken.insert(network.links(arc).begin(), network.links(arc).end());
      }
      if (!exists) continue;
      for (const auto& cut : all)
        ASSERT_TRUE(std::ranges::any_of(cut, [&](auto link) { return taken.count(link) > 0; }));
    } while (std::next_permutation(order.begin() + 1, order.end()));
  }
  EXPECT_GT(cuts, 400);
}

TEST(RingNetworks, HaveACutAroundEveryBox) {
  // SW(8)_SW(4): boxes of 8 NPUs with 300 GB/s each within and 25 GB/s each between boxes. An NPU has 325 GB/s, but a
  // cycle leaves a box at least once: 8 * 25 = 200 GB/s.
  const auto network = network_of(
      support::shape("SW(8)_SW(4)", {support::kAlpha}, {gigabytes_per_second(300), gigabytes_per_second(25)}));
  auto least = INT64_MAX;
  for (const auto& cut : network.cuts()) least = std::min(least, capacity_of(network, cut));
  EXPECT_EQ(least, 200'000'000'000);
  EXPECT_GE(checked_packings(network).back().rate(), 150'000'000'000);
}

TEST(RingNetworks, ShareALinkEquallyAmongGroups) {
  // Two switches of four NPUs each, joined by one link each way; each group has two NPUs on either side. An NPU's link
  // serves one group; the link between the switches, of 100 GB/s, serves both: 50 GB/s each.
  TopologyBuilder builder(8);
  const auto left = builder.add_switch();
  const auto right = builder.add_switch();
  for (std::uint32_t npu = 0; npu < 8; ++npu)
    builder.add_link_pair({VertexId(npu), npu < 4 ? left : right, support::kAlpha, gigabytes_per_second(60)});
  builder.add_link_pair({left, right, support::kAlpha, gigabytes_per_second(100)});
  const auto topology = std::move(builder).build().value();
  const auto collective = support::collective(CollectiveKind::all_reduce, 8, bytes(10000), 1, "0,1,4,5; 2,3,6,7");
  const auto networks = ring_networks(topology, collective);
  ASSERT_EQ(networks.size(), 2U);
  EXPECT_EQ(networks[0], networks[1]);
  const std::multiset<std::int64_t> capacities(networks[0].capacities().begin(), networks[0].capacities().end());
  EXPECT_EQ(capacities.count(60'000'000'000), 8U);
  EXPECT_EQ(capacities.count(50'000'000'000), 2U);
  // One cycle passes the link between the switches once each way.
  EXPECT_EQ(checked_packings(networks[0]).back().rate(), 50'000'000'000);
}

TEST(RingNetworks, JoinMembersOverSwitchesButNotOverOtherNpus) {
  // RI(4)_SW(2), NPUs 0-3 and 4-7; the group 0, 2, 4: 0 and 2 are two hops apart on the ring, 0 and 4 meet at a switch,
  // and the route from 2 to 4 passes an NPU.
  const auto topology = support::shape("RI(4)_SW(2)");
  const auto network =
      ring_networks(topology, support::collective(CollectiveKind::all_reduce, 8, bytes(10000), 1, "0,2,4"))[0];
  EXPECT_EQ(network.arcs().size(), 2U);
  EXPECT_NE(network.arc(0, 2), RingNetwork::kNoArc);
  EXPECT_EQ(network.links(network.arc(0, 2)).size(), 2U);
  EXPECT_TRUE(checked_packings(network).empty());
}

/// The cycles that the messages of an All-Gather take, with the number of chunks that follow each.
std::map<std::vector<std::uint32_t>, int> cycles_of(const Topology& topology, std::int64_t chunks) {
  const auto collective = support::collective(CollectiveKind::all_gather, topology.npus(), bytes(1'000'000), chunks);
  const auto program = support::program_of("rings", topology, collective);
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>> next;
  for (const auto& message : support::run_untimed(*program, collective, 1).messages)
    next[message.chunk.value()][message.source.value()] = message.destination.value();
  std::map<std::vector<std::uint32_t>, int> cycles;
  for (auto& [chunk, hops] : next) {
    const auto owner = static_cast<std::uint32_t>(chunk / chunks);
    std::vector<std::uint32_t> order{owner};
    while (hops.count(order.back()) > 0) order.push_back(hops.at(order.back()));
    EXPECT_EQ(order.size(), topology.npus());
    std::rotate(order.begin(), std::ranges::find(order, 0U), order.end());
    ++cycles[order];
  }
  return cycles;
}

TEST(RingChunks, AreDealtByRates) {
  // A DGX-1: 6 rings of one rate. With 6 chunks per NPU, each ring has one chunk of each NPU; with 12, two.
  for (const std::int64_t chunks : {6, 12}) {
    const auto cycles = cycles_of(support::dgx1(), chunks);
    EXPECT_EQ(cycles.size(), 6U);
    for (const auto& [cycle, count] : cycles) EXPECT_EQ(count, 8 * chunks / 6);
  }
  // One chunk per NPU takes each hop alone, and the fast links form a cycle: all chunks go round that one, one way.
  const auto single = cycles_of(support::dgx1(), 1);
  ASSERT_EQ(single.size(), 1U);
  EXPECT_EQ(single.begin()->second, 8);
}

TEST(RingChunks, FollowTheRanksWhereThereIsNoCycle) {
  // A line has no cycle. In order of ranks one ring loads the links both ways (the way back passes all of them), so a
  // second one adds nothing where it doubles the load. On a mesh of odd sides both directions are used.
  EXPECT_EQ(cycles_of(support::line(5), 2), (std::map<std::vector<std::uint32_t>, int>{{{0, 1, 2, 3, 4}, 10}}));
  EXPECT_EQ(cycles_of(support::mesh(3, 3), 2).begin()->first, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Rings, RefuseGroupsThatAreTooLargeToPack) {
  const auto topology = support::ring(1025);
  const auto collective = support::collective(CollectiveKind::all_reduce, 1025, bytes(1'000'000));
  const auto program = find_algorithm("rings")->make(topology, collective, {});
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.errors()[0].problem, "algorithm \"rings\" for a process group of 1025 NPUs");
  EXPECT_EQ(program.errors()[0].suggestion, "choose \"ring\", or smaller groups");
}

/// The messages with which all NPUs begin.
std::vector<Message> first_messages(const Topology& topology, std::int64_t chunks, ProgramParts* parts) {
  const auto collective = support::collective(CollectiveKind::all_gather, topology.npus(), bytes(160'000), chunks);
  AlgorithmOptions options;
  options.parts = parts;
  const auto program = find_algorithm("rings")->make(topology, collective, options);
  EXPECT_TRUE(program.ok());
  std::vector<Message> messages;
  const auto state = (*program)->begin();
  for (std::size_t npu = 0; npu < topology.npus(); ++npu) state->start(NpuId::at(npu), messages);
  return messages;
}

TEST(Rings, ArePackedOnceForManyNumbersOfChunks) {
  const auto topology = support::shape("torus(4,4)");
  const auto network = network_of(topology);
  const auto key = "packed rings " + to_string(network.digest()) + " 64";  // two for each chunk, and 64 are the most
  ProgramParts parts(1U << 20U);
  const auto same = [](const Message& a, const Message& b) {
    return a.source == b.source && a.destination == b.destination && a.chunk == b.chunk;
  };
  EXPECT_TRUE(std::ranges::equal(first_messages(topology, 32, &parts), first_messages(topology, 32, nullptr), same));
  const auto packed = parts.find(key);
  ASSERT_NE(packed, nullptr);
  EXPECT_TRUE(std::ranges::equal(first_messages(topology, 100, &parts), first_messages(topology, 100, nullptr), same));
  EXPECT_EQ(parts.find(key), packed);
  first_messages(support::shape("torus(2,8)"), 32, &parts);
  EXPECT_EQ(parts.find(key), packed) << "another network has its own";
}

}  // namespace
}  // namespace tenex
