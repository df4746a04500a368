// The column `pareto` of a result: which rows are on the front of the study's objectives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tenex/design/search_choice.hpp"
#include "tenex/files/column_file.hpp"

namespace tenex::store {

/// A metric of all rows of a result.
using MetricValues = std::variant<std::vector<std::int64_t>, std::vector<double>>;

/// What a front is between, and which rows compete: those that agree in the settings `per`.
struct Front {
  std::vector<Objective> objectives;          ///< columns that are numbers
  std::vector<std::string> per;               ///< names of setting_columns()
  bool operator==(const Front& other) const;  ///< whatever the order
};

/// Per row of a result 1 or 0: rows that are ok, have all of the objectives, and that no such row of the same
/// competition dominates. Rows that are equal in all objectives are all 1 or all 0. `objectives` are the columns of
/// those of the front, `competition` names a row's; it is only asked where there is more than one. O(n log n), for more
/// than two objectives times the front.
[[nodiscard]] std::vector<std::int8_t> pareto_column(const Front& front,
                                                     const std::function<std::string(std::size_t row)>& competition,
                                                     const std::vector<std::int8_t>& status,
                                                     const std::vector<MetricValues>& objectives);

/// Writes the column with what it means, in words and as attributes that read_front() reads.
void write_front(ColumnFileWriter& file, const Front& front, const std::vector<std::int8_t>& values);
/// What the column of a result file means; nothing where it does not say, or names what this version does not know.
[[nodiscard]] std::optional<Front> read_front(const ColumnFileReader& file);

}  // namespace tenex::store
