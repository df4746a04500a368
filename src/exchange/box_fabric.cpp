#include "exchange/box_fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "exchange/constants.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex::exchange {
namespace {

constexpr std::size_t kMostFabricVertices = std::size_t{1} << 20;
constexpr std::size_t kMostFabricLinks = std::size_t{1} << 22;

Diagnostic fabric_error(std::string problem, std::string why, std::string suggestion = {}) {
  return input_error({"--fabric", 0, 0}, std::move(problem), std::move(why), std::move(suggestion));
}

/// The network as a topology whose NPUs are the endpoints; the numbers of its links mean nothing.
Result<Topology> network_of(const std::string& text, std::size_t nics, std::size_t nodes) {
  const std::size_t endpoints = nics * nodes;
  if (text == "rails") {
    TopologyBuilder builder(endpoints);
    for (std::size_t rail = 0; rail < nics; ++rail) {
      const auto rail_switch = builder.add_switch();
      for (std::size_t node = 0; node < nodes; ++node)
        builder.add_link_pair({VertexId::at(rail * nodes + node), rail_switch, nanoseconds(0), bytes_per_second(1)});
    }
    return std::move(builder).build();
  }
  const auto shape = parse_shape(text == "switch" ? fmt::format("SW({})", endpoints) : text, {"--fabric", 0, 0});
  if (!shape) return shape.errors();
  if (shape->npus() != endpoints)
    return fabric_error(fmt::format("{} has {} endpoints", text, shape->npus()),
                        fmt::format("{} boxes with {} NICs each have {}", nodes, nics, endpoints));
  const auto counts = count_shape(*shape);
  if (counts.links > kMostFabricLinks || counts.switches > kMostFabricVertices)
    return fabric_error(fmt::format("{} has {} switches and {} links", text, counts.switches, counts.links),
                        fmt::format("at most {} and {} are written as a list", kMostFabricVertices, kMostFabricLinks));
  auto topology = build_topology(*shape, {{nanoseconds(0)}, {bytes_per_second(1'000'000'000)}, false});
  if (!topology) return topology.errors();
  for (std::size_t link = 0; link < topology->links(); ++link)
    if (topology->is_npu(topology->source(LinkId::at(link))) && topology->is_npu(topology->target(LinkId::at(link))))
      return fabric_error(fmt::format("{} joins endpoints with each other", text),
                          "NICs pass nothing on, so they are joined by switches",
                          "use switch, rails, or a shape with switches such as leaf_spine(16,8,4)");
  return topology;
}

}  // namespace

Result<MachineDraft> join_boxes(const MachineDraft& box, const std::vector<Uplink>& uplinks,
                                const ImportOptions& options, RateChoice& rates) {
  if (uplinks.empty())
    return input_error({"--nodes", 0, 0}, fmt::format("{} boxes of a file without NICs", options.nodes),
                       "boxes are joined by their NICs", "use a file that has <net> elements or NICs by their class");
  const std::size_t nodes = options.nodes;
  if (nodes * box.vertices() > kMostFabricVertices || nodes * box.edges() > kMostFabricLinks)
    return input_error(
        {"--nodes", 0, 0}, fmt::format("{} boxes", nodes),
        fmt::format("a list of links has at most {} vertices and {} links", kMostFabricVertices, kMostFabricLinks));
  const auto network = network_of(options.fabric, uplinks.size(), nodes);
  if (!network) return network.errors();
  MachineDraft machine = box.repeated(options.nodes);
  std::vector<std::uint32_t> vertex_of(network->vertices());
  for (std::size_t i = 0; i < network->vertices(); ++i)
    vertex_of[i] = i < network->npus()
                       ? static_cast<std::uint32_t>((i % nodes) * box.vertices()) + uplinks[i / nodes].vertex
                       : machine.add_switch(fmt::format("switches of --fabric {}", options.fabric));
  std::optional<std::uint32_t> inner;  // the rate between switches
  for (std::size_t i = 0; i < network->links(); ++i) {
    const LinkId link = LinkId::at(i);
    const auto source = network->source(link);
    const auto target = network->target(link);
    if (network->is_npu(target)) continue;  // its opposite stands for both
    const auto from = vertex_of[source.index()];
    const auto to = vertex_of[target.index()];
    if (network->is_npu(source)) {
      for (const auto rate : uplinks[source.index() / nodes].rates) machine.join(from, to, rate);
      continue;
    }
    if (!inner)
      inner = machine.add_rate(
          {"fabric", rates.bandwidth("fabric", std::nullopt, "links between switches of a network are in no file"),
           rates.alpha("fabric", fabric_alpha(), {})});
    machine.point(from, to, *inner);
  }
  machine.remarks.push_back(fmt::format(
      "{} boxes like that of the file (option --nodes {}), joined by --fabric {}: NIC r of box b is endpoint "
      "{} r + b",
      nodes, nodes, options.fabric, nodes));
  return machine;
}

}  // namespace tenex::exchange
