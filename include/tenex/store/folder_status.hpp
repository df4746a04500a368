// The status of a result folder while a run writes it: who holds it, which rows are committed, which points were begun.
//
// These functions only read: they take no lock, write no file, and never disturb the run. Journals may end in torn
// lines and shards may be joined during the reading. What cannot be read does not count, and what has vanished is
// looked for again. Rows that a rank has finished but not committed yet (up to half a minute of them) are not seen; the
// run's own last report (run_progress.hpp) counts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/store/crashes.hpp"
#include "tenex/store/run_progress.hpp"
#include "tenex/store/slice.hpp"

namespace tenex {

/// What a folder says it belongs to.
struct FolderIdentity {
  std::int64_t physics = 0;
  std::string study_name;
  std::string study_digest;
  std::string version;            ///< of the tenex that opened the folder last
  std::uint32_t incarnation = 0;  ///< of the last run
  Slice slice;                    ///< that the last run evaluates
};
/// Errors: not a result folder, of a newer schema (input); damaged (environment).
[[nodiscard]] Result<FolderIdentity> read_identity(const std::filesystem::path& dir);

/// The process that holds the folder.
struct FolderOwner {
  std::string host;
  long pid = 0;
  double heartbeat_age = 0;  ///< seconds, by this host's clock
  bool alive = false;        ///< same host: the process runs; another host: its last heartbeat is at most 30 s old
};

/// A committed row, with the columns that a status needs. Absent numbers as in Evaluation.
struct CommittedRow {
  std::uint64_t point = 0;
  std::uint32_t incarnation = 0;
  std::uint32_t rank = 0;
  PointStatus status = PointStatus::ok;
  std::int64_t finished_unix_ms = 0;
  double evaluation_seconds = 0;
  std::int64_t collective_time_ps = -1;
  std::int64_t training_time_ps = -1;
  double efficiency = std::numeric_limits<double>::quiet_NaN();
  double algbw_bytes_per_s = std::numeric_limits<double>::quiet_NaN();
  double perf_per_cost = std::numeric_limits<double>::quiet_NaN();
};

/// A point whose start was announced and that has no row.
struct AnnouncedPoint {
  std::uint64_t point = 0;
  std::uint32_t incarnation = 0;  ///< of the last announcement
  std::uint32_t rank = 0;
};

/// A rank of the last run.
struct RankPresence {
  std::uint32_t rank = 0;
  std::string host;  ///< empty before its first commit
};

struct FolderStatus {
  FolderIdentity identity;
  std::optional<FolderOwner> owner;
  std::int64_t run_began_unix_ms = 0;     ///< when the last run opened the folder, by the file server's clock
  std::vector<bool> mine;                 ///< per point of the study: whether the folder's slice has it
  std::vector<CommittedRow> rows;         ///< the row of each point that counts, ascending by point
  std::vector<AnnouncedPoint> announced;  ///< ascending by point
  std::vector<CrashRecord> crashes;       ///< every point that ended a process, rows or not
  std::vector<RankPresence> ranks;        ///< of the last run, ascending
  std::vector<std::string> warnings;      ///< damaged files, which do not count
  std::optional<ToldProgress> told;       ///< by the last run, if it is still at work

  /// Whether a run is at work in the folder now.
  [[nodiscard]] bool is_live() const { return owner && owner->alive; }
};

/// Reads the status of a folder of this study. Among several rows of a point an ok one counts, else the latest. Errors:
/// as read_identity(); the folder cannot be read (environment). O(rows) time and memory.
[[nodiscard]] Result<FolderStatus> read_folder_status(const std::filesystem::path& dir, const Study& study);

}  // namespace tenex
