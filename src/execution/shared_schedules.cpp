// The key of a schedule, its scaling, and its bytes in the cache.
#include "tenex/execution/shared_schedules.hpp"

#include <fmt/format.h>

#include <limits>
#include <memory>
#include <utility>

#include "tenex/design/design_point.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"
#include "tenex/schedule/views/scaled.hpp"

namespace tenex {
namespace {

/// All inputs of a synthesis except its pace and its threads. `settings`: those of the point that change the schedule.
/// The collective need not be the point's own.
std::string key_of(const SynthesisProblem& problem, const std::string& settings) {
  const auto& collective = problem.collective;
  return settings + fmt::format(" {} c{} r{} m{} g{} {}", to_string(collective.kind()), collective.chunks_per_npu(),
                                collective.root(), problem.memory_limit_bytes,
                                canonical_groups(collective.groups(), collective.npus()), to_string(collective.work()));
}

/// Whether, at any pace, no part of the synthesis is left out for lack of memory.
bool is_complete(const Synthesizer& synthesizer, SynthesisProblem problem, const Synthesis& made) {
  if (!made.left_out.empty() || made.overlap_method == "no_memory") return false;
  const auto limit = std::exchange(problem.memory_limit_bytes, std::numeric_limits<std::size_t>::max());
  return synthesizer.estimate_bytes(problem) <= limit;
}

std::size_t bytes_of(const Synthesis& made) {
  const auto bytes = sizeof(Synthesis) + made.engine.size() + made.overlap_method.size() + made.schedule.memory_bytes();
  const bool same = made.schedule.storage() == made.without_overlap.storage();
  return same ? bytes : bytes + made.without_overlap.memory_bytes();
}

Synthesis at_pace(Synthesis made, SimTime from, SimTime to) {
  if (from == to) return made;
  const TimeScale scale(from, to);
  for (SimTime* time : {&made.time, &made.time_without_overlap}) {
    ensure(*time % from == SimTime::zero(), "a schedule of equal hops does not end with one");
    *time = scale(*time);
  }
  const bool same = made.schedule.storage() == made.without_overlap.storage();
  made.schedule = scaled(made.schedule, from, to);
  made.without_overlap = same ? made.schedule : scaled(made.without_overlap, from, to);
  return made;
}

}  // namespace

std::optional<SimTime> uniform_hop(const Instance& instance) {
  if (instance.topology.varies() || !instance.topology.homogeneous() || instance.collective.chunk_sizes().size() != 1 ||
      instance.topology.links() == 0)
    return std::nullopt;
  const auto hop =
      hop_time(instance.topology.classes().front(), instance.collective.chunk_sizes().front(), instance.occupancy);
  if (hop.busy != hop.latency || hop.busy <= SimTime::zero()) return std::nullopt;
  return hop.busy;
}

Result<Synthesis> SharedSchedules::synthesize(const Synthesizer& synthesizer, const SynthesisProblem& problem,
                                              const std::string& settings) {
  const auto hop = uniform_hop(problem);
  if (!hop || !synthesizer.scales_with_pace) {
    ++synthesized_;
    return synthesizer.synthesize(problem);
  }
  const auto key = key_of(problem, settings);
  if (const auto found = made_.find(key)) {
    ++shared_;
    return at_pace(found->made, found->hop, *hop);
  }
  ++synthesized_;
  auto made = synthesizer.synthesize(problem);
  if (!made || !is_complete(synthesizer, problem, *made)) return made;
  const auto bytes = bytes_of(*made) + key.size();
  made_.insert(key, std::make_shared<const Paced>(Paced{*hop, *made}), bytes);
  return made;
}

}  // namespace tenex
