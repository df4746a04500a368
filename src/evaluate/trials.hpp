// Internal to evaluate: the trials of a point that leaves a choice, of which the best is kept.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evaluate/cache.hpp"
#include "tenex/base/units.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/evaluate/evaluation.hpp"

namespace tenex {

[[nodiscard]] bool chooses_algorithm(const DesignPoint& point);
[[nodiscard]] bool chooses_chunks(const DesignPoint& point);
/// The point with a number of chunks; where conditions differ in size, of the largest.
[[nodiscard]] DesignPoint with_chunks(DesignPoint point, std::int64_t chunks);

/// The best time of all algorithms, what it is proven to be above, and the times of the algorithm that has it, by the
/// number of chunks.
struct Rival {
  SimTime time;
  SimTime bound;
  const std::map<std::int64_t, SimTime>* times = nullptr;  ///< null: of none, or of the one that it is compared with
};

/// Runs trials one after another and keeps the best. The point outlives it.
class Trials {
 public:
  Trials(const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options);

  /// Trials compete with this one, too, from now on.
  void set_rival(const Rival& rival) { rival_ = rival; }
  [[nodiscard]] const std::optional<Rival>& rival() const { return rival_; }

  /// Evaluates a trial. Returns its time, or nullopt if it has none.
  std::optional<SimTime> run(const DesignPoint& trial);
  /// Takes over the best trial of an algorithm as it stands, to compare others with it.
  void compare(const Trials& algorithm);
  /// Takes over what became of algorithms whose trials are all made: the row of the best one, verified, and of others
  /// why they have none.
  void settle(std::vector<Trials*> algorithms);

  void leave_out(const DesignPoint& trial, std::string_view why);
  /// Counts a trial that weighs more than it could save.
  void pass_over() { ++passed_over_; }
  /// Says that the best trial would be shorter with more chunks than were asked for, if it would be with `chunks`.
  void hint_at(std::int64_t chunks);

  /// The most that another trial may weigh, in seconds: in proportion to what it could save of the best time, which is
  /// `part` at most. Any weight where there is no time yet.
  [[nodiscard]] double most_weight(double part = 1);
  /// Whether no further trial is needed: the best one is good enough, or a trial has failed.
  [[nodiscard]] bool ended();
  [[nodiscard]] const std::optional<DesignPoint>& best() const { return best_; }
  /// The best trial's time; undefined without one.
  [[nodiscard]] SimTime time() const { return picoseconds(best_row_.collective_time_ps); }
  /// The best trial for others to be compared with, without the times of its algorithm.
  [[nodiscard]] Rival as_rival() { return {.time = time(), .bound = open_bound()}; }
  /// What the comparison of trials needs.
  [[nodiscard]] const EvaluateOptions& quick_options() const { return quick_; }

  /// The row of the best trial, with all that the options ask for.
  [[nodiscard]] EvaluationOutput take();

 private:
  [[nodiscard]] bool reaches(const GoodEnough& share);
  void keep(const DesignPoint& trial, Evaluation row);
  void verify_timed();
  [[nodiscard]] Evaluation evaluate_trial(const DesignPoint& trial);
  [[nodiscard]] SimTime least_bound();
  [[nodiscard]] SimTime open_bound();
  [[nodiscard]] double part_to_save();
  [[nodiscard]] std::string remarks();
  [[nodiscard]] Evaluation whose_fault() const;

  const DesignPoint& point_;
  Cache::Impl& cache_;
  EvaluateOptions options_;
  EvaluateOptions quick_;
  std::optional<Rival> rival_;
  std::vector<DesignPoint> timed_;  ///< trials that were the best one, and are not yet verified
  std::optional<DesignPoint> best_;
  Evaluation best_row_;
  std::optional<SimTime> least_bound_;
  std::optional<SimTime> open_bound_;       ///< of the best trial
  SimTime least_of_rows_ = SimTime::max();  ///< the least bound of a row, of any number of chunks
  std::optional<Evaluation> unable_;        ///< the first that has no time
  std::string failed_;
  std::string left_out_;
  std::string hint_;
  std::int64_t passed_over_ = 0;
  std::int64_t tried_ = 0;
};

}  // namespace tenex
