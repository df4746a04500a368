// Reports as JSON and as text. Only this file of the module uses nlohmann-json.
#include "report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tenex/base/quantity.hpp"
#include "tenex/base/units.hpp"
#include "tenex/codesign/network_cost.hpp"
#include "tenex/design/design_point.hpp"

namespace tenex::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Report& report) {
  Json object = Json::object();
  for (const auto& [name, value] : report.entries) {
    std::visit(
        [&, &key = name](const auto& v) {
          using T = std::remove_cvref_t<decltype(v)>;
          if constexpr (std::is_same_v<T, std::monostate>)
            object[key] = nullptr;
          else if constexpr (std::is_same_v<T, std::vector<Report>>) {
            object[key] = Json::array();
            for (const auto& item : v) object[key].push_back(json_of(item));
          } else if constexpr (std::is_same_v<T, Report::Object>)
            object[key] = json_of(v.content.front());
          else
            object[key] = v;
        },
        value);
  }
  return object;
}

constexpr int kDeepestReport = 4;  ///< reports inside reports

Report report_of(const nlohmann::json& object, int depth);

/// Throws std::out_of_range for what no report holds; so do the next two.
std::int64_t integer_of(const nlohmann::json& value) {
  if (!value.is_number_integer()) throw std::out_of_range("it has something else where integers stand");
  if (value.is_number_unsigned() && value.get<std::uint64_t>() >> 63U != 0)
    throw std::out_of_range("an integer does not fit in 63 bits");
  return value.get<std::int64_t>();
}

Report::Value value_of_json(const nlohmann::json& value, int depth) {
  if (value.is_null()) return std::monostate{};
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object()) return Report::Object{{report_of(value, depth - 1)}};
  if (value.is_number()) return integer_of(value);
  if (!value.empty() && value.front().is_number_integer()) {
    Report::Integers integers;
    for (const auto& item : value) integers.push_back(integer_of(item));
    return integers;
  }
  std::vector<Report> items;
  for (const auto& item : value) items.push_back(report_of(item, depth - 1));
  return items;
}

Report report_of(const nlohmann::json& object, int depth) {
  if (!object.is_object()) throw std::out_of_range("it has no object where a report has one");
  if (depth == 0) throw std::out_of_range("it has objects inside objects deeper than any report");
  Report report;
  for (const auto& [name, value] : object.items()) report.add(name, value_of_json(value, depth));
  return report;
}

/// The unit of a number: the end of a metric's name, or stated in a setting's entry.
std::string_view units_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kEndings{
      {{"_ps", "ps"}, {"_bytes", "B"}, {"_bytes_per_s", "B/s"}, {"_per_s_usd", ""}, {"_usd", "USD"}}};
  for (const auto& [ending, units] : kEndings)
    if (name.ends_with(ending)) return units;
  const auto* setting = find_setting_column(name);
  return setting != nullptr && setting->name == name ? setting->units : std::string_view();
}

// "20031250 (20.0us)": the exact number, and a rounded one for people; rates only rounded.
std::string integer_text(const std::string& name, std::int64_t value) {
  const auto units = units_of(name);
  if (units == "ps") return fmt::format("{} ({})", value, to_rounded(picoseconds(value)));
  if (units == "B") return fmt::format("{} ({})", value, counts_memory(name) ? memory_text(value) : size_text(value));
  if (units == "B/s") return to_rounded_rate(static_cast<double>(value));
  return units.empty() ? fmt::format("{}", value) : fmt::format("{} {}", value, units);
}

std::string real_text(const std::string& name, double value) {
  const auto units = units_of(name);
  if (units == "B/s") return to_rounded_rate(value);
  if (units == "USD") return to_string(Money::of(std::llround(value * 100) * 10'000));  // whole cents
  return fmt::format("{:.4g}", value);
}

std::string value_text(const std::string& name, const Report::Value& value) {
  return std::visit(
      [&](const auto& v) -> std::string {
        using T = std::remove_cvref_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>)
          return "-";
        else if constexpr (std::is_same_v<T, bool>)
          return v ? "true" : "false";
        else if constexpr (std::is_same_v<T, std::int64_t>)
          return integer_text(name, v);
        else if constexpr (std::is_same_v<T, double>)
          return real_text(name, v);
        else if constexpr (std::is_same_v<T, std::string>)
          return v;
        else if constexpr (std::is_same_v<T, Report::Integers>) {
          std::string text;
          for (const auto item : v) text += (text.empty() ? "" : ", ") + integer_text(name, item);
          return text;
        } else
          return {};
      },
      value);
}

/// Absent integers are negative, and absent reals NaN or negative (solver_seconds).
template <class Cell>
Report::Value value_of(const Cell& cell) {
  return std::visit(
      [](const auto& value) -> Report::Value {
        using T = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::int64_t>)
          if (value < 0) return std::monostate{};
        if constexpr (std::is_same_v<T, double>)
          if (std::isnan(value) || value < 0) return std::monostate{};
        return value;
      },
      cell);
}

/// "yes" and "no", or 1 and 0, as what they mean; other words and absent numbers as they are.
Report::Value truth_of(Report::Value value) {
  if (const auto* word = std::get_if<std::string>(&value))
    return *word == "yes" || *word == "no" ? Report::Value(*word == "yes") : value;
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr ? Report::Value(*number != 0) : value;
}

Report::Value metric_of(const Evaluation& row, std::size_t metric) {
  const auto& column = metric_columns()[metric];
  auto cell = metric_value(row, metric);
  if (column.kind == MetricColumn::Kind::flags)
    cell = std::string(column.flags[static_cast<std::size_t>(std::get<std::int64_t>(cell))]);
  auto value = value_of(cell);
  return column.truth ? truth_of(std::move(value)) : value;
}

/// Adds the metric if reports of the point have it.
void add_metric(Report& report, const DesignPoint& point, const Evaluation& row, std::size_t metric) {
  const auto& column = metric_columns()[metric];
  auto value = metric_of(row, metric);
  const auto* text = std::get_if<std::string>(&value);
  const bool absent = text != nullptr ? text->empty() : std::holds_alternative<std::monostate>(value);
  if (column.reported(point, !absent))
    report.add(std::string(column.key.empty() ? column.name : column.key), std::move(value));
}

/// " key=value" of a list's item. An object in it stands as its entries, whose long texts are for programs and are cut.
std::string item_text(const std::string& key, const Report::Value& value) {
  constexpr std::size_t kMostShown = 60;
  const auto* object = std::get_if<Report::Object>(&value);
  if (object == nullptr) return fmt::format(" {}={}", key, value_text(key, value));
  std::string text;
  for (const auto& [inner_key, inner] : object->content.front().entries) {
    const auto whole = value_text(inner_key, inner);
    const bool fits = whole.size() <= kMostShown;
    text += fmt::format(" {}={}{}", inner_key, whole.substr(0, kMostShown), fits ? "" : "... (--json prints all)");
  }
  return text;
}

}  // namespace

void add_cell(Report& report, std::string name, const SettingCell& cell) {
  report.add(std::move(name), value_of(cell));
}

void add_settings(Report& report, const DesignPoint& point, std::initializer_list<std::string_view> names) {
  for (const auto name : names) add_cell(report, std::string(name), setting_cell(point, name));
}

Report report_of_row(const DesignPoint& point, const Evaluation& row, Report settings) {
  Report report;
  for (const auto metric : placed_metrics(&MetricColumn::answer)) add_metric(report, point, row, metric);
  std::ranges::move(settings.entries, std::back_inserter(report.entries));
  for (std::size_t metric = 0; metric < metric_columns().size(); ++metric)
    if (metric_columns()[metric].answer == 0) add_metric(report, point, row, metric);
  report.add("seed", static_cast<std::int64_t>(point.seed));
  report.add("key", to_string(point.key));
  return report;
}

std::string to_json(const Report& report) {
  Json document = {{"schema", kReportSchema}};
  document.update(json_of(report));
  return document.dump() + "\n";
}

Result<Report> parse_report(std::string_view text) {
  try {
    // Objects of this kind look keys up in a tree: many keys of a broken file take no quadratic time.
    return report_of(nlohmann::json::parse(text), kDeepestReport);
  } catch (const nlohmann::json::exception& wrong) {
    return input_error({}, wrong.what());
  } catch (const std::out_of_range& wrong) {
    return input_error({}, wrong.what());
  }
}

std::string to_text(const Report& report) {
  std::size_t width = 0;
  for (const auto& [name, value] : report.entries) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, value] : report.entries) {
    if (const auto* object = std::get_if<Report::Object>(&value)) {
      text += fmt::format("{:<{}} ", name, width);
      for (const auto& [key, inner] : object->content.front().entries)
        text += fmt::format(" {}={}", key, value_text(key, inner));
      text += "\n";
    } else if (const auto* items = std::get_if<std::vector<Report>>(&value)) {
      text += name + ":\n";
      for (const auto& item : *items) {
        text += " ";
        for (const auto& [key, inner] : item.entries) text += item_text(key, inner);
        text += "\n";
      }
    } else {
      text += fmt::format("{:<{}}  {}\n", name, width, value_text(name, value));
    }
  }
  return text;
}

std::string size_text(std::int64_t size) {
  constexpr std::size_t kLongest = 7;        // what is longer, such as 2.561585MiB, is no size that somebody wrote
  constexpr std::int64_t kMostBytes = 9999;  // nor are many single bytes
  const auto text = to_string(bytes(size));
  const bool counts_bytes = text.size() >= 2 && text.ends_with('B') && text[text.size() - 2] <= '9';
  const bool is_short = text.size() <= kLongest && (!counts_bytes || size <= kMostBytes);
  return is_short ? text : to_rounded_bytes(static_cast<double>(size));
}

std::string percent_text(double share) {
  const double percent = 100 * share;
  return fmt::format("{:.1f} %", share < 1 ? std::min(percent, 99.9) : percent);
}

std::string memory_text(std::int64_t size) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  constexpr double kLargest = 999.5;  // prints as 1000
  auto amount = static_cast<double>(size);
  std::size_t unit = 0;
  for (; amount >= kLargest && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return amount >= kLargest ? fmt::format("{:.0f}{}", amount, kUnits[unit])
                            : fmt::format("{:.3g}{}", amount, kUnits[unit]);
}

bool counts_memory(std::string_view name) {
  return name.starts_with("memory_") || name == "peak_rss_bytes" || name == "largest_point_bytes";
}

std::string format_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i == 0 ? fmt::format("{:<{}}", row[i], widths[i]) : fmt::format("  {:>{}}", row[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

}  // namespace tenex::cli
