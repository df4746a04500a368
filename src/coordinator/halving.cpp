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
      given_up_(study.points.size(), false),
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
  given_up_.assign(given_up_.size(), false);
  missing_ = static_cast<std::size_t>(std::ranges::count(left_, true));
}

std::vector<std::uint32_t> Halving::points() const {
  std::vector<std::uint32_t> points;
  for (std::size_t i = 0; i < left_.size(); ++i)
    if (left_[i] && !given_up_[i]) points.push_back(static_cast<std::uint32_t>(i));
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
  if (known_[point]) {
    given_up_[point] = true;
  } else {
    left_[point] = false;
    --missing_;
  }
}

std::vector<std::vector<std::uint32_t>> Halving::valued() const {
  std::vector<std::vector<std::uint32_t>> competitions(competitions_);
  for (std::size_t i = 0; i < left_.size(); ++i) {
    const auto point = static_cast<std::uint32_t>(i);
    if (left_[i] && known_[i] && !std::isnan(values_[i])) competitions[competition_of_point(point)].push_back(point);
  }
  return competitions;
}

std::vector<std::pair<double, std::uint32_t>> Halving::ordered(const std::vector<std::uint32_t>& points) const {
  std::vector<std::pair<double, std::uint32_t>> order;
  order.reserve(points.size());
  const bool maximize = study_.search.objective.maximize;
  for (const auto point : points) order.emplace_back(maximize ? -values_[point] : values_[point], point);
  std::ranges::sort(order);
  return order;
}

std::size_t Halving::kept_of(std::size_t points) const {
  const auto& part = study_.search.rounds[round_];
  const auto numerator = static_cast<std::size_t>(part.numerator);
  const auto denominator = static_cast<std::size_t>(part.denominator);
  return (points * numerator + denominator - 1) / denominator;
}

std::vector<std::uint32_t> Halving::sure() const {
  std::vector<std::size_t> missing(competitions_, 0);
  std::vector<std::uint32_t> sure;
  for (std::size_t i = 0; i < left_.size(); ++i) {
    const auto point = static_cast<std::uint32_t>(i);
    if (!left_[i] || given_up_[i]) continue;
    if (!known_[i])
      ++missing[competition_of_point(point)];
    else if (std::isnan(values_[i]))
      sure.push_back(point);
  }
  const auto competitions = valued();
  for (std::size_t c = 0; c < competitions.size(); ++c) {
    const auto order = ordered(competitions[c]);
    const auto kept = kept_of(order.size() + missing[c]);
    std::size_t better = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0 && order[i].first != order[i - 1].first) better = i;
      if (better + missing[c] >= kept) break;
      if (!given_up_[order[i].second]) sure.push_back(order[i].second);
    }
  }
  std::ranges::sort(sure);
  return sure;
}

std::vector<PrunedPoint> Halving::cut() {
  ensure(complete() && !over(), "a round is cut before all its values are known");
  std::vector<PrunedPoint> pruned;
  for (const auto& competition : valued()) cut_competition(competition, pruned);
  std::ranges::sort(pruned, {}, &PrunedPoint::point);
  for (const auto& point : pruned) left_[point.point] = false;
  for (std::size_t i = 0; i < left_.size(); ++i)
    if (given_up_[i]) left_[i] = false;
  ++round_;
  begin_round();
  return pruned;
}

void Halving::cut_competition(const std::vector<std::uint32_t>& points, std::vector<PrunedPoint>& pruned) {
  if (points.empty()) return;
  const auto order = ordered(points);
  const std::size_t kept = kept_of(order.size());
  const double last = order[kept - 1].first;
  cuts_.push_back({round_, order.size(), kept, study_.search.objective.maximize ? -last : last});
  std::size_t place = 0;
  for (std::size_t i = kept; i < order.size(); ++i) {
    if (order[i].first == last) continue;
    if (place == 0 || order[i].first != order[i - 1].first) place = i + 1;
    const auto point = order[i].second;
    if (given_up_[point]) continue;
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
