// Trials of points that leave a choice.
//
// Algorithms are tried in the order of the weights of their work; where the number of chunks is chosen, too, those of
// little weight in the order of their times with one chunk, so that a search that may end early ends early. Numbers of
// chunks are tried as powers of two, until two in a row gain less than half a percent; then halves of the two gaps
// beside the best number. What a pipeline loses while it fills is in proportion to a chunk, so each doubling gains half
// of what the one before did. An algorithm that would not pass the best one so far with four times as much is left.
// Both rules wait until the numbers tried have weighed something: where chunks do not divide evenly among links, times
// stay on a plateau (six of the GPUs of an MI300X, All-Reduce of 1 GiB by pccl: 5.59 ms with 1, 2 and 4 chunks, 4.20
// with 8, 4.02 with 64).
//
// Conditions that differ in size are cut alike: so many chunks of the largest, and of others as many as make theirs no
// larger.
//
// Solvers are not tried: they take minutes. The bound says what is proven of the best result: it is an optimum, or at
// most `optimality_gap` slower than one.
#include "evaluate/choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>

#include "evaluate/evaluate_point.hpp"
#include "tenex/base/units.hpp"
#include "tenex/design/point_collective.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/prepared_point.hpp"

namespace tenex {
namespace {

/// An algorithm whose work weighs more is left out, unless it weighs least.
constexpr double kMostWeightOfAlgorithm = 600;
/// An algorithm whose work weighs more is not tried where the best result is proven to be nearly optimal: it could gain
/// half a percent at most.
constexpr double kMostWeightForLittle = 5;
constexpr GoodEnough kNearlyProven{99'500};
/// Numbers of chunks whose work weighs more are left out, except 1.
constexpr double kMostWeightOfChunks = 60;
/// `best` with one chunk says whether its choice is shorter with so many.
constexpr std::int64_t kChunksOfHint = 4;
/// Powers of two whose works together weigh no more are all tried, whatever they gain.
constexpr double kFreeWeight = 1;
/// Two numbers of chunks in a row that do not gain this share end the search for larger ones.
constexpr std::int64_t kLeastGain = 200;
/// How often the gaps beside the best number of chunks are halved.
constexpr int kRefinements = 2;
/// All further doublings together are taken to gain at most so many times what the better one of the last two did.
constexpr std::int64_t kMostGainLeft = 4;

bool chooses_algorithm(const DesignPoint& point) { return point.family == AlgorithmFamily::any; }
bool chooses_chunks(const DesignPoint& point) { return !point.trains() && point.chunks == kAutomaticChunks; }

/// evaluate_choice(), for which a row that is not below `rival` is as good as any.
EvaluationOutput search_choice(const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options,
                               std::optional<SimTime> rival);

/// The point with an algorithm. Settings that the algorithm does not read get their defaults.
DesignPoint with_algorithm(DesignPoint point, const AlgorithmTraits& traits) {
  name_algorithm(point, traits);
  normalise(point);
  return point;
}

DesignPoint with_chunks(DesignPoint point, std::int64_t chunks) {
  point.chunks = chunks;
  if (const auto largest = largest_of_unlike_conditions(point))
    point.collective().piece = chunks > 1 ? bytes(ceil_div(largest->count(), chunks)) : kNoPiece;
  return point;
}

/// Whether the algorithm can make the point's collective.
bool may_do(const AlgorithmTraits& traits, const DesignPoint& point) {
  const auto& runs = point.collective();
  const auto kind = share_npus(runs.groups.list()) ? CollectiveKind::mixed : runs.kind;
  if (!traits.makes(kind) || traits.is_reference) return false;
  if (traits.family != AlgorithmFamily::synthesizer) return traits.family == AlgorithmFamily::textbook;
  if (traits.reads.solves) return false;  // solvers take minutes, and a build may lack them: rows would differ
  if (!start_delays_of(point).empty() && !traits.waits_for_late(kind)) return false;
  return kind != CollectiveKind::all_reduce || runs.overlap || traits.reads.phases;
}

/// A point to evaluate, and what is expected of it.
struct Trial {
  DesignPoint point;
  Cost expected;
};

std::vector<Trial> trials_of_algorithms(const DesignPoint& point, Estimator& estimator) {
  std::vector<Trial> trials;
  for (const AlgorithmTraits* traits : algorithm_traits()) {
    if (!may_do(*traits, point)) continue;
    auto trial = with_algorithm(point, *traits);
    auto expected = estimator.cost(trial);
    trials.push_back({std::move(trial), std::move(expected)});
  }
  std::ranges::stable_sort(trials, {}, [](const Trial& trial) { return trial.expected.weight; });
  return trials;
}

std::string name_of(const DesignPoint& before, const DesignPoint& trial) {
  if (chooses_algorithm(before)) return trial.algorithm;
  return fmt::format("{} chunk{}", trial.chunks, trial.chunks == 1 ? "" : "s");
}

/// Runs trials one after another and keeps the best.
class Trials {
 public:
  /// A row that is not below `rival` is as good as any, and need not be verified.
  Trials(const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options, std::optional<SimTime> rival)
      : point_(point), cache_(cache), options_(options), rival_(rival) {
    options_.bound_of_all = options.bound_of_all || chooses_algorithm(point);  // some of its trials send several chunks
    quick_ = options_;
    quick_.keep_schedule = quick_.link_loads = quick_.group_times = quick_.arrivals = false;
    quick_.utilization_bins = 0;
  }

  /// Evaluates a trial. Returns its time, or nullopt if it has none.
  std::optional<SimTime> run(const DesignPoint& trial) {
    auto row = evaluate_trial(trial);
    if (row.status == PointStatus::failed) failed_ = fmt::format("{}: {}", name_of(point_, trial), row.reason);
    if (row.status == PointStatus::out_of_memory) leave_out(trial, row.reason);
    if (row.status != PointStatus::ok) {
      if (!unable_) unable_ = std::move(row);
      return std::nullopt;
    }
    ++tried_;
    const auto time = picoseconds(row.collective_time_ps);
    if (!best_ || row.collective_time_ps < best_row_.collective_time_ps) {
      best_ = trial;
      best_row_ = std::move(row);
    }
    return time;
  }
  void leave_out(const DesignPoint& trial, std::string_view why) {
    left_out_ += fmt::format("{}{} was left out: {}", left_out_.empty() ? "" : "; ", name_of(point_, trial), why);
  }

  /// Counts a heavy trial that could gain little.
  void pass_over() { ++passed_over_; }

  /// The time of a point in the trial's place, which is no trial itself; nullopt if it has none.
  [[nodiscard]] std::optional<std::int64_t> time_of(const DesignPoint& point) {
    auto timing = quick_;
    timing.time_only = true;
    const auto row = evaluate_point(point, cache_, timing).row;
    if (row.status == PointStatus::failed) failed_ = fmt::format("{}: {}", name_of(point_, point), row.reason);
    return row.status == PointStatus::ok ? std::optional(row.collective_time_ps) : std::nullopt;
  }

  /// Whether no further trial is needed: the best one is good enough, or a trial has failed.
  [[nodiscard]] bool ended() const {
    if (!failed_.empty() || !best_) return !failed_.empty();
    // Between the powers of two, whose bounds are known, a bound may be lower, so that nothing proves a number of
    // chunks to be the best.
    if (chooses_chunks(point_) && point_.good_enough == GoodEnough{}) return false;
    return reaches(point_.good_enough);
  }
  /// Whether the best trial is so near to its bound, and no other number of chunks has a bound that is lower by more.
  [[nodiscard]] bool reaches(const GoodEnough& share) const {
    const auto reached = [&](std::int64_t time_ps, std::int64_t bound_ps) {
      return share.reached(picoseconds(time_ps), picoseconds(std::max<std::int64_t>(bound_ps, 0)));
    };
    if (!best_ || !reached(best_row_.collective_time_ps, best_row_.bound_ps)) return false;
    if (!chooses_chunks(point_)) return true;
    const auto own = bound_point(settled(), cache_, quick_).bound_ps;
    return reached(own, bound_choice(with_chunks(*best_, kAutomaticChunks), cache_, quick_).bound_ps);
  }
  [[nodiscard]] const std::optional<DesignPoint>& best() const { return best_; }

  /// The row of the best trial, with all that the options ask for.
  [[nodiscard]] EvaluationOutput take() {
    verify_timed();
    EvaluationOutput output;
    if (!failed_.empty()) return end_point(output.row, PointStatus::failed, failed_), output;
    if (!best_) return output.row = whose_fault(), output;
    const bool observes = options_.keep_schedule || options_.link_loads || options_.group_times || options_.arrivals ||
                          options_.utilization_bins > 0;
    const auto settled_point = settled();
    if (observes)
      output = evaluate_point(settled_point, cache_, options_);
    else
      output.row = std::move(best_row_);
    auto& row = output.row;
    if (chooses_algorithm(point_)) row.chosen_algorithm = settled_point.algorithm;
    if (chooses_algorithm(point_)) row.candidates = tried_;
    if (chooses_algorithm(point_)) say_what_is_proven(row);
    if (chooses_chunks(point_)) row.chosen_chunks = settled_point.chunks;
    std::string little;
    if (passed_over_ > 0)
      little = fmt::format("{} heavy algorithm{} not tried: the result is within half a percent of its bound",
                           passed_over_, passed_over_ == 1 ? " was" : "s were");
    for (const auto& words : {left_out_, little, hint_})
      if (!words.empty()) row.reason += (row.reason.empty() ? "" : "; ") + words;
    return output;
  }

  /// Says that the best trial would be shorter with more chunks than were asked for, if it would be with `chunks`.
  void compare_with(std::int64_t chunks) {
    const auto time = time_of(with_chunks(*best_, chunks));
    if (time && *time < best_row_.collective_time_ps)
      hint_ = fmt::format(
          "{} takes {} {}; chunks = \"auto\" chooses the number", best_->algorithm, to_rounded(picoseconds(*time)),
          largest_of_unlike_conditions(*best_) ? fmt::format("in pieces of a {}th of the largest amount", chunks)
                                               : fmt::format("with {} chunks", chunks));
  }

 private:
  /// The best trial with all choices made.
  [[nodiscard]] DesignPoint settled() const {
    return chooses_chunks(*best_) ? with_chunks(*best_, best_row_.chosen_chunks) : *best_;
  }

  /// Records and verifies the best of the trials that are only timed; of those that take too much memory the next one.
  /// Each was better than those before it.
  void verify_timed() {
    for (; failed_.empty() && !timed_.empty(); timed_.pop_back()) {
      auto row = evaluate_point(timed_.back(), cache_, quick_).row;
      if (row.status == PointStatus::failed)
        failed_ = fmt::format("{}: {}", name_of(point_, timed_.back()), row.reason);
      if (row.status == PointStatus::out_of_memory) leave_out(timed_.back(), row.reason);
      if (row.status == PointStatus::ok) {
        best_ = timed_.back();
        best_row_ = std::move(row);
        return;
      }
      unable_ = std::move(row);
      best_.reset();
    }
  }

  /// On the network of the point: with `unwind = d` a row has the bound of another one.
  static void say_what_is_proven(Evaluation& row) {
    if (row.status != PointStatus::ok || row.bound_ps < 0 || row.unwound_degree > 0) return;
    state_proof_of_bound(row);
  }

  /// Programs are timed first, which is faster than to record and verify them.
  Evaluation evaluate_trial(const DesignPoint& trial) {
    if (is_program(trial) && !options_.time_only && !leaves_choice(trial)) {
      auto timing = quick_;
      timing.time_only = true;
      auto row = evaluate_point(trial, cache_, timing).row;
      const bool wins =
          row.status == PointStatus::ok && (!best_ || row.collective_time_ps < best_row_.collective_time_ps);
      if (!wins || (rival_ && picoseconds(row.collective_time_ps) >= *rival_)) return row;
      if (!chooses_algorithm(point_)) {  // of numbers of chunks only the best one is recorded and verified
        timed_.push_back(trial);
        return row;
      }
    }
    if (best_ && leaves_choice(trial))
      return search_choice(trial, cache_, quick_, picoseconds(best_row_.collective_time_ps)).row;
    return evaluate_point(trial, cache_, quick_).row;
  }

  [[nodiscard]] Evaluation whose_fault() const {
    Evaluation row = unable_.value_or(Evaluation{});
    if (!unable_) end_point(row, PointStatus::unsupported, "no algorithm does this collective on this network");
    return row;
  }

  const DesignPoint& point_;
  Cache::Impl& cache_;
  EvaluateOptions options_;
  EvaluateOptions quick_;  ///< what the comparison of trials needs
  std::optional<SimTime> rival_;
  std::vector<DesignPoint> timed_;  ///< trials that were the best one, and are not yet verified
  std::optional<DesignPoint> best_;
  Evaluation best_row_;
  std::optional<Evaluation> unable_;  ///< the first that has no time
  std::string failed_;
  std::string left_out_;
  std::string hint_;
  std::int64_t passed_over_ = 0;
  std::int64_t tried_ = 0;
};

/// The trials that fit into the memory and the time, in their order; the first of those that fit into the memory always
/// does.
std::vector<Trial> affordable(std::vector<Trial> all, Trials& trials, std::size_t memory_limit_bytes) {
  std::vector<Trial> kept;
  for (Trial& trial : all) {
    if (trial.expected.bytes > memory_limit_bytes)
      trials.leave_out(trial.point, fmt::format("it needs {} bytes", trial.expected.bytes));
    else if (!kept.empty() && trial.expected.weight > kMostWeightOfAlgorithm)
      trials.leave_out(trial.point, fmt::format("it is expected to take {:.0f} s", trial.expected.estimate().seconds));
    else
      kept.push_back(std::move(trial));
  }
  return kept;
}

void try_algorithms(Trials& trials, const DesignPoint& point, Estimator& estimator, std::size_t memory_limit_bytes) {
  auto order = affordable(trials_of_algorithms(point, estimator), trials, memory_limit_bytes);
  if (chooses_chunks(point)) {
    // Heavy ones come last, in the order of their weights, synthesizers first: where they come near to the bound, as
    // they mostly do, the other heavy ones are passed over.
    constexpr auto kLast = std::numeric_limits<std::int64_t>::max();
    std::map<std::string, std::int64_t> times;
    for (const Trial& trial : order) {
      std::optional<std::int64_t> time;
      if (trial.expected.weight <= kMostWeightForLittle) time = trials.time_of(with_chunks(trial.point, 1));
      const bool synthesizes = trial.point.family == AlgorithmFamily::synthesizer;
      times[trial.point.algorithm] = time.value_or(synthesizes ? kLast - 1 : kLast);
    }
    std::ranges::stable_sort(order, {}, [&](const Trial& trial) { return times[trial.point.algorithm]; });
  }
  for (const Trial& trial : order) {
    if (trials.ended()) return;
    if (trial.expected.weight > kMostWeightForLittle && trials.reaches(kNearlyProven))
      trials.pass_over();
    else
      trials.run(trial.point);
  }
}

/// What a number of chunks is expected to weigh; nullopt if it cannot be tried: the collective does not have so many,
/// or they are expected to take too long or too much memory. One chunk always can.
std::optional<double> weight_of_chunks(const DesignPoint& point, std::int64_t chunks, Estimator& estimator,
                                       std::size_t memory_limit_bytes) {
  const auto trial = with_chunks(point, chunks);
  if (chunks > 1 && !build_point_collective(trial, point.topology.npus())) return std::nullopt;
  const auto expected = estimator.cost(trial);
  const bool fits = expected.bytes <= memory_limit_bytes && expected.weight <= kMostWeightOfChunks;
  return fits || chunks == 1 ? std::optional(expected.weight) : std::nullopt;
}

class ChunkSearch {
 public:
  ChunkSearch(Trials& trials, const DesignPoint& point, Estimator& estimator, std::size_t memory_limit_bytes,
              std::optional<SimTime> rival)
      : trials_(trials),
        point_(point),
        estimator_(estimator),
        memory_limit_bytes_(memory_limit_bytes),
        rival_(rival),
        unlike_(largest_of_unlike_conditions(point).has_value()) {}

  void run() {
    int poor = 0;
    SimTime last_gain = SimTime::max();
    for (std::int64_t chunks = 1; chunks <= kMostAutomaticChunks; chunks *= 2) {
      const bool free = weight_ <= kFreeWeight;
      if (!free && poor >= 2) break;
      // Where amounts differ much, pieces of the largest divide nothing else until they are small.
      if (!free && unlike_) return attempt_finest(chunks);
      const auto before = least_;
      if (!attempt(chunks)) break;
      poor = before && *least_ > *before - *before / kLeastGain ? poor + 1 : 0;
      if (trials_.ended()) return;
      const SimTime gain = before ? *before - *least_ : SimTime::max();
      if (!free && rival_ && std::max(gain, last_gain) <= (*least_ - *rival_) / kMostGainLeft) return;
      last_gain = gain;
    }
    for (int round = 0; !unlike_ && round < kRefinements && trials_.best() && !trials_.ended(); ++round) refine();
  }

 private:
  /// False if no larger number need be tried.
  bool attempt(std::int64_t chunks) {
    if (times_.contains(chunks)) return true;
    const auto weight = weight_of_chunks(point_, chunks, estimator_, memory_limit_bytes_);
    if (!weight) return false;
    weight_ += *weight;
    const auto time = trials_.run(with_chunks(point_, chunks));
    if (!time) return false;
    times_.emplace(chunks, *time);
    least_ = least_ ? std::min(*least_, *time) : *time;
    return true;
  }

  /// The largest power of two from `least` on that can be afforded.
  void attempt_finest(std::int64_t least) {
    for (std::int64_t chunks = kMostAutomaticChunks; chunks >= least; chunks /= 2)
      if (attempt(chunks)) return;
  }

  /// The middles of the gaps beside the best number.
  void refine() {
    const auto best = trials_.best()->chunks;
    const auto here = times_.find(best);
    std::vector<std::int64_t> middles;
    if (here != times_.begin()) middles.push_back((std::prev(here)->first + best) / 2);
    if (std::next(here) != times_.end()) middles.push_back((std::next(here)->first + best + 1) / 2);
    for (const auto chunks : middles)
      if (!trials_.ended()) attempt(chunks);
  }

  Trials& trials_;
  const DesignPoint& point_;
  Estimator& estimator_;
  std::size_t memory_limit_bytes_;
  std::optional<SimTime> rival_;
  bool unlike_;  ///< conditions differ in size
  std::map<std::int64_t, SimTime> times_;
  std::optional<SimTime> least_;
  double weight_ = 0;  ///< of all numbers tried
};

EvaluationOutput search_choice(const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options,
                               std::optional<SimTime> rival) {
  Estimator estimator(options.memory_limit_bytes);
  Trials trials(point, cache, options, rival);
  if (chooses_algorithm(point)) {
    try_algorithms(trials, point, estimator, options.memory_limit_bytes);
    if (point.chunks == 1 && point.collective().piece == kNoPiece && trials.best()) {
      const auto weight = weight_of_chunks(*trials.best(), kChunksOfHint, estimator, options.memory_limit_bytes);
      if (weight && *weight < kFreeWeight) trials.compare_with(kChunksOfHint);
    }
  } else {
    ChunkSearch(trials, point, estimator, options.memory_limit_bytes, rival).run();
  }
  return trials.take();
}

}  // namespace

bool leaves_choice(const DesignPoint& point) {
  return !point.trains() && (chooses_algorithm(point) || chooses_chunks(point));
}

EvaluationOutput evaluate_choice(const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options) {
  return search_choice(point, cache, options, std::nullopt);
}

Cost cost_of_choice(const DesignPoint& point, Estimator& estimator, std::size_t memory_limit_bytes) {
  Cost all;
  const auto add = [&](const Cost& trial, double most_weight) {
    const bool is_first = all.weight == 0;
    if (!is_first && (trial.bytes > memory_limit_bytes || trial.weight > most_weight)) return;
    all.work += trial.work;
    all.weight += trial.weight;
    all.bytes = std::max(all.bytes, trial.bytes);
    all.threaded = all.threaded || trial.threaded;
  };
  if (chooses_algorithm(point)) {
    for (const Trial& trial : trials_of_algorithms(point, estimator)) add(trial.expected, kMostWeightOfAlgorithm);
    return all;
  }
  for (std::int64_t chunks = 1; chunks <= kMostAutomaticChunks; chunks *= 2) {
    if (!weight_of_chunks(point, chunks, estimator, memory_limit_bytes)) break;
    add(estimator.cost(with_chunks(point, chunks)), kMostWeightOfChunks);
  }
  return all;
}

Evaluation bound_choice(const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options) {
  if (!chooses_chunks(point)) return bound_point(point, cache, options);
  Evaluation least = bound_point(with_chunks(point, 1), cache, options);
  for (std::int64_t chunks = 2; chunks <= kMostAutomaticChunks && least.status == PointStatus::ok; chunks *= 2) {
    auto row = bound_point(with_chunks(point, chunks), cache, options);
    if (row.status != PointStatus::ok) break;
    if (row.bound_ps < least.bound_ps) least = std::move(row);
  }
  return least;
}

}  // namespace tenex
