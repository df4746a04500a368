// Internal to cli: counts of a result folder, with the time that a live run still needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "forecast.hpp"
#include "tenex/design/study.hpp"
#include "tenex/store/folder_status.hpp"

namespace tenex::cli {

/// The progress of one rank of the last run.
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
  double seconds = -1;       ///< time for which it has run; negative: not known
  double left_seconds = -1;  ///< expected time until it ends; negative: not known
};

/// All numbers that are printed.
struct Overview {
  std::size_t points = 0;  ///< of the folder's slice
  std::size_t done = 0;
  std::size_t finished = 0;  ///< done points, and points whose rows wait for their commit according to the run's report
  std::size_t failed = 0;
  std::size_t pruned = 0;
  std::size_t quarantined = 0;
  std::vector<BegunPoint> running;  ///< longest time left first; points of unknown times may be finished
  std::vector<AnnouncedPoint> interrupted;
  std::vector<RankTally> ranks;
  double points_per_second = 0;
  Forecast left;
  double fraction = -1;   ///< of a live run's work; negative: not known
  bool draining = false;  ///< no further point begins
  std::string phase;      ///< what the run does while it evaluates no points; empty: it evaluates
  bool told = false;      ///< the run itself has reported just now
};

/// Counts the points of a folder's status. Points that were begun are running if the run is live, else they were
/// interrupted. O(points of the study).
[[nodiscard]] Overview overview_of(const FolderStatus& status, const Study& study);

/// The best row by one measure.
struct Best {
  const char* measure;  ///< "efficiency", "algbw_bytes_per_s", "training_time_ps" or "perf_per_cost_per_s_usd"
  double value;
  const CommittedRow* row;  ///< a row of the FolderStatus
};
/// The best row by every measure that some row has. Only rows that are ok compete; the first of equal ones wins.
[[nodiscard]] std::vector<Best> best_rows(const FolderStatus& status);

}  // namespace tenex::cli
