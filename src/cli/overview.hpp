// Internal to cli: a result folder counted, with the time that a live run still needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "forecast.hpp"
#include "tenex/design/study.hpp"
#include "tenex/store/folder_status.hpp"

namespace tenex::cli {

/// What the last run has done, by rank.
struct RankTally {
  RankPresence rank;
  std::size_t rows = 0;
  std::int64_t last_unix_ms = 0;
  std::size_t running = 0;
  double points_per_second = 0;
};

/// A point that has begun and has no row.
struct BegunPoint {
  AnnouncedPoint point;
  double seconds = -1;       ///< for which it has run; negative: not known
  double left_seconds = -1;  ///< that it is expected to take yet; negative: not known
};

/// All that is printed, counted.
struct Overview {
  std::size_t points = 0;  ///< of the folder's slice
  std::size_t done = 0;
  std::size_t finished = 0;  ///< the done, and those whose rows wait for their commit as far as the run has told
  std::size_t failed = 0;
  std::size_t pruned = 0;
  std::size_t quarantined = 0;
  std::vector<BegunPoint> running;  ///< longest left first; those of unknown times may be finished
  std::vector<AnnouncedPoint> interrupted;
  std::vector<RankTally> ranks;
  double points_per_second = 0;
  Forecast left;
  double fraction = -1;   ///< of the work of a live run; negative: not known
  bool draining = false;  ///< no further point begins
  std::string phase;      ///< what goes on where no points are evaluated; empty: they are
  bool told = false;      ///< by the run itself, just now
};

/// Counts what a look at the folder has found. What a live run has begun is running; what a run that is over has begun
/// was interrupted. O(points of the study).
[[nodiscard]] Overview overview_of(const FolderStatus& status, const Study& study);

/// A row that is ahead of all others by some measure.
struct Best {
  const char* measure;  ///< "efficiency", "algbw_bytes_per_s", "training_time_ps" or "perf_per_cost_per_s_usd"
  double value;
  const CommittedRow* row;  ///< of the status
};
/// The leaders by every measure that some row has. Only rows that are ok compete; the first of equals wins.
[[nodiscard]] std::vector<Best> best_rows(const FolderStatus& status);

}  // namespace tenex::cli
