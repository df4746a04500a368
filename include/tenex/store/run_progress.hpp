// What a run tells of itself while it goes on: DIR/progress.toml, for `tenex status` in another shell.
//
// Journals and shards tell what is durable; this file tells what is not: which points run and for how long, what is
// finished and waits for its commit, how much of the work is done. Rank 0 writes it anew every second or so and takes
// it away when the run ends. It is no part of the result: nothing reads it but a look at the folder, it is never
// synced, and where it is missing, torn or cannot be written nothing else is affected.
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

/// A point that runs.
struct RunningNote {
  Digest key;
  std::uint32_t rank = 0;
  std::uint32_t threads = 1;
  double seconds = 0;       ///< since it began
  double left_seconds = 0;  ///< that it is expected to take yet
};

struct RunProgress {
  std::uint32_t incarnation = 0;
  std::uint64_t finished = 0;  ///< points, those of earlier runs and those that wait for their commit included
  double fraction = -1;        ///< of the work, in [0, 1]; negative: not known
  double seconds_left = -1;    ///< of the run; negative: not known
  bool draining = false;       ///< no further point begins
  std::string phase;           ///< what goes on where no points are evaluated, for people; empty: they are
  std::vector<RunningNote> running;
};

/// What was told last, and how long ago by this host's clock. Empty where there is nothing that reads as such a file.
struct ToldProgress {
  RunProgress progress;
  double age_seconds = 0;
};
[[nodiscard]] std::optional<ToldProgress> read_run_progress(const std::filesystem::path& dir);

/// Writes the file on a thread of its own, so that no slow file system holds up its caller. Used by one thread.
class ProgressFile {
 public:
  explicit ProgressFile(const std::filesystem::path& dir);
  /// Ends the thread and takes the file away.
  ~ProgressFile();
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;

  /// Returns at once. Of several that come while one is being written the last is written.
  void put(RunProgress progress);

 private:
  class Writer;
  std::filesystem::path dir_;
  std::unique_ptr<Writer> writer_;  ///< from the first put() on
};

}  // namespace tenex
