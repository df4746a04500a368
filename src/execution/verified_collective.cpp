// The run of one collective: plan, run, verification.
#include "tenex/execution/verified_collective.hpp"
#include "tenex/execution/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tenex/base/stopwatch.hpp"
#include "tenex/execution/plan.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/execution/timed_stream.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

void add_reason(std::string& reasons, const std::string& reason) {
  if (reason.empty()) return;
  reasons += (reasons.empty() ? "" : "; ") + reason;
}

/// The number of threads, at most `threads` and at least 1, for which the limit leaves memory beside the plan's bytes.
int affordable_threads(const PointPlan& plan, int threads, std::size_t memory_limit_bytes) {
  const auto left = memory_limit_bytes - std::min(memory_limit_bytes, plan.bytes);
  if (left < plan.bytes_of_sharing) return 1;
  if (plan.bytes_per_thread == 0) return threads;
  const auto further = (left - plan.bytes_of_sharing) / plan.bytes_per_thread;
  return static_cast<int>(std::min(static_cast<std::size_t>(std::max(threads, 1)), 1 + further));
}

}  // namespace

Result<TimedStream> run_collective(const PreparedPoint& prepared, const PointPlan& plan,
                                   const ExecutionOptions& options, ExecutionCache& cache) {
  auto sharing = options;  // threads never change a result
  sharing.threads = affordable_threads(plan, options.threads, options.memory_limit_bytes);
  auto stream = prepared.synthesizer != nullptr ? run_synthesizer(prepared, options, plan.left_for_synthesis, cache)
                                                : run_program(prepared, sharing, plan, cache);
  if (stream) add_reason(stream->left_out, plan.left_out);
  return stream;
}

VerifyOptions checking_options(const PointPlan& plan, const ExecutionOptions& options) {
  VerifyOptions checking;
  checking.memory_limit_bytes = options.memory_limit_bytes - plan.bytes;
  checking.holdings_limit_bytes = options.memory_limit_bytes;
  checking.threads = options.threads;
  return checking;
}

StreamCheck check_stream(const Instance& instance, const Schedule& schedule, SimTime time, std::string_view who,
                         const VerifyOptions& options) {
  const Stopwatch watch;
  StreamCheck check;
  check.verdict = verify_by_size(instance, schedule, options);
  check.seconds = watch.seconds();
  const auto& verdict = check.verdict;
  if (verdict.outcome == Verification::invalid) {
    check.error = fmt::format("invalid schedule, {} violations, the first: {}", verdict.violations,
                              verdict.findings.empty() ? "" : verdict.findings.front().message);
  } else if (verdict.collective_time != time) {
    check.error = fmt::format("the replayed time of {} ps differs from the {} ps that {} claims",
                              verdict.collective_time.count(), time.count(), who);
  }
  if (verdict.outcome == Verification::skipped)
    check.left_out = fmt::format("the check of the sums needs {} bytes", verdict.memory_needed_bytes);
  return check;
}

void VerifiedCollective::take(const StreamCheck& check) {
  verification_seconds += check.seconds;
  if (!check.error.empty()) throw InvariantError(check.error);
  verified = check.verdict.outcome == Verification::valid;
  add_reason(left_out, check.left_out);
}

Result<VerifiedCollective> time_collective(const DesignPoint& point, std::shared_ptr<const PointTopology> network,
                                           std::vector<ProcessGroup> groups, const ExecutionOptions& options,
                                           bool keep_schedule, ExecutionCache& cache) {
  auto made = Collective::make(
      {point.collective().kind, network->topology.npus(), std::move(groups), point.chunks, point.collective().size, 0});
  if (!made) return made.errors();
  const auto prepared = prepare_with(point, std::move(network), std::make_shared<const Collective>(*std::move(made)));
  if (auto in_range = check_time_range(prepared); !in_range) return in_range.errors();
  const auto plan = plan_point(prepared, options.memory_limit_bytes, options.time_only);
  if (auto enough = check_memory(plan.bytes, options.memory_limit_bytes, "a collective of the iteration"); !enough)
    return enough.errors();
  auto running = options;
  running.plays_jointly = keep_schedule;
  auto stream = run_collective(prepared, plan, running, cache);
  if (!stream) return stream.errors();

  VerifiedCollective result;
  result.collective = prepared.collective;
  result.time = stream->finish;
  result.left_out = stream->left_out;
  result.memory_planned_bytes = static_cast<std::int64_t>(plan.bytes);
  result.synthesis_seconds = stream->synthesis_seconds;
  result.simulation_seconds = stream->simulation_seconds;
  if (!stream->has_schedule) return result;
  result.take(check_stream(prepared.instance(), stream->schedule, stream->finish, point.algorithm,
                           checking_options(plan, options)));
  if (keep_schedule) result.schedule = std::move(stream->schedule);
  return result;
}

}  // namespace tenex
