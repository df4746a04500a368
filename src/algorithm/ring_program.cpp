// The largest total rate of Hamiltonian cycles on a small network, by linear programming (ring_packing.hpp).
//
// Maximize the sum of rates, where on every link the rates of the cycles over it sum to at most its capacity. The
// revised simplex method keeps the inverse of the basis. A column is one cycle. The cycle of least price, which is the
// sum of the dual values of its links, comes from dynamic programming over subsets; if it costs 1 or more, the rates
// are optimal. Capacities are perturbed by a billionth, so that no two are alike and the method does not circle. Rates
// are rounded down to whole B/s after that, so they fit.
//
// Source: Held and Karp, "A dynamic programming approach to sequencing problems", 1962; Dantzig and Wolfe 1960 for
// columns as needed.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "algorithm/ring_packing.hpp"
#include "tenex/base/random.hpp"

namespace tenex {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kTolerance = 1e-9;
constexpr int kMostPivots = 4000;

/// Finds the Hamiltonian cycle of least price.
class CheapestCycle {
 public:
  explicit CheapestCycle(std::uint32_t members)
      : members_(members), price_(std::size_t{members} * members), best_((std::size_t{1} << (members - 1)) * members) {}

  /// Its price; `order` becomes the cycle. Infinite where there is none.
  double find(const RingNetwork& network, const std::vector<double>& price_of_link, std::vector<std::uint32_t>& order) {
    std::ranges::fill(price_, kInfinite);
    for (std::uint32_t a = 0; a < network.arcs().size(); ++a) {
      double price = 0;
      for (const auto link : network.links(a)) price += std::max(0.0, price_of_link[link]);
      price_[std::size_t{network.arcs()[a].from} * members_ + network.arcs()[a].to] = price;
    }
    fill_table();
    return trace(order);
  }

 private:
  [[nodiscard]] double price(std::uint32_t from, std::uint32_t to) const {
    return price_[std::size_t{from} * members_ + to];
  }
  /// The least price of a path from the last member through a set of others to `end`, which is in the set.
  double& best(std::uint32_t set, std::uint32_t end) { return best_[std::size_t{set} * members_ + end]; }

  void fill_table() {
    const auto others = members_ - 1;
    std::ranges::fill(best_, kInfinite);
    for (std::uint32_t v = 0; v < others; ++v) best(1U << v, v) = price(others, v);
    for (std::uint32_t set = 1; set < 1U << others; ++set)
      for (std::uint32_t end = 0; end < others; ++end) {
        const double so_far = best(set, end);
        if (so_far == kInfinite) continue;
        for (std::uint32_t v = 0; v < others; ++v) {
          if ((set >> v & 1U) != 0) continue;
          auto& further = best(set | 1U << v, v);
          further = std::min(further, so_far + price(end, v));
        }
      }
  }

  double trace(std::vector<std::uint32_t>& order) {
    const auto others = members_ - 1;
    auto set = (1U << others) - 1;
    auto to = others;
    double total = kInfinite;
    order.assign(1, others);
    while (set != 0) {
      std::uint32_t chosen = 0;
      for (std::uint32_t v = 1; v < others; ++v)
        if (best(set, v) + price(v, to) < best(set, chosen) + price(chosen, to)) chosen = v;
      if (to == others) total = best(set, chosen) + price(chosen, to);
      if (total == kInfinite) return total;
      // `chosen` is in the set: others have no path, and a tie at infinity cannot be while the total is finite.
      order.push_back(chosen);
      set &= ~(1U << chosen);
      to = chosen;
    }
    std::ranges::reverse(order);
    return total;
  }

  std::uint32_t members_;
  std::vector<double> price_;
  std::vector<double> best_;
};

/// The simplex method for cycles on the links of a network.
class CycleProgram {
 public:
  explicit CycleProgram(const RingNetwork& network)
      : network_(network), links_(network.capacities().size()), inverse_(links_ * links_, 0.0), basic_(links_, -1) {
    Random random(1);
    for (std::size_t i = 0; i < links_; ++i) {
      inverse_[i * links_ + i] = 1;
      value_.push_back(static_cast<double>(network.capacities()[i]) / scale() * (1 + 1e-9 * random.unit()));
    }
  }

  /// False after too many pivots.
  bool solve() {
    CheapestCycle cheapest(network_.members());
    std::vector<std::uint32_t> order;
    for (int pivot = 0; pivot < kMostPivots; ++pivot) {
      const auto price = prices();
      const auto worst = std::ranges::min_element(price);
      if (*worst < -kTolerance) {  // the link has spare capacity in a better solution
        std::vector<double> unit(links_, 0.0);
        const auto link = static_cast<std::size_t>(worst - price.begin());
        unit[link] = 1;
        if (!enter(unit, -1)) return false;
        continue;
      }
      if (cheapest.find(network_, price, order) >= 1 - kTolerance) return true;
      cycles_.push_back(order);
      if (!enter(column_of(order), static_cast<int>(cycles_.size()) - 1)) return false;
    }
    return false;
  }

  /// The cycles with a rate of at least 1 B/s, rounded down.
  [[nodiscard]] RingPacking packing() const {
    RingPacking packing;
    for (std::size_t row = 0; row < links_; ++row) {
      if (basic_[row] < 0) continue;
      // The perturbation made capacities larger by at most a billionth; twice that is taken off.
      const auto rate = static_cast<std::int64_t>(std::floor(value_[row] * scale() * (1 - 2e-9)));
      if (rate > 0) packing.rings.push_back({cycles_[static_cast<std::size_t>(basic_[row])], rate});
    }
    return packing;
  }

 private:
  /// The unit of rates within the method.
  [[nodiscard]] double scale() const { return static_cast<double>(*std::ranges::max_element(network_.capacities())); }

  [[nodiscard]] std::vector<double> column_of(const std::vector<std::uint32_t>& order) const {
    std::vector<double> column(links_, 0.0);
    for (std::size_t i = 0; i < order.size(); ++i)
      for (const auto link : network_.links(network_.arc(order[i], order[(i + 1) % order.size()]))) column[link] += 1;
    return column;
  }
  /// The dual values: every cycle is worth 1, a slack nothing.
  [[nodiscard]] std::vector<double> prices() const {
    std::vector<double> price(links_, 0.0);
    for (std::size_t row = 0; row < links_; ++row)
      if (basic_[row] >= 0)
        for (std::size_t i = 0; i < links_; ++i) price[i] += inverse_[row * links_ + i];
    return price;
  }
  /// Brings a column into the basis. False if it has no bound, which rounding alone could cause.
  bool enter(const std::vector<double>& column, int cycle) {
    std::vector<double> direction(links_, 0.0);
    for (std::size_t row = 0; row < links_; ++row)
      for (std::size_t i = 0; i < links_; ++i) direction[row] += inverse_[row * links_ + i] * column[i];
    auto leaves = links_;
    double least = kInfinite;
    for (std::size_t row = 0; row < links_; ++row) {
      if (direction[row] < kTolerance || value_[row] / direction[row] >= least) continue;
      least = value_[row] / direction[row];
      leaves = row;
    }
    if (leaves == links_) return false;
    const double pivot = direction[leaves];
    for (std::size_t i = 0; i < links_; ++i) inverse_[leaves * links_ + i] /= pivot;
    value_[leaves] = least;
    for (std::size_t row = 0; row < links_; ++row) {
      if (row == leaves || direction[row] == 0) continue;
      for (std::size_t i = 0; i < links_; ++i)
        inverse_[row * links_ + i] -= direction[row] * inverse_[leaves * links_ + i];
      value_[row] = std::max(0.0, value_[row] - direction[row] * least);
    }
    basic_[leaves] = cycle;
    return true;
  }

  const RingNetwork& network_;
  std::size_t links_;
  std::vector<double> inverse_;  ///< of the basis, row by row
  std::vector<double> value_;    ///< of the basic variables
  std::vector<int> basic_;       ///< by row: the cycle; -1: a slack
  std::vector<std::vector<std::uint32_t>> cycles_;
};

/// Lowers rates until they fit in whole numbers: rounding of floating-point numbers may have left a few B/s too many.
void fit(const RingNetwork& network, RingPacking& packing) {
  std::vector<std::int64_t> left(network.capacities().begin(), network.capacities().end());
  for (auto& ring : packing.rings) {
    std::vector<std::int64_t> uses(left.size(), 0);
    for (std::size_t i = 0; i < ring.order.size(); ++i)
      for (const auto link : network.links(network.arc(ring.order[i], ring.order[(i + 1) % ring.order.size()])))
        ++uses[link];
    for (std::size_t link = 0; link < left.size(); ++link)
      if (uses[link] > 0) ring.rate = std::min(ring.rate, left[link] / uses[link]);
    for (std::size_t link = 0; link < left.size(); ++link) left[link] -= uses[link] * ring.rate;
  }
  std::erase_if(packing.rings, [](const Ring& ring) { return ring.rate <= 0; });
}

}  // namespace

std::optional<RingPacking> best_rings(const RingNetwork& network) {
  ensure(network.members() >= 2 && network.members() <= kMostForOptimum, "the table of subsets is small");
  CycleProgram program(network);
  if (!program.solve()) return std::nullopt;
  auto packing = program.packing();
  fit(network, packing);
  if (packing.rings.empty()) return std::nullopt;
  return packing;
}

}  // namespace tenex
