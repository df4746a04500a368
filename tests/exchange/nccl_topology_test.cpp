// NCCL and RCCL topology files: what becomes a vertex and a link, with which number, and what is asked for.
#include "import_support.hpp"

namespace tenex {
namespace {

using namespace exchange_test;  // NOLINT: small files of this test
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(NcclTopology, NvlinksToASwitchAreOneLinkPerGpuWithTheirSum) {
  const auto machine = imported(two_gpus());
  const auto& topology = machine.topology;
  ASSERT_EQ(topology.npus(), 2);
  ASSERT_EQ(topology.switches(), 1);
  ASSERT_EQ(topology.links(), 4);
  // 18 x 20.6 GB/s.
  EXPECT_EQ(topology.bandwidth(LinkId(0)), bytes_per_second(370'800'000'000));
  EXPECT_EQ(topology.alpha(LinkId(0)), nanoseconds(350));
  EXPECT_EQ(machine.name, "some");
}

TEST(NcclTopology, EachNumberHasItsOrigin) {
  const auto text = text_of_import(two_gpus(), {.alphas = {"nvlink=1us"}});
  EXPECT_THAT(text,
              AllOf(HasSubstr("# bandwidth: count 18 in the file x constant 20.6 GB/s, one NVLink of sm_90 (NCCL"),
                    HasSubstr("# alpha: option --alpha nvlink=1us"), HasSubstr("# NPUs: 2 <gpu> elements"),
                    HasSubstr("some.file (NCCL topology XML, system version 1)"), Not(HasSubstr("dir/"))));
}

TEST(NcclTopology, AnOptionIsOneLinkAndTheFileCountsThem) {
  const auto machine = imported(two_gpus(), {.bandwidths = {"nvlink=25GB/s"}});
  EXPECT_EQ(machine.topology.bandwidth(LinkId(0)), gigabytes_per_second(450));
}

TEST(NcclTopology, BoxesAreJoinedRailByRail) {
  const auto machine = imported(two_gpus(), {.nodes = 3, .fabric = "rails"});
  const auto& topology = machine.topology;
  ASSERT_EQ(topology.npus(), 6);
  ASSERT_EQ(topology.switches(), 3 + 2);
  ASSERT_EQ(topology.links(), 2 * (6 + 6));
  // GPU 1 of box 2 has NIC 1, which is on the second rail.
  const auto links = topology.out_links(VertexId(5));
  ASSERT_EQ(links.size(), 2);
  EXPECT_EQ(topology.target(links[1]), VertexId(6 + 3 + 1));
  EXPECT_EQ(topology.bandwidth(links[1]), gigabytes_per_second(25));
  EXPECT_EQ(topology.alpha(links[1]), nanoseconds(1'300));
}

TEST(NcclTopology, AFabricMayBeAShapeOverAllNics) {
  const ImportOptions options{.bandwidths = {"fabric=100GB/s"}, .nodes = 3, .fabric = "leaf_spine(3,2,2)"};
  const auto machine = imported(two_gpus(), options);
  EXPECT_EQ(machine.topology.switches(), 3 + 2 + 2);
  EXPECT_EQ(machine.topology.links(), 2 * (6 + 6 + 4));
  EXPECT_THAT(refusal(two_gpus(), {.nodes = 3, .fabric = "leaf_spine(3,2,2)"}),
              HasSubstr("the bandwidth of \"fabric\" links is missing"));
  EXPECT_THAT(refusal(two_gpus(), {.nodes = 3, .fabric = "SW(7)"}), HasSubstr("3 boxes with 2 NICs each have 6"));
  EXPECT_THAT(refusal(two_gpus(), {.nodes = 3, .fabric = "RI(6)"}), HasSubstr("joins endpoints with each other"));
  EXPECT_THAT(refusal(two_gpus(), {.nodes = 3, .fabric = "cloud(6)"}), HasSubstr("--fabric"));
  EXPECT_THAT(refusal(two_gpus(), {.nodes = 3}), HasSubstr("what joins the boxes is missing"));
  EXPECT_THAT(refusal(two_gpus(), {.fabric = "rails"}), HasSubstr("--fabric without --nodes"));
}

TEST(NcclTopology, PortsWithOneGuidAreOneAdapter) {
  const auto both = gpu(0, "sm=\"90\"", "<nvlink target=\"fffffff:ffff:ff\" count=\"18\" tclass=\"0x068000\"/>");
  const auto other = gpu(1, "sm=\"90\"", "<nvlink target=\"fffffff:ffff:ff\" count=\"18\" tclass=\"0x068000\"/>");
  const auto ports = pci("0000:21:00.0",
                         "<nic><net dev=\"0\" speed=\"50000\" guid=\"0x7\"/><net dev=\"1\" speed=\"50000\" "
                         "guid=\"0x7\"/><net speed=\"1\"/></nic>",
                         "0x020000");
  const auto text = box(cpu(0, pci("0000:01:00.0", both) + pci("0000:02:00.0", other) + ports));
  const auto machine = imported(text, {.nodes = 2, .fabric = "switch"});
  // Per box a switch of NVLinks, and a NIC that two GPUs share; the NIC's two ports are two links each way.
  EXPECT_EQ(machine.topology.switches(), 2 * 2 + 1);
  EXPECT_EQ(machine.topology.links(), 2 * 2 * (2 + 2 + 2));
  const auto made = import_machine({"f", text}, {});
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(made->warnings, ::testing::ElementsAre(HasSubstr("a net without dev is left out")));
}

TEST(NcclTopology, ANicOnACpuIsSharedByItsGpus) {
  const auto one = [](int n) {
    return pci("0000:0" + std::to_string(n + 1) + ":00.0",
               gpu(n, "sm=\"90\"", "<nvlink target=\"fffffff:ffff:ff\" count=\"18\" tclass=\"0x068000\"/>"));
  };
  const auto machine =
      imported(box(cpu(0, one(0) + one(1) + nic(0, "100000", "0x1"))), {.nodes = 2, .fabric = "rails"});
  EXPECT_EQ(machine.topology.switches(), 2 * 2 + 1);
  EXPECT_EQ(machine.topology.links(), 2 * (2 * (2 + 2) + 2));
}

TEST(NcclTopology, NicsAreDealtOutAmongGpusThatAreAlikeNear) {
  std::string inside;
  for (int i = 0; i < 2; ++i)
    inside += pci("0000:0" + std::to_string(i + 2) + ":00.0",
                  pci("0000:1" + std::to_string(i) + ":00.0",
                      gpu(i, "sm=\"80\"", "<nvlink target=\"x\" count=\"12\" tclass=\"0x068000\"/>")),
                  "0x060400");
  for (int i = 0; i < 2; ++i)
    inside += pci("0000:2" + std::to_string(i) + ":00.0", nic(i, "200000", "0x" + std::to_string(i + 1)), "0x020000");
  const auto machine = imported(box(cpu(0, pci("0000:01:00.0", inside, "0x060400"))), {.nodes = 2, .fabric = "rails"});
  const auto& topology = machine.topology;
  EXPECT_EQ(topology.links(), 2 * (4 + 4));
  // 200 Gb/s are 25 GB/s, 16 lanes of 16 GT/s are 24 GB/s.
  EXPECT_EQ(topology.bandwidth(topology.out_links(VertexId(0))[1]), gigabytes_per_second(24));
}

TEST(NcclTopology, GpusWithoutFastLinksAreJoinedByThePciTree) {
  const auto text =
      box(cpu(0, pci("0000:01:00.0", gpu(0, "sm=\"86\"", ""))) + cpu(1, pci("0000:81:00.0", gpu(1, "sm=\"86\"", ""))));
  const auto machine = imported(text);
  ASSERT_EQ(machine.topology.switches(), 2);
  ASSERT_EQ(machine.topology.links(), 6);
  const auto& topology = machine.topology;
  EXPECT_EQ(topology.bandwidth(LinkId(0)), gigabytes_per_second(24));
  EXPECT_EQ(topology.alpha(LinkId(0)), nanoseconds(500));
  EXPECT_EQ(topology.bandwidth(LinkId(4)), gigabytes_per_second(16));  // between CPUs of AMD
  EXPECT_EQ(topology.alpha(LinkId(4)), nanoseconds(0));
}

TEST(NcclTopology, XgmiLinksJoinPairsAndAsymmetricOnesAreDirected) {
  const auto link = [](const std::string& to, const std::string& count) {
    return "<xgmi target=\"0000:0" + to + ":00.0\" count=\"" + count + "\" tclass=\"0x038000\"/>";
  };
  const auto text = box(cpu(0, pci("0000:01:00.0", gpu(0, "gcn=\"gfx942\"", link("2", "1") + link("3", "2"))) +
                                   pci("0000:02:00.0", gpu(1, "gcn=\"942\"", link("1", "1"))) +
                                   pci("0000:03:00.0", gpu(2, "gcn=\"942\"", link("1", "1")))),
                        "2");
  const auto machine = imported(text);
  ASSERT_EQ(machine.topology.links(), 4);
  EXPECT_EQ(machine.topology.bandwidth(LinkId(0)), gigabytes_per_second(48));
  EXPECT_EQ(machine.topology.alpha(LinkId(0)), nanoseconds(700));
  const auto out = machine.topology.out_links(VertexId(0));
  EXPECT_EQ(machine.topology.bandwidth(out[1]), gigabytes_per_second(96));
}

TEST(NcclTopology, HostsOfOneFileShareTheNvlinkSwitch) {
  const std::string link = "<nvlink target=\"fffffff:ffff:ff\" count=\"18\" tclass=\"0x068000\"/>";
  const auto text = box(cpu(0, pci("0000:01:00.0", gpu(0, "sm=\"100\"", link)), "host_hash=\"0x1\"") +
                        cpu(0, pci("0000:01:00.0", gpu(1, "sm=\"100\"", link)), "host_hash=\"0x2\""));
  const auto machine = imported(text);
  EXPECT_EQ(machine.topology.npus(), 2);
  EXPECT_EQ(machine.topology.bandwidth(LinkId(0)), bytes_per_second(721'800'000'000));  // 18 x 40.1
  const auto apart = box(cpu(0, pci("0000:01:00.0", gpu(0, "sm=\"86\"", "")), "host_hash=\"0x1\"") +
                         cpu(0, pci("0000:01:00.0", gpu(1, "sm=\"86\"", "")), "host_hash=\"0x2\""));
  EXPECT_THAT(refusal(apart), HasSubstr("nothing in the file joins all GPUs"));
}

TEST(NcclTopology, C2cJoinsAGpuWithItsCpu) {
  const auto c2c = [](int n) { return gpu(n, "sm=\"90\"", "<c2c bw=\"44712\" count=\"5\"/>"); };
  const std::string arm = "<cpu numaid=\"0\" arch=\"arm64\" vendor=\"x\">";
  const auto text = box(arm + pci("0000:01:00.0", c2c(0)) + pci("0000:02:00.0", c2c(1)) + "</cpu>");
  const auto machine = imported(text);
  EXPECT_EQ(machine.topology.bandwidth(machine.topology.out_links(VertexId(0))[0]),
            bytes_per_second(223'560'000'000));  // 5 x 44.712 GB/s
}

TEST(NcclTopology, DevicesAloneAskForTheirLinksAllAtOnce) {
  const auto text =
      box(cpu(0, pci("0000:01:00.0", "") + pci("0000:02:00.0", "") + pci("0000:03:00.0", "", "0x020700")));
  EXPECT_THAT(refusal(text), HasSubstr("--gpu-links"));
  EXPECT_THAT(refusal(text, {.gpu_links = "switch", .nodes = 2, .fabric = "switch"}),
              AllOf(HasSubstr("--bandwidth nvlink="), HasSubstr("--bandwidth nic=")));
  const auto machine = imported(
      text, {.bandwidths = {"nvlink=300GB/s", "nic=25GB/s"}, .gpu_links = "all", .nodes = 2, .fabric = "switch"});
  EXPECT_EQ(machine.topology.npus(), 4);
  EXPECT_EQ(machine.topology.bandwidth(LinkId(0)), gigabytes_per_second(300));
}

TEST(NcclTopology, BusIdsAloneNeedTheirGpusNamed) {
  const std::string text =
      "<system version=\"1\"><cpu numaid=\"0\"><pci busid=\"0000:00:1e.0\"/><pci "
      "busid=\"0000:00:1F.0\"/></cpu></system>";
  EXPECT_THAT(refusal(text),
              AllOf(HasSubstr("--gpus BUSID"), HasSubstr("0000:00:1e.0, 0000:00:1f.0"), HasSubstr("--gpu-links")));
  const auto machine = imported(text, {.gpus = {"0000:00:1e.0", "0000:00:1f.0"}, .gpu_links = "pcie"});
  EXPECT_EQ(machine.topology.npus(), 2);
  EXPECT_THAT(refusal(text, {.gpus = {"0000:00:77.0"}, .gpu_links = "pcie"}), HasSubstr("no device 0000:00:77.0"));
}

TEST(NcclTopology, SpeedsThatLookWrongAreWarnedOf) {
  for (const auto& [speed, words] : {std::pair("200000000", "above 1.6 Tb/s"), std::pair("1000", "below 10 Gb/s")}) {
    auto text = two_gpus();
    text.replace(text.find("200000"), 6, speed);
    const auto made = import_machine({"f", text}, {});
    ASSERT_TRUE(made.ok());
    EXPECT_THAT(made->warnings, ::testing::ElementsAre(AllOf(HasSubstr(words), HasSubstr("NIC net0"))));
  }
}

TEST(NcclTopology, WrongNumbersHaveTheirPlaces) {
  const auto with = [](const std::string& from, const std::string& to) {
    auto text = two_gpus();
    text.replace(text.find(from), from.size(), to);
    return refusal(text);
  };
  EXPECT_THAT(with("count=\"18\"", "count=\"0\""), HasSubstr("some.file:2:"));
  EXPECT_THAT(with("sm=\"90\"", "sm=\"9e9\""), HasSubstr("sm=\"9e9\""));
  EXPECT_THAT(with("speed=\"200000\"", "speed=\"99999999999999999999\""), HasSubstr("it is a whole number"));
  EXPECT_THAT(with("latency=\"0.000\"", "latency=\"nan\""), HasSubstr("microseconds"));
  EXPECT_THAT(with("link_width=\"16\"", "link_width=\"-1\""), HasSubstr("from 0 to 64"));
  EXPECT_THAT(with("0000:12:00.0", "0000:01:00.0"), HasSubstr("is given twice"));
  EXPECT_THAT(with("version=\"1\"", "version=\"3\""), HasSubstr("from 1 to 2"));
  EXPECT_THAT(with("sm=\"90\"", ""), HasSubstr("--bandwidth nvlink="));
  EXPECT_THAT(refusal(two_gpus(), {.bandwidths = {"nvlnk=1GB/s"}}), HasSubstr("did you mean \"nvlink\"?"));
  EXPECT_THAT(refusal(two_gpus(), {.bandwidths = {"1"}}), HasSubstr("--bandwidth"));
  EXPECT_THAT(refusal(two_gpus(), {.gpu_links = "all"}), HasSubstr("remove the option"));
}

}  // namespace
}  // namespace tenex
