// Reads one committed row with its writer, to evaluate its point again and compare.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluation.hpp"

namespace tenex {

/// A row as the merged result would have it.
struct KeptRow {
  Evaluation evaluation;
  std::uint32_t incarnation = 0;
  std::uint32_t rank = 0;
  std::string host;
  std::string version;       ///< of the tenex that evaluated it
  std::string git_revision;  ///< of the same tenex
  std::int64_t finished_unix_ms = 0;
  /// Outputs that the run was asked to store beside the metrics.
  bool link_bytes = false;
  bool group_times = false;
  bool utilization = false;
  bool arrivals = false;
};

/// The row that merge() would choose for a point of the study; nullopt where none is committed. Only reads, and needs
/// no merged file. Errors: as merge(). O(rows of the folder).
[[nodiscard]] Result<std::optional<KeptRow>> read_committed_row(const std::filesystem::path& dir, const Study& study,
                                                                std::uint64_t point);

/// A column in which two rows of one point differ, with both values as text. Measured columns are never compared, and
/// ragged parts only if `stored` was asked for them. Rows of which one was ended by a clock have no differences.
struct RowDifference {
  std::string column;
  std::string stored;
  std::string other;
};
[[nodiscard]] std::vector<RowDifference> compare_rows(const KeptRow& stored, const Evaluation& other);
/// Number of columns that compare_rows() compares: metrics and ragged parts.
[[nodiscard]] std::size_t compared_columns(const KeptRow& stored);

}  // namespace tenex
