// The sends over unwound links become a list of paths over the switches, in planned order, with their planned arrivals:
// so each waits for what the plan had at its source. The replay of lists does the rest.
#include "simulation/replay/switched_lists.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "simulation/replay/listed_replay.hpp"
#include "simulation/replay/switched_pass.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

/// The sends over the paths, in the order in which links take them, with the arrivals that were planned for the unwound
/// links.
PlannedSends send_over_paths(const SwitchedInput& input) {
  auto sends = list_sends(input.schedule);
  order_by_turn(sends, input.unwound, physical_network(input.network).links());
  if (!input.overlap)
    std::stable_partition(sends.begin(), sends.end(), [](const Send& send) { return send.stage == Stage::reduce; });
  const auto& unwound = input.unwound.topology;
  const HopTimes hops(unwound, input.collective.chunk_sizes(), input.options.occupancy);
  PlannedSends planned;
  std::uint32_t messages = 0;
  for (auto& send : sends) {
    const auto link = send.link;
    const auto arrival = send.start + hops.at(unwound.class_of(link), input.collective.size_class(send.chunk)).latency;
    const auto path = input.paths[link];
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
Result<SimTime> end_of_sums(const SwitchedInput& input, const PlannedSends& planned, PlayRules rules) {
  PlannedSends sums;
  for (std::size_t i = 0; i < planned.sends.size(); ++i) {
    if (planned.sends[i].stage != Stage::reduce) continue;
    sums.sends.push_back(planned.sends[i]);
    sums.arrivals.push_back(planned.arrivals[i]);
  }
  auto options = input.options;
  options.record_sends = false;
  const auto played = replay_listed(input.network, input.collective, std::move(sums), rules, options);
  if (!played) return played.errors();
  return played->finish;
}

}  // namespace

Result<Simulation> play_in_lists(const SwitchedInput& input) {
  auto planned = send_over_paths(input);
  PlayRules rules{.start_delays = input.options.start_delays};
  if (!input.overlap) {
    const auto reduced = end_of_sums(input, planned, rules);
    if (!reduced) return reduced.errors();
    rules.copies_from = *reduced;
  }
  return replay_listed(input.network, input.collective, std::move(planned), rules, input.options);
}

}  // namespace tenex
