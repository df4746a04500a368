// The results of several studies in one file, for analyses that compare them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// What merge_studies() wrote.
struct StudiesReport {
  std::size_t rows = 0;
  std::size_t failed = 0;    ///< rows whose status is neither ok, over_npu_memory nor pruned
  std::size_t repeated = 0;  ///< rows left out because another one with the same key was chosen
};

/// Merges the result files `files`, in their order, into `out`, a result file like any other. It writes one column at a
/// time, atomically. A key that several files have gets one row: of ok rows the first that has the most outputs, else
/// the first row. The variable `study_number` says which file a row is from (1 is the first) and `study_point` its
/// index there; the attributes `study_2`, `study_3`, ... keep the other studies' texts beside `study`. The front
/// `pareto` is over all rows where the studies that have one name the same objectives, else each study's own. Errors:
/// not readable, disk full (environment); not a result of tenex, of a newer schema, of different physics (input); two
/// ok rows of one key that differ in a result column (environment: a defect, named with key and column). Memory: the
/// image of `out`, one column, and some 50 bytes per row.
[[nodiscard]] Result<StudiesReport> merge_studies(const std::filesystem::path& out,
                                                  const std::vector<std::filesystem::path>& files);

}  // namespace tenex
