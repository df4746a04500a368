// The views, orbit by orbit.
#include "tenex/schedule/storage/symmetric_schedule.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "schedule/storage/orbits.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/timing/orbit_ports.hpp"
#include "tenex/schedule/timing/player.hpp"

namespace tenex {

namespace {

const SymmetricStorage& storage_of(const Schedule& schedule) {
  const SymmetricStorage* storage = symmetric_storage(schedule);
  ensure(storage != nullptr, "a schedule that is not symmetric");
  return *storage;
}

const SymmetricStorage& storage_of_gathers(const Schedule& schedule) {
  const SymmetricStorage& storage = storage_of(schedule);
  ensure(!storage.chunks().of_pairs, "an All-to-All has no reversal and no re-timing orbit by orbit");
  return storage;
}

SimTime last_arrival_of(std::span<const OrbitSend> orbits, const std::vector<SimTime>& latencies) {
  SimTime last;
  for (const auto& orbit : orbits) last = std::max(last, orbit.start + latencies[orbit.direction]);
  return last;
}

/// Plays orbits in the given order: ports are those of an NPU, places the items that it sees.
class OrbitPlayer {
 public:
  OrbitPlayer(const Instance& instance, const TranslationGroup& group, const OrbitChunks& chunks)
      : group_(group),
        ports_(orbit_ports(instance, group)),
        player_(ports_.size(), group.npus() * chunks.numbers(group.npus())) {
    const auto numbers = static_cast<std::uint32_t>(chunks.numbers(group.npus()));
    if (reduces(instance.collective.kind())) {
      player_.begin_held(0, group.npus() * numbers);
      return;
    }
    player_.begin_empty(0, group.npus() * numbers);
    for (std::uint32_t number = 0; number < numbers; ++number)
      player_.begin_held(item_of(NpuId(0), number, group.npus()), 1);
  }

  /// Gives an orbit its new start, at the earliest `from`; false where one pass does not play the schedule.
  [[nodiscard]] bool play(OrbitSend& orbit, SimTime from) {
    const NpuId source = source_offset(group_, orbit);
    const HopTime& hop = ports_.hop(orbit.direction);
    const auto times = player_.send(ports_.port_of[orbit.direction], item_of(source, orbit.number, group_.npus()),
                                    item_of(orbit.offset, orbit.number, group_.npus()), hop.busy.count(),
                                    hop.latency.count(), orbit.stage, from.count());
    orbit.start = SimTime::of(times.start);
    last_arrival_ = std::max(last_arrival_, SimTime::of(times.arrival));
    return times.sound;
  }
  [[nodiscard]] SimTime last_arrival() const { return last_arrival_; }

 private:
  const TranslationGroup& group_;
  OrbitPorts ports_;
  SendPlayer<SimTime::Rep> player_;
  SimTime last_arrival_;
};

/// For each direction of a group the one of another group with the same offset; nullopt where one is missing.
std::optional<std::vector<std::uint32_t>> same_directions(const TranslationGroup& group,
                                                          const TranslationGroup& other) {
  if (!std::ranges::equal(group.dimensions(), other.dimensions(), {}, &TranslationDimension::size,
                          &TranslationDimension::size))
    return std::nullopt;
  std::vector<std::uint32_t> same;
  for (const TranslationDirection& direction : group.directions()) {
    const auto& dimension = other.dimensions()[direction.dimension];
    const auto there = other.directions().subspan(dimension.first_direction, dimension.directions);
    const auto found = std::ranges::find(there, direction.offset, &TranslationDirection::offset);
    if (found == there.end()) return std::nullopt;
    same.push_back(dimension.first_direction + static_cast<std::uint32_t>(found - there.begin()));
  }
  return same;
}

}  // namespace

Schedule reversed_symmetric(const Instance& instance, const Schedule& schedule) {
  const SymmetricStorage& storage = storage_of_gathers(schedule);
  const auto& group = storage.group();
  const auto latencies = direction_latencies(instance, group);
  const SimTime end = last_arrival_of(storage.orbits(), latencies);
  const bool two_way = group.two_way();
  std::vector<OrbitSend> turned;
  turned.reserve(storage.orbits().size());
  for (std::size_t i = storage.orbits().size(); i-- > 0;) {
    const OrbitSend& orbit = storage.orbits()[i];
    const NpuId receiver = source_offset(group, orbit);
    turned.push_back({end - orbit.start - latencies[orbit.direction],
                      two_way ? group.directions()[orbit.direction].opposite : orbit.direction,
                      two_way ? receiver : group.subtract(NpuId(0), receiver), orbit.number, Stage::reduce});
  }
  TENEX_ENSURES(last_arrival_of(turned, latencies) <= end, "no later an end");
  return make_symmetric_schedule(group, storage.chunks(), std::move(turned));
}

Schedule then_gather_symmetric(const Schedule& reduction, const Schedule& gather, SimTime gather_begins) {
  const SymmetricStorage& first = storage_of_gathers(reduction);
  const SymmetricStorage& second = storage_of_gathers(gather);
  TENEX_EXPECTS(first.group().npus() == second.group().npus() && first.chunks() == second.chunks(),
                "schedules of one network and of as many chunks");
  TENEX_EXPECTS(first.orbits().empty() || first.orbits().back().start < gather_begins,
                "a beginning after all starts of the reduction");
  std::vector<OrbitSend> orbits(first.orbits().begin(), first.orbits().end());
  orbits.reserve(orbits.size() + second.orbits().size());
  for (OrbitSend orbit : second.orbits()) {
    orbit.start += gather_begins;
    orbits.push_back(orbit);
  }
  return make_symmetric_schedule(first.group(), first.chunks(), std::move(orbits));
}

Schedule retime_symmetric(const Instance& instance, const Schedule& schedule) {
  const SymmetricStorage& storage = storage_of_gathers(schedule);
  OrbitPlayer player(instance, storage.group(), storage.chunks());
  std::vector<OrbitSend> orbits(storage.orbits().begin(), storage.orbits().end());
  for (OrbitSend& orbit : orbits) ensure(player.play(orbit, SimTime::zero()), "an orbit that takes what has not come");
  TENEX_ENSURES(player.last_arrival() <= last_arrival_symmetric(instance, schedule), "no later an end");
  return make_symmetric_schedule(storage.group(), storage.chunks(), std::move(orbits));
}

std::optional<Schedule> play_symmetric(const Instance& instance, const Schedule& schedule, bool overlap) {
  const SymmetricStorage& storage = storage_of(schedule);
  auto group = TranslationGroup::of(instance.topology, LinkPorts::shared);
  if (!group) return std::nullopt;
  const auto directions = same_directions(storage.group(), *group);
  if (!directions) return std::nullopt;
  std::vector<OrbitSend> orbits(storage.orbits().begin(), storage.orbits().end());
  const auto copies =
      overlap ? orbits.begin() : std::stable_partition(orbits.begin(), orbits.end(), [](const OrbitSend& orbit) {
        return orbit.stage == Stage::reduce;
      });
  OrbitPlayer player(instance, *group, storage.chunks());
  SimTime from;
  for (auto orbit = orbits.begin(); orbit != orbits.end(); ++orbit) {
    if (orbit == copies) from = player.last_arrival();
    orbit->direction = (*directions)[orbit->direction];
    if (!player.play(*orbit, from)) return std::nullopt;
  }
  return make_symmetric_schedule(*std::move(group), storage.chunks(), std::move(orbits));
}

SimTime last_arrival_symmetric(const Instance& instance, const Schedule& schedule) {
  const SymmetricStorage& storage = storage_of(schedule);
  return last_arrival_of(storage.orbits(), direction_latencies(instance, storage.group()));
}

}  // namespace tenex
