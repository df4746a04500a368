// Parts of the canonical text that result columns and the enumeration also use.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tenex/design/design_point.hpp"

namespace tenex {

/// "500000,1000000": a list of quantities in their integer units.
template <class T>
[[nodiscard]] std::string comma_list(const std::vector<T>& quantities) {
  std::string text;
  for (const T& quantity : quantities) {
    if (!text.empty()) text += ',';
    text += fmt::format_int(quantity.count()).c_str();
  }
  return text;
}

/// "[[3,4],[5,6]]", or "none".
[[nodiscard]] std::string text_of_pairs(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs);

struct PointDraft;
/// normalise() of a point; `trains`: it trains, else it runs a collective.
void normalise_draft(const PointDraft& draft, bool trains);

/// seal() of a point after normalise().
void seal_normalised(DesignPoint& point);

/// The algorithm of a point that trains with synthesized collectives and names no algorithm; frozen.
inline constexpr std::string_view kTrainingAlgorithm = "tacos";

/// Sets the degree of unwinding to the one that takes effect.
void reduce_unwinding(DesignPoint& point);
/// Sets the properties of switches to the ones that are no default.
void reduce_switches(TopologyChoice& topology);

/// Replaces a list of equal values by one value.
template <class T>
void reduce_list(std::vector<T>& list) {
  const bool all_equal = std::adjacent_find(list.begin(), list.end(), std::not_equal_to<>()) == list.end();
  if (all_equal && list.size() > 1) list.resize(1);
}

/// Collects `name=value` lines.
class CanonicalLines {
 public:
  CanonicalLines() { text_.reserve(192); }
  void add(std::string_view name, std::string_view value) {
    if (!text_.empty()) text_ += '\n';
    text_ += name;
    text_ += '=';
    text_ += value;
  }
  template <class Integer>
  void add_number(std::string_view name, Integer value) {
    add(name, fmt::format_int(value).c_str());
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace tenex
