// Internal to cli: rows of a result summed up over the values of one column, for studies of single failures.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "result_view.hpp"

namespace tenex::cli {

/// A cell with the column that says how it is shown; the name is its own.
struct NamedCell {
  std::string name;
  ResultColumn column;
  ResultCell cell;
};

/// One line for all rows that differ in `over` alone: the other settings that differ between the rows, the number of
/// rows and of those without a time, the least, mean and worst collective time, the least efficiency, and the values of
/// `over` in the worst row and in the first row without a time. In the order of their first rows. O(rows * columns).
[[nodiscard]] std::vector<std::vector<NamedCell>> lines_over(const ResultView& view,
                                                             const std::vector<std::size_t>& rows,
                                                             const ResultColumn& over);

}  // namespace tenex::cli
