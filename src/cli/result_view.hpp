// Internal to cli: the rows of a result as typed cells by column, for tables and conditions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/spec/expression.hpp"
#include "tenex/store/store.hpp"

namespace tenex::cli {

/// A value of a row; monostate: absent. Quantities are in integer SI units.
using ResultCell = std::variant<std::monostate, std::int64_t, double, std::string>;

/// A column of a result: a setting, a metric, "key", "seed" or "pareto". Or one of a table made of it (`computed`).
struct ResultColumn {
  enum class Source : std::uint8_t { key, seed, pareto, setting, metric, computed };
  std::string_view name;
  std::string_view units;
  Source source = Source::key;
  std::size_t index = 0;  ///< of its table

  /// The name without its unit, for tables whose values have theirs: "busbw" of "busbw_bytes_per_s".
  [[nodiscard]] std::string_view short_name() const;
};

/// The rows of a result file.
class ResultView {
 public:
  explicit ResultView(ResultTable table);

  [[nodiscard]] std::size_t rows() const { return table_.rows.size(); }
  [[nodiscard]] const ResultTable& table() const { return table_; }
  [[nodiscard]] const std::vector<ResultColumn>& columns() const { return columns_; }
  /// The column of a metric, an index in metric_columns().
  [[nodiscard]] const ResultColumn& metric(std::size_t index) const { return columns_[first_metric_ + index]; }
  /// The column with this name, or with this name and a unit ("collective_time"). Errors (input) at `place`: unknown.
  [[nodiscard]] Result<ResultColumn> find(std::string_view name, const Place& place) const;
  [[nodiscard]] ResultCell cell(const ResultColumn& column, std::size_t row) const;
  /// The rows for which a condition holds, in order. A row that lacks a value of the condition is left out. Errors
  /// (input): a condition that cannot be evaluated, an unknown name.
  [[nodiscard]] Result<std::vector<std::size_t>> select(std::string_view condition, const Place& place) const;

 private:
  [[nodiscard]] std::optional<ExpressionValue> value_of(std::string_view name, std::size_t row) const;

  ResultTable table_;
  std::vector<ResultColumn> columns_;
  std::size_t first_metric_ = 0;
};

/// A cell for people: rounded times and rates, sizes in their shortest exact unit (which is the one they were written
/// in), "-" where absent.
[[nodiscard]] std::string shown(const ResultColumn& column, const ResultCell& cell);
/// A cell for programs: the exact number, "" where absent.
[[nodiscard]] std::string exact(const ResultCell& cell);

}  // namespace tenex::cli
