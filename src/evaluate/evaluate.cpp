// Evaluation of one design point: build, plan memory, run, verify, bound, measure. Each step either fills its part of
// the row or ends the point with a status and a reason.
#include "tenex/evaluate/evaluate.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "evaluate/cache.hpp"
#include "evaluate/choices.hpp"
#include "evaluate/evaluate_point.hpp"
#include "tenex/base/stopwatch.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/plan.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/execution/timed_stream.hpp"
#include "tenex/execution/verified_collective.hpp"
#include "tenex/schedule/storage/carried_chunks.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

std::int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

void describe(Evaluation& row, const PreparedPoint& prepared) {
  const Topology& topology = prepared.topology();
  row.npus = static_cast<std::int64_t>(topology.npus());
  row.total_links = static_cast<std::int64_t>(topology.links());
  row.unwound_degree = prepared.network->unwound_degree;
  row.failed_links = static_cast<std::int64_t>(prepared.network->failed_links);
  const auto failed = failed_npus(prepared.point.topology.faults, topology.npus(), prepared.point.seed);
  row.failed_npus = static_cast<std::int64_t>(failed.size());
  row.total_chunks = static_cast<std::int64_t>(prepared.collective->chunks());
  row.chunk_bytes = std::ranges::max(prepared.collective->chunk_sizes()).count();
}

void describe(Evaluation& row, const TimedStream& stream) {
  static_cast<RunMetrics&>(row) = stream;
  row.reason = stream.left_out;
}

void describe(Evaluation& row, const CachedBound& bound) {
  row.bound_ps = bound.time.count();
  row.bound_name = bound.name;
  row.bound_class = bound.holds_for_all ? "all" : "single_chunks";
}

void keep_observations(Evaluation& row, TimedStream& stream) {
  row.link_loads = std::move(stream.link_loads);
  row.arrivals = std::move(stream.arrivals);
  if (stream.utilization.busy_ps.empty()) return;
  row.utilization_bin_ps = stream.utilization.bin.count();
  for (const auto busy : stream.utilization.busy_ps) row.utilization_ps.push_back(static_cast<std::int64_t>(busy));
}

// The time in hops if every hop takes equally long and the time is a whole number of hops, otherwise -1. Under
// `transfer` each hop includes its alpha; under `serialization` this requires an alpha of zero.
std::int64_t steps_of(const Instance& instance, SimTime time) {
  const auto hop = uniform_hop(instance);
  return hop && time % *hop == SimTime::zero() ? time / *hop : -1;
}

void measure(Evaluation& row, const PreparedPoint& prepared, SimTime time) {
  const auto& [point, collective] = std::tie(prepared.point, *prepared.collective);
  row.collective_time_ps = time.count();
  if (point.collective().kind == CollectiveKind::mixed) return;  // its groups have no common S
  row.algbw_bytes_per_s = rate(point.collective().size, time);
  const auto largest = std::ranges::max(collective.groups(), {}, [](const auto& g) { return g.members.size(); });
  row.busbw_bytes_per_s = row.algbw_bytes_per_s * bus_factor(point.collective().kind, largest.members.size());
}

// Returns False when the row has ended.
bool verify_stream(Evaluation& row, const PreparedPoint& prepared, const TimedStream& stream, VerifyOptions checking) {
  if (!stream.has_schedule) {
    row.verified = Verified::skipped;
    row.reduction_check = "skipped";
    return true;
  }
  checking.start_delays = prepared.start_delays;
  const auto check =
      check_stream(prepared.instance(), stream.schedule, stream.finish, prepared.point.algorithm, checking);
  row.verification_seconds = check.seconds;
  row.waste = static_cast<std::int64_t>(check.verdict.waste);
  row.reduction_check = check.verdict.reduction_check;
  if (stream.schedule.sends() <= kMostReplayedSends)
    row.schedule_hash = fmt::format("{:016x}", schedule_hash(stream.schedule));
  if (!check.error.empty()) return end_point(row, PointStatus::failed, check.error), false;
  row.verified = check.left_out.empty() ? Verified::yes : Verified::skipped;
  if (!check.left_out.empty()) row.reason += (row.reason.empty() ? "" : "; ") + check.left_out;
  return true;
}

/// Prepares the point and describes it; nullopt if that ended the row.
std::optional<PreparedPoint> prepare(Evaluation& row, const DesignPoint& point, ExecutionCache& cache,
                                     const EvaluateOptions& options) {
  std::uint64_t topology_bytes = 0;
  auto prepared = prepare(point, options.memory_limit_bytes, cache, &topology_bytes);
  row.memory_planned_bytes = static_cast<std::int64_t>(topology_bytes);
  if (!prepared) return end_point(row, prepared.errors()), std::nullopt;
  describe(row, *prepared);
  if (const auto able = check_point(*prepared); !able) return end_point(row, able.errors()), std::nullopt;
  return *std::move(prepared);
}

/// Fills the row as if the schedule met the bound.
void fill_bound(Evaluation& row, const DesignPoint& point, ExecutionCache& cache, const EvaluateOptions& options) {
  const auto prepared = prepare(row, point, cache, options);
  if (!prepared) return;
  // A program's messages may carry several chunks.
  const auto bound = find_cheap_bound(*prepared, prepared->synthesizer != nullptr && !options.bound_of_all, cache);
  describe(row, *bound);
  measure(row, *prepared, bound->time);
  row.status = PointStatus::ok;
}

/// Gives the row its bound and what follows from it. False when the row has ended. The congestion-unaware backend lets
/// messages overlap on a link, so no bound holds for its times, and the row has none.
bool bound_row(Evaluation& row, const PreparedPoint& prepared, const TimedStream& stream, std::uint64_t work,
               bool single_chunks, ExecutionCache& cache) {
  const auto bound = stream.physical ? find_bound(prepared, single_chunks, stream.finish, work, cache)
                                     : find_cheap_bound(prepared, single_chunks, cache);
  row.paper_ideal_ps = bound->paper_ideal_ps;
  if (!stream.physical) return true;
  describe(row, *bound);
  if (stream.finish > SimTime::zero())
    row.efficiency = static_cast<double>(row.bound_ps) / static_cast<double>(row.collective_time_ps);
  if (row.collective_time_ps > row.bound_ps) row.bounds_left_out = bound->left_out;
  if (row.optimal >= 0) state_proof_of_bound(row);  // a solver has proven something
  if (stream.rate_time > SimTime::zero()) {
    const double busiest = static_cast<double>(std::max(stream.rate_time, bound->time).count());
    row.rate_loss = 1 - static_cast<double>(row.bound_ps) / busiest;
    row.filling_loss = 1 - busiest / static_cast<double>(row.collective_time_ps);
  }
  if (stream.finish >= bound->time) return true;
  end_point(row, PointStatus::failed,
            fmt::format("time {} ps is below the proven bound {} ps ({})", stream.finish.count(), bound->time.count(),
                        bound->name));
  return false;
}

void keep(EvaluationOutput& output, const PreparedPoint& prepared, const TimedStream& stream,
          const EvaluateOptions& options) {
  output.schedule = stream.schedule;
  output.topology = prepared.topology();
  output.collective = *prepared.collective;
  output.memory_limit_bytes = options.memory_limit_bytes;
}

void fill(EvaluationOutput& output, const DesignPoint& point, ExecutionCache& cache, const EvaluateOptions& options) {
  auto& row = output.row;
  const auto prepared = prepare(row, point, cache, options);
  if (!prepared) return;
  const auto& collective = *prepared->collective;
  const auto limit = options.memory_limit_bytes;
  const auto plan = plan_point(*prepared, limit, options.time_only);
  row.memory_planned_bytes = static_cast<std::int64_t>(plan.bytes);
  if (auto enough = check_memory(plan.bytes, limit, "the point"); !enough) return end_point(row, enough.errors());
  auto stream = run_collective(*prepared, plan, options, cache);
  if (!stream) return end_point(row, stream.errors());
  describe(row, *stream);
  if (options.schedule_only) {
    row.collective_time_ps = stream->finish.count();
    row.status = PointStatus::ok;
    return keep(output, *prepared, *stream, options);
  }
  const auto checking = checking_options(plan, options);
  if (!verify_stream(row, *prepared, *stream, checking)) return;
  measure(row, *prepared, stream->finish);
  if (stream->single_chunks) row.steps = steps_of(prepared->instance(), stream->finish);
  const bool single_chunks = stream->single_chunks && !options.bound_of_all;
  if (!bound_row(row, *prepared, *stream, plan.bound_work, single_chunks, cache)) return;
  const bool groups_differ = collective.kind() == CollectiveKind::mixed || point.solver.priorities != Priorities{};
  if ((options.group_times || groups_differ) && stream->has_schedule)
    row.group_times_ps = group_times(prepared->instance(), stream->schedule);
  keep_observations(row, *stream);
  if (stream->has_schedule && prepared->synthesizer != nullptr &&
      !fill_switched(row, *prepared, stream->schedule, checking, cache))
    return;
  row.status = PointStatus::ok;
  if (options.keep_schedule) keep(output, *prepared, *stream, options);
}

/// Fills an output and turns exceptions into the row's status.
template <class Fill>
EvaluationOutput guarded(const EvaluateOptions& options, const Fill& fill_output) {
  const Stopwatch watch;
  EvaluationOutput output;
  try {
    fill_output(output);
  } catch (const std::bad_alloc&) {
    end_point(output.row, PointStatus::out_of_memory,
              fmt::format("memory ran out although {} bytes were planned", output.row.memory_planned_bytes));
  } catch (const std::length_error&) {
    end_point(output.row, PointStatus::out_of_memory, "a list of the point is longer than memory can hold");
  } catch (const InvariantError& error) {
    end_point(output.row, PointStatus::failed, std::string("broken invariant: ") + error.what());
  }
  output.row.threads = options.threads;
  output.row.evaluation_seconds = watch.seconds();
  if (options.alone) output.row.peak_rss_bytes = peak_rss_bytes();
  return output;
}

}  // namespace

std::vector<std::int64_t> group_times(const Instance& instance, const Schedule& schedule) {
  const auto& collective = instance.collective;
  const CarriedChunks carried(instance, schedule);
  std::vector<std::int64_t> times(collective.groups().size(), 0);
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
    schedule.read(segment, buffer);
    const auto& batch = buffer.batch;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto latency = carried.hop(batch.link[i], batch.chunk[i], batch.start_of(i)).latency;
      auto& last = times[collective.group_of(carried.of(batch.chunk[i]).front()).index()];
      last = std::max(last, (batch.start_of(i) + latency).count());
    }
  }
  return times;
}

void state_proof_of_bound(Evaluation& row) {
  const bool reached = row.collective_time_ps <= row.bound_ps;
  const double gap = reached ? 0 : 1 - static_cast<double>(row.bound_ps) / static_cast<double>(row.collective_time_ps);
  if (row.optimal < 0 || gap < row.optimality_gap) row.optimality_gap = gap;
  row.optimal = row.optimality_gap == 0 ? 1 : 0;
}

Cache::Cache(std::size_t limit_bytes) : impl_(std::make_unique<Impl>(limit_bytes)) {}
Cache::~Cache() = default;
Cache::Cache(Cache&&) noexcept = default;
Cache& Cache::operator=(Cache&&) noexcept = default;
CacheCounts Cache::counts() const { return impl_->execution.schedules.counts(); }

EvaluationOutput evaluate_point(const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options) {
  return guarded(options, [&](EvaluationOutput& output) {
    if (leaves_choice(point)) {
      EvaluateOptions all = options;
      all.schedule_only = false;  // the choice compares what a whole evaluation finds
      output = evaluate_choice(point, cache, all);
    } else if (point.trains()) {
      fill_training(output.row, point, cache.training, options);
    } else {
      fill(output, point, cache.execution, options);
    }
  });
}

Evaluation bound_point(const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options) {
  const auto output = guarded(options, [&](EvaluationOutput& made) {
    if (point.trains())
      fill_training_bound(made.row, point, cache.training, options);
    else
      fill_bound(made.row, point, cache.execution, options);
  });
  return output.row;
}

EvaluationOutput evaluate(const DesignPoint& point, Cache& cache, const EvaluateOptions& options) {
  return evaluate_point(point, cache.impl(), options);
}

}  // namespace tenex
