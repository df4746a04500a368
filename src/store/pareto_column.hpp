// The column `pareto` of a result: which rows are on the front of the study's objectives. Private to this room.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "tenex/design/study.hpp"

namespace tenex::store {

/// A metric of all rows of a result.
using MetricValues = std::variant<std::vector<std::int64_t>, std::vector<double>>;

/// Per row of a result, whose points these are, 1 or 0: rows that are ok, have all of the objectives, and that no such
/// row of the same competition (search.per) dominates. Rows that are equal in all objectives are all 1 or all 0.
/// `objectives` are the columns of search.pareto. O(n log n), for more than two objectives times the front; with `per`
/// every point is built once.
[[nodiscard]] std::vector<std::int8_t> pareto_column(const Study& study, const std::vector<std::uint64_t>& points,
                                                     const std::vector<std::int8_t>& status,
                                                     const std::vector<MetricValues>& objectives);

}  // namespace tenex::store
