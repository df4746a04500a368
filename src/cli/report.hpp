// Internal to cli: reports, for people or as one JSON object.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/evaluate/evaluation.hpp"

namespace tenex::cli {

/// A report in order; monostate is an absent value (null in JSON, "-" in text).
struct Report {
  /// A report inside a report. It is a vector of one element only because a report is not complete here.
  struct Object {
    std::vector<Report> content;
  };
  using Integers = std::vector<std::int64_t>;
  using Value =
      std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<Report>, Object, Integers>;
  std::vector<std::pair<std::string, Value>> entries;

  void add(std::string name, Value value) { entries.emplace_back(std::move(name), std::move(value)); }
  void add_object(std::string name, Report content) { add(std::move(name), Object{{std::move(content)}}); }
  /// A list with a report of each item, which `fill(report, item)` makes.
  template <typename Items, typename Fill>
  void add_list(std::string name, const Items& items, const Fill& fill) {
    std::vector<Report> list;
    for (const auto& item : items) fill(list.emplace_back(), item);
    add(std::move(name), std::move(list));
  }
  /// Absent where negative.
  void add_count(std::string name, std::int64_t value) {
    add(std::move(name), value < 0 ? Value(std::monostate{}) : Value(value));
  }
  /// Absent where NaN.
  void add_real(std::string name, double value) {
    add(std::move(name), value != value ? Value(std::monostate{}) : Value(value));
  }
};

/// The value of a setting at a point; absent numbers are null.
void add_cell(Report& report, std::string name, const SettingCell& cell);

/// The values of these settings at the point.
void add_settings(Report& report, const DesignPoint& point, std::initializer_list<std::string_view> names);

/// What a one-shot command says of a point's row: the answers (MetricColumn::answer), the settings, all other metrics
/// that reports of such a point have, its seed and key. Absent numbers are null.
[[nodiscard]] Report report_of_row(const DesignPoint& point, const Evaluation& row, Report settings);

/// The version of the reports' keys: 1 had other names and no key `schema`.
inline constexpr std::int64_t kReportSchema = 2;

/// One JSON object on one line, with `schema` first.
[[nodiscard]] std::string to_json(const Report& report);
/// A report from what to_json() printed, its keys in alphabetical order. Errors: what no report holds; the caller knows
/// the place and the remedy.
[[nodiscard]] Result<Report> parse_report(std::string_view text);
/// Lines "name  value"; times, sizes and rates, which the names tell, also in rounded units.
[[nodiscard]] std::string to_text(const Report& report);

/// A size for people: in the shortest exact unit, which is the one that it was written in ("1GiB", "400KB"), or rounded
/// where that is long or counts many single bytes.
[[nodiscard]] std::string size_text(std::int64_t size);

/// A share for people, in percent to a tenth. Less than all is never "100.0 %", so that this says "all".
[[nodiscard]] std::string percent_text(double share);

/// An amount of memory for people: rounded, in binary units, which limits of memory have.
[[nodiscard]] std::string memory_text(std::int64_t size);
/// Whether a metric or a key of a report counts memory.
[[nodiscard]] bool counts_memory(std::string_view name);

/// Fixed-width columns, the first left-aligned, the others right-aligned; `rows[0]` is the heading.
[[nodiscard]] std::string format_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace tenex::cli
