// ASTRA-sim's network, InfraGraph, TE-CCL's input, and files that hold no machine.
#include "import_support.hpp"
#include "tenex/exchange/machine_export.hpp"
#include "tenex/topology/shape.hpp"

namespace tenex {
namespace {

using namespace exchange_test;  // NOLINT
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(AstraNetwork, IsAShapeWithItsNumbers) {
  const std::string yaml =
      "# a network\ntopology: [ Ring, Switch ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 50.0, 12.5 ]\n"
      "latency: [ 500.0, 936.25 ]\n";
  const auto machine = imported(yaml);
  ASSERT_TRUE(machine.shaped.has_value());
  EXPECT_EQ(to_string(machine.shaped->shape), "RI(4)_SW(2)");
  EXPECT_EQ(machine.shaped->links.bandwidth[0], gibibytes_per_second(50));
  EXPECT_EQ(machine.shaped->links.bandwidth[1], Bandwidth::of(std::int64_t{25} << 29));
  EXPECT_EQ(machine.shaped->links.alpha[1], picoseconds(936'250));
  EXPECT_THAT(text_of_import(yaml), HasSubstr("# alpha: latency in ns, line 5 of the file"));
  const auto json =
      imported(R"({"topology": ["FullyConnected"], "npus_count": [8], "bandwidth": [1e2], "latency": [5]})");
  EXPECT_EQ(json.shaped->links.bandwidth[0], gibibytes_per_second(100));
}

TEST(AstraNetwork, TheSystemFileIsReadBesideIt) {
  const std::string yaml = "topology: [Ring]\nnpus_count: [4]\nbandwidth: [50]\nlatency: [500]\n";
  const std::string system = R"({"scheduling-policy": "LIFO", "endpoint-delay": 10,
    "all-reduce-implementation": ["ring"]})";
  ImportOptions options;
  options.system = {{"system.json", system}};
  const auto machine = imported(yaml, options);
  EXPECT_THAT(machine.remarks,
              ::testing::ElementsAre(HasSubstr("endpoint-delay = 10"), HasSubstr("all-reduce-implementation = ring")));
  options.system = {{"system.json", "{}"}};
  EXPECT_THAT(refusal(yaml, options), HasSubstr("no system file"));
  EXPECT_THAT(refusal(system), HasSubstr("--system"));
}

TEST(AstraNetwork, MistakesHaveTheirPlaces) {
  EXPECT_THAT(refusal("topology: [Ring, Star]\nnpus_count: [1, 4]\nbandwidth: [0, 1]\nlatency: [-1, 1, 1]\nx: 1\n"),
              AllOf(HasSubstr("some.file:1:18: topology \"Star\""), HasSubstr("some.file:2:14: npus_count \"1\""),
                    HasSubstr("some.file:3:13: bandwidth \"0\""), HasSubstr("latency has 3 values"),
                    HasSubstr("unknown key \"x\"")));
  EXPECT_THAT(refusal("topology: [Ring]\nnpus_count: [4]\nbandwidth: [1]\nlatency: [1]\n", {.nodes = 2}),
              HasSubstr("--nodes beside an ASTRA-sim network"));
}

TEST(AstraNetwork, MachineToFileToMachineIsTheSame) {
  for (const auto& text : {"RI(4)_FC(8)_SW(2)", "SW(72)", "RI(2)"}) {
    ShapedNetwork network;
    network.shape = parse_shape(text).value();
    const auto dimensions = network.shape.dimensions();
    for (std::size_t i = 0; i < dimensions; ++i) {
      network.links.alpha.push_back(picoseconds(static_cast<std::int64_t>(936'251 * i)));
      network.links.bandwidth.push_back(bytes_per_second(50'000'000'000 + static_cast<std::int64_t>(i)));
    }
    const auto yaml = astra_network_text(network);
    ASSERT_TRUE(yaml.ok()) << to_string(yaml.errors());
    const auto again = imported(*yaml);
    ASSERT_TRUE(again.shaped.has_value());
    EXPECT_EQ(again.shaped->shape, network.shape);
    EXPECT_EQ(again.shaped->links.alpha, network.links.alpha);
    EXPECT_EQ(again.shaped->links.bandwidth, network.links.bandwidth);
  }
}

TEST(AstraNetwork, WhatTheFormatCannotSayIsRefused) {
  for (const auto& text : {"fat_tree(4)", "mesh(3,3)", "SW(8,4:2)"}) {
    ShapedNetwork network{parse_shape(text).value(), {{nanoseconds(1)}, {gigabytes_per_second(1)}, false}};
    EXPECT_FALSE(astra_network_text(network).ok()) << text;
  }
}

const std::string kInfraGraph = R"(name: two
devices:
- name: server
  components:
  - {name: cpu, choice: cpu, count: 1}
  - {name: gpu, choice: xpu, count: 2}
  - {name: sw, choice: switch}
  - {name: nic, choice: nic, count: 2}
  links:
  - {name: pcie}
  - name: nvl
    physical: {bandwidth: {choice: gigabytes_per_second, gigabytes_per_second: 450}, latency: {choice: ns, ns: 350}}
  edges:
  - {ep1: {component: gpu}, ep2: {component: sw}, link: nvl, scheme: many2many}
  - {ep1: {component: 'gpu[0:2]'}, ep2: {component: 'nic[0:2]'}, link: pcie, scheme: one2one}
  - {ep1: {component: cpu}, ep2: {component: 'gpu[0]'}, link: pcie, scheme: one2one}
- name: leaf
  components: [{name: asic, choice: switch}]
links:
- {name: eth, physical: {bandwidth: {choice: gigabits_per_second, gigabits_per_second: 400}}}
instances:
- {name: host, device: server, count: 2}
- {name: leaf, device: leaf, count: 1}
edges:
- {ep1: {instance: 'host[::1]', component: 'nic'}, ep2: {instance: leaf, component: asic}, link: eth, scheme: many2many}
)";

TEST(InfraGraph, ComponentsAreVerticesAndEdgesLinks) {
  const auto machine = imported(kInfraGraph, {.bandwidths = {"pcie=24GB/s"}, .alphas = {"1us"}});
  const auto& topology = machine.topology;
  EXPECT_EQ(topology.npus(), 4);
  EXPECT_EQ(topology.switches(), 2 * (1 + 2) + 1);  // the CPUs are on no way
  EXPECT_EQ(topology.links(), 2 * (2 * (2 + 2) + 4));
  const auto out = topology.out_links(VertexId(0));
  EXPECT_EQ(topology.bandwidth(out[0]), gigabytes_per_second(450));
  EXPECT_EQ(topology.alpha(out[0]), nanoseconds(350));
  EXPECT_EQ(topology.bandwidth(out[1]), gigabytes_per_second(24));
}

TEST(InfraGraph, LinksWithoutNumbersAreAskedForAllAtOnce) {
  EXPECT_THAT(refusal(kInfraGraph),
              AllOf(HasSubstr("--bandwidth pcie="), HasSubstr("--alpha pcie="), HasSubstr("--alpha eth=")));
}

TEST(InfraGraph, OlderSchemasAreRefusedByName) {
  EXPECT_THAT(refusal("infrastructure:\n  name: x\n  connections:\n  - a.0.b.c.0\n"), HasSubstr("older schema"));
  EXPECT_THAT(refusal("name: x\ncomponents: [{name: n, choice: npu, count: 2}]\n"), HasSubstr("2.0 to 2.3"));
}

TEST(InfraGraph, MistakesHaveTheirPlaces) {
  const auto with = [](const std::string& from, const std::string& to) {
    auto text = kInfraGraph;
    text.replace(text.find(from), from.size(), to);
    return refusal(text, {.bandwidths = {"1GB/s"}, .alphas = {"1us"}});
  };
  EXPECT_THAT(with("gpu[0:2]", "gpu[x]"), HasSubstr("some.file:15:"));
  EXPECT_THAT(with("gpu[0]", "gpu[9]"), HasSubstr("some.file:16:"));
  EXPECT_THAT(with("link: eth", "link: ath"), HasSubstr("no link \"ath\""));
  EXPECT_THAT(with("device: leaf", "device: leef"), HasSubstr("no device \"leef\""));
  EXPECT_THAT(with("scheme: many2many", "scheme: ring"), HasSubstr("ring"));
  EXPECT_THAT(with("gigabits_per_second: 400", "gigabits_per_second: -4"), HasSubstr("above 0"));
  EXPECT_THAT(with("instance: leaf", "instance: loaf"), HasSubstr("no instance \"loaf\""));
}

TEST(TeCclInput, NamesABuiltInMachine) {
  const auto machine = imported(R"({"TopologyParams": {"name": "DGX2", "chassis": 2}})");
  EXPECT_EQ(machine.topology.npus(), 32);
  EXPECT_THAT(refusal(R"({"TopologyParams": {"name": "DGX2", "chassis": 3}})"), HasSubstr("DGX2 2, NDv2 1"));
}

TEST(Formats, WhatHoldsNoMachineIsNamed) {
  EXPECT_THAT(refusal("<Algo nchunkspernode=\"1\"/>"), HasSubstr("ForestColl"));
  EXPECT_THAT(refusal("<algo name=\"x\"/>"), HasSubstr("MSCCLang"));
  EXPECT_THAT(refusal("<svg/>"), HasSubstr("the root element is <svg>"));
  EXPECT_THAT(refusal("Nodes 8\nTiers 3\n"), HasSubstr("htsim"));
  EXPECT_THAT(refusal("{\"logical-dims\": [\"8\"]}"), HasSubstr("ns-3"));
  EXPECT_THAT(refusal("{\"1-Epoch_Duration\": 1}"), HasSubstr("schedule of TE-CCL"));
  EXPECT_THAT(refusal("{\"traceEvents\": []}"), HasSubstr("a trace"));
  EXPECT_THAT(refusal("{\"x\": 1}"), HasSubstr("the format is not known"));
  EXPECT_THAT(refusal("schema = 1\n"), HasSubstr("TOML"));
}

TEST(Formats, ForeignFilesAreTold) {
  EXPECT_TRUE(is_foreign_machine("\n<!-- x -->\n<system/>"));
  EXPECT_TRUE(is_foreign_machine("# x\ntopology: [Ring]"));
  EXPECT_TRUE(is_foreign_machine("{}"));
  EXPECT_FALSE(is_foreign_machine("# x: y\nschema = 1"));
  EXPECT_FALSE(is_foreign_machine(""));
}

}  // namespace
}  // namespace tenex
