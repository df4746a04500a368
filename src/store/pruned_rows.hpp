// Rows of points that a search left out, and whether they hold in the study at hand.
//
// A point is pruned by comparison with others of its study, so in another study the row says nothing and the point
// counts as not done, although it is the same point. The row's reason ends with the stamp of its study
// (search_stamp()).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex::store {

[[nodiscard]] constexpr bool is_pruned(std::int8_t status) {
  return status == static_cast<std::int8_t>(PointStatus::pruned);
}

/// For each row of a shard with these statuses: whether it was pruned in another study than this one. Empty where no
/// row is pruned. Errors (environment): damaged. O(rows), and the texts of the reasons where any is pruned.
[[nodiscard]] Result<std::vector<bool>> rows_pruned_elsewhere(const ColumnFileReader& shard,
                                                              const std::vector<std::int8_t>& status,
                                                              const Study& study);

}  // namespace tenex::store
