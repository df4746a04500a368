// The page of all result columns, from the tables of settings and metrics (analysis/columns.md).
#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "commands.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/evaluate/evaluation.hpp"

namespace tenex::cli {
namespace {

std::string_view column_type(MetricColumn::Kind kind) {
  switch (kind) {
    case MetricColumn::Kind::integer:
      return "integer";
    case MetricColumn::Kind::real:
      return "real";
    case MetricColumn::Kind::flags:
      return "word";
    case MetricColumn::Kind::list:
      return "integer per dimension";
    case MetricColumn::Kind::text:
      break;
  }
  return "text";
}

/// The words of a flag column; "" stands for a row that has none.
std::string column_words(const MetricColumn& column) {
  std::string text;
  for (const auto flag : column.flags)
    if (!flag.empty()) text += fmt::format("{}`{}`", text.empty() ? ": " : ", ", flag);
  return text;
}

template <class Has>
std::string settings_rows(const Has& has) {
  std::string text = "| column | type | unit | key | meaning |\n|---|---|---|---|---|\n";
  for (const auto& setting : settings()) {
    const bool is_seed = setting.key == Key::seed;  // whose column the store writes itself
    if ((setting.column.kind == SettingColumn::Kind::none && !is_seed) || !has(setting)) continue;
    const auto [name, kind] = is_seed ? std::pair(setting.name, kind_name(SettingColumn::Kind::integer))
                                      : std::pair(setting.column.name, kind_name(setting.column.kind));
    text +=
        fmt::format("| `{}` | {} | {} | `{}` | {} |\n", name, kind, setting.column.units, setting.name, setting.help);
  }
  return text;
}

template <class Has>
std::string metrics_table(const Has& has) {
  std::string text = "| column | type | unit | meaning |\n|---|---|---|---|\n";
  for (const auto& column : metric_columns())
    if (has(column))
      text += fmt::format("| `{}` | {} | {} | {}{} |\n", column.name, column_type(column.kind), column.units,
                          column.meaning, column_words(column));
  return text;
}

}  // namespace

std::string columns_page() {
  return "# Columns of a result\n\n"
         "`tenex schema --columns` writes this page. A row of `study.h5` is a design point. The [format of the\n"
         "file](../include/tenex/store/result_format.md) tells more of some columns, and has those that only tie the "
         "file\n"
         "together (`point`, `key`, `canonical`, offsets). An absent text is empty, an absent integer -1, an absent "
         "real NaN.\n"
         "`collective_time_seconds`, `training_time_seconds` and `bound_seconds` repeat the columns in ps as reals. A "
         "study with\n"
         "objectives also has `pareto`: 1 on the front, else 0.\n\n"
         "## Results\n\n" +
         metrics_table([](const MetricColumn& column) { return !column.training && !column.measured; }) +
         "\n## Results of points that train\n\n"
         "Only files of studies with such points have these columns.\n\n" +
         metrics_table([](const MetricColumn& column) { return column.training && !column.measured; }) +
         "\n## Measurements\n\n"
         "They differ from run to run. No comparison of runs looks at them.\n\n" +
         metrics_table([](const MetricColumn& column) { return column.measured; }) +
         "\n## Settings\n\n"
         "The keys of the study, as numbers in base units.\n\n" +
         settings_rows([](const Setting& setting) { return !setting.column.training; }) +
         "\n## Settings of points that train\n\n" +
         settings_rows([](const Setting& setting) { return setting.column.training; });
}

}  // namespace tenex::cli
