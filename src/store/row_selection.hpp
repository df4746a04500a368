// Chooses the stored rows that the merged result has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "store/journal.hpp"
#include "store/shard.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex::store {

/// (row of a file, row of the result)
using RowPlace = std::pair<std::uint32_t, std::uint32_t>;

/// A committed shard and the rows that the result takes from it.
struct ShardRows {
  WriterName writer;
  Commit commit;
  ShardOrigin origin;
  std::vector<RowPlace> chosen;    ///< by row
  std::vector<RowPlace> repeated;  ///< rows that must equal the chosen one
  std::size_t rows = 0;
};

/// The rows of a result, in study order, and their shards.
struct Selection {
  std::vector<ShardRows> shards;
  std::vector<std::uint64_t> points;  ///< per position: index in the study
  std::size_t failed = 0;
  std::size_t pruned = 0;
  std::size_t repeated = 0;
  std::vector<std::string> warnings;
};

/// Reads journals, keys and statuses. Among several rows of one key an ok row wins: the first in (incarnation, rank,
/// number, row) of those that lack the fewest outputs of the study. Without an ok row the latest incarnation wins,
/// because a retry may have other limits. Rows that the same rule could have chosen must agree: ok rows with each
/// other, other rows within their incarnation.
[[nodiscard]] Result<Selection> select_rows(const Layout& layout, const Study& study);

// Rows of points that a search left out, and whether they hold in the study at hand.
//
// A point is pruned by comparison with others of its study, so in another study the row says nothing and the point
// counts as not done, although it is the same point. The row's reason ends with the stamp of its study
// (search_stamp()).

[[nodiscard]] constexpr bool is_pruned(std::int8_t status) {
  return status == static_cast<std::int8_t>(PointStatus::pruned);
}

/// For each row of a shard with these statuses: whether it was pruned in another study than this one. Empty where no
/// row is pruned. Errors (environment): damaged. O(rows), and the texts of the reasons where any is pruned.
[[nodiscard]] Result<std::vector<bool>> rows_pruned_elsewhere(const ColumnFileReader& shard,
                                                              const std::vector<std::int8_t>& status,
                                                              const Study& study);

}  // namespace tenex::store
