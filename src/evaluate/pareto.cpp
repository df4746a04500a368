// The Pareto front by a sweep over rows in the order of their first objective.
//
// A row can be dominated only by one that comes before it in lexicographic order, and dominance is transitive. So each
// row is compared with the front found so far; with two objectives, only with the least second value on it (Kung,
// Luccio and Preparata, "On finding the maxima of a set of vectors", J. ACM 22, 1975).
#include <algorithm>
#include <numeric>

#include "tenex/base/diagnostic.hpp"
#include "tenex/evaluate/search.hpp"

namespace tenex {
namespace {

using Values = std::vector<std::vector<std::uint32_t>>;

bool equal(const Values& values, std::size_t a, std::size_t b) {
  return std::ranges::all_of(values, [&](const auto& objective) { return objective[a] == objective[b]; });
}

bool nowhere_worse(const Values& values, std::size_t a, std::size_t b) {
  return std::ranges::all_of(values, [&](const auto& objective) { return objective[a] <= objective[b]; });
}

/// Rows in lexicographic order.
std::vector<std::uint32_t> ordered(const Values& values) {
  std::vector<std::uint32_t> order(values.front().size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    for (const auto& objective : values)
      if (objective[a] != objective[b]) return objective[a] < objective[b];
    return a < b;
  });
  return order;
}

/// The front for one or two objectives: equal rows are neighbours, and the last row of the front has the least second
/// value.
std::vector<bool> front_of_two(const Values& values) {
  std::vector<bool> on_front(values.front().size(), false);
  const auto& last = values.back();
  std::optional<std::uint32_t> best;  // the front's last row
  for (const auto row : ordered(values)) {
    const bool undominated = !best || (values.size() == 2 && last[row] < last[*best]);
    if (!undominated && !equal(values, row, *best)) continue;
    on_front[row] = true;
    best = row;
  }
  return on_front;
}

}  // namespace

std::vector<bool> pareto_front(const Values& values) {
  if (values.empty() || values.front().empty()) return {};
  for (const auto& objective : values)
    ensure(objective.size() == values.front().size(), "objectives of unequal numbers of rows");
  if (values.size() <= 2) return front_of_two(values);
  std::vector<bool> on_front(values.front().size(), false);
  std::vector<std::uint32_t> front;  // distinct
  for (const auto row : ordered(values)) {
    const auto before = std::ranges::find_if(front, [&](std::uint32_t f) { return nowhere_worse(values, f, row); });
    if (before != front.end() && !equal(values, *before, row)) continue;
    on_front[row] = true;
    if (before == front.end()) front.push_back(row);
  }
  return on_front;
}

namespace {

template <class T>
std::vector<std::uint32_t> places(std::span<const T> values, bool maximize) {
  std::vector<T> distinct(values.begin(), values.end());
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<std::uint32_t> result;
  result.reserve(values.size());
  for (const T value : values) {
    const auto place = std::ranges::lower_bound(distinct, value) - distinct.begin();
    result.push_back(
        static_cast<std::uint32_t>(maximize ? static_cast<std::ptrdiff_t>(distinct.size()) - 1 - place : place));
  }
  return result;
}

}  // namespace

std::vector<std::uint32_t> places_of(std::span<const double> values, bool maximize) { return places(values, maximize); }
std::vector<std::uint32_t> places_of(std::span<const std::int64_t> values, bool maximize) {
  return places(values, maximize);
}

}  // namespace tenex
