// Committer: the one thread that writes a rank's results, so that neither evaluation nor messages wait for a disk.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "coordinator/engine.hpp"
#include "tenex/design/study.hpp"
#include "tenex/store/store.hpp"

namespace tenex {

/// Owns the rank's ShardWriter and writes schedule files. Thread-safe.
class Committer {
 public:
  /// `study` must outlive it. Starts the thread. Rows are flushed by the writer's own rules, and when none came for 30
  /// s.
  Committer(const Study& study, std::filesystem::path dir, ShardWriter writer);
  /// Flushes (unless a write failed before) and joins.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  /// Points that may wait for the writer: some 16 MiB of rows without entries per link, chunk or group.
  static constexpr std::size_t most_waiting = 16'384;

  /// Takes a finished point. One that carries a schedule holds its caller until the schedule is on disk, so that its
  /// memory stays planned; and where points come faster than they are written, the caller waits until fewer do.
  void put(FinishedPoint point);

  /// Points that were put and not taken by the writer yet.
  [[nodiscard]] std::size_t waiting() const;

  /// Notes in the journal that this point begins, and waits until that is durable (or a write has failed: then the run
  /// ends anyway).
  void announce(std::uint32_t point);

  /// Notes in the journal that the point ended another process by its own fault; durable when it returns, as above.
  void note_crash(std::uint32_t point, const std::string& reason);

  /// The open journal, for the crash handler. Valid until the committer ends.
  [[nodiscard]] int journal_descriptor() const;

  /// Asks for a commit of all rows put so far and waits for it at most until `deadline`; whether it is done (without
  /// error).
  bool flush_until(std::chrono::steady_clock::time_point deadline);
  /// Commits everything. Errors as of ShardWriter and write_schedule_file, the first that came.
  [[nodiscard]] Status finish();
  /// Whether a write failed: nothing further is written.
  [[nodiscard]] bool failed() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenex
