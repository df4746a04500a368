// The progress that a run reports while it goes on: DIR/progress.toml, for `tenex status` in another shell.
//
// Journals and shards hold what is durable. This file holds the rest: which points run and for how long, which rows
// wait for their commit, how much of the work is done. Rank 0 rewrites it about every second and removes it when the
// run ends. It is not part of the result: only `tenex status` reads it, it is never synced, and nothing fails where it
// is missing, torn or not writable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenex/base/hash.hpp"

namespace tenex {

/// A running point.
struct RunningNote {
  Digest key;
  std::uint32_t rank = 0;
  std::uint32_t threads = 1;
  double seconds = 0;       ///< since it began
  double left_seconds = 0;  ///< expected time until it ends
};

struct RunProgress {
  std::uint32_t incarnation = 0;
  std::uint64_t finished = 0;  ///< points, with those of earlier runs and those that wait for their commit
  double fraction = -1;        ///< of the work, in [0, 1]; negative: not known
  double seconds_left = -1;    ///< of the run; negative: not known
  bool draining = false;       ///< no further point begins
  std::string phase;           ///< what the run does while it evaluates no points, for people; empty: it evaluates
  std::vector<RunningNote> running;
};

/// The last report and its age by this host's clock. Empty where there is no such file or it cannot be read as one.
struct ToldProgress {
  RunProgress progress;
  double age_seconds = 0;
};
[[nodiscard]] std::optional<ToldProgress> read_run_progress(const std::filesystem::path& dir);

/// Writes the file on its own thread, so that a slow file system does not delay its caller. Used by one thread.
class ProgressFile {
 public:
  explicit ProgressFile(std::filesystem::path dir);
  /// Ends the thread and removes the file.
  ~ProgressFile();
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;

  /// Returns at once. Of several calls during one write, the last one's progress is written next.
  void put(RunProgress progress);

 private:
  class Writer;
  std::filesystem::path dir_;
  std::unique_ptr<Writer> writer_;  ///< from the first put() on
};

}  // namespace tenex
