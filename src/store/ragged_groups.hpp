// The groups of entries of which a row has any number: all that shards and results hold of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex::store {

/// A group of entries of a result, and the names of its parts on the format page.
struct Ragged {
  /// Where the result has a part from: shards store it, or it is the number of the entry in its row, or an end of a
  /// link.
  enum class Origin : std::uint8_t { stored, numbered, link_source, link_destination };
  struct Part {
    const char* name = nullptr;
    const char* units = nullptr;
    const char* meaning = nullptr;
    Origin origin = Origin::stored;
    const char* shard = nullptr;  ///< path in shards; it and the two below only for what is stored
    std::int64_t (*get)(const Evaluation& row, std::size_t entry) = nullptr;
    void (*set)(Evaluation& row, std::size_t entry, std::int64_t value) = nullptr;
  };
  const char* group;
  const char* count;  ///< path in shards and in results
  const char* offset;
  std::size_t (*size)(const Evaluation& row);
  void (*resize)(Evaluation& row, std::size_t entries);
  std::vector<Part> parts;
};

/// The ragged groups of a result file, in its order.
[[nodiscard]] const std::vector<Ragged>& ragged_groups();

/// A part of a group in one file: the entries of its rows.
struct RaggedColumn {
  std::vector<std::int64_t> values;
  std::vector<std::int64_t> first;  ///< per row: its first entry
  std::vector<std::int64_t> count;  ///< per row: the number of its entries

  /// Rows whose entries follow each other. nullopt: a count is negative, or they do not sum to the number of values.
  static std::optional<RaggedColumn> in_order(std::vector<std::int64_t> values, std::vector<std::int64_t> count);

  [[nodiscard]] std::span<const std::int64_t> at(std::size_t row) const {
    return std::span(values).subspan(static_cast<std::size_t>(first[row]), static_cast<std::size_t>(count[row]));
  }
};
inline std::span<const std::int64_t> cell_at(const RaggedColumn& column, std::size_t row) { return column.at(row); }

/// Reads a part from a result. Errors: as ColumnFileReader::read(); (environment) offsets and counts name entries that
/// do not exist, where `file` begins the message.
[[nodiscard]] Result<RaggedColumn> read_ragged(const ColumnFileReader& reader, const std::string& file,
                                               const Ragged& ragged, const Ragged::Part& part, std::size_t rows);

/// Fills the entries of rows from the columns of all stored parts, which `read` gives. Errors: those of `read`.
[[nodiscard]] Status set_entries(
    std::vector<Evaluation>& rows,
    const std::function<Result<RaggedColumn>(const Ragged& ragged, const Ragged::Part& part)>& read);

}  // namespace tenex::store
