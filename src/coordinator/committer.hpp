// Committer: one thread writes all results of a rank, so that neither evaluation nor messages wait for a disk.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include "coordinator/point_runner.hpp"
#include "tenex/design/study.hpp"
#include "tenex/store/store.hpp"

namespace tenex {

/// Owns the rank's ShardWriter and writes schedule files. Thread-safe.
class Committer {
 public:
  /// `study` must outlive it. Starts the thread. Rows are flushed by the writer's own rules, and when none has come for
  /// 30 s.
  Committer(const Study& study, std::filesystem::path dir, ShardWriter writer);
  /// Flushes (unless a write has failed) and joins.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  /// Most points that may wait for the writer: some 16 MiB of rows without entries per link, chunk or group.
  static constexpr std::size_t most_waiting = 16'384;

  /// Takes a finished point. The caller waits while too many points wait for the writer. If the point has a schedule
  /// the caller also waits until the schedule is on disk, so that its memory stays planned.
  void put(FinishedPoint point);

  /// Points that were put and that the writer has not taken yet.
  [[nodiscard]] std::size_t waiting() const;

  /// Notes in the journal that this point begins, and returns when the line is durable (or a write has failed, which
  /// ends the run anyway).
  void announce(std::uint32_t point);

  /// Notes in the journal that the point ended another process by its own fault; returns as announce() does.
  void note_crash(std::uint32_t point, const std::string& reason);

  /// The open journal, for the crash handler. Valid until the committer ends.
  [[nodiscard]] int journal_descriptor() const;

  /// Asks for a commit of all rows put so far and waits for it until `deadline` at most; returns whether it is done
  /// without error.
  bool flush_until(std::chrono::steady_clock::time_point deadline);
  /// Commits everything. Errors: the first one of ShardWriter or write_schedule_file.
  [[nodiscard]] Status finish();
  /// Whether a write failed: then nothing more is written.
  [[nodiscard]] bool failed() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenex
