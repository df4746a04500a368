// Design points for the tests of this module, from settings as studies write them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tenex/evaluate/evaluate.hpp"
#include "tenex/execution/build.hpp"

namespace tenex::support {

/// What a collective needs beside its name: a matrix for 3 NPUs, conditions among them, or groups.
inline std::vector<std::pair<std::string, std::string>> needs_of(CollectiveKind kind) {
  if (kind == CollectiveKind::all_to_allv) return {{"groups", "0-2; 3-5"}, {"matrix", "0,2,2; 1,0,1; 1,1,0"}};
  if (kind == CollectiveKind::conditions) return {{"groups", "0-2; 3-5"}, {"conditions", "0 -> 1,2; 2 -> 0 8KB"}};
  if (kind == CollectiveKind::mixed)
    return {{"groups", "0-3 all_gather; 2-5 all_reduce; 1,4 broadcast; 0,5,6 all_to_all 2 chunks; 3-7 scatter"}};
  return {};
}

using Words = std::vector<std::pair<std::string, std::string>>;

/// The settings with defaults for the missing ones: All-Gather over 1 GB/s links without latency, so 1 ns moves one
/// byte.
inline DesignPoint point(Words words) {
  const auto absent = [&](std::string_view name) {
    return std::none_of(words.begin(), words.end(), [&](const auto& w) { return w.first == name; });
  };
  if (absent("alpha")) words.emplace_back("alpha", "0ns");
  if (absent("bandwidth") && absent("npu_bandwidth")) words.emplace_back("bandwidth", "1GB/s");
  if (absent("collective")) words.emplace_back("collective", "all_gather");
  return make_point(words, vocabulary()).value();
}

inline Evaluation row_of(const DesignPoint& given, EvaluateOptions options = {}) {
  Cache cache;
  return evaluate(given, cache, options).row;
}

/// The result columns of a row except measured ones, with NaN as text so that it equals itself.
inline std::vector<MetricValue> results_of(const Evaluation& row) {
  std::vector<MetricValue> values;
  for (std::size_t c = 0; c < metric_columns().size(); ++c) {
    if (metric_columns()[c].measured) continue;
    auto value = metric_value(row, c);
    if (auto* real = std::get_if<double>(&value); real != nullptr && std::isnan(*real)) value = std::string("NaN");
    values.push_back(std::move(value));
  }
  return values;
}

/// Compares the result columns of two rows except measured ones; NaN equals NaN.
inline void expect_same_result(const Evaluation& a, const Evaluation& b) {
  for (std::size_t c = 0; c < metric_columns().size(); ++c) {
    const auto& column = metric_columns()[c];
    if (column.measured) continue;
    const auto left = metric_value(a, c);
    const auto right = metric_value(b, c);
    if (const auto* real = std::get_if<double>(&left); real != nullptr && std::isnan(*real)) {
      EXPECT_TRUE(std::isnan(std::get<double>(right))) << column.name;
      continue;
    }
    EXPECT_EQ(left, right) << column.name;
  }
}

}  // namespace tenex::support
