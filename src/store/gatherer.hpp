// Gathers the columns of a result from the rows of many files: of shards, or of other results.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "store/column_kinds.hpp"
#include "store/packed_columns.hpp"
#include "store/pareto_column.hpp"
#include "store/ragged_groups.hpp"
#include "store/result_columns.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex::store {

/// The value for the rows of files that lack the column: those of training where there are no training points, and
/// those that came later; nothing for other columns, which every file has.
[[nodiscard]] inline std::optional<SettingCell> cell_without(const MetricColumn& column) {
  if (!column.may_lack()) return std::nullopt;
  using Kind = MetricColumn::Kind;
  return column.kind == Kind::real   ? SettingCell(std::numeric_limits<double>::quiet_NaN())
         : column.kind == Kind::list ? SettingCell(std::vector<std::int64_t>())
         : column.kind == Kind::text ? SettingCell(std::string())
                                     : SettingCell(std::int64_t{-1});
}

/// What the cells of files' columns of a type are gathered in.
template <class Column>
using Gathered = std::conditional_t<std::is_same_v<Column, TextColumn>, PackedTexts,
                                    std::conditional_t<std::is_same_v<Column, ListColumn>, PackedLists, Column>>;

/// Gathers columns, each with a cell per row of the result. `Files` says which rows the result takes and reads them:
///
/// - `sources()`: per file its `chosen` and `repeated` rows, each a pair of (row of the file, row of the result)
/// - `read<Column>(file, path, may_lack)`: a column with a cell for each row of the file (numbers, TextColumn or
///   ListColumn); nothing where it may be lacking and is
/// - `read_ragged(file, ragged, part)`: the entries of each row of the file
/// - `path_of(metric)`, `path_of(ragged, part)`: where the files have these columns
/// - `has(metric)`: whether the result has this column
/// - `differs(file, (row, row of the result), path)`: the error that this repeated row differs from the chosen one
///
/// Columns that are `compared` must have equal bits in the chosen and all repeated rows. Errors: those of `Files`.
/// Memory: the column, its cells in repeated rows, and the column of one file.
template <class Files>
class Gatherer {
 public:
  /// `files` must outlive the gatherer.
  Gatherer(Files& files, std::size_t rows) : files_(files), rows_(rows) {}

  /// A column of the files' type `Column`: numbers, TextColumn or ListColumn. Files may lack it if there is a cell for
  /// their rows, `absent`.
  template <class Column>
  Result<Gathered<Column>> gather(const std::string& path, bool compared,
                                  const std::optional<SettingCell>& absent = {}) {
    using Cell = decltype(cell_at(Column(), 0));
    Gathered<Column> values(rows_);
    const auto status = gather_cells(
        path, compared, [&](std::size_t s) { return files_.template read<Column>(s, path, absent.has_value()); },
        absent ? static_cast<Cell>(std::get<ValueOf<Column>>(*absent)) : Cell(),
        [&](std::size_t position, const Cell& cell) {
          if constexpr (requires { values.set(position, cell); })
            values.set(position, cell);
          else
            values[position] = cell;
        },
        [&](std::size_t position, const auto& other) {
          if constexpr (std::is_same_v<Cell, double>)
            return std::bit_cast<std::uint64_t>(values[position]) == std::bit_cast<std::uint64_t>(other);
          else if constexpr (std::is_arithmetic_v<Cell>)
            return values[position] == other;
          else
            return values.at(position) == other;
        });
    if (!status) return status.errors();
    return values;
  }
  Result<std::vector<std::int64_t>> integers(const std::string& path) {
    return gather<std::vector<std::int64_t>>(path, false);
  }

  /// A column of any kind. `absent`: as above.
  Result<GatheredColumn> gather(MetricColumn::Kind kind, const std::string& path, bool compared,
                                const std::optional<SettingCell>& absent) {
    return with_type_of(kind, [&]<class Column>() -> Result<GatheredColumn> {
      auto values = gather<Column>(path, compared, absent);
      if (!values) return values.errors();
      return GatheredColumn(std::move(values).value());
    });
  }

  /// Gathers and writes all metrics that the result has. Rows that a clock ended may differ (Evaluation::clock_ended).
  Status write_metrics(ColumnFileWriter& file, std::size_t dimensions) {
    std::optional<std::vector<std::int64_t>> clock;
    for (const auto& metric : metric_columns())
      if (metric.name == kClockEnded && files_.has(metric)) {
        auto marks = gather_marks(files_.path_of(metric));
        if (!marks) return marks.errors();
        clock = *std::move(marks);
      }
    for (const auto& metric : metric_columns()) {
      if (!files_.has(metric)) continue;
      if (clock && metric.name == kClockEnded) {
        write_metric(file, metric, GatheredColumn(*clock), dimensions);
        continue;
      }
      const auto values = gather(metric.kind, files_.path_of(metric), !metric.measured, cell_without(metric));
      if (!values) return values.errors();
      write_metric(file, metric, *values, dimensions);
    }
    return success();
  }

  /// Gathers the objectives of a front and writes which rows are on it. `competition`: as of pareto_column().
  Status write_front(ColumnFileWriter& file, const Front& front,
                     const std::function<std::string(std::size_t row)>& competition) {
    const auto metric = [&](std::string_view name) -> const MetricColumn& {
      const auto found = std::ranges::find(metric_columns(), name, &MetricColumn::name);
      ensure(found != metric_columns().end(), "an objective that is no metric");
      return *found;
    };
    const auto status = gather<std::vector<std::int8_t>>(files_.path_of(metric("status")), false);
    if (!status) return status.errors();
    std::vector<MetricValues> objectives;
    for (const auto& objective : front.objectives) {
      const auto& found = metric(objective.metric);
      auto values = gather(found.kind, files_.path_of(found), false, cell_without(found));
      if (!values) return values.errors();
      if (found.kind == MetricColumn::Kind::real)
        objectives.emplace_back(std::get<std::vector<double>>(*std::move(values)));
      else
        objectives.emplace_back(std::get<std::vector<std::int64_t>>(*std::move(values)));
    }
    store::write_front(file, front, pareto_column(front, competition, *status, objectives));
    return success();
  }

  /// The entries of all rows, end to end; `offsets` are the first of each row, and the end. Entries of a repeated row
  /// are compared where both rows have any: a later run may have asked for outputs that an earlier one did not.
  Result<std::vector<std::int64_t>> entries(const Ragged& ragged, const Ragged::Part& part,
                                            const std::vector<std::int64_t>& offsets) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(offsets.back()));
    const auto of_row = [&](std::size_t position) {
      const auto first = static_cast<std::size_t>(offsets[position]);
      return std::span(values).subspan(first, static_cast<std::size_t>(offsets[position + 1]) - first);
    };
    const auto read = [&](std::size_t s) -> Result<std::optional<RaggedColumn>> {
      auto column = files_.read_ragged(s, ragged, part);
      if (!column) return column.errors();
      return std::optional(*std::move(column));
    };
    const auto status = gather_cells(
        files_.path_of(ragged, part), !values.empty(), read, std::span<const std::int64_t>(),
        [&](std::size_t position, const auto& cell) { std::ranges::copy(cell, of_row(position).begin()); },
        [&](std::size_t position, const auto& other) {
          const auto mine = of_row(position);
          return mine.empty() || other.empty() || std::ranges::equal(mine, other);
        });
    if (!status) return status.errors();
    return values;
  }

 private:
  static constexpr std::string_view kClockEnded = "clock_ended";

  /// The marks of rows that a clock ended. Rows of which one copy has it are not compared from now on.
  Result<std::vector<std::int64_t>> gather_marks(const std::string& path) {
    std::vector<std::int64_t> marks(rows_, -1);
    exempt_.assign(rows_, false);
    const auto& sources = files_.sources();
    for (std::size_t s = 0; s < sources.size(); ++s) {
      const auto column = files_.template read<std::vector<std::int64_t>>(s, path, true);
      if (!column) return column.errors();
      if (!*column) continue;
      for (const auto& [row, position] : sources[s].chosen) marks[position] = (**column)[row];
      for (const auto* rows : {&sources[s].chosen, &sources[s].repeated})
        for (const auto& [row, position] : *rows)
          if ((**column)[row] == 1) exempt_[position] = true;
    }
    return marks;
  }

  /// `read` gives the column of a file, `put` sets the cell of a row of the result, and `same` compares it with
  /// another. Rows of files without the column get the cell `absent`.
  template <class Read, class Cell, class Put, class Same>
  Status gather_cells(const std::string& path, bool compared, const Read& read, const Cell& absent, const Put& put,
                      const Same& same) {
    const auto& sources = files_.sources();
    std::vector<std::vector<decltype(kept(absent))>> repeated(sources.size());
    for (std::size_t s = 0; s < sources.size(); ++s) {
      const auto column = read(s);
      if (!column) return column.errors();
      for (const auto& [row, position] : sources[s].chosen) put(position, *column ? cell_at(**column, row) : absent);
      if (!compared || !*column) continue;
      repeated[s].reserve(sources[s].repeated.size());
      for (const auto& [row, position] : sources[s].repeated) repeated[s].push_back(kept(cell_at(**column, row)));
    }
    for (std::size_t s = 0; s < sources.size(); ++s)
      for (std::size_t i = 0; i < repeated[s].size(); ++i)
        if (const auto& place = sources[s].repeated[i];
            (exempt_.empty() || !exempt_[place.second]) && !same(place.second, repeated[s][i]))
          return files_.differs(s, place, path);
    return success();
  }

  Files& files_;
  std::size_t rows_;
  std::vector<bool> exempt_;  ///< by row of the result, once marks are gathered
};

}  // namespace tenex::store
