// Reads the columns of many shards, a few columns at a time.
//
// A result is gathered column by column, and every column from all shards. An open shard takes about a MiB however
// small it is, so a thousand of them cannot stay open. Opening one costs more than reading a column of it. So each
// opening also reads the columns that will be asked for next, as many as there is memory for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "store/row_selection.hpp"
#include "tenex/evaluate/evaluation.hpp"

namespace tenex::store {

/// A column that will be asked for.
struct WantedColumn {
  using Type = MetricColumn::Kind;
  std::string path;
  Type type = Type::integer;
  bool ragged = false;  ///< has any number of elements per row; otherwise one
};

/// Reads wanted columns ahead. Not thread-safe.
class ShardSet {
 public:
  /// `wanted`: for each shard the columns in the order in which they will be asked for; asking out of turn works, but
  /// is slower. At most `budget` bytes of columns are held, but never fewer than one column.
  ShardSet(const Layout& layout, const Selection& selection, std::vector<WantedColumn> wanted,
           std::size_t budget = kBudget);

  /// The column of a shard; nothing where the shard lacks it. T is int8, int64, double, TextColumn or ListColumn.
  /// Errors: of opening and reading.
  template <class T>
  [[nodiscard]] Result<std::optional<T>> take(std::size_t shard, const std::string& path);

  /// How often a shard was opened.
  [[nodiscard]] std::size_t opened() const { return opened_; }

 private:
  static constexpr std::size_t kBudget = std::size_t{32} << 20;
  using Values = std::variant<std::monostate, std::vector<std::int8_t>, std::vector<std::int64_t>, std::vector<double>,
                              TextColumn, ListColumn>;
  /// Columns held of one shard, of the wanted ones from `next` on.
  struct Held {
    std::size_t next = 0;
    std::deque<Values> columns;
  };

  [[nodiscard]] Result<ColumnFileReader> open(std::size_t shard);
  template <class T>
  [[nodiscard]] static Result<Values> read(const ColumnFileReader& reader, const std::string& path);
  [[nodiscard]] Status read_ahead(std::size_t shard, Held& held);

  const Layout& layout_;
  const Selection& selection_;
  std::vector<WantedColumn> wanted_;
  std::size_t budget_of_row_ = 0;  ///< a row's share of the budget in bytes
  std::vector<Held> held_;         ///< per shard
  std::size_t opened_ = 0;
};

}  // namespace tenex::store
