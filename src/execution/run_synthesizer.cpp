// A synthesizer's schedule as a timed stream.
#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "execution/point_traits.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/stopwatch.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/plan.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/execution/switch_play.hpp"
#include "tenex/execution/timed_stream.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/views/relayed.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/hand_over.hpp"

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

/// Exchanges the schedule for unwound switches for its play on the point's network. With overlap as soon as possible: a
/// gather begins when its own sum is complete. What a solver has proven was of the unwound network. `other`: the
/// schedule with the other choice of overlap, of which the time is told, too; null where nothing is to be told of it.
Status play_on_network(TimedStream& stream, const PreparedPoint& prepared, const Schedule* other,
                       std::size_t memory_limit_bytes) {
  const Stopwatch watch;
  const auto left = memory_limit_bytes - std::min<std::size_t>(memory_limit_bytes, prepared.topology_bytes);
  const bool overlap = prepared.point.collective().overlap;
  const auto play = [&](const Schedule& schedule, bool overlapped) {
    return play_within(prepared, prepared.topology(), *prepared.unwound(), schedule, overlapped, left);
  };
  std::int64_t others = -1;
  if (other != nullptr) {
    const auto played = play(*other, !overlap);
    if (!played) return played.errors();
    others = played->finish.count();
  }
  auto played = play(stream.schedule, overlap);
  if (!played) return played.errors();
  stream.unwound_time_ps = stream.finish.count();
  stream.schedule = std::move(played->sends);
  stream.finish = played->finish;
  const bool reduces = stream.time_with_overlap_ps >= 0;
  stream.time_with_overlap_ps = !reduces ? -1 : overlap ? stream.finish.count() : others;
  stream.time_without_overlap_ps = !reduces ? -1 : overlap ? others : stream.finish.count();
  stream.rate_time = SimTime::zero();
  if (stream.optimal >= 0) {
    stream.optimal = 0;
    stream.optimality_gap = 1;
  }
  stream.simulation_seconds = watch.seconds();
  return success();
}

/// Where switches have virtual cut-through, most synthesizers plan as if they stored and forwarded. Such a schedule is
/// valid, and each of its sends starts as soon as it can. `other`: as above. A solver's proof was of its plan's times,
/// so it is dropped.
void pass_on_early(TimedStream& stream, const PreparedPoint& prepared, const Schedule* other) {
  const Topology& network = prepared.topology();
  if (!any_passes_on_early(network)) return;
  if (stream.optimal >= 0) {
    stream.optimal = 0;
    stream.optimality_gap = 1;
  }
  if (relayed_parts(stream.schedule).ways != nullptr) return;  // planned for these switches
  if (!retimes_early(prepared, static_cast<double>(stream.schedule.sends()))) {
    stream.left_out += fmt::format(
        "{}the {} sends are timed as if switches stored and forwarded: at most {}, and none where buffers are limited, "
        "are timed again",
        stream.left_out.empty() ? "" : "; ", stream.schedule.sends(), kMostRetimedSends);
    return;
  }
  const Stopwatch watch;
  const bool overlap = prepared.point.collective().overlap;
  const auto retimed = [&](const Schedule& schedule, bool overlapped) {
    return retime_early(prepared.instance(), schedule, prepared.start_delays, overlapped);
  };
  const auto end_of = [&](const Schedule& schedule) { return last_arrival(prepared.instance(), schedule); };
  const std::int64_t others = other == nullptr ? -1 : end_of(retimed(*other, !overlap)).count();
  stream.schedule = retimed(stream.schedule, overlap);
  stream.finish = std::min(stream.finish, end_of(stream.schedule));
  const auto [own_time, other_time] = overlap ? std::tie(stream.time_with_overlap_ps, stream.time_without_overlap_ps)
                                              : std::tie(stream.time_without_overlap_ps, stream.time_with_overlap_ps);
  if (own_time >= 0) own_time = stream.finish.count();
  if (others >= 0) other_time = others;
  stream.rate_time = SimTime::zero();
  stream.simulation_seconds += watch.seconds();
}

/// The stream of the best textbook algorithm on the point's network, for the same collective; nullopt where none suits,
/// and where its messages carry several chunks.
std::optional<TimedStream> best_textbook(const PreparedPoint& prepared, const ExecutionOptions& asked,
                                         ExecutionCache& cache) {
  const auto point = as_best_textbook(prepared.point);
  // Programs keep the shape of a network whose links differ (build_transformed_topology()).
  const auto found = find_topology_within(point, asked.memory_limit_bytes, cache);
  if (!*found) return std::nullopt;
  const auto as_textbook = prepare_with(point, {found, &**found}, prepared.collective);
  if (!check_point(as_textbook) || !check_support(as_textbook)) return std::nullopt;
  const auto plan = plan_point(as_textbook, asked.memory_limit_bytes);
  if (plan.bytes > asked.memory_limit_bytes) return std::nullopt;
  auto program = run_program(as_textbook, asked, plan, cache);
  if (!program || !program->single_chunks || !program->has_schedule) return std::nullopt;
  return *std::move(program);
}

/// Exchanges a synthesizer's stream for a textbook algorithm's that ends sooner. What a solver has proven stays proven,
/// and the gap shrinks.
void take_if_sooner(TimedStream& stream, std::optional<TimedStream> program) {
  if (!program || program->finish >= stream.finish) return;
  constexpr double kRounding = 1e-9;  // of the gap
  const double bound = (1 - stream.optimality_gap) * static_cast<double>(stream.finish.count());
  const double gap = 1 - bound / static_cast<double>(program->finish.count());
  ensure(gap >= -kRounding, "no textbook algorithm ends before what a solver has proven");
  program->optimal = 0;
  program->optimality_gap = std::max(0.0, gap);
  program->epoch_ps = stream.epoch_ps;
  program->clock_ended = stream.clock_ended;
  program->solver_seconds = stream.solver_seconds;
  program->synthesis_seconds = stream.synthesis_seconds;
  program->left_out = stream.left_out;
  stream = *std::move(program);
}

Result<TimedStream> run_alone(const PreparedPoint& prepared, const ExecutionOptions& asked,
                              std::size_t memory_limit_bytes, ExecutionCache& cache) {
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
                                : cache.schedules.synthesize(*synthesizer, problem, cache_key(point, kOfSchedule));
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
  const bool both = all_reduce && made->time_without_overlap > SimTime::zero() && !asked.time_only;
  const Schedule* other = !both ? nullptr : without ? &made->schedule : &made->without_overlap;
  if (prepared.unwound() == nullptr)
    pass_on_early(stream, prepared, other);
  else if (auto played = play_on_network(stream, prepared, other, asked.memory_limit_bytes); !played)
    return played.errors();
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
    stream.simulation_seconds += replay_watch.seconds();
  }
  return stream;
}

}  // namespace

Result<TimedStream> run_synthesizer(const PreparedPoint& prepared, const ExecutionOptions& asked,
                                    std::size_t memory_limit_bytes, ExecutionCache& cache) {
  auto stream = run_alone(prepared, asked, memory_limit_bytes, cache);
  if (stream && competes_with_textbooks(prepared)) take_if_sooner(*stream, best_textbook(prepared, asked, cache));
  return stream;
}

}  // namespace tenex
