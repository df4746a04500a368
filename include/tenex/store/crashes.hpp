// The traces of a run that ended without a message: which points were committed, and which point was at fault.
//
// A process that is about to die of its own fault (a segmentation fault and the like) appends one last line to its
// journal, from a signal handler: `crash <reason> <key of the point>`. Rank 0 of the same run, or the next run, counts
// these lines; a point with too many of them is not tried again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/study.hpp"

namespace tenex {

/// A point with this many faults, in one run or in several, is given up.
inline constexpr std::uint32_t most_crashes = 2;

/// How often a point has ended the process that evaluated it by its own fault.
struct CrashRecord {
  std::uint64_t point = 0;  ///< index in the study
  std::uint32_t times = 0;
  std::string reason;  ///< of the last crash: "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "out_of_memory"
  bool operator==(const CrashRecord&) const = default;
};

/// What one rank of one run has made durable.
struct WriterTrace {
  std::vector<std::uint64_t> committed;   ///< points with a committed row, ascending
  std::size_t not_ok = 0;                 ///< of these, rows whose status is not ok
  std::vector<std::uint64_t> unfinished;  ///< points that were announced and have no row, ascending
  std::vector<CrashRecord> crashes;       ///< by point, ascending
};

/// Reads what rank `rank` of run `incarnation` has written; nothing where it has no journal. The writer should be dead:
/// what a live one writes may be read in part. Shards that are damaged count as not written. Errors (environment): the
/// journal cannot be read. O(rows of the writer).
[[nodiscard]] Result<WriterTrace> read_trace(const std::filesystem::path& dir, const Study& study,
                                             std::uint32_t incarnation, std::uint32_t rank);

/// Writes the journal line of a crash into `buffer` and returns its length, 0 where it does not fit. It allocates
/// nothing and calls only what a signal handler may call. `reason` and `key` hold no space.
[[nodiscard]] std::size_t format_crash_line(std::span<char> buffer, std::string_view reason,
                                            std::string_view key) noexcept;

}  // namespace tenex
