// One pass plays what it can: all that the synthesizers make. Lists play the others.
#include "tenex/simulation/switched_replay.hpp"

#include <cstdint>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "simulation/replay/listed_replay.hpp"
#include "simulation/replay/orbit_play.hpp"
#include "simulation/replay/switched_lists.hpp"
#include "simulation/replay/switched_pass.hpp"
#include "simulation/simulation_contract.hpp"
#include "tenex/base/contract.hpp"

namespace tenex {
namespace {

constexpr std::uint64_t kMostMessages = std::numeric_limits<MessageId::Rep>::max();

Status check_playable(const Topology& network, const UnwoundNetwork& unwound, const Schedule& schedule) {
  const auto npus = network.npus();
  if (npus != unwound.topology.npus())
    return input_error({}, fmt::format("the schedule is for {} NPUs", unwound.topology.npus()),
                       fmt::format("the network with switches has {}", npus), "name the network that was unwound");
  if (schedule.payloads() != nullptr)
    return unsupported_error({}, "cannot play the schedule on switches", "its sends carry several chunks",
                             "play a schedule of single chunks between neighbours");
  return success();
}

/// Errors (resource): more than the limit.
Status check_bytes(std::uint64_t bytes, std::size_t memory_limit_bytes) {
  if (bytes <= memory_limit_bytes) return success();
  return resource_error("the schedule was not played on the switches", fmt::format("that needs {} bytes more", bytes),
                        "raise the limit");
}

/// Errors (resource): more than can be numbered.
Status check_number(std::uint64_t hops, std::uint64_t most) {
  if (hops <= most) return success();
  return resource_error("the schedule was not played on the switches",
                        fmt::format("it has {} hops, and {} can be numbered", hops, most), "play a smaller schedule");
}

/// The play in one pass, or else by lists.
Result<Simulation> play_one_by_one(const SwitchedInput& input, std::size_t memory_limit_bytes) {
  const auto& collective = input.collective;
  const auto hops = longest_path(input.unwound) * input.schedule.sends();
  if (auto few = check_number(hops, kMostMessages); !few) return few.errors();
  const auto bytes = bytes_of_play(hops, collective.npus(), collective.chunks());
  if (auto fits = check_bytes(bytes, memory_limit_bytes); !fits) return fits.errors();
  const auto sends = count_sends(input);
  if (!sends) return sends.errors();
  if (auto played = play_in_pass(input, *sends)) return *std::move(played);
  if (auto few = check_number(hops, kMostListedSends); !few) return few.errors();
  if (auto fits = check_bytes(hops * kListedHopBytes, memory_limit_bytes); !fits) return fits.errors();
  return play_in_lists(input);
}

Result<Simulation> play(const SwitchedInput& input, std::size_t memory_limit_bytes) {
  const auto sends = input.schedule.sends();
  if (sends > kMostSendsPlayedOneByOne && moves_by_orbit(input)) {
    const auto bytes = bytes_of_orbit_play(sends / input.network.npus(), input.collective.chunks(), input.paths.size());
    if (auto fits = check_bytes(bytes, memory_limit_bytes); !fits) return fits.errors();
    if (auto played = play_by_orbit(input)) return *std::move(played);
  }
  return play_one_by_one(input, memory_limit_bytes);
}

}  // namespace

std::uint64_t bytes_of_orbit_play(std::uint64_t sends_of_npu, std::uint64_t chunks, std::uint64_t links) {
  constexpr std::uint64_t kBytesOfOrbit = 112;  // twice while it is made, its index, its hops
  constexpr std::uint64_t kBytesOfWay = 160;    // spans, and the topology of ways while it is built
  return sends_of_npu * kBytesOfOrbit + chunks * sizeof(std::uint64_t) + links * kBytesOfWay;
}

Result<Simulation> play_on_switches(const Topology& network, const UnwoundNetwork& unwound,
                                    const Collective& collective, const Schedule& schedule,
                                    const SimulationOptions& options, const SwitchPlay& how) {
  TENEX_EXPECTS(collective.npus() == unwound.topology.npus(), "a collective of the unwound topology's NPUs");
  TENEX_EXPECTS(options.threads >= 1, "at least one thread");
  if (auto playable = check_playable(network, unwound, schedule); !playable) return playable.errors();
  if (auto unlimited = check_buffers(network); !unlimited) return unlimited.errors();
  if (auto valid = check_delays(network, options.start_delays); !valid) return valid.errors();
  const auto paths = find_played_paths(network, unwound);
  if (!paths) return paths.errors();
  const SwitchedInput input{network, unwound, *paths, collective, schedule, options, how.overlap};
  auto played = tenex::play(input, how.memory_limit_bytes);
  TENEX_ENSURES(!played || has_what_is_asked(*played, network, options), "what the options ask for");
  return played;
}

}  // namespace tenex
