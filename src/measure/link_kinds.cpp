#include "measure/link_kinds.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tenex/base/units.hpp"
#include "tenex/exchange/machine_text.hpp"
#include "tenex/topology/shape.hpp"

namespace tenex::measure {
namespace {

using exchange::plain;

std::string switches_text(const Topology& topology) {
  std::string out;
  for (std::size_t v = topology.npus(); v < topology.vertices();) {
    const auto properties = topology.switch_properties(VertexId::at(v));
    std::size_t end = v + 1;
    while (end < topology.vertices() && topology.switch_properties(VertexId::at(end)) == properties) ++end;
    out += fmt::format("\n[[switches]]\ncount = {}\n", end - v);
    if (properties.copy) out += "copy = true\n";
    if (properties.reduce) out += "reduce = true\n";
    out += fmt::format("forwarding = \"{}\"\n", to_string(properties.forwarding));
    if (properties.buffer != kUnlimitedBuffer) out += fmt::format("buffer = {}\n", properties.buffer);
    v = end;
  }
  return out;
}

}  // namespace

LinkKinds::LinkKinds(const Machine& machine) : machine_(machine) {
  if (machine.shaped) {
    const auto dimensions = std::max(machine.shaped->links.bandwidth.size(), machine.shaped->links.alpha.size());
    const auto widened = [&](auto list) {
      if (list.size() < dimensions) list.resize(dimensions, list.front());
      return list;
    };
    bandwidths_ = widened(machine.shaped->links.bandwidth);
    alphas_ = widened(machine.shaped->links.alpha);
    return;
  }
  for (const auto& each : machine.topology.classes()) {
    bandwidths_.push_back(each.bandwidth);
    alphas_.push_back(each.alpha);
  }
}

std::string LinkKinds::name(std::size_t kind) const {
  if (machine_.shaped) return size() == 1 ? "all links" : fmt::format("dimension {}", kind + 1);
  return fmt::format("links of {} and {}", to_string(bandwidths_[kind]), to_string(alphas_[kind]));
}

Topology LinkKinds::with(const std::vector<Bandwidth>& bandwidths) const {
  if (machine_.shaped) {
    Machine changed = machine_;
    changed.shaped->links.bandwidth = bandwidths;
    return topology_of(changed);
  }
  const auto& old = machine_.topology;
  TopologyBuilder builder(old.npus());
  for (std::size_t v = old.npus(); v < old.vertices(); ++v) builder.add_switch(old.switch_properties(VertexId::at(v)));
  for (std::size_t l = 0; l < old.links(); ++l) {
    auto link = old.link(LinkId::at(l));
    link.bandwidth = bandwidths[old.class_of(LinkId::at(l))];
    builder.add_link(link);
  }
  return std::move(builder).build().value().with_route_table(old.route_table());
}

bool LinkKinds::has_given_routes() const { return machine_.topology.route_table() != nullptr; }

std::string LinkKinds::text(const std::string& head, const std::vector<Bandwidth>& bandwidths,
                            const std::vector<std::string>& origins) const {
  std::string out = head;
  if (machine_.shaped) {
    std::string rates;
    std::string alphas;
    for (std::size_t kind = 0; kind < size(); ++kind) {
      out += fmt::format("# {}: {}\n", name(kind), plain(origins[kind]));
      rates += fmt::format("{}{}", kind > 0 ? ", " : "", to_string(bandwidths[kind]));
      alphas += fmt::format("{}{}", kind > 0 ? ", " : "", to_string(alphas_[kind]));
    }
    out += fmt::format("shape = \"{}\"\nalpha = \"{}\"\n{} = \"{}\"\n", to_string(machine_.shaped->shape), alphas,
                       machine_.shaped->links.per_npu ? "npu_bandwidth" : "bandwidth", rates);
    if (const auto forwarding = machine_.shaped->forwarding; forwarding != ShapedNetwork{}.forwarding)
      out += fmt::format("forwarding = \"{}\"\n", to_string(forwarding));
    return out;
  }
  const auto& topology = machine_.topology;
  out += fmt::format("npus = {}\n", topology.npus()) + switches_text(topology);
  std::vector<std::string> lists(size());
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto id = LinkId::at(l);
    auto& list = lists[topology.class_of(id)];
    list +=
        fmt::format("{}[{}, {}]", list.empty() ? "" : ", ", topology.source(id).value(), topology.target(id).value());
  }
  for (std::size_t kind = 0; kind < size(); ++kind)
    out += fmt::format("\n[[links]]\n# bandwidth: {}\nbandwidth = \"{}\"\nalpha = \"{}\"\ndirected = [{}]\n",
                       plain(origins[kind]), to_string(bandwidths[kind]), to_string(alphas_[kind]), lists[kind]);
  return out;
}

}  // namespace tenex::measure
