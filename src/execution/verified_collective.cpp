// The run of one collective: plan, run, verification.
#include "tenex/execution/verified_collective.hpp"

#include <fmt/format.h>

#include <utility>

#include "tenex/base/stopwatch.hpp"
#include "tenex/execution/plan.hpp"
#include "tenex/execution/timed_stream.hpp"
#include "tenex/schedule/symmetric_verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

void add_reason(std::string& reasons, const std::string& reason) {
  if (reason.empty()) return;
  reasons += (reasons.empty() ? "" : "; ") + reason;
}

Status fits(const PointPlan& plan, std::size_t limit_bytes) {
  if (plan.estimate.bytes <= limit_bytes) return success();
  return resource_error(fmt::format("a collective of the iteration needs {} bytes", plan.estimate.bytes),
                        fmt::format("the limit is {} bytes", limit_bytes),
                        "raise the limit or run it on a larger host");
}

}  // namespace

void verify_collective(VerifiedCollective& result, const Topology& topology, const Collective& collective,
                       Occupancy occupancy, const Schedule& schedule, SimTime time, const ExecutionOptions& options) {
  const Stopwatch watch;
  VerifyOptions verify_options;
  verify_options.memory_limit_bytes = options.memory_limit_bytes;
  verify_options.threads = options.threads;
  const auto verdict = verify_by_size({topology, collective, occupancy}, schedule, verify_options);
  result.verification_seconds += watch.seconds();
  if (verdict.outcome == Verification::invalid) {
    const auto first = verdict.findings.empty() ? std::string() : verdict.findings.front().message;
    throw InvariantError(fmt::format("invalid schedule, {} violations, the first: {}", verdict.violations, first));
  }
  if (verdict.collective_time != time)
    throw InvariantError(fmt::format("the replayed time of {} ps differs from the {} ps of the schedule",
                                     verdict.collective_time.count(), time.count()));
  result.verified = verdict.outcome == Verification::valid;
  if (!result.verified)
    add_reason(result.left_out, fmt::format("the check of the sums needs {} bytes", verdict.memory_needed_bytes));
}

Result<VerifiedCollective> time_collective(const DesignPoint& point, const Topology& topology,
                                           std::vector<ProcessGroup> groups, const ExecutionOptions& options,
                                           bool keep_schedule, SharedSchedules& shared) {
  auto made = Collective::make(
      {point.collective().kind, topology.npus(), std::move(groups), point.chunks, point.collective().size, 0});
  if (!made) return made.errors();
  const auto collective = std::make_shared<const Collective>(*std::move(made));
  if (auto in_range = check_time_range(point, topology, *collective); !in_range) return in_range.errors();
  const auto limit = options.memory_limit_bytes;
  const auto plan = plan_built(point, topology, *collective, limit, options.time_only);
  if (auto enough = fits(plan, limit); !enough) return enough.errors();
  auto sharing = options;
  sharing.threads = affordable_threads(plan, options.threads, limit);
  auto stream = find_synthesizer(point.algorithm) != nullptr
                    ? run_synthesizer(point, topology, *collective, options,
                                      left_for_synthesis(point, topology, *collective, limit), shared)
                    : run_program(point, topology, *collective, sharing, plan.records);
  if (!stream) return stream.errors();

  VerifiedCollective result;
  result.collective = collective;
  result.time = stream->finish;
  result.left_out = stream->left_out;
  add_reason(result.left_out, plan.left_out);
  result.memory_planned_bytes = static_cast<std::int64_t>(plan.estimate.bytes);
  result.synthesis_seconds = stream->synthesis_seconds;
  result.simulation_seconds = stream->simulation_seconds;
  if (!stream->has_schedule) return result;
  auto checking = options;
  checking.memory_limit_bytes = limit - plan.estimate.bytes;
  verify_collective(result, topology, *collective, point.occupancy, stream->schedule, stream->finish, checking);
  if (keep_schedule) result.schedule = std::move(stream->schedule);
  return result;
}

}  // namespace tenex
