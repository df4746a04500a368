// show: a table of results, or why one row has its status, engine, bound and time.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "crossover.hpp"
#include "explanation.hpp"
#include "pager.hpp"
#include "report.hpp"
#include "result_view.hpp"
#include "show_over.hpp"
#include "tenex/base/words.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/files/schedule_file.hpp"
#include "tenex/store/store.hpp"

namespace tenex::cli {
namespace {

using Rows = std::vector<std::size_t>;
using Columns = std::vector<ResultColumn>;
using CellText = std::function<ResultCell(const ResultColumn&, std::size_t row)>;

constexpr std::size_t kShownDigits = 8;  // of a key

/// The key, the settings that differ between these rows, and the usual metrics that some row has. Rows without a
/// setting differ in nothing from those with its default.
Columns usual_columns(const ResultView& view, const Rows& rows) {
  const auto told = [&](const ResultColumn& column, std::size_t row) {
    return is_default(view, column, row) ? ResultCell() : view.cell(column, row);
  };
  const auto differs = [&](const ResultColumn& column) {
    return std::ranges::any_of(rows, [&](auto row) { return told(column, row) != told(column, rows[0]); });
  };
  const auto has_value = [&](const ResultColumn& column) {
    return std::ranges::any_of(rows, [&](auto row) { return view.cell(column, row).index() != 0; });
  };
  Columns chosen;
  for (const auto& column : view.columns())
    if (column.source == ResultColumn::Source::key ||
        ((column.source == ResultColumn::Source::setting || column.source == ResultColumn::Source::seed) &&
         differs(column)))
      chosen.push_back(column);
  for (const auto metric : placed_metrics(&MetricColumn::tabled)) {
    const auto& column = view.metric(metric);
    if (column.name == "status" ? differs(column) : has_value(column)) chosen.push_back(column);
  }
  for (const auto& column : view.columns())
    if (column.source == ResultColumn::Source::pareto) chosen.push_back(column);
  return chosen;
}

Result<Columns> columns_of(const ShowArguments& arguments, const ResultView& view, const Rows& rows) {
  if (arguments.columns.empty()) return usual_columns(view, rows);
  Columns chosen;
  Diagnostics errors;
  for (const auto& name : arguments.columns) {
    const auto column = view.find(name, {"--columns", 0, 0});
    if (column)
      chosen.push_back(*column);
    else
      append(errors, column.errors());
  }
  if (!errors.empty()) return errors;
  return chosen;
}

/// Stable, so that equal rows stay in the order of the study. Rows without a value come last.
void sort_rows(Rows& rows, const ResultView& view, const ResultColumn& column, bool descending) {
  std::ranges::stable_sort(rows, [&](auto a, auto b) {
    const auto left = view.cell(column, a);
    const auto right = view.cell(column, b);
    if (left.index() == 0 || right.index() == 0) return left.index() != 0 && right.index() == 0;
    return descending ? right < left : left < right;
  });
}

std::string rows_table(const CellText& cell_of, const Columns& columns, const Rows& rows) {
  std::vector<std::vector<std::string>> lines(1);
  for (const auto& column : columns) lines[0].emplace_back(column.short_name());
  for (const auto row : rows) {
    auto& line = lines.emplace_back();
    for (const auto& column : columns) {
      const auto text = shown(column, cell_of(column, row));
      line.push_back(column.source == ResultColumn::Source::key ? text.substr(0, kShownDigits) : text);
    }
  }
  return format_table(lines);
}

/// RFC 4180: quotes around texts that hold a comma, a quote or a line's end.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char letter : text) result += letter == '"' ? std::string("\"\"") : std::string(1, letter);
  return result + "\"";
}

std::string csv_of(const CellText& cell_of, const Columns& columns, const Rows& rows) {
  std::string text;
  const auto add_line = [&](const auto& text_of) {
    for (std::size_t i = 0; i < columns.size(); ++i) text += (i == 0 ? "" : ",") + quoted(text_of(columns[i]));
    text += "\n";
  };
  add_line([](const ResultColumn& column) { return std::string(column.name); });
  for (const auto row : rows) add_line([&](const ResultColumn& column) { return exact(cell_of(column, row)); });
  return text;
}

std::string rows_json(const CellText& cell_of, std::string name, const Columns& columns, const Rows& rows) {
  std::vector<Report> entries;
  for (const auto row : rows) {
    Report entry;
    for (const auto& column : columns)
      std::visit([&](const auto& value) { entry.add(std::string(column.name), value); }, cell_of(column, row));
    entries.push_back(std::move(entry));
  }
  Report report;
  report.add(std::move(name), std::move(entries));
  return to_json(report);
}

std::string grouped_table(const ResultView& view, const CellText& cell_of, Columns columns, const Rows& rows,
                          const ResultColumn& by) {
  std::erase_if(columns, [&](const ResultColumn& column) { return column.name == by.name; });
  std::vector<std::pair<std::string, Rows>> groups;  // in the order of their first rows
  for (const auto row : rows) {
    const auto value = shown(by, view.cell(by, row));
    auto group = std::ranges::find(groups, value, &std::pair<std::string, Rows>::first);
    if (group == groups.end()) group = groups.insert(groups.end(), {value, {}});
    group->second.push_back(row);
  }
  std::string text;
  for (const auto& [value, members] : groups)
    text +=
        fmt::format("{}{} = {}\n{}", text.empty() ? "" : "\n", by.name, value, rows_table(cell_of, columns, members));
  return text;
}

/// One line for all values of a column.
std::string text_over(const ShowArguments& arguments, const std::vector<std::vector<NamedCell>>& table) {
  if (arguments.json) {
    std::vector<Report> entries;
    for (const auto& line : table) {
      Report entry;
      for (const NamedCell& each : line) std::visit([&](const auto& value) { entry.add(each.name, value); }, each.cell);
      entries.push_back(std::move(entry));
    }
    Report report;
    report.add("rows", std::move(entries));
    return to_json(report);
  }
  std::vector<std::vector<std::string>> lines(1);
  if (!table.empty())
    for (const NamedCell& each : table.front()) lines[0].push_back(each.name);
  for (const auto& line : table) {
    lines.emplace_back();
    for (const NamedCell& each : line)
      lines.back().push_back(arguments.csv ? quoted(exact(each.cell)) : shown(each.column, each.cell));
  }
  if (!arguments.csv) return format_table(lines);
  std::string text;
  for (const auto& line : lines) text += fmt::format("{}\n", fmt::join(line, ","));
  return text;
}

Result<std::string> crossover_text(const ShowArguments& arguments, const ResultView& view, const Rows& rows) {
  const auto crossovers = crossovers_of(view, rows, arguments.crossover);
  if (!crossovers) return crossovers.errors();
  Rows lines(crossovers->lines.size());
  std::iota(lines.begin(), lines.end(), std::size_t{0});
  const CellText cell_of = [&](const ResultColumn& column, std::size_t line) {
    const auto at = std::ranges::find(crossovers->columns, column.name, &ResultColumn::name);
    return crossovers->lines[line][static_cast<std::size_t>(at - crossovers->columns.begin())];
  };
  if (arguments.csv) return csv_of(cell_of, crossovers->columns, lines);
  if (arguments.json) return rows_json(cell_of, "crossovers", crossovers->columns, lines);
  return rows_table(cell_of, crossovers->columns, lines);
}

Result<std::string> tables_of(const ShowArguments& arguments, const ResultView& view) {
  auto rows = view.select(arguments.where, {"--where", 1, 1});
  if (!rows) return rows.errors();
  if (rows->empty() && view.rows() > 0)
    warn(fmt::format("no row of {} meets the condition; `tenex show {} --csv` has the values of all", view.rows(),
                     arguments.dir.string()));
  if (!arguments.over.empty()) {
    const auto over = view.find(arguments.over, {"--over", 0, 0});
    if (!over) return over.errors();
    return text_over(arguments, lines_over(view, *rows, *over));
  }
  if (!arguments.sort.empty()) {
    const auto by = view.find(arguments.sort, {"--sort", 0, 0});
    if (!by) return by.errors();
    sort_rows(*rows, view, *by, arguments.descending);
  }
  if (arguments.limit >= 0 && static_cast<std::size_t>(arguments.limit) < rows->size()) {
    fmt::print(stderr, "the first {} of {} (--limit)\n", arguments.limit, counted(rows->size(), "row"));
    rows->resize(static_cast<std::size_t>(arguments.limit));
  }
  if (!arguments.crossover.empty()) return crossover_text(arguments, view, *rows);
  const auto columns = columns_of(arguments, view, *rows);
  if (!columns) return columns.errors();
  const CellText cell_of = [&](const ResultColumn& column, std::size_t row) { return view.cell(column, row); };
  if (arguments.csv) return csv_of(cell_of, *columns, *rows);
  if (arguments.json) return rows_json(cell_of, "rows", *columns, *rows);
  if (arguments.group_by.empty()) return rows_table(cell_of, *columns, *rows);
  const auto by = view.find(arguments.group_by, {"--group-by", 0, 0});
  if (!by) return by.errors();
  return grouped_table(view, cell_of, *columns, *rows, *by);
}

// One row.

Result<std::size_t> row_of(const ResultView& view, const std::string& prefix) {
  Rows found;
  for (std::size_t row = 0; row < view.rows(); ++row)
    if (view.table().key[row].starts_with(prefix)) found.push_back(row);
  if (found.size() == 1) return found.front();
  return input_error({"KEY", 0, 0},
                     fmt::format("{} rows have a key that begins with \"{}\"",
                                 found.empty() ? "no" : fmt::format("{}", found.size()), prefix),
                     "a key is 32 hexadecimal digits, of which the first ones are enough",
                     found.empty() ? "`tenex show DIR --columns key,topology,size` lists them" : "give more digits");
}

/// Options of sends, which a result has none of.
Status check_words(const ShowArguments& arguments) {
  if (arguments.npus.empty() && arguments.chunks.empty() && arguments.at.empty()) return success();
  return input_error({arguments.dir.string(), 0, 0}, "--npu, --chunk and --at are for schedule files",
                     "this is a result, which has rows", "name the schedule's file, or choose rows by --where");
}

}  // namespace

Status check_merged(const std::filesystem::path& dir, const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::exists(file, error) || file == dir) return success();
  if (const auto study = read_study_text(dir); !study) return study.errors();
  return input_error(
      {dir.string(), 0, 0}, "this folder has no merged result",
      "study.h5 is written when its run ends; the rows are in its shards",
      fmt::format("`tenex merge {}` merges the rows that are committed so far, `tenex status {}` counts them",
                  dir.string(), dir.string()));
}

ExitCode execute(const ShowArguments& arguments) {
  const bool names_file = arguments.dir.extension() == ".h5" || arguments.dir.extension() == ".json";
  if (names_file && holds_schedule(arguments.dir)) return show_schedule(arguments);
  if (const auto words = check_words(arguments); !words) return refuse(words.errors());
  const auto file = names_file ? arguments.dir : arguments.dir / "study.h5";
  if (const auto merged = check_merged(arguments.dir, file); !merged) return refuse(merged.errors());
  auto table = read_result(file);
  if (!table) return refuse(table.errors());
  const ResultView view(std::move(table).value());
  if (!arguments.key.empty()) {
    const auto row = row_of(view, arguments.key);
    if (!row) return refuse(row.errors());
    (void)PagedOutput().print(explanation(view, *row, arguments.json));
    return ExitCode::done;
  }
  const auto text = tables_of(arguments, view);
  if (!text) return refuse(text.errors());
  (void)PagedOutput().print(*text);
  return ExitCode::done;
}

}  // namespace tenex::cli
