// perf_per_cost: minimizes T(B) * cost(B), which is not convex, with a proof.
//
// Let phi(k) be the least time of all splits that cost k. phi is convex, and one convex solve of T + lambda * cost
// gives a point of it and a line below it: phi(k) >= v - lambda k. Where two such lines with points at costs a < b are
// known, k * max(line_a, line_b) is concave between a and the lines' crossing and between the crossing and b, so its
// least value over [a, b] is at one of the three. That value is a lower bound on the product over the interval. The
// interval with the least bound is divided by a solve whose lambda is the slope of the chord, until no bound is below
// the best product by more than the required gap. The search first approaches lambda = T / cost, at which a best
// split is stationary.
#include <algorithm>
#include <cmath>
#include <deque>
#include <queue>
#include <vector>

#include <fmt/core.h>

#include "codesign/barrier.hpp"
#include "codesign/neighbours.hpp"
#include "codesign/region_data.hpp"
#include "codesign/splitting.hpp"

namespace tenex::codesign {
namespace {

/// The time that remains at unlimited bandwidth.
double least_time(const TimeModel& model) {
  double time = model.constant;
  for (const auto& overlap : model.overlaps)
    time += overlap.weight * std::max(overlap.first.constant, overlap.second.constant);
  return time;
}

/// Seconds times dollars.
double product_of(const BandwidthSplit& split) { return split.time * static_cast<double>(split.cost->count()) * 1e-6; }

/// A point of the trade-off between time and cost, and the line below phi that its solve proved.
struct Support {
  double lambda = 0;
  double intercept = 0;  ///< v
  double cost = 0;
  double time = 0;
  std::vector<double> bandwidth;

  [[nodiscard]] double line(double at_cost) const { return intercept - lambda * at_cost; }
};

/// The costs between two supports, of which `left` is the cheaper one.
struct Interval {
  double bound = 0;
  std::size_t left = 0;
  std::size_t right = 0;
  bool operator<(const Interval& other) const { return bound > other.bound; }  // the least bound first
};

class ProductSearch {
 public:
  explicit ProductSearch(const SplitCase& given) : given_(given), problem_(time_problem(given)) {
    for (const auto rate : given.rates->per_gigabyte_per_second)
      rates_.push_back(static_cast<double>(rate.count()) * 1e-15);  // dollars per byte per second
  }

  /// Adds an upper limit on the cost: a split that costs more cannot be good, because T is never below its constants.
  /// The region becomes bounded.
  void limit_cost() {
    const auto& inside = given_.region.data().interior;
    const double limit = 1.001 * time_at(given_.model, inside) * cost_of(inside) / least_time(given_.model);
    problem_.rows.insert(problem_.rows.end(), rates_.begin(), rates_.end());
    problem_.bounds.push_back(limit);
  }

  BandwidthSplit run() {
    auto cheapest = find_least_cost();
    if (given_.model.terms.empty() && given_.model.overlaps.empty()) {  // all are equally fast: the cheapest is best
      const double time = given_.model.constant;
      supports_.push_back({0, time, cost_of(cheapest), time, std::move(cheapest)});
      return finish(least_cost_ * time);
    }
    const std::size_t fastest = solve(0);
    std::size_t leftmost = fastest;
    std::size_t before = fastest;
    // Approach lambda = T / cost, the slope of the best product's hyperbola.
    for (int step = 0; step < kMostApproaches; ++step) {
      const auto& last = supports_[leftmost];
      const double lambda = last.time / std::max(last.cost, least_cost_);
      const std::size_t next = solve(lambda);
      add_interval(next, leftmost);
      const bool same = std::abs(supports_[next].cost - supports_[leftmost].cost) <= 1e-3 * supports_[next].cost;
      before = leftmost;
      leftmost = next;
      if (same || supports_[next].lambda <= last.lambda) break;
    }
    double left_bound = extend_left(before, leftmost);
    left_bound = std::min(left_bound, supports_[fastest].cost * supports_[fastest].intercept);
    return finish(std::min(divide(), left_bound));
  }

 private:
  static constexpr int kMostApproaches = 20;

  [[nodiscard]] double cost_of(std::span<const double> bandwidth) const {
    double cost = 0;
    for (std::size_t i = 0; i < rates_.size(); ++i) cost += rates_[i] * bandwidth[i];
    return cost;
  }

  /// Finds a lower bound on the cost. Returns the split that nearly has it.
  std::vector<double> find_least_cost() {
    ConvexProblem cheapest = problem_;
    cheapest.volumes.clear();
    cheapest.sides.clear();
    cheapest.linear = rates_;
    auto answer = solve_convex(cheapest, given_.region.data().interior, given_.options.time_gap, 0);
    count(answer);
    least_cost_ = std::max(answer.lower, 0.0);
    return std::move(answer.x);
  }

  std::size_t solve(double lambda) {
    problem_.linear = rates_;
    for (auto& rate : problem_.linear) rate *= lambda;
    auto answer = solve_convex(problem_, given_.region.data().interior, given_.options.time_gap, given_.model.constant);
    count(answer);
    Support support{
        lambda, answer.lower + given_.model.constant, cost_of(answer.x), time_at(given_.model, answer.x), {}};
    support.bandwidth = std::move(answer.x);
    supports_.push_back(std::move(support));
    const auto& made = supports_.back();
    if (supports_.size() == 1 || made.time * made.cost < product(supports_[best_])) best_ = supports_.size() - 1;
    return supports_.size() - 1;
  }

  void count(const ConvexAnswer& answer) {
    ++solves_;
    newton_steps_ += answer.steps;
  }

  [[nodiscard]] static double product(const Support& support) { return support.time * support.cost; }
  [[nodiscard]] double good_enough() const { return product(supports_[best_]) * (1 - given_.options.product_gap); }

  /// The least value of k * max(line of a, line of b, 0) over costs `from` <= k <= `to`.
  [[nodiscard]] static double least_product(double from, double to, const Support& a, const Support& b) {
    const auto lower = [&](double cost) { return cost * std::max({a.line(cost), b.line(cost), 0.0}); };
    double bound = std::min(lower(from), lower(to));
    if (a.lambda != b.lambda) {
      const double crossing = (a.intercept - b.intercept) / (a.lambda - b.lambda);
      if (crossing > from && crossing < to) bound = std::min(bound, lower(crossing));
    }
    return bound;
  }

  void add_interval(std::size_t left, std::size_t right) {
    if (supports_[left].cost > supports_[right].cost) std::swap(left, right);
    const auto& a = supports_[left];
    const auto& b = supports_[right];
    intervals_.push({least_product(a.cost, b.cost, a, b), left, right});
  }

  /// A lower bound on the product at costs below the support with the steepest line. Adds steeper supports while they
  /// help. `flatter` is a support beside the steepest.
  double extend_left(std::size_t flatter, std::size_t steepest) {
    constexpr double kSteepest = 1e7;  // beyond it, the solver's rounding hides the time
    for (;;) {
      const auto& support = supports_[steepest];
      const double bound = least_product(least_cost_, support.cost, support, supports_[flatter]);
      const double steepness = support.lambda * support.cost / support.time;
      if (bound >= good_enough() || support.cost <= least_cost_ * (1 + 1e-12) || steepness > kSteepest ||
          solves_ >= given_.options.most_solves)
        return bound;
      const std::size_t next = solve(4 * support.lambda);
      add_interval(next, steepest);
      flatter = steepest;
      steepest = next;
    }
  }

  /// Divides intervals until the least bound is good enough. Returns that bound.
  double divide() {
    while (!intervals_.empty() && intervals_.top().bound < good_enough()) {
      const Interval worst = intervals_.top();
      const auto& a = supports_[worst.left];
      const auto& b = supports_[worst.right];
      const double width = b.cost - a.cost;
      double lambda = width > 0 ? (a.time - b.time) / width : 0;
      const double low = std::min(a.lambda, b.lambda);
      const double high = std::max(a.lambda, b.lambda);
      if (!(lambda > low && lambda < high)) lambda = 0.5 * (low + high);
      if (lambda <= low || lambda >= high || solves_ >= given_.options.most_solves) break;
      intervals_.pop();
      const std::size_t middle = solve(lambda);
      add_interval(worst.left, middle);
      add_interval(middle, worst.right);
    }
    return intervals_.empty() ? product(supports_[best_]) : intervals_.top().bound;
  }

  BandwidthSplit finish(double bound) {
    const auto& best = supports_[best_];
    BandwidthSplit split = rounded_split(given_, best.bandwidth);
    split.objective = product_of(split);
    split.lower_bound = std::clamp(bound, 0.0, product(best));
    if (relative_gap(split.objective, split.lower_bound) > given_.options.product_gap)
      step_to_neighbours(given_, product_of, split);
    split.relative_gap = relative_gap(split.objective, split.lower_bound);
    split.solver_gap = relative_gap(product(best), split.lower_bound);
    split.solves = solves_;
    split.newton_steps = newton_steps_;
    return split;
  }

  const SplitCase& given_;
  ConvexProblem problem_;
  std::vector<double> rates_;
  double least_cost_ = 0;
  std::deque<Support> supports_;  // a deque, because references to its elements must outlive further solves
  std::priority_queue<Interval> intervals_;
  std::size_t best_ = 0;
  std::int64_t solves_ = 0;
  std::int64_t newton_steps_ = 0;
};

/// The reasons why no best split exists; empty if one does.
Diagnostics check(const SplitCase& given) {
  Diagnostics errors;
  const auto refuse = [&](std::string why, std::string suggestion) {
    errors.push_back(input_error({}, "perf_per_cost has no best split", std::move(why), std::move(suggestion)));
  };
  if (given.rates == nullptr) {
    errors.push_back(input_error({}, "perf_per_cost without a cost model", "the price of bandwidth is unknown",
                                 "name a cost model"));
    return errors;
  }
  if (given.region.reaches_zero()) {
    refuse("every constraint lets all bandwidths shrink to nothing, and the cost shrinks faster than the time grows",
           "add a lower limit: a total bandwidth \"total = ...\" or \"B1 >= ...\"");
  }
  const auto unlimited = given.region.unlimited_dimension();
  if (unlimited) {
    const auto& rates = given.rates->per_gigabyte_per_second;
    const bool free = std::any_of(rates.begin(), rates.end(), [](Money rate) { return rate.count() == 0; });
    if (free || !(least_time(given.model) > 0)) {
      refuse(fmt::format("nothing limits B{} from above, and {}", *unlimited + 1,
                         free ? "a dimension without a price costs nothing" : "the workload computes nothing"),
             fmt::format("add a total bandwidth, a total cost or \"B{} <= ...\"", *unlimited + 1));
    }
  }
  return errors;
}

}  // namespace

Result<BandwidthSplit> split_for_time_and_cost(const SplitCase& given) {
  auto errors = check(given);
  if (!errors.empty()) return errors;
  const auto& data = given.region.data();
  if (data.is_point()) {
    BandwidthSplit split = rounded_split(given, data.interior);
    split.objective = split.lower_bound = product_of(split);
    return split;
  }
  ProductSearch search(given);
  if (given.region.unlimited_dimension()) search.limit_cost();
  return search.run();
}

}  // namespace tenex::codesign
