// Factors per kind, drawn towards the factor over all points. See the header for the idea.
#include "tenex/coordinator/cost_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "tenex/base/hash.hpp"

namespace tenex {

namespace {

constexpr double average_points_of_doubt = 2;  ///< weight of the common factor in a kind's factor
constexpr double worth_mentioning = 1.1;       ///< smaller changes of a factor do not matter for the order

bool makes_sense(const KindCost& cost) {
  return cost.points > 0 && cost.expected > 0 && cost.measured > 0 && std::isfinite(cost.expected) &&
         std::isfinite(cost.measured);
}

}  // namespace

std::uint32_t kind_of(const DesignPoint& point) {
  std::string what;
  std::uint64_t bytes = 0;
  if (point.trains()) {
    const auto& training = point.training();
    what = fmt::format("{} {} {}", training.workload.text, to_string(training.scheme),
                       to_string(training.collective_time));
  } else {
    what = to_string(point.collective().kind);
    bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, point.collective().size.count()));
  }
  const auto size_class = std::bit_width(bytes) / 2;
  return static_cast<std::uint32_t>(digest64(fmt::format("{}|{}|{}", point.algorithm, what, size_class)));
}

void LearnedCosts::add(const KindCost& cost) {
  if (!makes_sense(cost)) return;
  for (Sums* sums : {&kinds_[cost.kind], &all_}) {
    sums->points += cost.points;
    sums->expected += cost.expected;
    sums->measured += cost.measured;
  }
}

double LearnedCosts::overall_factor() const { return all_.points == 0 ? 1.0 : all_.measured / all_.expected; }

double LearnedCosts::factor_of(const Sums& sums) const {
  if (sums.points == 0) return overall_factor();
  const double doubt = average_points_of_doubt * sums.expected / static_cast<double>(sums.points);
  return (sums.measured + overall_factor() * doubt) / (sums.expected + doubt);
}

double LearnedCosts::factor(std::uint32_t kind) const {
  const auto known = kinds_.find(kind);
  return known == kinds_.end() ? overall_factor() : factor_of(known->second);
}

bool LearnedCosts::has_news() const {
  if (all_.points < 2 * used_points_) return false;
  const auto changed = [](double now, double used) {
    return now > used * worth_mentioning || used > now * worth_mentioning;
  };
  return changed(overall_factor(), all_.used_factor) || std::ranges::any_of(kinds_, [&](const auto& kind) {
           return changed(factor_of(kind.second), kind.second.used_factor);
         });
}

void LearnedCosts::mark_used() {
  used_points_ = std::max<std::uint64_t>(1, all_.points);
  all_.used_factor = overall_factor();
  for (auto& [kind, sums] : kinds_) sums.used_factor = factor_of(sums);
}

}  // namespace tenex
