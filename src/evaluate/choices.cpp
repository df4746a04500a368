// Trials of points that leave a choice.
//
// Algorithms are tried in the order of the weights of their work; where the number of chunks is chosen, too, in the
// order of their times with one chunk, so that a search that may end early ends early. Numbers of chunks are tried as
// powers of two, until two in a row gain less than half a percent; then halves of the two gaps beside the best number.
// What a pipeline loses while it fills is in proportion to a chunk, so each doubling gains half of what the one before
// did. An algorithm that would not pass the best one so far with four times as much is left.
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
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/sizes.hpp"

namespace tenex {
namespace {

/// An algorithm whose work weighs more is left out, unless it weighs least.
constexpr double kMostWeightOfAlgorithm = 600;
/// Numbers of chunks whose work weighs more are left out, except 1.
constexpr double kMostWeightOfChunks = 60;
/// Two numbers of chunks in a row that do not gain this share end the search for larger ones.
constexpr std::int64_t kLeastGain = 200;
/// How often the gaps beside the best number of chunks are halved.
constexpr int kRefinements = 2;
/// All further doublings together are taken to gain at most so many times what the better one of the last two did.
constexpr std::int64_t kMostGainLeft = 4;

bool chooses_algorithm(const DesignPoint& point) { return point.family == AlgorithmFamily::any; }
bool chooses_chunks(const DesignPoint& point) { return !point.trains() && point.chunks == kAutomaticChunks; }

bool has_switches(const DesignPoint& point) {
  const auto& topology = point.topology;
  if (topology.machine_file.empty()) return count_shape(topology.shape).switches > 0;
  const auto built = build_point_topology(point);
  return built && (built->switches() > 0 || built->wires() != nullptr);
}

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
  return point;
}

/// Whether the algorithm can make the point's collective on the point's network. Unwound switches would be another
/// network, whose times do not compare.
bool may_do(const AlgorithmTraits& traits, const DesignPoint& point, bool switches) {
  const auto& runs = point.collective();
  const auto kind = share_npus(runs.groups.list()) ? CollectiveKind::mixed : runs.kind;
  if (!traits.makes(kind)) return false;
  if (traits.family != AlgorithmFamily::synthesizer) return traits.family == AlgorithmFamily::textbook;
  if (traits.reads.solves) return false;  // solvers take minutes, and a build may lack them: rows would differ
  if (!start_delays_of(point).empty() && !traits.waits_for_late(kind)) return false;
  if (switches && point.topology.unwind == 0 && !traits.reads.switches) return false;
  return kind != CollectiveKind::all_reduce || runs.overlap || traits.reads.phases;
}

/// A point to evaluate, and what is expected of it.
struct Trial {
  DesignPoint point;
  Cost expected;
};

std::vector<Trial> trials_of_algorithms(const DesignPoint& point, Estimator& estimator) {
  std::vector<Trial> trials;
  const bool switches = has_switches(point);
  for (const AlgorithmTraits* traits : algorithm_traits()) {
    if (!may_do(*traits, point, switches)) continue;
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
  Trials(const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options)
      : point_(point), cache_(cache), options_(options) {
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

  /// The time of a point in the trial's place, which is no trial itself; nullopt if it has none.
  [[nodiscard]] std::optional<std::int64_t> time_of(const DesignPoint& point) {
    auto timing = quick_;
    timing.time_only = true;
    const auto row = evaluate_point(point, cache_, timing).row;
    return row.status == PointStatus::ok ? std::optional(row.collective_time_ps) : std::nullopt;
  }

  /// Whether no further trial is needed: the best one is good enough, or a trial has failed.
  [[nodiscard]] bool ended() const {
    if (!failed_.empty() || !best_) return !failed_.empty();
    const auto reached = [&](std::int64_t time_ps, std::int64_t bound_ps) {
      return point_.good_enough.reached(picoseconds(time_ps), picoseconds(std::max<std::int64_t>(bound_ps, 0)));
    };
    if (!reached(best_row_.collective_time_ps, best_row_.bound_ps)) return false;
    if (!chooses_chunks(point_)) return true;
    // The row's bound is that of its own number of chunks, and another number may have a lower one. Between the powers
    // of two, of which the least is known, it may be lower still, so that nothing proves a number to be the best.
    if (point_.good_enough == GoodEnough{}) return false;
    const auto own = bound_point(settled(), cache_, quick_).bound_ps;
    return reached(own, bound_choice(with_chunks(*best_, kAutomaticChunks), cache_, quick_).bound_ps);
  }
  [[nodiscard]] const std::optional<DesignPoint>& best() const { return best_; }

  /// The row of the best trial, with all that the options ask for.
  [[nodiscard]] EvaluationOutput take() {
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
    if (!left_out_.empty()) row.reason += (row.reason.empty() ? "" : "; ") + left_out_;
    return output;
  }

 private:
  /// The best trial with all choices made.
  [[nodiscard]] DesignPoint settled() const {
    return chooses_chunks(*best_) ? with_chunks(*best_, best_row_.chosen_chunks) : *best_;
  }

  /// On the network of the point: a row of unwound switches has the bound of another one.
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
      if (!wins) return row;
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
  std::optional<DesignPoint> best_;
  Evaluation best_row_;
  std::optional<Evaluation> unable_;  ///< the first that has no time
  std::string failed_;
  std::string left_out_;
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
    std::map<std::string, std::int64_t> times;
    for (const Trial& trial : order)
      times[trial.point.algorithm] =
          trials.time_of(with_chunks(trial.point, 1)).value_or(std::numeric_limits<std::int64_t>::max());
    std::ranges::stable_sort(order, {}, [&](const Trial& trial) { return times[trial.point.algorithm]; });
  }
  for (const Trial& trial : order)
    if (!trials.ended()) trials.run(trial.point);
}

/// Numbers of chunks that may be tried: the collective has them, and they are not expected to take too long.
bool may_have(const DesignPoint& point, std::int64_t chunks, Estimator& estimator, std::size_t memory_limit_bytes) {
  if (chunks == 1) return true;
  const auto trial = with_chunks(point, chunks);
  const auto& topology = point.topology;
  const auto npus = topology.machine_file.empty() ? topology.shape.npus() : topology.machine_npus;
  if (!build_point_collective(trial, npus)) return false;
  const auto expected = estimator.cost(trial);
  return expected.bytes <= memory_limit_bytes && expected.weight <= kMostWeightOfChunks;
}

class ChunkSearch {
 public:
  ChunkSearch(Trials& trials, const DesignPoint& point, Estimator& estimator, std::size_t memory_limit_bytes,
              std::optional<SimTime> rival)
      : trials_(trials), point_(point), estimator_(estimator), memory_limit_bytes_(memory_limit_bytes), rival_(rival) {}

  void run() {
    int poor = 0;
    SimTime last_gain = SimTime::max();
    for (std::int64_t chunks = 1; chunks <= kMostAutomaticChunks && poor < 2; chunks *= 2) {
      const auto before = least_;
      if (!attempt(chunks)) break;
      poor = before && *least_ > *before - *before / kLeastGain ? poor + 1 : 0;
      if (trials_.ended()) return;
      const SimTime gain = before ? *before - *least_ : SimTime::max();
      if (rival_ && std::max(gain, last_gain) <= (*least_ - *rival_) / kMostGainLeft) return;
      last_gain = gain;
    }
    for (int round = 0; round < kRefinements && trials_.best() && !trials_.ended(); ++round) refine();
  }

 private:
  /// False if no larger number need be tried.
  bool attempt(std::int64_t chunks) {
    if (times_.contains(chunks)) return true;
    if (!may_have(point_, chunks, estimator_, memory_limit_bytes_)) return false;
    const auto time = trials_.run(with_chunks(point_, chunks));
    if (!time) return false;
    times_.emplace(chunks, *time);
    least_ = least_ ? std::min(*least_, *time) : *time;
    return true;
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
  std::map<std::int64_t, SimTime> times_;
  std::optional<SimTime> least_;
};

EvaluationOutput search_choice(const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options,
                               std::optional<SimTime> rival) {
  Estimator estimator(options.memory_limit_bytes);
  Trials trials(point, cache, options);
  if (chooses_algorithm(point))
    try_algorithms(trials, point, estimator, options.memory_limit_bytes);
  else
    ChunkSearch(trials, point, estimator, options.memory_limit_bytes, rival).run();
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
    if (!may_have(point, chunks, estimator, memory_limit_bytes)) break;
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
