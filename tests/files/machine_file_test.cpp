// Machine files: the built-in machines have their published numbers, and every mistake has its place.
#include "tenex/files/input_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "support/process.hpp"
#include "tenex/topology/routes.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kMachines = std::filesystem::path(TENEX_SOURCE_DIR) / "experiments" / "machines";

struct Numbers {
  const char* file;
  std::size_t npus;
  std::size_t switches;
  std::size_t links;
  std::int64_t bandwidth;  ///< sum over directed links, B/s
  std::int64_t alpha;      ///< sum over directed links, ps
};

// Sums of the published edge lists (one directed edge per row): for instance dgx1 has 16 links of 50 GB/s and 16 of 25
// GB/s with 0.7 us each, 16 * 50 + 16 * 25 = 1,200 GB/s and 32 * 0.7 = 22.4 us.
const std::vector<Numbers> kNumbers{
    // 4 GPUs * 3 links of 150 GB/s and 0.7 us: FC(4). Perlmutter 100, El Capitan 128 GB/s.
    {"alps_node", 4, 0, 12, 1'800'000'000'000, 8'400'000},
    {"amd_1ch", 16, 0, 56, 5'600'000'000'000, 0},
    {"amd_2ch", 32, 17, 208, 13'600'000'000'000, 0},
    // FC(2)_FC(6): 12 links of 200 GB/s in packages, 12 * 5 of 28 GB/s between them; 0.7 us each.
    {"aurora_node", 12, 0, 72, 4'080'000'000'000, 50'400'000},
    // 384 links to 48 leaves and as many from these to the top, each way: 4 * 384 * 392 GB/s, 0.35 us.
    {"cloudmatrix384", 384, 49, 1'536, 602'112'000'000'000, 537'600'000},
    // SW(8) of 300 GB/s. The maker's 4.8 TB/s are the same sum: 16 * 300 GB/s.
    {"dgx_a100", 8, 1, 16, 4'800'000'000'000, 5'600'000},
    // SW(8): 8 links up and 8 down: 16 * 450 GB/s, 16 * 0.35 us. Of 32 boxes: 512 links of each kind, 512 * (450 + 50)
    // GB/s, 512 * (0.35 + 1.3) us; 32 switches in boxes and 8 rails.
    {"dgx_h100", 8, 1, 16, 7'200'000'000'000, 5'600'000},
    {"dgx_h100_x32", 256, 40, 1'024, 256'000'000'000'000, 844'800'000},
    {"dgx_h200", 8, 1, 16, 7'200'000'000'000, 5'600'000},
    {"dgx_h200_x32", 256, 40, 1'024, 256'000'000'000'000, 844'800'000},
    {"dgx1", 8, 0, 32, 1'200'000'000'000, 22'400'000},
    {"dgx2_1ch", 16, 1, 32, 4'000'000'000'000, 11'200'000},
    {"dgx2_2ch", 32, 2, 80, 8'200'000'000'000, 64'000'000},
    {"el_capitan_node", 4, 0, 12, 1'536'000'000'000, 8'400'000},
    {"forestcoll_a100_1x8", 8, 1, 16, 4'800'000'000'000, 0},
    {"forestcoll_a100_2x8", 16, 20, 96, 11'200'000'000'000, 0},
    {"forestcoll_a100_4x8", 32, 38, 192, 22'400'000'000'000, 0},
    {"forestcoll_mi250_2x16", 32, 1, 176, 12'224'000'000'000, 0},
    // 4 pairs of 200, 2 of 100 and 6 of 50 GB/s, each way: 2 * (800 + 200 + 300); 24 * 0.7 us.
    {"frontier_node", 8, 0, 24, 2'600'000'000'000, 16'800'000},
    // 8 NPUs * 7 links of 75 GB/s: 21 ports of 25 GB/s each, 525 GB/s per NPU as its maker says.
    {"gaudi3", 8, 0, 56, 4'200'000'000'000, 39'200'000},
    // 144 * 900 GB/s: the 130 TB/s of the data sheets, rounded. 144 * 1,800: the 260 TB/s of the later ones.
    {"gb200_nvl72", 72, 1, 144, 129'600'000'000'000, 50'400'000},
    {"gb300_nvl72", 72, 1, 144, 129'600'000'000'000, 50'400'000},
    {"helios_mi455x", 72, 1, 144, 259'200'000'000'000, 50'400'000},
    {"mesh_4x4_100GBps", 16, 0, 48, 4'800'000'000'000, 0},
    {"mesh_6x6_100GBps", 36, 0, 120, 12'000'000'000'000, 0},
    // 8 GPUs * 7 links of 64 GB/s and 0.7 us.
    {"mi300x", 8, 0, 56, 3'584'000'000'000, 39'200'000},
    // 7 links of 76.8 GB/s: the 1,075.2 GB/s both ways together of its white paper is 2 * 7 * 76.8; 8 * 537.6 here.
    {"mi355x", 8, 0, 56, 4'300'800'000'000, 39'200'000},
    {"ndv2_1ch", 8, 0, 32, 1'200'000'000'000, 22'400'000},
    {"ndv2_2ch", 16, 0, 66, 2'425'000'000'000, 47'400'000},
    {"ndv2_2ch_switch", 16, 1, 68, 2'450'000'000'000, 50'000'000},
    {"ndv2_4ch_switch", 32, 1, 136, 4'900'000'000'000, 100'000'000},
    // 8 links to the CPUs, each way, of 63 GB/s, and one of 192 GB/s between them: 16 * 63 + 2 * 192; 18 * 1.3 us. The
    // bridges are 8 links of 300 GB/s and 0.7 us.
    {"pcie5_8gpu", 8, 2, 18, 1'392'000'000'000, 23'400'000},
    {"pcie5_8gpu_bridges", 8, 2, 26, 3'792'000'000'000, 29'000'000},
    {"perlmutter_node", 4, 0, 12, 1'200'000'000'000, 8'400'000},
    // 64 NPUs with 6 out-links each: 384 * 50, 384 * 100, and 256 * 128 + 128 * 64 GB/s; 1 us each.
    {"tpu_v4_cube", 64, 0, 384, 19'200'000'000'000, 384'000'000},
    {"tpu_v5p_cube", 64, 0, 384, 38'400'000'000'000, 384'000'000},
    // 256 chips * 4 links * 100 GB/s: the 102.4 TB/s for All-Reduce that its maker prints.
    {"tpu_v6e", 256, 0, 1'024, 102'400'000'000'000, 1'024'000'000},
    // 9,216 chips * 6 links * 100 GB/s, 1 us each; a cube has 64 of them.
    {"tpu_v7_ironwood", 9'216, 0, 55'296, 5'529'600'000'000'000, 55'296'000'000},
    {"tpu_v7_ironwood_cube", 64, 0, 384, 38'400'000'000'000, 384'000'000},
    {"trn2_ultraserver", 64, 0, 384, 40'960'000'000'000, 384'000'000},
    // 2 * 144 and 2 * 64 links of 1,280 GB/s.
    {"trn3_ultraserver_144", 144, 1, 288, 368'640'000'000'000, 100'800'000},
    {"trn3_ultraserver_64", 64, 1, 128, 163'840'000'000'000, 44'800'000},
    // 1,024 NPUs * (14 links of 50 GB/s and 0.7 us, 6 of 25 GB/s and 1 us).
    {"ub_mesh", 1'024, 0, 20'480, 870'400'000'000'000, 16'179'200'000},
    {"vera_rubin_nvl72", 72, 1, 144, 259'200'000'000'000, 50'400'000},
};

TEST(Machines, HaveThePublishedNumbers) {
  for (const auto& expected : kNumbers) {
    const auto machine = read_machine_file(kMachines / (std::string(expected.file) + ".toml"));
    ASSERT_TRUE(machine.ok()) << to_string(machine.errors());
    const auto topology = topology_of(*machine);
    EXPECT_EQ(topology.npus(), expected.npus) << expected.file;
    EXPECT_EQ(topology.switches(), expected.switches) << expected.file;
    EXPECT_EQ(topology.links(), expected.links) << expected.file;
    std::int64_t bandwidth = 0;
    std::int64_t alpha = 0;
    for (std::size_t link = 0; link < topology.links(); ++link) {
      bandwidth += topology.bandwidth(LinkId::at(link)).count();
      alpha += topology.alpha(LinkId::at(link)).count();
    }
    EXPECT_EQ(bandwidth, expected.bandwidth) << expected.file;
    EXPECT_EQ(alpha, expected.alpha) << expected.file;
  }
}

TEST(Machines, AreConnectedAndSayWhereTheyComeFrom) {
  std::set<std::string> tested;
  for (const auto& numbers : kNumbers) tested.insert(numbers.file);
  for (const auto& file : std::filesystem::directory_iterator(kMachines)) {
    if (file.path().extension() != ".toml") continue;
    EXPECT_EQ(tested.count(file.path().stem().string()), 1U) << file.path() << " has no numbers in this test";
    const auto machine = read_machine_file(file.path());
    ASSERT_TRUE(machine.ok()) << to_string(machine.errors());
    EXPECT_FALSE(find_disconnected_pair(topology_of(*machine)).has_value()) << file.path();
    EXPECT_THAT(machine->source, ::testing::AnyOf(HasSubstr("licence"), HasSubstr("license"))) << file.path();
    EXPECT_THAT(machine->source, HasSubstr("@")) << file.path();
  }
}

TEST(Machines, AreLaidOutAsTheirFilesSay) {
  // The DGX-1 hybrid cube mesh: two bricks join NPU 0 to each of 1 and 4, one brick joins it to each of 2 and 3.
  const auto machine = read_machine_file(kMachines / "dgx1.toml");
  ASSERT_TRUE(machine.ok());
  std::set<std::pair<std::uint32_t, std::int64_t>> neighbours;
  for (const auto link : machine->topology.out_links(VertexId(0)))
    neighbours.emplace(machine->topology.target(link).value(), machine->topology.bandwidth(link).count());
  EXPECT_EQ(neighbours, (std::set<std::pair<std::uint32_t, std::int64_t>>{
                            {1, 50'000'000'000}, {2, 25'000'000'000}, {3, 25'000'000'000}, {4, 50'000'000'000}}));
}

TEST(Machines, OfSeveralBoxesAreOneShape) {
  // gaudi3 x 4: FC(8) of 75 GB/s, and 32 NPUs with a link of 75 GB/s to each of 8 rail switches.
  const auto box = read_machine_file(kMachines / "gaudi3.toml");
  ASSERT_TRUE(box.ok()) << to_string(box.errors());
  const auto joined = join_boxes(*box->shaped, 4);
  ASSERT_TRUE(joined.ok()) << to_string(joined.errors());
  EXPECT_EQ(to_string(joined->shape), "FC(8)_SW(4)");
  EXPECT_EQ(joined->links.bandwidth, (std::vector{gigabytes_per_second(75), gigabytes_per_second(75)}));
  EXPECT_EQ(joined->links.alpha, (std::vector{nanoseconds(700), nanoseconds(1300)}));
  EXPECT_EQ(joined->forwarding, Forwarding::virtual_cut_through);  // the box has no switch of its own
  for (const auto* name : {"gb200_nvl72", "mi300x"}) {             // a port of 400 Gb/s per GPU
    const auto rails = join_boxes(*read_machine_file(kMachines / (std::string(name) + ".toml"))->shaped, 2);
    ASSERT_TRUE(rails.ok()) << to_string(rails.errors());
    EXPECT_EQ(rails->links.bandwidth.back(), gigabytes_per_second(50));
  }
  // The machine of 32 boxes that stands in a file of its own.
  const auto dgx = join_boxes(*read_machine_file(kMachines / "dgx_h100.toml")->shaped, 32);
  const auto file = read_machine_file(kMachines / "dgx_h100_x32.toml");
  ASSERT_TRUE(dgx.ok() && file.ok());
  EXPECT_EQ(dgx->shape, file->shaped->shape);
  EXPECT_EQ(dgx->links.alpha, file->shaped->links.alpha);
  EXPECT_EQ(dgx->links.bandwidth, file->shaped->links.bandwidth);
  EXPECT_EQ(dgx->forwarding, file->shaped->forwarding);
}

TEST(Machines, OfOneBoxOrWithoutScaleOutAreNotJoined) {
  const auto box = read_machine_file(kMachines / "gaudi3.toml");
  const auto cube = read_machine_file(kMachines / "tpu_v4_cube.toml");
  ASSERT_TRUE(box.ok() && cube.ok());
  EXPECT_THAT(to_string(join_boxes(*box->shaped, 1).errors()), HasSubstr("1 boxes of a machine (boxes are joined"));
  EXPECT_THAT(to_string(join_boxes(*cube->shaped, 4).errors()), HasSubstr("its file has no [scale_out]"));
  EXPECT_THAT(to_string(join_boxes(*box->shaped, 4'000'000'000U).errors()), HasSubstr("2^31"));
}

TEST(Machines, AreNamedWithTheirNumberOfBoxes) {
  const auto split = [](std::string_view text) {
    const auto [machine, boxes] = split_boxes(text);
    return std::string(machine) + "|" + (boxes ? std::to_string(*boxes) : "");
  };
  EXPECT_EQ(split("dgx_h100"), "dgx_h100|");
  EXPECT_EQ(split("dgx_h100 x 4"), "dgx_h100|4");
  EXPECT_EQ(split("dgx_h100 x4"), "dgx_h100|4");
  EXPECT_EQ(split("my boxes/a x.toml x 12"), "my boxes/a x.toml|12");
  EXPECT_EQ(split("dgx_h100_x32"), "dgx_h100_x32|");
  EXPECT_EQ(split("box x"), "box x|");
}

const std::string kHead = "schema = 1\nkind = \"machine\"\nname = \"m\"\nsource = \"by hand\"\n";

std::string errors_of(const std::string& text) {
  const auto machine = parse_machine(text, "m.toml");
  return machine.ok() ? "(no error)" : to_string(machine.errors());
}

TEST(MachineFile, ReadsSwitchesPairsAndDirectedLinks) {
  const auto machine = parse_machine(kHead + R"(
remarks = ["one", "two"]
npus = 2
[[switches]]
count = 2
[[switches]]
copy = true
reduce = true
[[links]]
kind = "nvlink"
bandwidth = "25GB/s"
alpha = "0.7us"
pairs = [[0, 2], [1, 2]]
directed = [[0, 1]]
[[links]]
bandwidth = "50GiB/s"
alpha = "0us"
directed = [[3, 4]]
)",
                                     "m.toml");
  ASSERT_TRUE(machine.ok()) << to_string(machine.errors());
  const auto& topology = machine->topology;
  EXPECT_EQ(machine->name, "m");
  EXPECT_EQ(machine->source, "by hand");
  EXPECT_EQ(machine->remarks.size(), 2U);
  EXPECT_EQ(topology.npus(), 2U);
  EXPECT_EQ(topology.switches(), 3U);
  ASSERT_EQ(topology.links(), 6U);
  EXPECT_EQ(topology.link(LinkId(0)), (Link{VertexId(0), VertexId(2), nanoseconds(700), gigabytes_per_second(25)}));
  EXPECT_EQ(topology.link(LinkId(1)), (Link{VertexId(2), VertexId(0), nanoseconds(700), gigabytes_per_second(25)}));
  EXPECT_EQ(topology.link(LinkId(4)), (Link{VertexId(0), VertexId(1), nanoseconds(700), gigabytes_per_second(25)}));
  EXPECT_EQ(topology.link(LinkId(5)), (Link{VertexId(3), VertexId(4), SimTime::zero(), gibibytes_per_second(50)}));
  EXPECT_FALSE(topology.switch_properties(VertexId(3)).copy);
  EXPECT_TRUE(topology.switch_properties(VertexId(4)).copy);
  EXPECT_TRUE(topology.switch_properties(VertexId(4)).reduce);
}

// Two links reach four vertices at most.
TEST(MachineFile, WithMoreVerticesThanItsLinksReachIsRefused) {
  const std::string links = "[[links]]\nbandwidth = \"1GB/s\"\nalpha = \"0us\"\npairs = [[0, 1]]\n";
  EXPECT_EQ(errors_of(kHead + "npus = 4\n" + links), "(no error)");
  EXPECT_THAT(
      errors_of(kHead + "npus = 470018683\n" + links),
      HasSubstr("the machine has 470018683 NPUs and 0 switches, and 2 links (so few links reach not all of them)"));
  EXPECT_THAT(errors_of(kHead + "npus = 3\n[[switches]]\ncount = 2000000000\n" + links),
              HasSubstr("3 NPUs and 2000000000 switches, and 2 links"));
}

TEST(MachineFile, IsKnownByItsBytes) {
  const std::string text = kHead + "npus = 2\n[[links]]\nbandwidth = \"1GB/s\"\nalpha = \"0us\"\npairs = [[0, 1]]\n";
  EXPECT_EQ(parse_machine(text, "a")->content, parse_machine(text, "b")->content);
  EXPECT_NE(parse_machine(text, "a")->content, parse_machine(text + "# changed\n", "a")->content);
}

TEST(MachineFile, NamesThePlaceOfEveryMistake) {
  const auto link = [](const std::string& body) { return kHead + "npus = 2\n[[links]]\n" + body; };
  const std::string sound = "bandwidth = \"1GB/s\"\nalpha = \"0us\"\n";
  EXPECT_THAT(errors_of(link(sound + "pairs = [[0, 2]]")), HasSubstr("m.toml:9:10: vertex 2 does not exist"));
  EXPECT_THAT(errors_of(link(sound + "pairs = [[1, 1]]")), HasSubstr("m.toml:9:10: a link from 1 to itself"));
  EXPECT_THAT(errors_of(link(sound + "pairs = [[0, 1, 2]]")), HasSubstr("m.toml:9:10: a link is not [source, target]"));
  EXPECT_THAT(errors_of(link(sound + "pairs = [[0, -1]]")), HasSubstr("vertex -1 does not exist"));
  EXPECT_THAT(errors_of(link(sound)), HasSubstr("names no link"));
  EXPECT_THAT(errors_of(link("alpha = \"0us\"\npairs = [[0, 1]]")), HasSubstr("the key \"bandwidth\" is missing"));
  EXPECT_THAT(errors_of(link("bandwidth = 25\nalpha = \"0us\"\npairs = [[0, 1]]")), HasSubstr("m.toml:7:"));
  EXPECT_THAT(errors_of(link("bandwith = \"1GB/s\"\nalpha = \"0us\"\npairs = [[0, 1]]")),
              HasSubstr("did you mean \"bandwidth\"?"));
  EXPECT_THAT(errors_of(kHead + "npus = 0\nlinks = []"), HasSubstr("m.toml:5:8: npus = 0"));
  EXPECT_THAT(errors_of(kHead + "npus = 2\n[[switches]]\ncount = 0\n[[links]]\n"), HasSubstr("count = 0"));
  const auto hub = [](const std::string& body) { return kHead + "npus = 2\n[[switches]]\n" + body + "[[links]]\n"; };
  EXPECT_THAT(errors_of(hub("forwarding = \"cut\"\n")),
              HasSubstr("m.toml:7:15: a [[switches]] has forwarding = \"cut\""));
  EXPECT_THAT(errors_of(hub("buffer = -1\n")), HasSubstr("m.toml:7:10: a [[switches]] has buffer = -1"));
  EXPECT_THAT(errors_of(hub("forwarding = \"cut_through\"\nbuffer = 4\n")),
              HasSubstr("m.toml:8:10: a buffer in switches that cut through"));
  EXPECT_THAT(errors_of("schema = 2\nkind = \"machine\""), HasSubstr("m.toml:1:10: schema 2 is not known"));
  EXPECT_THAT(errors_of("schema = 1\nkind = \"study\""), HasSubstr("kind \"study\" is no machine"));
  EXPECT_THAT(errors_of("= 1"), HasSubstr("m.toml:1:1"));
}

TEST(MachineFile, SaysHowItsSwitchesForward) {
  const auto machine = parse_machine(kHead + R"(
npus = 2
[[switches]]
forwarding = "cut_through"
[[switches]]
buffer = 3
[[links]]
bandwidth = "1GB/s"
alpha = "0us"
pairs = [[0, 2], [1, 3], [2, 3]]
)",
                                     "m.toml");
  ASSERT_TRUE(machine.ok());
  EXPECT_EQ(machine->topology.switch_properties(VertexId(2)),
            (SwitchProperties{.forwarding = Forwarding::cut_through}));
  EXPECT_EQ(machine->topology.switch_properties(VertexId(3)), (SwitchProperties{.buffer = 3}));
  const auto early = parse_machine(kHead + R"(
npus = 2
[[switches]]
forwarding = "virtual_cut_through"
buffer = 3
[[links]]
bandwidth = "1GB/s"
alpha = "0us"
pairs = [[0, 2], [1, 2]]
)",
                                   "m.toml");
  ASSERT_TRUE(early.ok());
  EXPECT_EQ(early->topology.switch_properties(VertexId(2)),
            (SwitchProperties{.forwarding = Forwarding::virtual_cut_through, .buffer = 3}));
}

/// NPUs 0-3; leaves 4 (NPUs 0, 1) and 5 (2, 3); spines 6 and 7, with two links each way between leaf 4 and spine 7.
const std::string kLeafSpine = kHead + R"(npus = 4
[[switches]]
count = 4
[[links]]
bandwidth = "1GB/s"
alpha = "1us"
pairs = [[0, 4], [1, 4], [2, 5], [3, 5], [4, 6], [5, 6], [4, 7], [4, 7], [5, 7]]
)";

TEST(MachineFile, GivesRoutesAndNextHops) {
  const auto machine = parse_machine(kLeafSpine + R"(
[[route]]
from = 0
to = "2..3"
through = [4, 7, 5]
links = [0, 1, 0, 0]
[[next_hops]]
at = 4
to = [["2..3", 6]]
[[next_hops]]
at = 5
to = [[0, 6], ["1..1", 7, 0]]
)",
                                     "m.toml");
  ASSERT_TRUE(machine.ok()) << to_string(machine.errors());
  Router router(machine->topology);
  const auto links = [&](std::uint32_t from, std::uint32_t to) {
    std::vector<std::uint32_t> ids;
    for (const LinkId link : router.route(NpuId(from), NpuId(to))) ids.push_back(link.value());
    return ids;
  };
  // Pairs in the order of the file: 0-4 is 0 and 1, ..., 4-6 is 8 and 9, 5-6 10 and 11, 4-7 12 to 15, 5-7 16 and 17.
  EXPECT_THAT(links(0, 2), ::testing::ElementsAre(0, 14, 17, 5));
  EXPECT_THAT(links(0, 3), ::testing::ElementsAre(0, 14, 17, 7));
  EXPECT_THAT(links(1, 2), ::testing::ElementsAre(2, 8, 11, 5));
  EXPECT_THAT(links(2, 0), ::testing::ElementsAre(4, 10, 9, 1));
  EXPECT_THAT(links(2, 1), ::testing::ElementsAre(4, 16, 15, 3));  // down, per_destination: the second of two for 1
  EXPECT_NE(parse_machine(kLeafSpine, "m.toml")->content, machine->content);
}

TEST(MachineFile, NamesThePlaceOfEveryMistakeInRoutes) {
  const auto route = [](const std::string& body) { return errors_of(kLeafSpine + "[[route]]\n" + body); };
  const auto hops = [](const std::string& rows) {
    return errors_of(kLeafSpine + "[[next_hops]]\nat = 4\nto = " + rows);
  };
  // The file before has 11 lines.
  EXPECT_THAT(route("from = 0\nto = 4\nthrough = []"),
              HasSubstr("m.toml:14:6: NPU 4 does not exist (NPUs are 0 to 3)"));
  EXPECT_THAT(route("from = \"0-1\"\nto = 2\nthrough = []"), HasSubstr("m.toml:13:8: these are no NPUs"));
  EXPECT_THAT(route("from = \"1..0\"\nto = 2\nthrough = []"), HasSubstr("m.toml:13:8: these are no NPUs"));
  EXPECT_THAT(route("from = 0\nto = 2"), HasSubstr("m.toml:12:1: the key \"through\" is missing"));
  EXPECT_THAT(route("from = 0\nto = 2\nthrough = [\"a\"]"), HasSubstr("m.toml:15:12: this is not a vertex"));
  EXPECT_THAT(route("from = 0\nto = 2\nthrough = [4, 8, 5]"),
              HasSubstr("m.toml:15:11: vertex 8 does not exist (vertices are 0 to 7)"));
  EXPECT_THAT(route("from = 0\nto = 2\nthrough = [4, 6, 5]\nlinks = [0, 1, 0, 0]"),
              HasSubstr("m.toml:15:11: link 1 from 4 to 6 (one link leads there, which is number 0)"));
  EXPECT_THAT(route("from = 0\nto = 2\nthrough = [4, 6]"),
              HasSubstr("m.toml:15:11: no link leads from 6 to 2 (messages go over links) 6 has links with 4, 5"));
  EXPECT_THAT(route("frm = 0\nto = 2\nthrough = [4, 6, 5]"), HasSubstr("did you mean \"from\"?"));
  EXPECT_THAT(hops("[[2, 6], [3]]"), HasSubstr("m.toml:14:15: a next hop is not [NPUs, vertex]"));
  EXPECT_THAT(hops("[[2, 6], [\"2..3\", 7]]"),
              HasSubstr("m.toml:14:15: a second next hop of vertex 4 to NPU 2 (line 14 gives one)"));
  EXPECT_THAT(hops("[[2, 6]]\n[[next_hops]]\nat = 6\nto = [[2, 4]]"),
              HasSubstr("m.toml:17:7: next hops to NPU 2 lead in a loop: 4 -> 6 -> 4"));
  EXPECT_THAT(hops("[[0, 1]]"), HasSubstr("m.toml:14:7: messages to NPU 0 end at NPU 1"));
  EXPECT_THAT(errors_of(kHead + "shape = \"RI(4)\"\nalpha = \"1us\"\nbandwidth = \"1GB/s\"\nroute = []\n"),
              HasSubstr("m.toml:8:9: \"route\" beside a shape"));
}

TEST(MachineFile, NamesAShapeInsteadOfLinks) {
  const auto machine = parse_machine(
      kHead + "shape = \"SW(8)_torus(4,4)\"\nalpha = \"0.5us\"\nnpu_bandwidth = \"400GB/s, 50GB/s,20GB/s\"\n", "m");
  ASSERT_TRUE(machine.ok()) << to_string(machine.errors());
  ASSERT_TRUE(machine->shaped);
  EXPECT_EQ(to_string(machine->shaped->shape), "SW(8)_RI(4)_RI(4)");
  EXPECT_EQ(machine->topology.npus(), 0U);
  const auto topology = topology_of(*machine);
  EXPECT_EQ(topology.npus(), 128U);
  EXPECT_EQ(topology.shape(), machine->shaped->shape);
  // NPU 0: up to its switch, then two links in each ring, which share 50 and 20 GB/s.
  std::vector<std::int64_t> bandwidth;
  for (const auto link : topology.out_links(VertexId(0))) bandwidth.push_back(topology.bandwidth(link).count());
  constexpr std::int64_t kGiga = 1'000'000'000;
  EXPECT_THAT(bandwidth, ::testing::ElementsAre(400 * kGiga, 25 * kGiga, 25 * kGiga, 10 * kGiga, 10 * kGiga));
}

TEST(MachineFile, NamesThePlaceOfEveryMistakeBesideAShape) {
  const std::string shape = kHead + "shape = \"RI(4)_SW(2)\"\n";
  const std::string links = "alpha = \"1us\"\nbandwidth = \"1GB/s\"\n";
  EXPECT_THAT(errors_of(kHead + "shape = \"RI(4)_XX(2)\"\n" + links), HasSubstr("m.toml:5:16: unknown block \"XX\""));
  EXPECT_THAT(errors_of(shape + "npus = 8\n" + links), HasSubstr("m.toml:6:8: \"npus\" beside a shape"));
  EXPECT_THAT(errors_of(shape + "links = []\n" + links), HasSubstr("\"links\" beside a shape"));
  EXPECT_THAT(errors_of(shape + "alpha = \"1us\"\n"), HasSubstr("the key \"bandwidth\" is missing"));
  EXPECT_THAT(errors_of(shape + "bandwidth = \"1GB/s\"\n"), HasSubstr("the key \"alpha\" is missing"));
  EXPECT_THAT(errors_of(shape + links + "npu_bandwidth = \"1GB/s\"\n"), HasSubstr("m.toml:7:13: \"bandwidth\" and"));
  EXPECT_THAT(errors_of(shape + "alpha = \"1us, 2us, 3us\"\nbandwidth = \"1GB/s\"\n"),
              HasSubstr("m.toml:5:9: 3 alphas for RI(4)_SW(2)"));
  EXPECT_THAT(errors_of(shape + "alpha = \"1us, 2\"\nbandwidth = \"1GB/s\"\n"), HasSubstr("m.toml:6:15:"));
  EXPECT_THAT(errors_of(shape + "alpha = 1\nbandwidth = \"1GB/s\"\n"), HasSubstr("m.toml:6:9:"));
  EXPECT_THAT(errors_of(kHead + "npus = 2\nalpha = \"1us\"\n[[links]]\n"),
              HasSubstr("m.toml:6:9: \"alpha\" of a machine that names no shape"));
}

TEST(MachineFile, GivesProtocolsTheirAlphaAndTheirShareOfTheBandwidth) {
  const std::string shape = kHead + "shape = \"RI(4)_SW(2)\"\nalpha = \"1us\"\nbandwidth = \"1GB/s, 7GB/s\"\n";
  const std::string given = "[protocols]\nll = { data = \"4/8\", alpha = \"2us, 3us\" }\n";
  const auto machine = parse_machine(shape + given, "m.toml");
  ASSERT_TRUE(machine.ok()) << to_string(machine.errors());
  ASSERT_EQ(machine->shaped->protocols.size(), 1U);
  const auto links = links_under(machine->shaped->protocols[0], machine->shaped->links);
  EXPECT_EQ(links.alpha, (std::vector{microseconds(2), microseconds(3)}));
  EXPECT_EQ(links.bandwidth, (std::vector{bytes_per_second(500'000'000), bytes_per_second(3'500'000'000)}));
  // 10^18 B/s * 120/128, and 3 B/s * 2/3 whose third is rounded down to whole bytes: 2.
  EXPECT_EQ(links_under({"p", 120, 128, {}}, {{}, {bytes_per_second(1'000'000'000'000'000'000)}, false}).bandwidth[0],
            bytes_per_second(937'500'000'000'000'000));
  EXPECT_EQ(links_under({"p", 2, 3, {}}, {{}, {bytes_per_second(4)}, false}).bandwidth[0], bytes_per_second(2));

  const auto errors = [&](std::string_view protocols) { return errors_of(shape + std::string(protocols)); };
  EXPECT_THAT(errors("[protocols.ll]\nalpha = \"1us\"\n"), HasSubstr("the key \"data\" is missing"));
  EXPECT_THAT(errors("[protocols.ll]\ndata = \"1/2\"\n"), HasSubstr("the key \"alpha\" is missing"));
  EXPECT_THAT(errors("[protocols.ll]\nalpha = \"1us\"\ndata = \"9/8\"\n"), HasSubstr("\"9/8\" is no share of data"));
  EXPECT_THAT(errors("[protocols.ll]\nalpha = \"1us, 2us, 3us\"\ndata = \"1\"\n"),
              HasSubstr("m.toml:9:9: 3 alphas for 2 dimensions"));
  EXPECT_THAT(errors("[protocols.ll]\nalpha = \"1us\"\ndata = \"1\"\nscale_out_alpha = \"2us\"\n"),
              HasSubstr("\"scale_out_alpha\" without [scale_out]"));
  EXPECT_THAT(errors("protocols = 3\n"), HasSubstr("\"protocols\" is an integer"));
}

TEST(MachineFile, DoesNotBuildAShapeToReadIt) {
  const auto machine =
      parse_machine(kHead + "shape = \"torus(1024,1024,1024)\"\nalpha = \"1us\"\nbandwidth = \"1GB/s\"\n", "m");
  ASSERT_FALSE(machine.ok());  // 6 * 2^30 links
  EXPECT_EQ(machine.errors().front().fault, Fault::resource);
  EXPECT_TRUE(parse_machine(kHead + "shape = \"RI(1000000000)\"\nalpha = \"1us\"\nbandwidth = \"1GB/s\"\n", "m").ok());
}

TEST(MachineFile, ReportsAllMistakesAtOnce) {
  const auto machine = parse_machine(
      kHead + "npus = 2\n[[links]]\nbandwidth = \"1GB\"\nalpha = \"-1us\"\npairs = [[0, 5], [7, 0]]\n", "m");
  ASSERT_FALSE(machine.ok());
  EXPECT_EQ(machine.errors().size(), 4U) << to_string(machine.errors());
}

TEST(MachineFile, SaysWhyItCannotBeRead) {
  EXPECT_THAT(to_string(read_machine_file("/absent.toml").errors()), HasSubstr("No such file"));
}

}  // namespace
}  // namespace tenex
