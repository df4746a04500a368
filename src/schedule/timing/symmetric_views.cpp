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

/// Plays the orbits in the given order: ports are those of an NPU, places the items that it sees.
class OrbitRetimer {
 public:
  OrbitRetimer(const SymmetricStorage& storage, OrbitPorts ports)
      : group_(storage.group()),
        ports_(std::move(ports)),
        player_(ports_.size(), group_.npus() * storage.chunks().each) {
    player_.begin_held(0, group_.npus() * storage.chunks().each);
  }

  /// The orbit with its new start.
  OrbitSend retime(OrbitSend orbit) {
    const NpuId source = source_offset(group_, orbit);
    const std::size_t from = item_of(source, orbit.number, group_.npus());
    const std::size_t to = item_of(orbit.offset, orbit.number, group_.npus());
    const HopTime& hop = ports_.hop(orbit.direction);
    const auto times =
        player_.send(ports_.port_of[orbit.direction], from, to, hop.busy.count(), hop.latency.count(), orbit.stage);
    ensure(times.sound, "an orbit that takes what has not come");
    orbit.start = SimTime::of(times.start);
    return orbit;
  }

 private:
  const TranslationGroup& group_;
  OrbitPorts ports_;
  SendPlayer<SimTime::Rep> player_;
};

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
  OrbitRetimer retimer(storage, orbit_ports(instance, storage.group()));
  std::vector<OrbitSend> orbits;
  orbits.reserve(storage.orbits().size());
  for (const OrbitSend& orbit : storage.orbits()) orbits.push_back(retimer.retime(orbit));
  TENEX_ENSURES(last_arrival_of(orbits, direction_latencies(instance, storage.group())) <=
                    last_arrival_symmetric(instance, schedule),
                "no later an end");
  return make_symmetric_schedule(storage.group(), storage.chunks(), std::move(orbits));
}

SimTime last_arrival_symmetric(const Instance& instance, const Schedule& schedule) {
  const SymmetricStorage& storage = storage_of(schedule);
  return last_arrival_of(storage.orbits(), direction_latencies(instance, storage.group()));
}

}  // namespace tenex
