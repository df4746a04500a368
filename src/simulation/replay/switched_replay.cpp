// The sends over unwound links become paths over the switches, in planned order, with their planned arrivals: so each
// waits for what the plan had at its source. The replay of lists does the rest.
#include "tenex/simulation/switched_replay.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "simulation/replay/listed_replay.hpp"
#include "simulation/simulation_contract.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

/// The paths of all unwound links, in the links of the network on which a schedule is played: its own, or wires.
class PlayedPaths {
 public:
  PlayedPaths(const Topology& network, std::size_t links) : network_(network), wires_(network.wires()) {
    begins_.reserve(links + 1);
  }

  /// Adds the path of the next unwound link; returns whether the network has one. Where no wire takes its links, for
  /// there are wires over some of many parallel paths only, it ends with the shortest wire to the same NPU.
  bool add(const Link& ends, std::span<const LinkId> path) {
    if (wires_ == nullptr) {
      hops_.insert(hops_.end(), path.begin(), path.end());
    } else {
      for (auto at = ends.source; at != ends.target; at = network_.target(hops_.back())) {
        auto wire = longest_wire(at, path);
        path = wire.exists() ? path.subspan(wires_->spans(wire).size()) : std::span<const LinkId>();
        if (!wire.exists()) wire = shortest_wire(at, ends.target);
        if (!wire.exists()) return false;
        hops_.push_back(wire);
      }
    }
    begins_.push_back(hops_.size());
    return true;
  }

  [[nodiscard]] std::span<const LinkId> operator[](std::size_t link) const {
    return std::span(hops_).subspan(begins_[link], begins_[link + 1] - begins_[link]);
  }
  [[nodiscard]] std::size_t size() const { return begins_.size() - 1; }

 private:
  /// The wire from `from` that takes the most links of the beginning of the path, and no other; none if there is none.
  [[nodiscard]] LinkId longest_wire(VertexId from, std::span<const LinkId> path) const {
    LinkId longest = LinkId::none();
    std::size_t most = 0;
    for (const auto wire : network_.out_links(from)) {
      const auto spans = wires_->spans(wire);
      if (spans.size() <= most || spans.size() > path.size()) continue;
      const bool same = std::equal(spans.begin(), spans.end(), path.begin(),
                                   [](const auto& span, LinkId link) { return span.link == link; });
      if (!same) continue;
      longest = wire;
      most = spans.size();
    }
    return longest;
  }

  /// The wire between two vertices that takes the fewest links; none if there is none.
  [[nodiscard]] LinkId shortest_wire(VertexId from, VertexId to) const {
    LinkId shortest = LinkId::none();
    for (const auto wire : network_.out_links(from))
      if (network_.target(wire) == to &&
          (!shortest.exists() || wires_->spans(wire).size() < wires_->spans(shortest).size()))
        shortest = wire;
    return shortest;
  }

  const Topology& network_;
  const Wires* wires_;
  std::vector<LinkId> hops_;
  std::vector<std::size_t> begins_{0};
};

/// The order in which links take the sends: by planned start; of one instant first the first send of each physical
/// link, then the second of each, and so on, as they reach their switches; ties by unwound link. `sends` are sorted by
/// start and link.
void order_by_turn(std::vector<Send>& sends, const UnwoundNetwork& unwound, std::size_t physical_links) {
  const auto first_link = [&](const Send& send) { return unwound.path(send.link).front().index(); };
  std::vector<std::uint32_t> turns(physical_links, 0);
  std::vector<std::pair<std::uint32_t, Send>> instant;
  for (auto first = sends.begin(), last = first; first != sends.end(); first = last) {
    instant.clear();
    for (; last != sends.end() && last->start == first->start; ++last)
      instant.emplace_back(turns[first_link(*last)]++, *last);
    for (const auto& each : instant) turns[first_link(each.second)] = 0;
    std::stable_sort(instant.begin(), instant.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::transform(instant.begin(), instant.end(), first, [](const auto& each) { return each.second; });
  }
}

/// Whether these physical links lead from one end of an unwound link to the other.
bool joins(const Topology& physical, std::span<const LinkId> path, const Link& ends) {
  auto at = ends.source;
  for (const auto link : path) {
    if (link.index() >= physical.links() || physical.source(link) != at) return false;
    at = physical.target(link);
  }
  return at == ends.target;
}

Status check_playable(const Topology& network, const UnwoundNetwork& unwound, const Schedule& schedule) {
  const auto npus = network.npus();
  if (npus != unwound.topology.npus())
    return input_error({}, fmt::format("the schedule is for {} NPUs", unwound.topology.npus()),
                       fmt::format("the network with switches has {}", npus), "name the network that was unwound");
  if (schedule.payloads() != nullptr)
    return unsupported_error({}, "cannot play the schedule on switches", "its sends carry several chunks",
                             "play a schedule of single chunks between neighbours");
  const auto hops = longest_path(unwound) * schedule.sends();
  if (hops > kMostListedSends)
    return resource_error(fmt::format("cannot play {} sends on switches", schedule.sends()),
                          fmt::format("they take about {} bytes", hops * kListedSendBytes), "play a smaller schedule");
  return success();
}

Result<PlayedPaths> find_paths(const Topology& network, const Topology& physical, const UnwoundNetwork& unwound) {
  const auto links = unwound.topology.links();
  PlayedPaths paths(network, links);
  for (std::size_t l = 0; l < links; ++l) {
    const auto path = unwound.path(LinkId::at(l));
    const auto ends = unwound.topology.link(LinkId::at(l));
    if (!joins(physical, path, ends) || !paths.add(ends, path))
      return input_error({}, fmt::format("the network has no path for the unwound link {}", l),
                         "it was not made from this network", "name the network that was unwound");
  }
  return paths;
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
PlannedSends send_over(const PlayedPaths& paths, std::vector<Send> sends, const Topology& unwound,
                       const Collective& collective, Occupancy occupancy) {
  const HopTimes hops(unwound, collective.chunk_sizes(), occupancy);
  PlannedSends planned;
  std::uint32_t messages = 0;
  for (auto& send : sends) {
    const auto link = send.link;
    const auto arrival = send.start + hops.at(unwound.class_of(link), collective.size_class(send.chunk)).latency;
    const auto path = paths[link.index()];
    if (path.size() > 1) {
      send.message = MessageId(messages++);
      send.destination = npu_of(unwound.target(link));
    }
    for (const auto hop : path) {
      send.link = hop;
      planned.sends.push_back(send);
      planned.arrivals.push_back(arrival);
    }
  }
  return planned;
}

/// When all sums are complete if they alone are played.
Result<SimTime> end_of_sums(const Instance& instance, const PlannedSends& planned, PlayRules rules) {
  PlannedSends sums;
  for (std::size_t i = 0; i < planned.sends.size(); ++i) {
    if (planned.sends[i].stage != Stage::reduce) continue;
    sums.sends.push_back(planned.sends[i]);
    sums.arrivals.push_back(planned.arrivals[i]);
  }
  const auto played = play_list(instance, sums, rules);
  if (!played) return played.errors();
  const HopTimes hops(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  SimTime end;
  for (std::size_t i = 0; i < sums.sends.size(); ++i) {
    const auto& send = sums.sends[i];
    const auto hop = hops.at(instance.topology.class_of(send.link), instance.collective.size_class(send.chunk));
    end = std::max(end, played->start[i] + hop.latency);
  }
  return end;
}

}  // namespace

Result<Simulation> play_on_switches(const Topology& network, const UnwoundNetwork& unwound,
                                    const Collective& collective, const Schedule& schedule,
                                    const SimulationOptions& options, bool overlap) {
  TENEX_EXPECTS(collective.npus() == unwound.topology.npus(), "a collective of the unwound topology's NPUs");
  TENEX_EXPECTS(options.threads >= 1, "at least one thread");
  if (auto playable = check_playable(network, unwound, schedule); !playable) return playable.errors();
  if (auto unlimited = check_buffers(network); !unlimited) return unlimited.errors();
  if (auto valid = check_delays(network, options.start_delays); !valid) return valid.errors();
  const auto& physical = network.wires() != nullptr ? network.wires()->network() : network;
  const auto paths = find_paths(network, physical, unwound);
  if (!paths) return paths.errors();
  auto sends = list_sends(schedule);
  if (auto known = check_unwound_sends(sends, paths->size(), collective); !known) return known.errors();
  order_by_turn(sends, unwound, physical.links());
  auto planned = send_over(*paths, std::move(sends), unwound.topology, collective, options.occupancy);
  PlayRules rules{.start_delays = options.start_delays};
  if (!overlap) {
    const auto reduced = end_of_sums({network, collective, options.occupancy}, planned, rules);
    if (!reduced) return reduced.errors();
    rules.copies_from = *reduced;
  }
  auto played = replay_listed(network, collective, std::move(planned), rules, options);
  TENEX_ENSURES(!played || has_what_is_asked(*played, network, options), "what the options ask for");
  return played;
}

}  // namespace tenex
