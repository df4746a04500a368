// Compares merged results as users may: every result column of every row, except measured ones.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <variant>

#include "tenex/evaluate/evaluation.hpp"
#include "tenex/store/store.hpp"

namespace tenex::support {

inline bool same_value(const MetricValue& a, const MetricValue& b) {
  const auto* left = std::get_if<double>(&a);
  const auto* right = std::get_if<double>(&b);
  if (left != nullptr && right != nullptr && std::isnan(*left) && std::isnan(*right)) return true;
  return a == b;
}

/// Expects the same points in the same order with bitwise equal result columns.
inline void expect_same_rows(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto left = read_result(a);
  const auto right = read_result(b);
  ASSERT_TRUE(left) << to_string(left.errors());
  ASSERT_TRUE(right) << to_string(right.errors());
  ASSERT_EQ(left->key, right->key);
  EXPECT_EQ(left->settings, right->settings);
  for (std::size_t row = 0; row < left->rows.size(); ++row) {
    for (std::size_t column = 0; column < metric_columns().size(); ++column) {
      if (metric_columns()[column].measured) continue;
      EXPECT_TRUE(same_value(metric_value(left->rows[row], column), metric_value(right->rows[row], column)))
          << "row " << row << " (" << left->key[row] << "), column " << metric_columns()[column].name;
    }
  }
}

}  // namespace tenex::support
