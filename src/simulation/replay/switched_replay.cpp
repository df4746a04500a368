// The sends over unwound links become paths over the switches, in planned order, with their planned arrivals: so each
// waits for what the plan had at its source. The replay of lists does the rest.
#include "tenex/simulation/switched_replay.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "simulation/replay/listed_replay.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

/// One or two links of the network on which a schedule is played; the second may be none.
using PlayedPath = std::array<LinkId, 2>;

/// Finds the paths of unwound links.
class PlayedPaths {
 public:
  explicit PlayedPaths(const Topology& network) : network_(network), wires_(network.wires()) {}

  /// The path of an unwound link that leaves `npu`. The first link is none where the network has no such path.
  [[nodiscard]] PlayedPath of(VertexId npu, const UnwoundLink& link) const {
    if (wires_ == nullptr) return {link.first, link.second};
    if (const auto whole = find(npu, link); whole.exists()) return {whole, LinkId::none()};
    const auto up = find(npu, {link.first, LinkId::none()});
    if (!up.exists() || !link.second.exists()) return {LinkId::none(), LinkId::none()};
    const auto down = find(network_.target(up), {link.second, LinkId::none()});
    return {down.exists() ? up : LinkId::none(), down};
  }

 private:
  /// The wire of exactly these links.
  [[nodiscard]] LinkId find(VertexId from, const UnwoundLink& path) const {
    for (const auto wire : network_.out_links(from)) {
      const auto spans = wires_->spans(wire);
      if (spans.size() != (path.second.exists() ? 2U : 1U) || spans.front().link != path.first) continue;
      if (spans.size() == 1 || spans.back().link == path.second) return wire;
    }
    return LinkId::none();
  }

  const Topology& network_;
  const Wires* wires_;
};

/// The order in which links take the sends: by planned start; of one instant first the first send of each physical
/// link, then the second of each, and so on, as they reach their switches; ties by unwound link. `sends` are sorted by
/// start and link.
void order_by_turn(std::vector<Send>& sends, const std::vector<UnwoundLink>& links, std::size_t physical_links) {
  std::vector<std::uint32_t> turns(physical_links, 0);
  std::vector<std::pair<std::uint32_t, Send>> instant;
  for (auto first = sends.begin(), last = first; first != sends.end(); first = last) {
    instant.clear();
    for (; last != sends.end() && last->start == first->start; ++last)
      instant.emplace_back(turns[links[last->link.index()].first.index()]++, *last);
    for (const auto& each : instant) turns[links[each.second.link.index()].first.index()] = 0;
    std::stable_sort(instant.begin(), instant.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::transform(instant.begin(), instant.end(), first, [](const auto& each) { return each.second; });
  }
}

/// Whether these physical links lead from one end of an unwound link to the other.
bool joins(const Topology& physical, const UnwoundLink& path, const Link& ends) {
  const auto last = path.second.exists() ? path.second : path.first;
  return path.first.index() < physical.links() && last.index() < physical.links() &&
         physical.source(path.first) == ends.source && physical.target(last) == ends.target &&
         (last == path.first || physical.target(path.first) == physical.source(last));
}

Status check_playable(const Topology& network, const UnwoundNetwork& unwound, const Schedule& schedule) {
  const auto npus = network.npus();
  if (npus != unwound.topology.npus())
    return input_error({}, fmt::format("the schedule is for {} NPUs", unwound.topology.npus()),
                       fmt::format("the network with switches has {}", npus), "name the network that was unwound");
  if (schedule.payloads() != nullptr)
    return unsupported_error({}, "cannot play the schedule on switches", "its sends carry several chunks",
                             "play a schedule of single chunks between neighbours");
  if (2 * schedule.sends() > kMostListedSends)
    return resource_error(fmt::format("cannot play {} sends on switches", schedule.sends()),
                          fmt::format("they take about {} bytes", 2 * schedule.sends() * kListedSendBytes),
                          "play a smaller schedule");
  return success();
}

/// The paths of all unwound links.
Result<std::vector<PlayedPath>> find_paths(const Topology& network, const Topology& physical,
                                           const UnwoundNetwork& unwound) {
  const PlayedPaths paths(network);
  std::vector<PlayedPath> found;
  found.reserve(unwound.links.size());
  for (std::size_t l = 0; l < unwound.links.size(); ++l) {
    const auto ends = unwound.topology.link(LinkId::at(l));
    if (joins(physical, unwound.links[l], ends)) found.push_back(paths.of(ends.source, unwound.links[l]));
    if (found.size() == l || !found.back()[0].exists())
      return input_error({}, fmt::format("the network has no path for the unwound link {}", l),
                         "it was not made from this network, or it is one of too many parallel paths",
                         "name the network that was unwound");
  }
  return found;
}

Status check_unwound_sends(const std::vector<Send>& sends, std::size_t links, const Collective& collective) {
  for (const auto& send : sends) {
    if (send.link.index() >= links || send.chunk.index() >= collective.chunks())
      return input_error({}, "a send is not one of the unwound network",
                         fmt::format("it takes link {} of {}", send.link.value(), links),
                         "name the network that was unwound");
    if (send.message.exists())
      return unsupported_error({}, "cannot play the schedule on switches", "some of its sends are hops of messages",
                               "play a schedule of single chunks between neighbours");
  }
  return success();
}

/// The sends over the paths, with the arrivals that were planned for the unwound links.
PlannedSends send_over(const std::vector<PlayedPath>& paths, std::vector<Send> sends, const Topology& unwound,
                       const Collective& collective, Occupancy occupancy) {
  const HopTimes hops(unwound, collective.chunk_sizes(), occupancy);
  PlannedSends planned;
  std::uint32_t messages = 0;
  for (auto& send : sends) {
    const auto link = send.link;
    const auto arrival = send.start + hops.at(unwound.class_of(link), collective.size_class(send.chunk)).latency;
    const auto& path = paths[link.index()];
    if (path[1].exists()) {
      send.message = MessageId(messages++);
      send.destination = npu_of(unwound.target(link));
    }
    for (const auto hop : path) {
      if (!hop.exists()) continue;
      send.link = hop;
      planned.sends.push_back(send);
      planned.arrivals.push_back(arrival);
    }
  }
  return planned;
}

}  // namespace

Result<Simulation> play_on_switches(const Topology& network, const UnwoundNetwork& unwound,
                                    const Collective& collective, const Schedule& schedule,
                                    const SimulationOptions& options) {
  if (auto playable = check_playable(network, unwound, schedule); !playable) return playable.errors();
  if (auto unlimited = check_buffers(network); !unlimited) return unlimited.errors();
  const auto& physical = network.wires() != nullptr ? network.wires()->network() : network;
  const auto paths = find_paths(network, physical, unwound);
  if (!paths) return paths.errors();
  auto sends = list_sends(schedule);
  if (auto known = check_unwound_sends(sends, paths->size(), collective); !known) return known.errors();
  order_by_turn(sends, unwound.links, physical.links());
  return replay_listed(network, collective,
                       send_over(*paths, std::move(sends), unwound.topology, collective, options.occupancy),
                       Replay::as_soon_as_possible, options);
}

}  // namespace tenex
