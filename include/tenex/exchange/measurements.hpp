// Measured times of collectives, as benchmarks print them: nccl-tests' and rccl-tests' text and JSON, OSU's text.
//
// A log may hold several tables, such as one per number of nodes. Sizes are S as tenex has it (the total over ranks for
// All-Gather, Reduce-Scatter and All-to-All). What is read of each format: include/tenex/exchange/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/exchange/machine_import.hpp"

namespace tenex {

/// What the user says of tables that do not say it themselves.
struct LogOptions {
  std::optional<CollectiveKind> collective = std::nullopt;
  std::size_t ranks = 0;  ///< 0: not said
};

/// A size and its times.
struct MeasuredRow {
  Place place;
  Bytes size;
  double out_of_place_us = std::numeric_limits<double>::quiet_NaN();  ///< of one call; NaN: not measured
  double in_place_us = std::numeric_limits<double>::quiet_NaN();
  std::int64_t wrong = -1;  ///< wrong results of both; negative: not checked
};

/// The rows of one run, in the order of the log.
struct MeasuredTable {
  Place place;  ///< of its first row
  CollectiveKind collective = CollectiveKind::all_reduce;
  std::size_t ranks = 0;
  std::size_t hosts = 0;  ///< 0: the log does not say
  std::vector<MeasuredRow> rows;
};

/// A log as it was read.
struct MeasurementLog {
  std::string format;  ///< "nccl-tests text", ...
  std::vector<MeasuredTable> tables;
  std::vector<Diagnostic> skipped = {};  ///< rows that cannot be read, with the reason; the first 100
  std::size_t skipped_rows = 0;          ///< all of them
  std::vector<std::string> notes = {};   ///< what was concluded and not read
};

/// Reads a log. Text has at most 16 MiB, JSON 1 MiB. Errors (input): no table, NUL bytes, JSON that ends too early or
/// is not well formed; a table whose collective or number of ranks neither it nor the options say, with the option;
/// (unsupported) a test that is no collective. O(length).
[[nodiscard]] Result<MeasurementLog> read_measurements(const SourceText& source, const LogOptions& options);

}  // namespace tenex
