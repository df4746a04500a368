// One attempt at a symmetric All-to-All, job by job: PCCL's own order of work.
//
// PCCL (the ASTRA-sim2.0 thesis, chapter 6) takes the farthest condition first, searches its earliest path over the
// time that is left on the links, and removes what the path uses. Here a job takes, hop by hop, the port that it could
// use soonest, in the first gap that is long enough. Where latency is long, jobs whose hops follow each other
// without a pause leave gaps for shorter ones, which an event loop (orbit_exchange.hpp) cannot see ahead of time. Each
// machine keeps its gaps (free_gaps.hpp), whose number every send may have to look through, so this is for small plans.
#pragma once

#include <optional>
#include <vector>

#include "synthesis/pccl/orbit/exchange_ways.hpp"
#include "tenex/base/random.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"
#include "tenex/schedule/timing/orbit_ports.hpp"

namespace tenex {

/// The sends of a plan, sorted by start and direction, and its last arrival. Numbers are those of jobs.
struct ReservedExchange {
  std::vector<OrbitSend> sends;
  SimTime time;
};

/// With random numbers, jobs that are equally far are shuffled. The same arguments give the same
/// plan.
[[nodiscard]] ReservedExchange reserve_exchange(const TranslationGroup& group, const ExchangeWays& ways,
                                                const OrbitPorts& ports, std::optional<Random> random);

}  // namespace tenex
