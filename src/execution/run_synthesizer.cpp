// A synthesizer's schedule as a timed stream.
#include <utility>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/stopwatch.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/execution/timed_stream.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

void add(RunMetrics& metrics, const SolverReport& solver) {
  metrics.epochs = solver.epochs;
  if (solver.epoch > SimTime::zero()) metrics.epoch_ps = solver.epoch.count();
  metrics.optimal = solver.optimal ? 1 : 0;
  metrics.optimality_gap = solver.gap;
  metrics.clock_ended = solver.clock_ended ? 1 : 0;
  metrics.solver_seconds = solver.seconds;
}

}  // namespace

Result<TimedStream> run_synthesizer(const PreparedPoint& prepared, const ExecutionOptions& asked,
                                    std::size_t memory_limit_bytes, SharedSchedules& shared) {
  const auto& point = prepared.point;
  const auto& collective = *prepared.collective;
  const auto* synthesizer = prepared.synthesizer;
  ensure(synthesizer != nullptr, "run_synthesizer needs a registered synthesizer");
  const bool without = collective.kind() == CollectiveKind::all_reduce && !point.collective().overlap;
  if (without && !synthesizer->reads.phases) return no_halves(synthesizer->name);
  const Stopwatch watch;
  auto problem = prepared.problem(memory_limit_bytes);
  problem.threads = asked.threads;
  problem.solver_progress = asked.solver_progress;
  auto made = asked.own_storage ? synthesizer->synthesize(problem)
                                : shared.synthesize(*synthesizer, problem, cache_key(point, kOfSchedule));
  if (!made) return made.errors();

  const bool all_reduce = collective.kind() == CollectiveKind::all_reduce;
  TimedStream stream;
  static_cast<RunMetrics&>(stream) = *made;
  if (made->solver) add(stream, *made->solver);
  stream.synthesis_seconds = watch.seconds();
  stream.left_out = made->left_out;
  stream.rate_time = made->rate_time;
  if (!all_reduce) stream.overlap_method.clear();
  if (all_reduce && made->time_without_overlap > SimTime::zero())
    stream.time_without_overlap_ps = made->time_without_overlap.count();
  if (all_reduce || point.collective().kind == CollectiveKind::all_reduce)
    stream.time_with_overlap_ps = made->time.count();
  stream.schedule = without ? made->without_overlap : made->schedule;
  stream.finish = without ? made->time_without_overlap : made->time;
  stream.sends = static_cast<std::int64_t>(stream.schedule.sends());
  if (asked.link_loads || asked.utilization_bins > 0 || asked.arrivals) {
    const Stopwatch replay_watch;
    SimulationOptions options;
    options.occupancy = point.occupancy;
    options.record_links = asked.link_loads;
    options.utilization_bins = asked.utilization_bins;
    options.record_arrivals = asked.arrivals;
    auto replayed = replay(prepared.topology(), collective, stream.schedule, Replay::timed, options);
    if (!replayed) return replayed.errors();
    stream.link_loads = std::move(replayed->links);
    stream.utilization = std::move(replayed->utilization);
    stream.arrivals = std::move(replayed->arrivals);
    stream.simulation_seconds = replay_watch.seconds();
  }
  return stream;
}

}  // namespace tenex
