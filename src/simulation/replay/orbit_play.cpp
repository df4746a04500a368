// The links of an NPU over a switch are one port (tenex/schedule/timing/orbit_ports.hpp), whose sends come to the
// switch in the order in which they leave, as far apart as one keeps a link busy. What they go to is one port, too: of
// every other NPU the send that comes next is of the same orbit. So where links up and down are alike, no send waits in
// a switch, and what a play one by one finds for one NPU's ports it finds for all. The order of orbits is that of turns
// (switched_replay.hpp): of one instant, the directions of a port are in the order of their unwound links.
#include "simulation/replay/orbit_play.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/schedule/views/relayed.hpp"
#include "tenex/simulation/switched_replay.hpp"
#include "tenex/topology/translation.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

bool is_observed(const SimulationOptions& options) {
  return options.record_links || options.record_npu_finish || options.record_arrivals || options.utilization_bins > 0;
}

/// Whether every path is one link.
bool goes_over_single_links(const PlayedPaths& paths) {
  for (std::size_t link = 0; link < paths.size(); ++link)
    if (paths[LinkId::at(link)].size() != 1) return false;
  return true;
}

}  // namespace

bool moves_by_orbit(const SwitchedInput& input) {
  const auto* storage = symmetric_storage(input.schedule);
  if (storage == nullptr || is_observed(input.options) || !input.options.start_delays.empty()) return false;
  if (storage->group().links() != input.unwound.topology.links()) return false;  // of another network
  const auto& collective = input.collective;
  if (!moves_with_translations(collective, storage->group()) || storage->chunks() != orbit_chunks(collective))
    return false;
  return input.network.wires() != nullptr ? goes_over_single_links(input.paths)
                                          : may_be_relayed(input.network, collective.kind());
}

std::optional<Simulation> play_by_orbit(const SwitchedInput& input) {
  const auto& network = input.network;
  std::shared_ptr<const Topology> ways;
  if (network.wires() == nullptr) {
    auto found = relay_wires_of(network, input.unwound, input.collective.chunk_sizes().front());
    if (!found) return std::nullopt;
    ways = std::make_shared<const Topology>(*std::move(found));
  }
  const Instance instance{ways ? *ways : network, input.collective, input.options.occupancy};
  auto played = play_symmetric(instance, input.schedule, input.overlap);
  if (!played) return std::nullopt;
  Simulation result;
  result.finish = last_arrival_symmetric(instance, *played);
  result.messages = played->sends();
  auto sends = ways ? relayed(*played, ways) : *std::move(played);
  result.hops = sends.sends();
  if (input.options.record_sends) result.sends = std::move(sends);
  return result;
}

}  // namespace tenex
