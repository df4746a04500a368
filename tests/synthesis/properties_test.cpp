// For any topology, collective, groups and occupancy, both synthesizers make valid schedules that take the time they
// state, never below the bound, and overlap never makes an All-Reduce slower.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <span>
#include <vector>

#include "support/topologies.hpp"
#include "tenex/base/random.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

struct Drawn {
  Topology topology;
  Collective collective;
  Occupancy occupancy;
};

/// Disjoint groups of two or more in random order; all other NPUs are bystanders.
std::vector<ProcessGroup> draw_groups(Random& random, std::size_t npus) {
  std::vector<NpuId> order;
  for (std::size_t i = 0; i < npus; ++i) order.push_back(NpuId::at(i));
  random.shuffle(std::span(order));
  std::vector<ProcessGroup> groups;
  for (std::size_t next = 0; next + 2 <= npus;) {
    const std::size_t size = 2 + random.below(static_cast<std::uint32_t>(npus - next - 1));
    if (groups.empty() || random.below(3) > 0)
      groups.push_back({{order.begin() + static_cast<std::ptrdiff_t>(next),
                         order.begin() + static_cast<std::ptrdiff_t>(next + size)}});
    next += size;
  }
  return groups;
}

Drawn draw_case(std::uint32_t max_npus) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  Random random(seed, 0x64726177);
  Topology topology = support::random_connected_topology(seed, max_npus, random.below(2) == 0);
  CollectiveRequest request;
  request.kind = static_cast<CollectiveKind>(random.below(5));
  request.npus = topology.npus();
  if (random.below(2) == 0) request.groups = draw_groups(random, topology.npus());
  request.chunks = 1 + random.below(3);
  request.size = bytes(1'000 + random.below(2'000'000));
  request.root = random.below(2);
  Collective collective = Collective::make(request).value();
  return {std::move(topology), std::move(collective),
          random.below(2) == 0 ? Occupancy::serialization : Occupancy::transfer};
}

void check(const Drawn& drawn, const Schedule& schedule, SimTime time, bool overlap) {
  const auto& [topology, collective, occupancy] = drawn;
  const Verdict verdict = verify({topology, collective, occupancy}, schedule);
  for (const Finding& finding : verdict.findings) RC_LOG() << finding.message << '\n';
  RC_ASSERT(verdict.valid());
  RC_ASSERT(verdict.waste == 0U);
  RC_ASSERT(verdict.collective_time == time);
  const Bound bound = best_cheap_bound({topology, collective, occupancy, overlap});
  RC_LOG() << bound.name << " says " << bound.time.count() << " ps, the schedule takes " << time.count() << '\n';
  RC_ASSERT(time >= bound.time);
  const Schedule sooner = retime({topology, collective, occupancy}, schedule);
  RC_ASSERT(last_arrival({topology, collective, occupancy}, sooner) <= time);
}

void check_synthesizer(std::string_view name, const Drawn& drawn, std::uint32_t attempts) {
  const SynthesisProblem problem{drawn.topology, drawn.collective, drawn.occupancy, {1, attempts}};
  const auto made = find_synthesizer(name)->synthesize(problem);
  RC_ASSERT(made.ok());
  check(drawn, made->schedule, made->time, true);
  if (drawn.collective.kind() == CollectiveKind::all_reduce)
    check(drawn, made->without_overlap, made->time_without_overlap, false);
  RC_ASSERT(made->time <= made->time_without_overlap);
}

RC_GTEST_PROP(SynthesisProperty, TacosIsValidAndNotBelowTheBound, ()) { check_synthesizer("tacos", draw_case(14), 2); }

RC_GTEST_PROP(SynthesisProperty, TheReferenceIsValidAndNotBelowTheBound, ()) {
  check_synthesizer("tacos_reference", draw_case(8), 1);
}

RC_GTEST_PROP(SynthesisProperty, BothTakeTheSameSendsWithoutRelays, ()) {
  // Every (NPU, chunk) pair that is wanted and missing is delivered once, by either synthesizer.
  const Drawn drawn = draw_case(8);
  RC_PRE(drawn.collective.groups().size() == 1 && drawn.collective.groups()[0].members.size() == drawn.topology.npus());
  const SynthesisProblem problem{drawn.topology, drawn.collective, drawn.occupancy};
  const auto fast = find_synthesizer("tacos")->synthesize(problem);
  const auto reference = find_synthesizer("tacos_reference")->synthesize(problem);
  RC_ASSERT(fast->schedule.sends() == reference->schedule.sends());
}

}  // namespace
}  // namespace tenex
