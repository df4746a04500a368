// The weights of links that prove most, by cutting planes in the weights, which are columns of a linear program.
//
// For weights w >= 0 with sum of w * capacity = 1, let D(w) be the weight of the lightest routing: the time that w
// proves. It is the least sum of w * load over all routings. A round knows some routings. The program mixes them,
// separately for every source, so that the largest load per capacity is least (Dantzig and Wolfe, "Decomposition
// principle for linear programs", Operations Research 8, 1960). Its value is that of a mix of routings, so no weights
// prove more. Its dual values are the weights that the known routings rate highest (Kelley, "The cutting-plane method
// for solving convex programs", J. SIAM 8, 1960). The round searches a routing for weights between those and the best
// so far, which tames their jumps (Ben-Ameur and Neto, "Acceleration of cutting-plane and column generation
// algorithms", Networks 49, 2007), and adds the routing. The end is where D of the best weights meets the value.
//
// Symmetry makes the program small, without a search for symmetries. Links are put into classes, and sources too, such
// that in all routings so far the sources of a class together load all links of a class alike, and every source of a
// class puts as much on the links of a class (Grohe, Kersting, Mladenov and Selman, "Dimension reduction via colour
// refinement", ESA 2014). Then sources of a class may mix alike, and links of a class may weigh alike, without loss: a
// row per class is enough. Where a routing sends equal parts over all lightest paths, routings of a symmetric network
// under symmetric weights are symmetric. Classes that a new routing splits are split, and the program begins anew.
#include "bound/exact/weight_program.hpp"

#include <ClpSimplex.hpp>
#include <CoinError.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

namespace tenex {

namespace {

constexpr std::size_t kKeptRoutings = 32;
constexpr std::size_t kMostRounds = 1000;
/// A single source has one routing per round: machines of 32 NPUs with plain switches take up to 4,000 spanning trees.
constexpr std::size_t kMostRoutings = 8192;
constexpr double kPrecision = 1e-9;  ///< of the optimum
constexpr double kCaution = 0.6;     ///< the share of the best weights in those that are tried

/// What every source puts on every link: row after row.
using Routing = std::vector<double>;

/// A partition of links, or of sources.
class Classes {
 public:
  explicit Classes(std::size_t items) : of_(items, 0), sizes_{items} {}

  [[nodiscard]] std::size_t count() const { return sizes_.size(); }
  [[nodiscard]] std::size_t of(std::size_t item) const { return of_[item]; }
  [[nodiscard]] double size(std::size_t its_class) const { return static_cast<double>(sizes_[its_class]); }

  /// Splits classes whose items have different keys; returns whether there were any. O(items log items).
  bool split(const std::vector<double>& keys) {
    std::vector<std::size_t> order(of_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      return std::tie(of_[a], keys[a], a) < std::tie(of_[b], keys[b], b);
    });
    std::vector<std::size_t> now(of_.size());
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto item = order[i];
      const bool first = i == 0 || of_[order[i - 1]] != of_[item] ||
                         keys[item] - keys[order[i - 1]] > 1e-9 * (1 + std::abs(keys[item]));
      if (first) sizes.push_back(0);
      ++sizes.back();
      now[item] = sizes.size() - 1;
    }
    const bool changed = sizes.size() != sizes_.size();
    of_ = std::move(now);
    sizes_ = std::move(sizes);
    return changed;
  }

  /// An arbitrary number of [1, 2) per class: sums of numbers * loads differ where the loads of classes do (but for an
  /// accident, after which classes are too large, and the bound may be below the best and holds).
  [[nodiscard]] double mark(std::size_t item) const {
    std::uint64_t bits = (of_[item] + 1) * 0x9E3779B97F4A7C15U;
    bits = (bits ^ bits >> 32U) * 0xD6E8FEB86659FD93U;
    bits = (bits ^ bits >> 32U) * 0xD6E8FEB86659FD93U;
    return 1 + static_cast<double>(bits >> 11U) * 0x1p-53;
  }

 private:
  std::vector<std::size_t> of_;
  std::vector<std::size_t> sizes_;
};

/// The program: the mix of routings whose largest load per capacity is least. Rows: classes of links, whose load is at
/// most the value; then classes of sources, whose shares add up to one. Columns: the value; then shares of routings.
class Mix {
 public:
  /// Loads are in units of `unit`, so that the value is near one.
  Mix(const Classes& links, const Classes& sources, double unit) : links_(links), sources_(sources), unit_(unit) {
    solver_.setLogLevel(0);
    solver_.scaling(0);
    solver_.setPrimalTolerance(1e-9);
    solver_.setDualTolerance(1e-10);  // dual values are of the order of 1 / rows
    solver_.resize(rows(), 0);
    std::vector<int> all(links.count());
    std::iota(all.begin(), all.end(), 0);
    for (const int row : all) solver_.setRowBounds(row, -COIN_DBL_MAX, 0);
    for (int row = static_cast<int>(links.count()); row < rows(); ++row) solver_.setRowBounds(row, 1, 1);
    const std::vector<double> minus(all.size(), -1);
    solver_.addColumn(static_cast<int>(all.size()), all.data(), minus.data(), 0, COIN_DBL_MAX, 1);
  }

  /// Adds the columns of a routing: all, or those that gain at the present dual values. Returns their number.
  int add(const Routing& routing, const std::vector<double>& capacities, bool all) {
    const auto loads = loads_of_classes(routing, capacities);
    std::vector<int> rows;
    std::vector<int> starts{0};
    std::vector<double> values;
    for (std::size_t s = 0; s < sources_.count(); ++s) {
      double price = 0;
      for (std::size_t c = 0; c < links_.count(); ++c) {
        const double load = loads[s * links_.count() + c];
        if (load == 0) continue;
        rows.push_back(static_cast<int>(c));
        values.push_back(load);
        price += price_of_row(c) * load;
      }
      rows.push_back(static_cast<int>(links_.count() + s));
      values.push_back(1);
      if (all || price < -price_of_row(links_.count() + s) - 1e-10) starts.push_back(static_cast<int>(rows.size()));
      rows.resize(static_cast<std::size_t>(starts.back()));
      values.resize(rows.size());
    }
    const auto columns = starts.size() - 1;
    const std::vector<double> zero(columns, 0);
    const std::vector<double> unlimited(columns, COIN_DBL_MAX);
    if (columns > 0)
      solver_.addColumns(static_cast<int>(columns), zero.data(), unlimited.data(), zero.data(), starts.data(),
                         rows.data(), values.data());
    return static_cast<int>(columns);
  }

  enum class Outcome : std::uint8_t { optimal, out_of_work, failed };

  /// Solves from the basis before. Takes what it needs from `work`.
  Outcome solve(double& work) {
    solver_.setMaximumIterations(static_cast<int>(std::max(1.0, work / rows())));
    solver_.primal();
    work -= static_cast<double>(solver_.numberIterations()) * rows();
    if (solver_.status() == 0) return Outcome::optimal;
    return solver_.status() == 3 ? Outcome::out_of_work : Outcome::failed;
  }

  /// The largest load per capacity.
  [[nodiscard]] double value() const { return solver_.objectiveValue() * unit_; }
  /// The share of a class of links in the value: weight * capacity, summed over its links.
  [[nodiscard]] double share(std::size_t link_class) const { return std::max(0.0, price_of_row(link_class)); }

 private:
  [[nodiscard]] int rows() const { return static_cast<int>(links_.count() + sources_.count()); }
  [[nodiscard]] double price_of_row(std::size_t row) const { return -solver_.dualRowSolution()[row]; }

  /// Per class of sources and class of links: the mean load per capacity of the links, from all sources of the class.
  [[nodiscard]] std::vector<double> loads_of_classes(const Routing& routing,
                                                     const std::vector<double>& capacities) const {
    std::vector<double> loads(sources_.count() * links_.count(), 0);
    for (std::size_t i = 0; i < routing.size(); ++i) {
      if (routing[i] == 0) continue;
      const auto link = i % capacities.size();
      const auto its_class = links_.of(link);
      loads[sources_.of(i / capacities.size()) * links_.count() + its_class] +=
          routing[i] / capacities[link] / links_.size(its_class) / unit_;
    }
    return loads;
  }

  const Classes& links_;
  const Classes& sources_;
  double unit_;
  ClpSimplex solver_;
};

/// The rounds.
class Search {
 public:
  Search(const std::vector<double>& capacities, LightestRouting& lightest)
      : lightest_(lightest), capacities_(capacities), links_(capacities.size()), sources_(lightest.sources()) {
    links_.split(capacities_);
  }

  /// The weights that prove most, the sum of weight * capacity being one; empty where the solver fails.
  std::vector<double> best_weights(double work) {
    std::vector<double> weights;
    for (const double capacity : capacities_) weights.push_back(1 / capacity / static_cast<double>(capacities_.size()));
    std::optional<Mix> mix;
    bool cautious = true;
    const auto rounds = std::max(kMostRounds, kMostRoutings / std::max<std::size_t>(1, lightest_.sources()));
    for (std::size_t round = 0; round < rounds; ++round) {
      try_weights(weights);
      if (proved_ <= 0 || !std::isfinite(proved_) || (mix && mix->value() - proved_ <= kPrecision * proved_)) break;
      const int added = add_routing(mix);
      if (added == 0 && !cautious) break;  // no routing gains at the dual values: they are the optimum
      if (added > 0) {
        const auto outcome = mix->solve(work);
        if (outcome == Mix::Outcome::failed) return {};
        if (outcome == Mix::Outcome::out_of_work || work <= 0) break;
      }
      cautious = added > 0;
      weights = next_weights(*mix, cautious ? kCaution : 0);
    }
    return best_;
  }

 private:
  /// Keeps the lightest routing, and the weights if they prove most.
  void try_weights(const std::vector<double>& weights) {
    Routing routing(lightest_.sources() * capacities_.size(), 0);
    const double needed = lightest_.route(weights, routing);
    routings_.push_back(std::move(routing));
    if (routings_.size() > kKeptRoutings) routings_.pop_front();
    const double proved = needed / std::inner_product(weights.begin(), weights.end(), capacities_.begin(), 0.0);
    if (proved <= proved_) return;
    proved_ = proved;
    best_ = weights;
  }

  /// Adds the newest routing to the program, which begins anew with those that are kept if classes had to be split.
  int add_routing(std::optional<Mix>& mix) {
    if (!refine() && mix) return mix->add(routings_.back(), capacities_, false);
    mix.emplace(links_, sources_, proved_);
    int added = 0;
    for (const auto& routing : routings_) added += mix->add(routing, capacities_, true);
    return added;
  }

  /// Splits classes until they suit all routings that are kept; returns whether any was split.
  bool refine() {
    if (!refine_by(routings_.back())) return false;
    for (bool changed = true; changed;) {
      changed = false;
      for (const auto& routing : routings_) changed = refine_by(routing) || changed;
    }
    return true;
  }

  bool refine_by(const Routing& routing) {
    const auto links = capacities_.size();
    std::vector<double> keys(lightest_.sources(), 0);
    for (std::size_t i = 0; i < routing.size(); ++i)
      if (routing[i] != 0) keys[i / links] += routing[i] * links_.mark(i % links);
    const bool changed = sources_.split(keys);
    keys.assign(links, 0);
    for (std::size_t i = 0; i < routing.size(); ++i)
      if (routing[i] != 0) keys[i % links] += routing[i] * sources_.mark(i / links);
    return links_.split(keys) || changed;
  }

  /// Weights between the dual values and the best so far. None is zero, so that lightest paths have no circles.
  [[nodiscard]] std::vector<double> next_weights(const Mix& mix, double caution) const {
    std::vector<double> next(capacities_.size());
    for (std::size_t l = 0; l < next.size(); ++l) {
      const double dual = mix.share(links_.of(l)) / links_.size(links_.of(l)) / capacities_[l];
      next[l] = caution * best_[l] + (1 - caution) * dual + 1e-10 / static_cast<double>(next.size());
    }
    return next;
  }

  LightestRouting& lightest_;
  const std::vector<double>& capacities_;
  Classes links_;
  Classes sources_;
  std::deque<Routing> routings_;
  std::vector<double> best_;
  double proved_ = 0;  ///< by `best_`
};

}  // namespace

std::vector<double> best_weights(const std::vector<double>& capacities, LightestRouting& lightest, double work) {
  try {
    return Search(capacities, lightest).best_weights(work);
  } catch (const CoinError&) {
    return {};
  }
}

}  // namespace tenex
