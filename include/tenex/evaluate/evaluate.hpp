// The bridge: a design point becomes topology, collective, program or schedule, is simulated, verified, bounded,
// measured.
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

/// Shared work of points: topologies, bounds, schedules that differ in pace alone, workloads laid over shapes, splits
/// of bandwidth, their collectives. Memory-bounded, thread-safe, and never changes a result: only how soon it comes.
class Cache {
 public:
  explicit Cache(std::size_t limit_bytes = std::size_t{256} << 20);
  ~Cache();
  Cache(Cache&&) noexcept;
  Cache& operator=(Cache&&) noexcept;

  /// Since it was made.
  [[nodiscard]] CacheCounts counts() const;

  class Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

struct EvaluateOptions : ExecutionOptions {
  bool keep_schedule = false;  ///< hand the verified stream back
  bool group_times = false;
  bool alone = false;  ///< nothing else runs in this process: peak_rss_bytes is meaningful
};

/// What the evaluation of a point made, beside the row.
struct EvaluationOutput {
  Evaluation row;
  std::optional<Topology> topology;  ///< with keep_schedule
  std::optional<Collective> collective;
  Schedule schedule;
};

/// Evaluates one point. Pure but for the clock: the same point gives the same row for any threads, cached or not. Never
/// throws for a bad point: the row says what was wrong. A broken invariant (InvariantError) is caught here and becomes
/// status `failed`.
[[nodiscard]] EvaluationOutput evaluate(const DesignPoint& point, Cache& cache, const EvaluateOptions& options);

/// Estimates many points: a textbook algorithm on a shape in O(dimensions + length of its groups), a point that trains
/// likewise or as the collectives that its workload runs, alone and side by side; a synthesizer, or a machine file, by
/// building a topology of that shape once (below 1 GiB; beyond, a guess). What is not counted from the point's words
/// alone is remembered for all points that cost the same. A value follows from the point alone, never from the points
/// before. Zero where the point cannot be built. Thread-safe.
class Estimator {
 public:
  /// Points are to run under this limit: where parts of a synthesis would not fit they are not planned. A point that
  /// needs more even without them is estimated at what it needs.
  explicit Estimator(std::size_t memory_limit_bytes = EvaluateOptions{}.memory_limit_bytes)
      : memory_limit_bytes_(memory_limit_bytes) {}
  [[nodiscard]] Estimate operator()(const DesignPoint& point);

 private:
  [[nodiscard]] Estimate remember(const std::string& text, const std::function<Estimate()>& make);

  std::mutex mutex_;
  Cache workloads_{std::size_t{64} << 20};
  std::unordered_map<std::string, Estimate> known_;
  std::size_t memory_limit_bytes_;
};

/// What points will be refused for without being evaluated: a topology that falls apart, groups or shapes that an
/// algorithm cannot do. Points that agree in these are looked at once. Training points, and topologies of more than
/// 64 MiB, are not looked at.
class Foresight {
 public:
  /// As the row's reason will have it; empty where nothing is foreseen. O(npus + links) once per topology, groups and
  /// algorithm.
  [[nodiscard]] std::string operator()(const DesignPoint& point);

 private:
  std::unordered_map<std::string, std::string> known_;
};

/// The estimate of one point under a limit.
[[nodiscard]] Estimate estimate(const DesignPoint& point,
                                std::size_t memory_limit_bytes = EvaluateOptions{}.memory_limit_bytes);

/// What only shows when machine files are read and links removed: broken files, groups that do not fit, disconnected
/// topologies. Checked before any work, each distinct topology once; at most 20 diagnostics. Shapes with all their
/// links are connected by construction, so they are not built, however large; nor are those of more than 1 GiB, whose
/// rows will tell. O(points + links of what is built).
[[nodiscard]] Diagnostics check_study(const Study& study);

/// What a study may name: the algorithms and synthesizers that evaluate() knows, the words of training keys (with what
/// is wrong with a training point, checked before any work), workloads and cost models that tenex brings along.
[[nodiscard]] Vocabulary vocabulary();

}  // namespace tenex
