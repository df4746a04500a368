#include "coordinator/halving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

namespace tenex {

Halving::Halving(const Study& study)
    : study_(study),
      left_(study.points.size(), true),
      known_(study.points.size(), false),
      values_(study.points.size(), std::numeric_limits<double>::quiet_NaN()) {
  if (!study.search.per.empty()) {
    std::unordered_map<std::string, std::uint32_t> numbers;
    competition_.reserve(study.points.size());
    for (const DesignPoint& point : study.points) {
      const auto next = static_cast<std::uint32_t>(numbers.size());
      competition_.push_back(numbers.emplace(competition_of(study.search, point), next).first->second);
    }
    competitions_ = numbers.size();
  }
  begin_round();
}

void Halving::begin_round() {
  known_.assign(known_.size(), false);
  missing_ = static_cast<std::size_t>(std::ranges::count(left_, true));
}

std::vector<std::uint32_t> Halving::points() const {
  std::vector<std::uint32_t> points;
  for (std::size_t i = 0; i < left_.size(); ++i)
    if (left_[i]) points.push_back(static_cast<std::uint32_t>(i));
  return points;
}

void Halving::take(const EarlyValue& value) {
  if (value.round != round_ || !left_[value.point] || known_[value.point]) return;
  known_[value.point] = true;
  values_[value.point] = value.value;
  --missing_;
}

void Halving::give_up(std::uint32_t point) {
  if (!left_[point]) return;
  left_[point] = false;
  if (!known_[point]) --missing_;
}

std::vector<PrunedPoint> Halving::cut() {
  ensure(complete() && !over(), "a round is cut before all its values are known");
  std::vector<std::vector<std::uint32_t>> competitions(competitions_);
  for (const auto point : points())
    if (!std::isnan(values_[point])) competitions[competition_.empty() ? 0 : competition_[point]].push_back(point);
  std::vector<PrunedPoint> pruned;
  for (const auto& competition : competitions) cut_competition(competition, pruned);
  std::ranges::sort(pruned, {}, &PrunedPoint::point);
  for (const auto& point : pruned) left_[point.point] = false;
  ++round_;
  begin_round();
  return pruned;
}

void Halving::cut_competition(const std::vector<std::uint32_t>& points, std::vector<PrunedPoint>& pruned) {
  if (points.empty()) return;
  const auto& part = study_.search.rounds[round_];
  const bool maximize = study_.search.objective.maximize;
  std::vector<std::pair<double, std::uint32_t>> order;
  order.reserve(points.size());
  for (const auto point : points) order.emplace_back(maximize ? -values_[point] : values_[point], point);
  std::ranges::sort(order);
  const auto numerator = static_cast<std::size_t>(part.numerator);
  const auto denominator = static_cast<std::size_t>(part.denominator);
  const std::size_t kept = (order.size() * numerator + denominator - 1) / denominator;  // at least one
  const double last = order[kept - 1].first;
  cuts_.push_back({round_, order.size(), kept, maximize ? -last : last});
  std::size_t place = 0;
  for (std::size_t i = kept; i < order.size(); ++i) {
    if (order[i].first == last) continue;
    if (place == 0 || order[i].first != order[i - 1].first) place = i + 1;
    const auto point = order[i].second;
    pruned.push_back(
        {point, static_cast<std::uint32_t>(cuts_.size() - 1), static_cast<std::uint32_t>(place), values_[point]});
  }
}

std::string Halving::reason_of(const PrunedPoint& point) const {
  const Cut& cut = cuts_[point.cut];
  const auto& search = study_.search;
  return fmt::format("left out in round {} of {} ({}): {} {} is place {} of {}, the cut is after place {} with {} {}",
                     cut.round + 1, search.rounds.size(), to_string(search.rounds[cut.round].fidelity),
                     search.objective.first_name(), point.value, point.place, cut.points, cut.kept, cut.value,
                     search_stamp(study_));
}

}  // namespace tenex
