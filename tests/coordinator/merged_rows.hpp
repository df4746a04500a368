// The merged result as text, for comparing runs.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "tenex/store/store.hpp"

namespace tenex::testing {

/// Bitwise: an absent double (NaN) equals itself.
inline std::string cell_text(const MetricValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value))
    return "bits " + std::to_string(std::bit_cast<std::int64_t>(*real));
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  std::string list = "list";
  for (const auto number : std::get<std::vector<std::int64_t>>(value)) list.append(" ").append(std::to_string(number));
  return list;
}

/// One line per row of out/study.h5, in its order: the key and every result column that is not a measurement.
inline std::vector<std::string> merged_rows(const std::filesystem::path& out) {
  std::vector<std::string> rows;
  const auto table = read_result(out / "study.h5");
  if (!table.ok()) {
    ADD_FAILURE() << to_string(table.errors());
    return rows;
  }
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    std::string row = table->key[i];
    for (std::size_t c = 0; c < metric_columns().size(); ++c) {
      if (!metric_columns()[c].measured) row += "; " + cell_text(metric_value(table->rows[i], c));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace tenex::testing
