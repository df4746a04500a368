// Trials of points that leave a choice.
//
// Algorithms are tried in the order of the weights of their work. Where the number of chunks is chosen, too, they are
// tried in rounds, each with trials of some times the weight of the one before: an algorithm joins in the round of its
// own weight, and tries all its numbers of chunks up to that. The times of a round are the order of the next one, so
// that the first algorithms mostly come near to the bound; then little weight is left for the others (trials.cpp), and
// they are soon known to be behind (chunk_search.cpp). Without rounds an algorithm that is light and poor would try
// heavy numbers of chunks before one that is heavy and good had tried any (mesh(16,16), All-Reduce of 64 MiB: multitree
// took 16 s for nothing before trees began).
//
// Solvers are not tried: they take minutes. The bound says what is proven of the best result: it is an optimum, or at
// most `optimality_gap` slower than one.
#include "evaluate/choices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <tuple>
#include <utility>

#include "evaluate/chunk_search.hpp"
#include "evaluate/evaluate_point.hpp"
#include "evaluate/trials.hpp"
#include "tenex/base/units.hpp"
#include "tenex/design/point_collective.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/build.hpp"

namespace tenex {
namespace {

/// An algorithm that is expected to weigh more is left out, unless it weighs least.
constexpr double kMostWeightOfAlgorithm = 600;
/// The most that a trial of each round weighs. The last round has no limit but those of all trials.
constexpr double kQuickTrial = 0.25;
constexpr std::array kWeightsOfRounds = {kQuickTrial, 1.0, 4.0, 16.0};
/// Heavier numbers are mostly not worth their work: where less than 1 % can be saved, or the last doublings gained a
/// quarter of that.
constexpr double kExpectedWeight = 2;
/// `best` with one chunk says whether its choice is shorter with so many.
constexpr std::int64_t kChunksOfHint = 4;
/// Where that weighs no more.
constexpr double kWeightOfHint = 1;

/// The point with an algorithm. Settings that the algorithm does not read get their defaults.
DesignPoint with_algorithm(DesignPoint point, const AlgorithmTraits& traits) {
  name_algorithm(point, traits);
  normalise(point);
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

/// A point to evaluate, and what is expected of it (of the first number of chunks that it tries).
struct Trial {
  DesignPoint point;
  Cost expected;
};

std::vector<Trial> trials_of_algorithms(const DesignPoint& point, Estimator& estimator) {
  std::vector<Trial> trials;
  for (const AlgorithmTraits* traits : algorithm_traits()) {
    if (!may_do(*traits, point)) continue;
    auto trial = with_algorithm(point, *traits);
    auto expected = estimator.cost(chooses_chunks(trial) ? with_chunks(trial, 1) : trial);
    trials.push_back({std::move(trial), std::move(expected)});
  }
  std::ranges::stable_sort(trials, {}, [](const Trial& trial) { return trial.expected.weight; });
  return trials;
}

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

/// The algorithms of a point that gives its number of chunks, one after the other.
void try_algorithms(Trials& trials, const std::vector<Trial>& order) {
  for (const Trial& trial : order) {
    if (trials.ended()) return;
    if (trial.expected.weight > trials.most_weight())
      trials.pass_over();
    else
      trials.run(trial.point);
  }
}

/// An algorithm with its search for a number of chunks.
struct AlgorithmSearch {
  AlgorithmSearch(Trial tried, const Trials& all, Cache::Impl& cache, Estimator& estimator,
                  std::size_t memory_limit_bytes)
      : trial(std::move(tried)),
        trials(trial.point, cache, all.quick_options()),
        search(trials, trial.point, estimator, memory_limit_bytes) {}
  AlgorithmSearch(const AlgorithmSearch&) = delete;

  /// Runs a part of the search beside what the others have found, of which `leader` is the best one (null: none), and
  /// may become it.
  template <class Part>
  void go_on(Trials& all, const AlgorithmSearch*& leader, const Part& part) {
    begun = true;
    if (leader != nullptr) {
      auto rival = all.as_rival();
      if (leader != this) rival.times = &leader->search.times();
      trials.set_rival(rival);
    }
    part(search);
    if (trials.best() && (leader == nullptr || trials.time() < all.time())) leader = this;
    all.compare(trials);
  }
  /// Those with a time first, by it; of others synthesizers.
  [[nodiscard]] auto place() const {
    const bool synthesizes = trial.point.family == AlgorithmFamily::synthesizer;
    return trials.best() ? std::tuple(0, trials.time()) : std::tuple(synthesizes ? 1 : 2, SimTime::zero());
  }

  Trial trial;
  Trials trials;
  ChunkSearch search;
  bool begun = false;
};

/// The algorithms with a number of chunks each.
void search_algorithms(Trials& all, const std::vector<Trial>& order, Cache::Impl& cache, Estimator& estimator,
                       std::size_t memory_limit_bytes) {
  std::deque<AlgorithmSearch> candidates;
  std::vector<AlgorithmSearch*> places;
  const AlgorithmSearch* leader = nullptr;
  for (const Trial& trial : order)
    places.push_back(&candidates.emplace_back(trial, all, cache, estimator, memory_limit_bytes));
  for (const double most : kWeightsOfRounds) {
    std::stable_partition(places.begin(), places.end(), [](const AlgorithmSearch* each) { return !each->begun; });
    for (AlgorithmSearch* each : places)
      if (each->trial.expected.weight <= std::min(most, all.most_weight()) && !all.ended())
        each->go_on(all, leader, [&](ChunkSearch& search) { search.advance(most); });
    std::ranges::stable_sort(places, {}, &AlgorithmSearch::place);
  }
  for (AlgorithmSearch* each : places) {
    if (all.ended()) break;
    if (!each->begun && each->trial.expected.weight > all.most_weight())
      all.pass_over();
    else
      each->go_on(all, leader, [](ChunkSearch& search) { search.finish(); });
  }
  std::vector<Trials*> trials;
  for (AlgorithmSearch& each : candidates) trials.push_back(&each.trials);
  all.settle(std::move(trials));
}

}  // namespace

bool leaves_choice(const DesignPoint& point) {
  return !point.trains() && (chooses_algorithm(point) || chooses_chunks(point));
}

EvaluationOutput evaluate_choice(const DesignPoint& point, Cache::Impl& cache, const EvaluateOptions& options) {
  const auto limit = options.memory_limit_bytes;
  Estimator estimator(limit);
  Trials trials(point, cache, options);
  if (!chooses_algorithm(point)) {
    ChunkSearch(trials, point, estimator, limit).finish();
    return trials.take();
  }
  const auto order = affordable(trials_of_algorithms(point, estimator), trials, limit);
  if (chooses_chunks(point)) {
    search_algorithms(trials, order, cache, estimator, limit);
    return trials.take();
  }
  try_algorithms(trials, order);
  if (point.chunks == 1 && point.collective().piece == kNoPiece && trials.best()) {
    const auto weight = weight_of_chunks(*trials.best(), kChunksOfHint, estimator, limit);
    if (weight && *weight < kWeightOfHint) trials.hint_at(kChunksOfHint);
  }
  return trials.take();
}

Cost cost_of_choice(const DesignPoint& point, Estimator& estimator, std::size_t memory_limit_bytes) {
  Cost all;
  const auto add = [&](const Cost& trial, bool is_expected) {
    all.bytes = std::max(all.bytes, trial.bytes);
    all.threaded = all.threaded || trial.threaded;
    if (!is_expected) return;
    all.work += trial.work;
    all.weight += trial.weight;
  };
  // The first trial of a synthesizer is expected whatever it weighs: on large networks all are heavy.
  const auto add_numbers = [&](const DesignPoint& algorithm, double most) {
    const bool synthesizes = algorithm.family == AlgorithmFamily::synthesizer;
    for (std::int64_t chunks = 1; chunks <= kMostAutomaticChunks; chunks *= 2) {
      if (!weight_of_chunks(algorithm, chunks, estimator, memory_limit_bytes)) break;
      const auto cost = estimator.cost(with_chunks(algorithm, chunks));
      add(cost, all.weight == 0 || (chunks == 1 && synthesizes) || cost.weight <= most);
    }
  };
  if (!chooses_algorithm(point)) {
    add_numbers(point, kExpectedWeight);
    return all;
  }
  for (const Trial& trial : trials_of_algorithms(point, estimator)) {
    const auto& [tried, first] = trial;
    const bool fits = first.bytes <= memory_limit_bytes && first.weight <= kMostWeightOfAlgorithm;
    if (all.weight > 0 && !fits) continue;
    if (chooses_chunks(point))
      add_numbers(tried, tried.family == AlgorithmFamily::synthesizer ? kExpectedWeight : kQuickTrial);
    else
      add(first, true);
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
