// The types that hold a file's column of each kind, and what all of them can do.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <fmt/core.h>

#include "store/open_result.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex::store {

/// Calls f<Column>() with the type of columns of this kind: a vector of numbers, TextColumn or ListColumn.
template <class F>
auto with_type_of(MetricColumn::Kind kind, const F& f) {
  switch (kind) {
    case MetricColumn::Kind::flags:
      return f.template operator()<std::vector<std::int8_t>>();
    case MetricColumn::Kind::real:
      return f.template operator()<std::vector<double>>();
    case MetricColumn::Kind::text:
      return f.template operator()<TextColumn>();
    case MetricColumn::Kind::list:
      return f.template operator()<ListColumn>();
    case MetricColumn::Kind::integer:
      break;
  }
  return f.template operator()<std::vector<std::int64_t>>();
}

/// The kind of metrics that are stored as this setting is.
[[nodiscard]] inline MetricColumn::Kind kind_of(const SettingColumn& setting) {
  return setting.kind == SettingColumn::Kind::integer ? MetricColumn::Kind::integer
         : setting.kind == SettingColumn::Kind::real  ? MetricColumn::Kind::real
         : setting.kind == SettingColumn::Kind::list  ? MetricColumn::Kind::list
                                                      : MetricColumn::Kind::text;
}

template <class T>
T cell_at(const std::vector<T>& column, std::size_t row) {
  return column[row];
}
inline std::string_view cell_at(const TextColumn& column, std::size_t row) { return column.at(row); }
inline std::span<const std::int64_t> cell_at(const ListColumn& column, std::size_t row) { return column.at(row); }

/// A copy of a cell that outlives its column.
template <class T>
requires std::is_arithmetic_v<T> T kept(T number) { return number; }
inline std::string kept(std::string_view text) { return std::string(text); }
inline std::vector<std::int64_t> kept(std::span<const std::int64_t> list) { return {list.begin(), list.end()}; }

template <class Column>
using CellOf = decltype(kept(cell_at(Column(), 0)));
/// The alternative of MetricValue and of SettingCell that holds such a cell.
template <class Column>
using ValueOf = std::conditional_t<std::integral<CellOf<Column>>, std::int64_t, CellOf<Column>>;

template <class Column>
[[nodiscard]] std::size_t rows_of(const Column& column) {
  if constexpr (std::is_arithmetic_v<CellOf<Column>>)
    return column.size();
  else
    return column.rows();
}

/// Reads a column with a cell for each of the file's `rows`. Errors: as ColumnFileReader::read(); (environment) another
/// number of rows, where `file` begins the message.
template <class Column>
[[nodiscard]] Result<Column> read_column(const ColumnFileReader& reader, const std::string& path, std::size_t rows,
                                         const std::string& file = {}) {
  auto column = [&]() -> Result<Column> {
    if constexpr (std::is_same_v<Column, TextColumn>)
      return reader.read_text(path);
    else if constexpr (std::is_same_v<Column, ListColumn>)
      return read_lists(reader, path);
    else
      return read_numbers<CellOf<Column>>(reader, path, rows);
  }();
  if (column && rows_of(*column) != rows)
    return environment_error(fmt::format("{}\"{}\" has {} rows", file, path, rows_of(*column)),
                             fmt::format("{} are expected", rows));
  return column;
}

/// Sets a metric of rows from its column at `path`; `metric` indexes metric_columns(). Errors (input): a flag that this
/// version does not know.
template <class Column>
[[nodiscard]] Status set_column(std::span<Evaluation> rows, std::size_t metric, const Column& column,
                                const std::string& path) {
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const ValueOf<Column> value = kept(cell_at(column, row));  // NOLINT(bugprone-signed-char-misuse): a number
    if constexpr (std::is_same_v<CellOf<Column>, std::int8_t>)
      if (value < 0 || value >= std::ssize(metric_columns()[metric].flags))
        return input_error({}, fmt::format("\"{}\" has the flag {}", path, value), "this version does not know it",
                           "use the version that wrote it");
    set_metric(rows[row], metric, MetricValue(value));
  }
  return success();
}

}  // namespace tenex::store
