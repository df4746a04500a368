#include "pages/grouping.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "pages/sends.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/topology/block.hpp"

namespace tenex {
namespace {

/// The shape without its inner dimensions, so that at most `most` NPUs are left; nullopt where only none would be.
std::optional<Shape> outer_shape(const Shape& shape, std::size_t most) {
  if (!shape.is_product()) return std::nullopt;
  Shape outer = shape;
  while (!outer.blocks.empty() && outer.npus() > most) outer.blocks.erase(outer.blocks.begin());
  for (const auto& block : outer.blocks)
    if (!block.levels.empty()) return std::nullopt;
  if (outer.blocks.empty() || outer.npus() < 2) return std::nullopt;
  return outer;
}

}  // namespace

GroupedNetwork group_network(const Topology& topology, const std::optional<Shape>& shape, std::size_t most) {
  auto outer = shape ? outer_shape(*shape, most) : std::nullopt;
  const auto npus = topology.npus();
  const std::size_t size = outer ? npus / outer->npus() : (npus + most - 1) / most;
  const std::size_t groups = (npus + size - 1) / size;
  const std::size_t per_switch = (topology.switches() + most - 1) / std::max<std::size_t>(most, 1);
  const auto group_of = [&](VertexId vertex) {
    return vertex.index() < npus ? vertex.index() / size : groups + (vertex.index() - npus) / per_switch;
  };
  struct Sum {
    std::uint32_t links = 0;
    std::int64_t bandwidth = 0;
    SimTime alpha = SimTime::max();
  };
  std::map<std::pair<std::size_t, std::size_t>, Sum> sums;
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto link = LinkId::at(l);
    const std::pair ends(group_of(topology.source(link)), group_of(topology.target(link)));
    if (ends.first == ends.second) continue;
    auto& sum = sums[ends];
    ++sum.links;
    sum.bandwidth += topology.bandwidth(link).count();
    sum.alpha = std::min(sum.alpha, topology.alpha(link));
  }
  TopologyBuilder builder(groups);
  const auto switches = per_switch == 0 ? 0 : (topology.switches() + per_switch - 1) / per_switch;
  for (std::size_t i = 0; i < switches; ++i) builder.add_switch();
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> number;
  GroupedNetwork grouped{{}, std::nullopt, size, {}, {}};
  for (const auto& [ends, sum] : sums) {
    number[ends] = static_cast<std::uint32_t>(grouped.links_in.size());
    grouped.links_in.push_back(sum.links);
    builder.add_link({VertexId::at(ends.first), VertexId::at(ends.second), sum.alpha, Bandwidth::of(sum.bandwidth)});
  }
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto link = LinkId::at(l);
    const std::pair ends(group_of(topology.source(link)), group_of(topology.target(link)));
    grouped.link_of.push_back(ends.first == ends.second ? GroupedNetwork::kInside : number[ends]);
  }
  auto built = std::move(builder).build();
  ensure(built.ok(), "groups of a network form a network");
  grouped.topology = *std::move(built);
  // Switches of inner dimensions are not the outer shape's.
  const bool switched =
      outer && std::ranges::any_of(outer->blocks, [](const Block& each) { return each.rule->through_switch; });
  if (outer && !switched && topology.switches() == 0) grouped.shape = std::move(outer);
  return grouped;
}

BusyShares measure_use(const ScheduleFile& file, const GroupedNetwork* groups, std::size_t spans) {
  const auto end =
      static_cast<double>(last_arrival({file.topology, file.collective, file.occupancy}, file.schedule).count());
  const std::size_t links = groups != nullptr ? groups->links_in.size() : file.topology.links();
  BusyShares use{spans, std::vector<std::uint8_t>(links * spans), std::vector<std::uint8_t>(links * spans), end};
  if (end <= 0) return use;
  const double width = end / static_cast<double>(spans);
  std::array<std::vector<float>, 2> busy{std::vector<float>(links * spans), std::vector<float>(links * spans)};
  visit_sends(file, {}, [&](const ListedSend& listed) {
    if (!listed.known) return true;
    const auto link = listed.send.link;
    const auto place = groups != nullptr ? groups->link_of[link.index()] : link.value();
    if (place == GroupedNetwork::kInside) return true;
    const auto start = static_cast<double>(listed.send.start.count());
    const double until = start + busy_of(file, start, static_cast<double>(listed.arrival.count()), link);
    auto& of_stage = busy[listed.send.stage == Stage::reduce ? 0 : 1];
    for (auto span = static_cast<std::size_t>(start / width); span < spans; ++span) {
      const double from = static_cast<double>(span) * width;
      if (from >= until) break;
      of_stage[place * spans + span] += static_cast<float>(std::min(until, from + width) - std::max(start, from));
    }
    return true;
  });
  for (std::size_t i = 0; i < links * spans; ++i) {
    const double all = width * (groups != nullptr ? groups->links_in[i / spans] : 1);
    const auto share = [&](float sum) {
      return static_cast<std::uint8_t>(std::lround(255 * std::clamp(static_cast<double>(sum) / all, 0.0, 1.0)));
    };
    use.reduce[i] = share(busy[0][i]);
    use.copy[i] = share(busy[1][i]);
  }
  return use;
}

}  // namespace tenex
