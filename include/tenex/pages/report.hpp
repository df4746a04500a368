// A result as a page: what was asked and how it was run, curves, rankings, fronts, failures, and a table whose rows
// explain themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// A value of a row; monostate: absent. Quantities are in integer SI units.
using ReportCell = std::variant<std::monostate, std::int64_t, double, std::string>;

/// A column of the report's table.
struct ReportColumn {
  std::string_view name;
  std::string_view short_name;  ///< without its unit
  std::string_view units;       ///< "ps", "B", "B/s", "s", "USD" or ""
  std::string_view source;      ///< "key", "seed", "pareto", "setting" or "metric"
  std::string_view meaning;
  bool real = false;  ///< real numbers, also where they are whole
  bool percent = false;
  bool memory = false;    ///< bytes of memory, which people read in binary units
  bool maximize = false;  ///< more is better
  int answer = 0;         ///< its place in an explanation, before all others; 0: none
  int tabled = 0;         ///< its place among the usual columns of a table; 0: none
};

struct ReportContent {
  std::string title;
  std::vector<std::pair<std::string, std::string>> asked = {};  ///< name and value, in a list
  std::vector<std::pair<std::string, std::string>> run = {};    ///< how it was run, likewise
  std::string study = {};                                       ///< the study's text; empty: not known
  std::vector<std::string_view> front = {};                     ///< the metrics of the study's front
  std::size_t rows = 0;
  std::size_t all_rows = 0;  ///< of the result; more than `rows` where each stands for a group of them
  std::vector<ReportColumn> columns;
  std::function<ReportCell(std::size_t column, std::size_t row)> cell;
  std::function<bool(std::size_t column, std::size_t row)> is_default;  ///< a setting's cell has its default
  std::function<std::string(std::size_t row)> limited_by;               ///< what keeps the row from being faster
  std::function<std::string(std::size_t row)> bound_meaning;
};

/// The page. Errors (environment): this tenex was built without the libraries of its scripts. O(cells).
[[nodiscard]] Result<std::string> report_page(const ReportContent& content);

}  // namespace tenex
