// Trials of a choice. A program is timed first, which is faster than to record and verify it; of numbers of chunks only
// the best one is verified.
//
// What a trial may weigh is in proportion to what it could save: the best time so far above the least bound of all
// numbers of chunks. So a point whose first trial is within a percent of its bound takes seconds, and none is given up
// for work while it is far from what is possible. Rows have stronger bounds than bound_point(), which costs nothing:
// the least bound is that of the best row, lowered as much as the cheap bounds differ between its number and the one
// that has the least, and never above a row's of another number.
#include "evaluate/trials.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "evaluate/choices.hpp"
#include "evaluate/evaluate_point.hpp"
#include "tenex/design/point_collective.hpp"
#include "tenex/execution/algorithm_table.hpp"

namespace tenex {
namespace {

/// What a trial may weigh for all of the best time, in seconds (of weights, which are several times those of today's
/// machines): 5 where it can save 2 %.
constexpr double kWeightOfWholeTime = 250;
/// What it may weigh in any case: between the powers of two, whose bounds are known, a bound may be lower.
constexpr double kLeastWeight = 1;

std::string name_of(const DesignPoint& before, const DesignPoint& trial) {
  if (chooses_algorithm(before)) return trial.algorithm;
  return fmt::format("{} chunk{}", trial.chunks, trial.chunks == 1 ? "" : "s");
}

SimTime bound_of(const Evaluation& row) { return picoseconds(std::max<std::int64_t>(row.bound_ps, 0)); }

}  // namespace

bool chooses_algorithm(const DesignPoint& point) { return point.family == AlgorithmFamily::any; }
bool chooses_chunks(const DesignPoint& point) { return !point.trains() && point.chunks == kAutomaticChunks; }

DesignPoint with_chunks(DesignPoint point, std::int64_t chunks) {
  point.chunks = chunks;
  if (const auto largest = largest_of_unlike_conditions(point))
    point.collective().piece = chunks > 1 ? bytes(ceil_div(largest->count(), chunks)) : kNoPiece;
  return point;
}

Trials::Trials(const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options)
    : point_(point), cache_(cache), options_(options) {
  options_.bound_of_all = options.bound_of_all || chooses_algorithm(point);  // some of its trials send several chunks
  quick_ = options_;
  quick_.keep_schedule = quick_.link_loads = quick_.group_times = quick_.arrivals = false;
  quick_.utilization_bins = 0;
}

std::optional<SimTime> Trials::run(const DesignPoint& trial) {
  auto row = evaluate_trial(trial);
  if (row.status == PointStatus::failed) failed_ = fmt::format("{}: {}", name_of(point_, trial), row.reason);
  if (row.status == PointStatus::out_of_memory) leave_out(trial, row.reason);
  if (row.status != PointStatus::ok) {
    if (!unable_) unable_ = std::move(row);
    return std::nullopt;
  }
  ++tried_;
  least_of_rows_ = std::min(least_of_rows_, bound_of(row));
  const auto time = picoseconds(row.collective_time_ps);
  if (!best_ || row.collective_time_ps < best_row_.collective_time_ps) keep(trial, std::move(row));
  return time;
}

void Trials::keep(const DesignPoint& trial, Evaluation row) {
  best_ = trial;
  best_row_ = std::move(row);
  open_bound_.reset();
}

void Trials::compare(const Trials& algorithm) {
  if (!algorithm.failed_.empty()) failed_ = fmt::format("{}: {}", algorithm.point_.algorithm, algorithm.failed_);
  least_of_rows_ = std::min(least_of_rows_, algorithm.least_of_rows_);
  if (algorithm.best_ && (!best_ || algorithm.best_row_.collective_time_ps < best_row_.collective_time_ps))
    keep(*algorithm.best_, algorithm.best_row_);
}

void Trials::settle(std::vector<Trials*> algorithms) {
  std::erase_if(algorithms, [&](const Trials* each) {
    if (each->best_) return false;
    if (!unable_) unable_ = each->unable_;
    if (each->unable_ && each->unable_->status == PointStatus::out_of_memory)
      leave_out(each->point_, each->unable_->reason);
    return true;
  });
  tried_ += static_cast<std::int64_t>(algorithms.size());
  std::ranges::stable_sort(algorithms, {}, [](const Trials* each) { return each->best_row_.collective_time_ps; });
  best_.reset();
  for (Trials* each : algorithms) {
    if (!failed_.empty() || (best_ && each->best_row_.collective_time_ps >= best_row_.collective_time_ps)) return;
    auto row = each->take().row;
    if (row.status == PointStatus::failed) failed_ = fmt::format("{}: {}", each->point_.algorithm, row.reason);
    if (row.status == PointStatus::out_of_memory) leave_out(each->point_, row.reason);
    if (row.status != PointStatus::ok) {
      if (!unable_) unable_ = std::move(row);
    } else if (!best_ || row.collective_time_ps < best_row_.collective_time_ps) {
      keep(*each->best_, std::move(row));
    }
  }
}

void Trials::leave_out(const DesignPoint& trial, std::string_view why) {
  left_out_ += fmt::format("{}{} was left out: {}", left_out_.empty() ? "" : "; ", name_of(point_, trial), why);
}

void Trials::hint_at(std::int64_t chunks) {
  auto timing = quick_;
  timing.time_only = true;
  const auto row = evaluate_point(with_chunks(*best_, chunks), cache_, timing).row;
  if (row.status == PointStatus::failed) failed_ = fmt::format("{}: {}", best_->algorithm, row.reason);
  if (row.status == PointStatus::ok && row.collective_time_ps < best_row_.collective_time_ps)
    hint_ = fmt::format("{} takes {} {}; chunks = \"auto\" chooses the number", best_->algorithm,
                        to_rounded(picoseconds(row.collective_time_ps)),
                        largest_of_unlike_conditions(*best_)
                            ? fmt::format("in pieces of a {}th of the largest amount", chunks)
                            : fmt::format("with {} chunks", chunks));
}

double Trials::most_weight(double part) {
  if (!best_ && !rival_) return std::numeric_limits<double>::max();  // some algorithm has to be the first
  return std::max(std::min(part, part_to_save()) * kWeightOfWholeTime, kLeastWeight);
}

/// What another trial could save of the best time, as a part of it; 1 where nothing is known.
double Trials::part_to_save() {
  auto least = SimTime::max();
  auto bound = SimTime::max();
  if (rival_) std::tie(least, bound) = std::pair(rival_->time, rival_->bound);
  if (best_ && best_row_.unwound_degree == 0) {  // of an unwound network the bound is another one's
    least = std::min(least, time());
    bound = std::min(bound, open_bound());
  }
  if (least == SimTime::max() || bound <= SimTime::zero() || least <= SimTime::zero()) return 1;
  return std::clamp(1 - static_cast<double>(bound.count()) / static_cast<double>(least.count()), 0.0, 1.0);
}

bool Trials::ended() {
  if (!failed_.empty() || !best_) return !failed_.empty();
  // Between the powers of two, whose bounds are known, a bound may be lower, so that nothing proves a number of
  // chunks to be the best.
  if (chooses_chunks(point_) && point_.good_enough == GoodEnough{}) return false;
  return reaches(point_.good_enough);
}

/// Whether the best trial is so near to its bound, and no other number of chunks has a bound that is lower by more.
bool Trials::reaches(const GoodEnough& share) {
  if (!best_ || !share.reached(time(), bound_of(best_row_))) return false;
  return !chooses_chunks(point_) || share.reached(bound_of(bound_point(*best_, cache_, quick_)), least_bound());
}

/// The least bound of all numbers of chunks that may be chosen; of the point where its number is given.
SimTime Trials::least_bound() {
  if (!least_bound_) least_bound_ = bound_of(bound_choice(point_, cache_, quick_));
  return *least_bound_;
}

/// What trials of other numbers of chunks cannot be expected to go below, as far as the rows' bounds tell.
SimTime Trials::open_bound() {
  if (!chooses_chunks(point_)) return bound_of(best_row_);
  if (!open_bound_) {
    const auto cheap = bound_of(bound_point(*best_, cache_, quick_));
    const double lower =
        cheap <= SimTime::zero() ? 0 : static_cast<double>(least_bound().count()) / static_cast<double>(cheap.count());
    open_bound_ =
        picoseconds(static_cast<std::int64_t>(static_cast<double>(bound_of(best_row_).count()) * std::min(lower, 1.0)));
  }
  return std::min(*open_bound_, least_of_rows_);
}

EvaluationOutput Trials::take() {
  verify_timed();
  EvaluationOutput output;
  if (!failed_.empty()) return end_point(output.row, PointStatus::failed, failed_), output;
  if (!best_) return output.row = whose_fault(), output;
  const auto remarks_of_all = remarks();
  const bool observes = options_.keep_schedule || options_.link_loads || options_.group_times || options_.arrivals ||
                        options_.utilization_bins > 0;
  if (observes)
    output = evaluate_point(*best_, cache_, options_);
  else
    output.row = std::move(best_row_);
  auto& row = output.row;
  if (chooses_algorithm(point_)) {
    row.chosen_algorithm = best_->algorithm;
    row.candidates = tried_;
    // On the network of the point: with `unwind = d` a row has the bound of another one.
    if (row.status == PointStatus::ok && row.bound_ps >= 0 && row.unwound_degree == 0) state_proof_of_bound(row);
  }
  if (chooses_chunks(point_)) row.chosen_chunks = best_->chunks;
  if (!remarks_of_all.empty()) row.reason += (row.reason.empty() ? "" : "; ") + remarks_of_all;
  return output;
}

/// What the row's reason says of trials that were not made.
std::string Trials::remarks() {
  std::string all = left_out_;
  if (passed_over_ > 0)
    all +=
        fmt::format("{}{} heavy algorithm{} not tried: the result is within {:.2g} % of its bound",
                    all.empty() ? "" : "; ", passed_over_, passed_over_ == 1 ? " was" : "s were", part_to_save() * 100);
  if (!hint_.empty()) all += (all.empty() ? "" : "; ") + hint_;
  return all;
}

/// Records and verifies the best of the trials that are only timed; of those that take too much memory the next one.
/// Each was better than those before it.
void Trials::verify_timed() {
  for (; failed_.empty() && !timed_.empty(); timed_.pop_back()) {
    auto row = evaluate_point(timed_.back(), cache_, quick_).row;
    if (row.status == PointStatus::failed) failed_ = fmt::format("{}: {}", name_of(point_, timed_.back()), row.reason);
    if (row.status == PointStatus::out_of_memory) leave_out(timed_.back(), row.reason);
    if (row.status == PointStatus::ok) return keep(timed_.back(), std::move(row));
    unable_ = std::move(row);
    best_.reset();
  }
}

Evaluation Trials::evaluate_trial(const DesignPoint& trial) {
  if (is_program(trial) && !options_.time_only) {
    auto timing = quick_;
    timing.time_only = true;
    auto row = evaluate_point(trial, cache_, timing).row;
    const bool wins =
        row.status == PointStatus::ok && (!best_ || row.collective_time_ps < best_row_.collective_time_ps);
    if (!wins) return row;
    if (!chooses_algorithm(point_)) {  // of numbers of chunks only the best one is recorded and verified
      timed_.push_back(trial);
      return row;
    }
  }
  return evaluate_point(trial, cache_, quick_).row;
}

Evaluation Trials::whose_fault() const {
  Evaluation row = unable_.value_or(Evaluation{});
  if (!unable_) end_point(row, PointStatus::unsupported, "no algorithm does this collective on this network");
  return row;
}

}  // namespace tenex
