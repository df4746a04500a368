#include "search_outlook.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "tenex/evaluate/search.hpp"

namespace tenex::cli {
namespace {

/// The number of points of a competition in each round, and after the last: Halving's rule, without equal values.
std::vector<std::size_t> left_of(std::size_t points, const std::vector<HalvingRound>& rounds) {
  std::vector<std::size_t> left{points};
  for (const auto& round : rounds) {
    const auto numerator = static_cast<std::size_t>(round.numerator);
    const auto denominator = static_cast<std::size_t>(round.denominator);
    left.push_back((left.back() * numerator + denominator - 1) / denominator);
  }
  return left;
}

}  // namespace

SearchOutlook::SearchOutlook(const Study& study) : rounds_(study.search.rounds.size()), all_(study.points.size()) {
  if (rounds_ == 0) return;
  const auto name = std::ranges::find(objective_names(), study.search.objective.metric, &ObjectiveName::metric);
  const auto may_have = name == objective_names().end() ? nullptr : name->may_have;
  std::unordered_map<std::string, std::uint32_t> numbers;
  std::vector<std::size_t> points{0};  // per competition
  competition_.reserve(all_);
  for (const DesignPoint& point : study.points) {
    std::uint32_t number = 0;
    if (may_have == nullptr || may_have(point)) {
      const auto next = static_cast<std::uint32_t>(points.size());
      number = numbers.emplace(competition_of(study.search, point), next).first->second;
      if (number == points.size()) points.push_back(0);
    }
    ++points[number];
    competition_.push_back(number);
  }
  left_.emplace_back(rounds_ + 1, points[0]);
  for (std::size_t i = 1; i < points.size(); ++i) left_.push_back(left_of(points[i], study.search.rounds));
}

std::size_t SearchOutlook::points(std::size_t round) const {
  if (rounds_ == 0) return all_;
  std::size_t sum = 0;
  for (const auto& competition : left_) sum += competition[round];
  return sum;
}

double SearchOutlook::share(std::size_t point, std::size_t round) const {
  if (rounds_ == 0) return 1;
  const auto& left = left_[competition_[point]];
  return static_cast<double>(left[round]) / static_cast<double>(left[0]);
}

}  // namespace tenex::cli
