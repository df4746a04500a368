// Machines by name: All-Reduce bounds from what their makers publish, several boxes, named faults, and twisted tori.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "evaluate/points.hpp"

namespace tenex {
namespace {

using support::row_of;
using support::Words;

/// A point on a network that brings its own alphas and bandwidths.
DesignPoint on_machine(Words words) { return make_point(words, vocabulary()).value(); }

/// The bus bandwidth in GB/s that the bound of an All-Reduce of 1 TB allows; its latency is below a millionth.
double bounded_busbw(const std::string& machine, const char* chunks) {
  const auto row = row_of(on_machine({{"topology", machine},
                                      {"collective", "all_reduce"},
                                      {"size", "1TB"},
                                      {"chunks", chunks},
                                      {"algorithm", "ring"},
                                      {"bounds", "full"}}));
  EXPECT_EQ(row.status, PointStatus::ok) << machine << ": " << row.reason;
  const auto n = static_cast<double>(row.npus);
  return 2 * (n - 1) / n * 1e12 / (static_cast<double>(row.bound_ps) * 1e-12) / 1e9;
}

struct BusBandwidth {
  const char* machine;
  double gigabytes_per_second;
  const char* chunks = "1";  ///< so many that whole chunks fill all links
};

// Where an NPU's own links bind, all of its bandwidth each way is bus bandwidth: 300 GB/s of 12 NVLinks, 7 * 76.8 =
// 537.6, 4 * 100 and 6 * 100 on tori. Gaudi 3: 7 * 75 + 75 = 600 over several boxes, which is what its maker prints.
// CloudMatrix: no level is narrower than 392. PCIe: the link of a GPU, 63. Frontier: five packages' worth of links,
// 2 * (2 * 100 + 6 * 50) = 1,000 GB/s, join 4 packages: 2 * 3 * S / 1,000, so 2 * 7/8 / 6 * 1,000 = 291.7. Aurora: 60
// Xe Links of 28 GB/s join 6 GPUs: 2 * 5 * S / 1,680, so 2 * 11/12 / 10 * 1,680 = 308.
TEST(MachineRows, HaveBoundsOfThePublishedBandwidth) {
  const std::vector<BusBandwidth> expected{
      {"dgx_a100", 300},
      {"gb300_nvl72", 900},
      {"vera_rubin_nvl72", 1800},
      {"helios_mi455x", 1800},
      {"mi355x", 537.6},
      {"gaudi3", 525},
      {"gaudi3 x 4", 600, "8"},
      {"trn3_ultraserver_64", 1280},
      {"tpu_v7_ironwood_cube", 600},
      {"perlmutter_node", 300},
      {"alps_node", 450},
      {"el_capitan_node", 384},
      {"pcie5_8gpu", 63},
      {"frontier_node", 291.667, "40"},
      {"aurora_node", 308, "128"},
      {"dgx_h100 x 4", 50 + 450, "10"},
  };
  for (const auto& [machine, busbw, chunks] : expected)
    EXPECT_NEAR(bounded_busbw(machine, chunks), busbw, 1e-3 * busbw) << machine;
}

// Four boxes by name are the shape of the same boxes: one point, one key.
TEST(MachineRows, OfSeveralBoxesAreThoseOfTheirShape) {
  const Words rest{{"collective", "all_reduce"}, {"size", "1GB"}, {"algorithm", "hierarchical"}};
  const auto point = [&](Words words) {
    words.insert(words.end(), rest.begin(), rest.end());
    return on_machine(words);
  };
  const auto boxes = point({{"topology", "dgx_h100 x 32"}});
  EXPECT_EQ(boxes.canonical, point({{"topology", "dgx_h100_x32"}}).canonical);
  EXPECT_EQ(boxes.key, point({{"topology", "SW(8)_SW(32)"},
                              {"alpha", "0.35us,1.3us"},
                              {"bandwidth", "450GB/s,50GB/s"},
                              {"forwarding", "virtual_cut_through"}})
                           .key);
  const auto refused = make_point({{"topology", "tpu_v4_cube x 2"}, rest[0], rest[1], rest[2]}, vocabulary());
  ASSERT_FALSE(refused);
  EXPECT_THAT(to_string(refused.errors()), testing::HasSubstr("its file has no [scale_out]"));
}

// twisted_torus(4,4,8,4), one chunk per pair. All 440 hops of an NPU's chunks over 6 links take 74 steps at least; the
// plain torus is cut by 32 links with 64 * 64 chunks to pass: 128 steps, 1.73 times as many. Steps of 1 us, links
// without latency.
TEST(TwistedTorusRows, ExchangeFasterThanThePlainOne) {
  const auto exchange = [](const char* topology) {
    return row_of(support::point({{"topology", topology},
                                  {"collective", "all_to_all"},
                                  {"size", "128KB"},
                                  {"algorithm", "pccl"},
                                  {"engine", "orbit"}}));
  };
  const auto plain = exchange("torus(4,4,8)");
  const auto twisted = exchange("twisted_torus(4,4,8,4)");
  ASSERT_EQ(twisted.status, PointStatus::ok) << twisted.reason;
  EXPECT_EQ(plain.bound_ps, 128'000'000);
  EXPECT_EQ(twisted.bound_ps, 74'000'000);
  EXPECT_EQ(twisted.verified, Verified::yes);
  EXPECT_GE(twisted.efficiency, 0.97);
}

// One NPU's plan stands for all on every twisted torus, whichever numbers it has: the verifier replays each schedule.
TEST(TwistedTorusRows, AreVerifiedByOrbit) {
  for (const char* topology : {"twisted_torus(4,4,8,4)", "twisted_torus(2,3,5,2)", "twisted_torus(2,2,4,1)",
                               "twisted_torus(3,5,5,4)", "twisted_torus(2,2,9,4)"})
    for (const char* collective : {"all_gather", "reduce_scatter", "all_reduce", "all_to_all"})
      for (const char* chunks : {"1", "3"}) {
        const auto npus = parse_shape(topology)->npus();
        const auto row = row_of(support::point({{"topology", topology},
                                                {"collective", collective},
                                                {"size", std::to_string(npus * 3) + "KB"},
                                                {"chunks", chunks},
                                                {"algorithm", "pccl"},
                                                {"engine", "orbit"},
                                                {"alpha", "0.5us"}}));
        EXPECT_EQ(row.status, PointStatus::ok) << topology << ' ' << collective << ": " << row.reason;
        EXPECT_EQ(row.verified, Verified::yes) << topology << ' ' << collective;
        EXPECT_GE(row.collective_time_ps, row.bound_ps) << topology << ' ' << collective;
      }
}

// SW(2)_SW(2) with 1 GB/s and no latency: NPU 0 loses the link to its rail, so its half of the data leaves its box over
// NPU 1. Without faults 4 MB of All-Gather take 1 MB over the slower of two links; here NPU 0's box has one link for
// what both need from the other box, 2 MB.
TEST(NamedFaultRows, AreThoseOfTheirLinks) {
  const auto gather = [](const char* faults) {
    return row_of(
        support::point({{"topology", "SW(2)_SW(2)"}, {"size", "4MB"}, {"algorithm", "pccl"}, {"faults", faults}}));
  };
  for (const auto& [named, plain] :
       {std::pair{"nic 0", "link 0-6"}, std::pair{"leaf 1", "switch 7"}, std::pair{"plane 0", "switch 6"}}) {
    const auto row = gather(named);
    const auto same = gather(plain);
    ASSERT_EQ(row.status, PointStatus::ok) << named << row.reason;
    EXPECT_EQ(row.collective_time_ps, same.collective_time_ps) << named;
    EXPECT_EQ(row.bound_ps, same.bound_ps) << named;
    EXPECT_EQ(row.failed_links, same.failed_links) << named;
  }
  EXPECT_EQ(gather("nic 0").failed_links, 2);
  EXPECT_GE(gather("nic 0").bound_ps, 2'000'000'000);
}

/// An All-to-All of 4 KB, a chunk of 1 us on a link for each pair.
Evaluation exchange(const char* topology, const char* algorithm, const char* faults = "none") {
  return row_of(support::point({{"topology", topology},
                                {"collective", "all_to_all"},
                                {"size", "4KB"},
                                {"algorithm", algorithm},
                                {"faults", faults}}));
}

// rail_spine(2,2,1): boxes {0,1} and {2,3}, rails of even and odd NPUs, one spine. By `pxn` NPU 0 sends to 1 (box, us 0
// to 2), 2 (rail, 0 to 2), and for 3 to 1, which is on its rail: box link 1 to 2, down to 1 by 3, up to the rail by 4,
// at 3 by 5. NPU 1 alike, with the chunk for 2 first. `direct` sends it over rail, spine and rail: four links, and the
// link to the spine takes the messages of two NPUs: 1 to 2 us for the second send of NPU 0, 2 to 4 for both on the link
// up, 4 to 5 and 5 to 6 down.
TEST(PxnRows, LeaveByTheNeighbourOnTheDestinationsLeaf) {
  const auto pxn = exchange("rail_spine(2,2,1)", "pxn");
  ASSERT_EQ(pxn.status, PointStatus::ok) << pxn.reason;
  EXPECT_EQ(pxn.verified, Verified::yes);
  EXPECT_EQ(pxn.collective_time_ps, 5'000'000);
  EXPECT_EQ(exchange("rail_spine(2,2,1)", "direct").collective_time_ps, 6'000'000);
}

// On a network whose NPU 0 has lost its NIC, and where a box has no NIC on a leaf that the other has.
TEST(PxnRows, GoRoundFailedNics) {
  for (const char* topology : {"rail_spine(2,2,1)", "SW(3)_SW(2)", "SW(2)_SW(4)"})
    for (const char* faults : {"nic 0", "nic 1", "leaf 0", "nic 0; nic 3"}) {
      const auto row = exchange(topology, "pxn", faults);
      EXPECT_EQ(row.status, PointStatus::ok) << topology << faults << row.reason;
      EXPECT_EQ(row.verified, Verified::yes) << topology << faults;
      EXPECT_GE(row.collective_time_ps, row.bound_ps) << topology << faults;
    }
}

// Boxes of 3, 2 and 1 NPUs (switches 6, 7 and none) on two leaves (8 and 9), two NICs for the last: any sizes.
TEST(PxnRows, ServeBoxesOfDifferentSizes) {
  const auto path = std::filesystem::path(testing::TempDir()) / "unequal_boxes.toml";
  std::ofstream(path)
      << "schema = 1\nkind = \"machine\"\nname = \"boxes\"\nsource = \"by hand\"\nnpus = 6\n"
         "[[switches]]\ncount = 4\n"
         "[[links]]\nbandwidth = \"4GB/s\"\nalpha = \"0us\"\npairs = [[0, 6], [1, 6], [2, 6], [3, 7], [4, "
         "7]]\n[[links]]\nbandwidth = \"1GB/s\"\nalpha = \"0us\"\npairs = [[0, 8], [1, 9], [2, 8], [3, 8], "
         "[4, 9], [5, 8], [5, 9]]\n";
  for (const char* algorithm : {"pxn", "direct"}) {
    const auto row = row_of(on_machine(
        {{"topology", path.string()}, {"collective", "all_to_all"}, {"size", "6KB"}, {"algorithm", algorithm}}));
    EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
    EXPECT_EQ(row.verified, Verified::yes);
  }
}

// Boxes {0,1} and {2,3}, an NVSwitch each (4 and 5), NICs as vertices (6 to 9), rails 10 and 11, spine 12. Inside of a
// box 1 KB takes a nanosecond or less, outside 1 us. By `pxn` every NIC sends two messages to its rail and the rail
// brings the second one down: 3 us and some nanoseconds. `direct` also sends some over four links of 1 us.
TEST(PxnRows, KnowNicsThatAreVertices) {
  const auto path = std::filesystem::path(testing::TempDir()) / "nic_vertices.toml";
  std::ofstream(path)
      << "schema = 1\nkind = \"machine\"\nname = \"nics\"\nsource = \"by hand\"\nnpus = 4\n"
         "[[switches]]\ncount = 9\n"
         "[[links]]\nbandwidth = \"4000GB/s\"\nalpha = \"0us\"\npairs = [[0, 4], [1, 4], [2, 5], [3, 5]]\n"
         "[[links]]\nbandwidth = \"1000GB/s\"\nalpha = \"0us\"\npairs = [[0, 6], [1, 7], [2, 8], [3, 9]]\n"
         "[[links]]\nbandwidth = \"1GB/s\"\nalpha = \"0us\"\npairs = [[6, 10], [7, 11], [8, 10], [9, 11], "
         "[10, 12], [11, 12]]\n";
  const auto row = [&](const char* algorithm) {
    return row_of(on_machine(
        {{"topology", path.string()}, {"collective", "all_to_all"}, {"size", "4KB"}, {"algorithm", algorithm}}));
  };
  const auto pxn = row("pxn");
  ASSERT_EQ(pxn.status, PointStatus::ok) << pxn.reason;
  EXPECT_EQ(pxn.verified, Verified::yes);
  EXPECT_GE(pxn.collective_time_ps, 3'000'000);
  EXPECT_LE(pxn.collective_time_ps, 3'010'000);
  EXPECT_GE(row("direct").collective_time_ps, 4'000'000);
}

// The names are those of the network as it was built: what `without` removes renumbers nothing.
TEST(NamedFaultRows, KeepTheirNumbersWhereLinksAreRemoved) {
  const auto row = row_of(support::point({{"topology", "SW(2)_SW(3)"},
                                          {"size", "6MB"},
                                          {"algorithm", "pccl"},
                                          {"without", "[[0, 9]]"},
                                          {"faults", "nic 3"}}));
  ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.failed_links, 2);
}

}  // namespace
}  // namespace tenex
