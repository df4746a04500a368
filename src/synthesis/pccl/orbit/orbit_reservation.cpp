// Gaps of machines, and the walk of one job.
#include "synthesis/pccl/orbit/orbit_reservation.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <span>

namespace tenex {

namespace {

/// The time that a machine has left: gaps as start -> end.
class MachineGaps {
 public:
  /// The first start from `from` on at which the machine is free for `busy`.
  [[nodiscard]] SimTime first_start(SimTime from, SimTime busy) const {
    auto gap = gaps_.upper_bound(from);
    if (gap != gaps_.begin()) --gap;
    while (std::max(from, gap->first) + busy > gap->second) ++gap;
    return std::max(from, gap->first);
  }
  void take(SimTime start, SimTime busy) {
    const auto gap = std::prev(gaps_.upper_bound(start));
    const auto [first, last] = *gap;
    gaps_.erase(gap);
    if (first < start) gaps_.emplace(first, start);
    if (start + busy < last) gaps_.emplace(start + busy, last);
  }

 private:
  std::map<SimTime, SimTime> gaps_ = {{SimTime::zero(), SimTime::max()}};
};

/// The jobs, the longest first.
std::vector<std::uint32_t> farthest_first(const ExchangeWays& ways, const OrbitPorts& ports,
                                          std::optional<Random>& random) {
  std::vector<SimTime> length(ways.jobs);
  for (std::size_t leg = 0; leg < ways.legs.size(); ++leg)
    length[leg / ways.dimensions] += ports.hop(ways.legs[leg].direction).latency * ways.legs[leg].hops;
  std::vector<std::uint32_t> jobs(ways.jobs);
  std::iota(jobs.begin(), jobs.end(), 0U);
  if (random) random->shuffle(std::span(jobs));
  std::stable_sort(jobs.begin(), jobs.end(), [&](std::uint32_t a, std::uint32_t b) { return length[a] > length[b]; });
  return jobs;
}

}  // namespace

ReservedExchange reserve_exchange(const TranslationGroup& group, const ExchangeWays& ways, const OrbitPorts& ports,
                                  std::optional<Random> random) {
  ReservedExchange made;
  std::vector<MachineGaps> machines(ports.size() * ways.cosets);
  const auto machine = [&](std::uint32_t direction, std::size_t coset) -> MachineGaps& {
    return machines[ports.port_of[direction] * ways.cosets + coset];
  };
  for (const std::uint32_t job : farthest_first(ways, ports, random)) {
    const auto first = ways.legs.begin() + static_cast<std::ptrdiff_t>(job * ways.dimensions);
    std::vector<ExchangeLeg> legs(first, first + static_cast<std::ptrdiff_t>(ways.dimensions));
    std::size_t coset = job / ways.numbers;
    NpuId at(0);
    for (SimTime now;;) {
      ExchangeLeg* next = nullptr;
      SimTime start = SimTime::max();
      for (auto& leg : legs) {
        if (leg.hops == 0) continue;
        const SimTime possible = machine(leg.direction, coset).first_start(now, ports.hop(leg.direction).busy);
        if (possible > start || (possible == start && leg.hops <= next->hops)) continue;
        start = possible;
        next = &leg;
      }
      if (next == nullptr) break;
      const HopTime& hop = ports.hop(next->direction);
      machine(next->direction, coset).take(start, hop.busy);
      --next->hops;
      at = group.neighbour(at, next->direction);
      if (ways.cosets > 1 && group.directions()[next->direction].dimension == ways.coset_dimension) coset ^= 1U;
      made.sends.push_back({start, next->direction, at, job, Stage::copy});
      now = start + hop.latency;
      made.time = std::max(made.time, now);
    }
  }
  std::stable_sort(made.sends.begin(), made.sends.end(), [](const OrbitSend& a, const OrbitSend& b) {
    return a.start != b.start ? a.start < b.start : a.direction < b.direction;
  });
  return made;
}

}  // namespace tenex
