// The simplex method on a dictionary of fractions. Row r reads: basic_r = value_r - sum over j of entry_rj * free_j.
#include "tenex/base/graph/exact_lp.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tenex {
namespace {

class Dictionary {
 public:
  /// Variables 0..n-1 are x, n..n+m-1 the slacks, n+m the artificial one.
  Dictionary(std::size_t variables, const std::vector<LpRow>& rows) : variables_(variables) {
    for (std::size_t j = 0; j < variables; ++j) free_.push_back(j);
    for (std::size_t r = 0; r < rows.size(); ++r) {
      basic_.push_back(variables + r);
      entries_.push_back(rows[r].coefficients);
      entries_.back().push_back(rows[r].bound);
    }
  }

  /// Makes all values non-negative; LpStatus::infeasible where no point does.
  LpStatus make_feasible() {
    const auto least = least_value();
    if (least == basic_.size() || entries_[least].back().sign() >= 0) return LpStatus::optimal;
    const std::size_t artificial = variables_ + basic_.size();
    free_.push_back(artificial);
    for (auto& row : entries_) row.insert(row.end() - 1, Rational(-1));
    objective_.assign(free_.size() + 1, Rational(0));
    objective_[free_.size() - 1] = Rational(1);  // as a row: maximize -artificial
    pivot(least, free_.size() - 1);
    const auto status = improve();
    if (status != LpStatus::optimal) return status;
    if (objective_.back().sign() != 0) return LpStatus::infeasible;
    return remove(artificial) ? LpStatus::optimal : LpStatus::too_long;
  }

  /// Takes an objective over x and maximizes it.
  LpStatus maximize(const std::vector<Rational>& objective) {
    // As a row: value = objective_.back() - sum of objective_[j] * free_j.
    objective_.assign(free_.size() + 1, Rational(0));
    for (std::size_t x = 0; x < variables_; ++x) {
      if (objective[x].sign() == 0) continue;
      const auto free = std::find(free_.begin(), free_.end(), x);
      if (free != free_.end()) {
        auto& entry = objective_[static_cast<std::size_t>(free - free_.begin())];
        entry = entry - objective[x];
        continue;
      }
      const auto row = static_cast<std::size_t>(std::find(basic_.begin(), basic_.end(), x) - basic_.begin());
      for (std::size_t j = 0; j < objective_.size(); ++j)
        objective_[j] = objective_[j] + objective[x] * entries_[row][j];
    }
    return improve();
  }

  [[nodiscard]] Rational value() const { return objective_.back(); }

  [[nodiscard]] std::vector<Rational> point() const {
    std::vector<Rational> x(variables_, Rational(0));
    for (std::size_t r = 0; r < basic_.size(); ++r)
      if (basic_[r] < variables_) x[basic_[r]] = entries_[r].back();
    return x;
  }

  /// By row: what its slack's growth would cost.
  [[nodiscard]] std::vector<Rational> prices() const {
    std::vector<Rational> prices(basic_.size(), Rational(0));
    for (std::size_t j = 0; j < free_.size(); ++j)
      if (free_[j] >= variables_) prices[free_[j] - variables_] = objective_[j];
    return prices;
  }

 private:
  [[nodiscard]] std::size_t least_value() const {
    const auto least = std::min_element(entries_.begin(), entries_.end(),
                                        [](const auto& a, const auto& b) { return a.back() < b.back(); });
    return static_cast<std::size_t>(least - entries_.begin());
  }

  /// Bland's rule: the entering variable with the least index that improves, the leaving one with the least index among
  /// ties.
  LpStatus improve() {
    for (;;) {
      std::size_t entering = free_.size();
      for (std::size_t j = 0; j < free_.size(); ++j) {
        if (!objective_[j].fits()) return LpStatus::too_long;
        if (objective_[j].sign() < 0 && (entering == free_.size() || free_[j] < free_[entering])) entering = j;
      }
      if (entering == free_.size()) return objective_.back().fits() ? LpStatus::optimal : LpStatus::too_long;
      std::size_t leaving = basic_.size();
      Rational smallest;
      for (std::size_t r = 0; r < basic_.size(); ++r) {
        if (!entries_[r][entering].fits() || !entries_[r].back().fits()) return LpStatus::too_long;
        if (entries_[r][entering].sign() <= 0) continue;
        const Rational ratio = entries_[r].back() / entries_[r][entering];
        if (!ratio.fits()) return LpStatus::too_long;
        const bool tie = leaving != basic_.size() && ratio == smallest;
        if (leaving == basic_.size() || ratio < smallest || (tie && basic_[r] < basic_[leaving])) {
          leaving = r;
          smallest = ratio;
        }
      }
      if (leaving == basic_.size()) return LpStatus::unbounded;
      pivot(leaving, entering);
    }
  }

  void pivot(std::size_t row, std::size_t column) {
    const Rational divisor = entries_[row][column];
    for (auto& entry : entries_[row]) entry = entry / divisor;
    entries_[row][column] = Rational(1) / divisor;
    const auto eliminate = [&](std::vector<Rational>& other) {
      const Rational factor = other[column];
      if (factor.fits() && factor.sign() == 0) return;
      other[column] = Rational(0);
      for (std::size_t j = 0; j < other.size(); ++j) {
        const Rational& entry = entries_[row][j];
        if (factor.fits() && entry.fits() && entry.sign() == 0) continue;
        other[j] = other[j] - factor * entry;
      }
    };
    for (std::size_t r = 0; r < entries_.size(); ++r)
      if (r != row) eliminate(entries_[r]);
    eliminate(objective_);
    std::swap(basic_[row], free_[column]);
  }

  /// Removes the artificial variable, whose value is zero.
  bool remove(std::size_t artificial) {
    const auto basic = std::find(basic_.begin(), basic_.end(), artificial);
    if (basic != basic_.end()) {
      const auto row = static_cast<std::size_t>(basic - basic_.begin());
      std::size_t column = 0;
      while (column < free_.size() && entries_[row][column].sign() == 0) ++column;
      if (column == free_.size()) return false;
      pivot(row, column);
    }
    const auto at = std::find(free_.begin(), free_.end(), artificial) - free_.begin();
    free_.erase(free_.begin() + at);
    for (auto& row : entries_) row.erase(row.begin() + at);
    return true;
  }

  std::size_t variables_;
  std::vector<std::size_t> free_;
  std::vector<std::size_t> basic_;
  std::vector<std::vector<Rational>> entries_;  // the last entry of a row is its value
  std::vector<Rational> objective_;
};

}  // namespace

LpAnswer maximize_exactly(const std::vector<Rational>& objective, const std::vector<LpRow>& rows) {
  Dictionary dictionary(objective.size(), rows);
  LpStatus status = dictionary.make_feasible();
  if (status == LpStatus::unbounded) status = LpStatus::too_long;  // -artificial is at most 0
  if (status != LpStatus::optimal) return {status, {}, {}, {}};
  status = dictionary.maximize(objective);
  return {status, dictionary.value(), dictionary.point(), dictionary.prices()};
}

}  // namespace tenex
