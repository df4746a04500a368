// Cells of a result, and conditions on them.
#include "result_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "report.hpp"
#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"
#include "tenex/design/design_point.hpp"

namespace tenex::cli {
namespace {

using Source = ResultColumn::Source;

template <class Number>
ResultCell number_in(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return text;
  if constexpr (std::is_same_v<Number, std::int64_t>)
    if (value < 0) return std::monostate{};
  if constexpr (std::is_same_v<Number, double>)
    if (std::isnan(value)) return std::monostate{};
  return value;
}

ResultCell setting_of_text(const SettingColumn& column, const std::string& text) {
  if (text.empty()) return std::monostate{};
  switch (column.kind) {
    case SettingColumn::Kind::integer:
      return number_in<std::int64_t>(text);
    case SettingColumn::Kind::real:
      return number_in<double>(text);
    case SettingColumn::Kind::list: {
      // Equal values are one value, as in a study.
      const auto first = text.substr(0, text.find(','));
      for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find(',', at), text.size());
        if (text.substr(at, end - at) != first) return text;
        at = end + 1;
      }
      return number_in<std::int64_t>(first);
    }
    case SettingColumn::Kind::text:
    case SettingColumn::Kind::none:
      break;
  }
  return text;
}

ResultCell cell_of(const MetricColumn& column, const MetricValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    if (column.kind == MetricColumn::Kind::flags) {
      const auto flag = column.flags[static_cast<std::size_t>(*number)];
      return flag.empty() ? ResultCell() : ResultCell(std::string(flag));
    }
    return *number < 0 ? ResultCell() : ResultCell(*number);
  }
  if (const auto* number = std::get_if<double>(&value))
    return std::isnan(*number) || *number < 0 ? ResultCell() : ResultCell(*number);
  if (const auto* text = std::get_if<std::string>(&value)) return text->empty() ? ResultCell() : ResultCell(*text);
  std::string list;
  for (const auto each : std::get<std::vector<std::int64_t>>(value))
    list += fmt::format("{}{}", list.empty() ? "" : ",", each);
  return list.empty() ? ResultCell() : ResultCell(list);
}

std::string shown_number(const ResultColumn& column, std::int64_t value) {
  const auto units = column.units;
  if (units == "B" && counts_memory(column.name)) return memory_text(value);
  if (units == "ps") return to_rounded(picoseconds(value));
  if (units == "B/s") return to_rounded_rate(static_cast<double>(value));
  return units == "B" ? size_text(value) : fmt::format("{}", value);
}

}  // namespace

std::string_view ResultColumn::short_name() const {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kEndings{
      {{"ps", "_ps"}, {"B", "_bytes"}, {"B/s", "_bytes_per_s"}, {"USD", "_usd"}}};
  for (const auto& [unit, ending] : kEndings)
    if (units == unit && name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  return name;
}

ResultView::ResultView(ResultTable table) : table_(std::move(table)) {
  columns_.push_back({"key", "", Source::key, 0});
  const auto& settings = setting_columns();
  for (std::size_t i = 0; i < settings.size(); ++i)
    columns_.push_back({settings[i].name, settings[i].units, Source::setting, i});
  columns_.push_back({"seed", "", Source::seed, 0});
  const auto& metrics = metric_columns();
  first_metric_ = columns_.size();
  for (std::size_t i = 0; i < metrics.size(); ++i)
    columns_.push_back({metrics[i].name, metrics[i].units, Source::metric, i});
  if (!table_.pareto.empty()) columns_.push_back({"pareto", "", Source::pareto, 0});
}

Result<ResultColumn> ResultView::find(std::string_view name, const Place& place) const {
  for (const auto& column : columns_)
    if (column.name == name) return column;
  // The metric `collective_time_ps` is meant before the setting `collective_time_setting`.
  for (const std::string_view ending : {"_ps", "_bytes", "_bytes_per_s", "_per_s", "_seconds", "_usd", "_setting"})
    for (const auto& column : columns_)
      if (column.name.size() == name.size() + ending.size() && column.name.starts_with(name) &&
          column.name.ends_with(ending))
        return column;
  std::vector<std::string_view> names;
  for (const auto& column : columns_) names.push_back(column.name);
  auto near = did_you_mean(name, names);
  if (near.empty()) near = "`tenex list columns` and `tenex schema` name them";
  return input_error(place, fmt::format("unknown column \"{}\"", shortened(name)), "the result has no such column",
                     std::move(near));
}

ResultCell ResultView::cell(const ResultColumn& column, std::size_t row) const {
  switch (column.source) {
    case Source::key:
      return table_.key[row];
    case Source::seed:
      return table_.seed[row];
    case Source::pareto:
      return std::int64_t{table_.pareto[row]};
    case Source::setting:
      return setting_of_text(setting_columns()[column.index], table_.settings[row][column.index]);
    case Source::metric:
      return cell_of(metric_columns()[column.index], metric_value(table_.rows[row], column.index));
    case Source::computed:
      break;
  }
  return {};
}

std::optional<ExpressionValue> ResultView::value_of(std::string_view name, std::size_t row) const {
  const auto column = find(name, {});
  if (!column) return std::nullopt;
  const auto value = cell(*column, row);
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    if (column->units == "ps") return picoseconds(*number);
    if (column->units == "B") return bytes(*number);
    if (column->units == "B/s") return Bandwidth::of(*number);
    return *number;
  }
  if (const auto* number = std::get_if<double>(&value)) {
    if (column->units == "USD") return Money::of(std::llround(*number * 1e6));
    if (column->units == "B/s") return Bandwidth::of(std::llround(*number));
    return *number;
  }
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return std::nullopt;
}

Result<std::vector<std::size_t>> ResultView::select(std::string_view condition, const Place& place) const {
  std::vector<std::size_t> chosen;
  for (std::size_t row = 0; row < rows(); ++row) chosen.push_back(row);
  if (condition.empty()) return chosen;
  const auto parsed = parse_expression(condition, place);
  if (!parsed) return parsed.errors();
  const auto words = identifiers(*parsed);
  std::vector<std::string_view> names;
  for (const auto& column : columns_) names.push_back(column.name);
  for (const auto& word : words)
    if (find(word, {})) names.push_back(word);
  if (const auto known = check_names(*parsed, names); !known) return known.errors();
  std::vector<std::size_t> held;
  for (const auto row : chosen) {
    const auto lacks = [&](const std::string& word) { return find(word, {}).ok() && !value_of(word, row); };
    if (std::ranges::any_of(words, lacks)) continue;
    const Lookup lookup{[&](std::string_view name) { return value_of(name, row); }, names};
    const auto holds = evaluate_condition(*parsed, lookup);
    if (!holds) return holds.errors();
    if (*holds) held.push_back(row);
  }
  return held;
}

std::string shown(const ResultColumn& column, const ResultCell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) {
    const bool chunks = column.source == Source::setting && column.name == "chunks";
    return chunks && *number == kAutomaticChunks ? std::string(kAutomaticWord) : shown_number(column, *number);
  }
  if (const auto* number = std::get_if<double>(&cell)) {
    if (column.units == "B/s") return to_rounded_rate(*number);
    if (column.units == "USD") return to_string(dollars(std::llround(*number)));
    const bool percent = column.source == Source::metric ? metric_columns()[column.index].percent : column.units == "%";
    return percent ? percent_text(*number) : fmt::format("{:.4g}", *number);
  }
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return "-";
  if (column.units.empty()) return *text;
  std::string list;
  for (std::size_t at = 0; at < text->size();) {
    const auto end = std::min(text->find(',', at), text->size());
    const auto item = number_in<std::int64_t>(text->substr(at, end - at));
    list += (list.empty() ? "" : ", ");
    list += std::holds_alternative<std::string>(item) ? std::get<std::string>(item) : shown(column, item);
    at = end + 1;
  }
  return list;
}

std::string exact(const ResultCell& cell) {
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? std::string() : *text;
}

}  // namespace tenex::cli
