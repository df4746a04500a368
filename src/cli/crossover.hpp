// Internal to cli: from which size on which value of a setting is the fastest (`tenex show DIR --crossover algorithm`).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "result_view.hpp"
#include "tenex/base/diagnostic.hpp"

namespace tenex::cli {

/// A line per range of sizes with one winner. Columns: settings that differ, `from` and `to` (the first and the last
/// size), `crossing`, the setting that is compared, `least_lead` and `most_lead`.
struct Crossovers {
  std::vector<ResultColumn> columns;
  std::vector<std::vector<ResultCell>> lines;  ///< a cell per column
};

/// The crossovers of these rows.
///
/// Rows of one network and collective (of equal settings that change these, apart from the size) are compared at each
/// size. Where networks are compared, a bandwidth or latency that follows from them divides nothing: topologies
/// of an equal total per NPU are compared, whatever their links have. Of the rows of one value the fastest counts,
/// whatever its other settings; the value with the least time wins, of equal ones the first in the study. `crossing` is
/// the size at which the times of a winner and of the one before are equal, if both have times at the sizes on both
/// sides: times are taken as linear in between. The leads are the least and the largest share of its time by which the
/// next value is slower, over the sizes of the line. For `algorithm` the value of a row that chose one is what it
/// chose. Rows without a time are left out. Errors (input): a column that is no setting, `size`, or `seed`.
[[nodiscard]] Result<Crossovers> crossovers_of(const ResultView& view, const std::vector<std::size_t>& rows,
                                               const std::string& column);

}  // namespace tenex::cli
