// Evaluation of design points: a point is built (topology, collective, program or schedule), simulated, verified,
// bounded and measured. Also estimates and checks of points before they are evaluated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/execution/options.hpp"
#include "tenex/execution/plan.hpp"
#include "tenex/execution/shared_schedules.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// Work that points share: topologies, bounds, schedules that differ in pace alone, workloads mapped to shapes, splits
/// of bandwidth and their collectives. Memory-bounded and thread-safe. It saves time and never changes a result.
class Cache {
 public:
  explicit Cache(std::size_t limit_bytes = std::size_t{256} << 20);
  ~Cache();
  Cache(Cache&&) noexcept;
  Cache& operator=(Cache&&) noexcept;

  /// Counts since the cache was made.
  [[nodiscard]] CacheCounts counts() const;

  class Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

struct EvaluateOptions : ExecutionOptions {
  bool keep_schedule = false;  ///< return the verified stream
  /// With keep_schedule: make the schedule and its time alone, neither verified nor bounded nor measured.
  bool schedule_only = false;
  bool group_times = false;
  /// The bound is that of all schedules, also where the point's own sends carry one chunk each.
  bool bound_of_all = false;
  bool alone = false;  ///< nothing else runs in this process: peak_rss_bytes is meaningful
};

/// The row of a point and, if asked for, what it was computed from.
struct EvaluationOutput {
  Evaluation row;
  std::optional<Topology> topology;  ///< with keep_schedule
  std::optional<Collective> collective;
  Schedule schedule;
  std::size_t memory_limit_bytes = 0;  ///< under which it was made
};

/// Evaluates one point. Pure except for measured times: the same point gives the same row for any number of threads,
/// cached or not. Never throws for a bad point: the row gives the reason. A broken invariant (InvariantError) is caught
/// here and becomes status `failed`.
[[nodiscard]] EvaluationOutput evaluate(const DesignPoint& point, Cache& cache, const EvaluateOptions& options);

/// Estimates many points. A textbook algorithm on a shape takes O(dimensions + length of its groups). A training point
/// is estimated from its formula, or from the collectives that its workload runs, alone and concurrently. For a
/// synthesizer or a machine file, a topology of that shape is built once (below 1 GiB; above, the value is a guess).
/// Estimates that need more than the point's settings are stored for all points that cost the same. An estimate depends
/// on its point alone, never on earlier points; it is zero if the point cannot be built. Thread-safe.
class Estimator {
 public:
  /// Points will run under this limit, so the optional parts of a synthesis that would not fit are not planned. A point
  /// that needs more even without them is estimated at the bytes that it needs.
  explicit Estimator(std::size_t memory_limit_bytes = EvaluateOptions{}.memory_limit_bytes)
      : memory_limit_bytes_(memory_limit_bytes) {}
  [[nodiscard]] Estimate operator()(const DesignPoint& point);
  /// What the estimate is made of.
  [[nodiscard]] Cost cost(const DesignPoint& point);
  /// Equal for points whose Cost::shared is done once for all of them.
  [[nodiscard]] static std::string sharing_key(const DesignPoint& point);

 private:
  [[nodiscard]] Cost remember(const std::string& text, const std::function<Cost()>& make);

  std::mutex mutex_;
  Cache workloads_{std::size_t{64} << 20};
  std::unordered_map<std::string, Cost> known_;
  std::size_t memory_limit_bytes_;
};

/// Predicts why points will be refused, without evaluating them: a disconnected topology, or groups or shapes that the
/// algorithm does not support. Points that agree in these are checked once. Training points and topologies of more than
/// 64 MiB are not checked.
class Foresight {
 public:
  /// The reason that the row will give; empty if no refusal is foreseen. O(npus + links) once per topology, groups and
  /// algorithm.
  [[nodiscard]] std::string operator()(const DesignPoint& point);

 private:
  Cache topologies_{std::size_t{64} << 20};
  std::unordered_map<std::string, std::string> known_;
};

/// The last arrival of each process group's chunks, in picoseconds. O(sends).
[[nodiscard]] std::vector<std::int64_t> group_times(const Instance& instance, const Schedule& schedule);

/// The estimate of one point under a limit.
[[nodiscard]] Estimate estimate(const DesignPoint& point,
                                std::size_t memory_limit_bytes = EvaluateOptions{}.memory_limit_bytes);

/// Returns the errors that show only when machine files are read and links removed: broken files, groups that do not
/// fit, disconnected topologies. Each distinct topology is checked once, before any work; at most 20 diagnostics.
/// Shapes with all their links are connected by construction, so they are never built. Topologies of more than 1 GiB
/// are not built either; their rows will give the error. O(points + links of the topologies built).
[[nodiscard]] Diagnostics check_study(const Study& study);

/// Returns the names that a study may use: the algorithms and synthesizers that evaluate() supports, the metrics that
/// may be objectives, the built-in workloads and cost models. It also holds the check of a training point that is made
/// before any work.
[[nodiscard]] Vocabulary vocabulary();

}  // namespace tenex
