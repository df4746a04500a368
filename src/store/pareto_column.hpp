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

/// The objectives of a front, and the rows that compete: those that agree in the settings `per`.
struct Front {
  std::vector<Objective> objectives;          ///< columns that are numbers
  std::vector<std::string> per;               ///< names of setting_columns()
  bool operator==(const Front& other) const;  ///< the order of the objectives does not matter
};

/// Returns 1 for each row on a front, else 0. A row is on the front if it is ok, has all of the objectives, and no such
/// row of the same competition dominates it. Rows that are equal in all objectives get the same value. `objectives` are
/// the columns of the front's objectives. `competition` names a row's competition; it is called only where there may be
/// more than one. O(n log n); for more than two objectives times the size of the front.
[[nodiscard]] std::vector<std::int8_t> pareto_column(const Front& front,
                                                     const std::function<std::string(std::size_t row)>& competition,
                                                     const std::vector<std::int8_t>& status,
                                                     const std::vector<MetricValues>& objectives);

/// Writes the column with its meaning, in words and as attributes that read_front() reads.
void write_front(ColumnFileWriter& file, const Front& front, const std::vector<std::int8_t>& values);
/// The front that the column of a result file shows; nothing where the file does not say, or names what this version
/// does not know.
[[nodiscard]] std::optional<Front> read_front(const ColumnFileReader& file);

}  // namespace tenex::store
