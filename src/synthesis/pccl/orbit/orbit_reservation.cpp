// The walk of one job over the free times of machines.
#include "synthesis/pccl/orbit/orbit_reservation.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "synthesis/free_gaps.hpp"

namespace tenex {

namespace {

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
  std::vector<FreeGaps> machines(ports.size() * ways.cosets);
  const auto machine = [&](std::uint32_t direction, std::size_t coset) -> FreeGaps& {
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
        const SimTime possible =
            picoseconds(machine(leg.direction, coset).first(now.count(), ports.hop(leg.direction).busy.count()));
        if (possible > start || (possible == start && leg.hops <= next->hops)) continue;
        start = possible;
        next = &leg;
      }
      if (next == nullptr) break;
      const HopTime& hop = ports.hop(next->direction);
      // A port is busy equally long with every send, so a shorter gap is of no use.
      machine(next->direction, coset).take(start.count(), (start + hop.busy).count(), hop.busy.count());
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
