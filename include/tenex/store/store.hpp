// The result folder: shards, journal, merge, resume.
//
// Layout of DIR: study.toml and state.toml (what the folder belongs to), lock, shards/<incarnation>-<rank>-<n>.h5,
// journal/<incarnation>-<rank>.log, schedules/<key>.h5, study.h5 (the merged result). A row is done only when the
// journal says so: a shard is written whole, synced and renamed, then a journal line with a checksum names it. Each
// journal and each shard sequence has one writer. Format page: result_format.md beside this header.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/store/crashes.hpp"
#include "tenex/store/rank_log.hpp"
#include "tenex/store/slice.hpp"

namespace tenex {

/// The schema of the result files that this version writes; readers refuse a newer one.
[[nodiscard]] std::int64_t result_schema();

/// What a folder knows before a run continues it.
struct FolderState {
  std::uint32_t incarnation = 1;  ///< of this run: one more than any before
  std::vector<bool> done;         ///< per point of the study: it has a committed row, or belongs to another slice
  std::size_t done_count = 0;
  std::size_t elsewhere = 0;     ///< of the done: points without a row, because they belong to another slice
  std::size_t failed_count = 0;  ///< of the done: status is neither ok, over_npu_memory nor pruned
  std::size_t pruned_count = 0;  ///< of the done: left out by the study's search
  double occupied_seconds = 0;   ///< thread-seconds of the done points' evaluations (seconds times threads)
  /// Points that a writer announced with start() and never committed, ascending.
  std::vector<std::uint64_t> interrupted;
  /// Points without a row that ended processes of earlier runs by their own fault, ascending.
  std::vector<CrashRecord> crashes;
  std::vector<std::string> warnings;  ///< for users: damaged files that do not count, outputs that kept rows lack
};

struct OpenOptions {
  bool extend = false;        ///< accept a folder of another study: points with equal keys keep their rows
  bool retry_failed = false;  ///< rows that are neither ok, over_npu_memory nor pruned count as not done
  std::chrono::milliseconds heartbeat{5'000};  ///< time between two touches of the lock
  Slice slice = {};                            ///< points of other slices count as done
};

/// The folder while a run owns it. Exactly one process per run (rank 0) opens it and holds the lock until destruction.
class ResultFolder {
 public:
  /// Creates or reopens the folder; from then on a thread touches the lock. A point whose row lacks an output that the
  /// study asks for (it was kept from another study) counts as not done. Errors: (environment) not writable, locked by
  /// a live run, damaged; (input) belongs to another study or another physics.
  static Result<ResultFolder> open(const std::filesystem::path& dir, const Study& study, const OpenOptions& options);
  ~ResultFolder();
  ResultFolder(ResultFolder&&) noexcept;
  ResultFolder& operator=(ResultFolder&&) noexcept;

  [[nodiscard]] const FolderState& state() const;
  /// Whether the lock is still held, according to the last heartbeat. Errors (environment): another run took it, the
  /// folder is gone or cannot be written. Cheap.
  [[nodiscard]] Status health() const;

 private:
  class Impl;
  explicit ResultFolder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// A finished point that is to be stored.
struct Row {
  std::uint64_t point = 0;  ///< index in the study
  Evaluation evaluation;
  std::int64_t finished_unix_ms = 0;
};

/// The only writer of one rank's shards and journal. Not thread-safe.
class ShardWriter {
 public:
  /// `study` must outlive it. Errors (environment): the folder cannot be written.
  static Result<ShardWriter> open(const std::filesystem::path& dir, const Study& study, std::uint32_t incarnation,
                                  std::uint32_t rank);
  ~ShardWriter();
  ShardWriter(ShardWriter&&) noexcept;
  ShardWriter& operator=(ShardWriter&&) noexcept;

  /// Takes a row; flushes by itself at 4,096 rows, 8 MiB or max(30 s, 1 % of elapsed). On an error (disk full) the rows
  /// stay pending and nothing half-written is left.
  Status add(Row row);
  /// Announces a risky point. The line is durable on return, so if the point ends the run, the next run knows it.
  Status start(std::uint64_t point);
  /// Notes that the point has ended a process, which could not note it itself, by its own fault. Durable on return.
  /// `reason` holds no space.
  Status note_crash(std::uint64_t point, const std::string& reason);
  /// The open journal, to which a signal handler may append what format_crash_line() makes. Valid as long as the
  /// writer.
  [[nodiscard]] int journal_descriptor() const;
  /// Sets the log in which commits, joined shards and failures are noted from then on.
  void log_to(std::shared_ptr<const RankLog> log);
  /// Commits everything pending: shard first, then journal. Durable on return.
  Status flush();
  /// Commits if the time rule of add() demands it. Call it now and then while no rows come. Cheap when nothing is due.
  Status flush_if_due();
  /// Rows committed by this writer, and rows still pending.
  [[nodiscard]] std::size_t committed() const;
  [[nodiscard]] std::size_t pending() const;

 private:
  class Impl;
  explicit ShardWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// What merge() wrote.
struct MergeReport {
  std::size_t rows = 0;
  std::size_t missing = 0;   ///< points of the study without a committed row: absent from study.h5
  std::size_t failed = 0;    ///< rows whose status is neither ok, over_npu_memory nor pruned
  std::size_t pruned = 0;    ///< rows of points that the study's search left out
  std::size_t repeated = 0;  ///< rows found in more than one shard (bitwise equal in every result column)
  std::filesystem::path file;
  std::vector<std::string> warnings;  ///< damaged shards, whose rows count as missing
};

/// Writes DIR/study.h5 from the committed rows, in study order, one column at a time, atomically and idempotently.
/// Result columns do not depend on ranks, threads or interruptions; the measured ones and /runs do. Among several rows
/// of one key an ok row wins, the first that has the outputs of the study; without an ok row the latest incarnation
/// wins (a retried failure). Errors: (environment) not a result folder, not writable, disk full; two rows of one key
/// that differ in a result column (non-determinism, a defect, named with key and column). Memory: the file's image and
/// one column.
[[nodiscard]] Result<MergeReport> merge(const std::filesystem::path& dir, const Study& study);

/// The stored text of the study that a folder belongs to. Errors (environment, input): no such folder, not a tenex
/// folder.
[[nodiscard]] Result<std::string> read_study_text(const std::filesystem::path& dir);
/// The study itself, enumerated from the stored text and the folder's own copies of its machine files, so it means the
/// same after the folder was moved. Errors: as above, and those of parse_study().
[[nodiscard]] Result<Study> read_stored_study(const std::filesystem::path& dir, Vocabulary vocabulary);

/// The merged rows of a result file, for summaries and comparisons.
struct ResultTable {
  std::vector<std::int64_t> point;  ///< index in the study
  std::vector<std::string> key;
  std::vector<std::int64_t> seed;                  ///< its 64 bits read as two's complement
  std::vector<std::vector<std::string>> settings;  ///< per point, in the order of setting_columns(), as cell_text()
  std::vector<Evaluation> rows;
  std::vector<std::int8_t> pareto;  ///< per point: 1 on the study's front; empty: it has none
};
/// Errors: not readable or damaged (environment), not a result of tenex or of a newer schema (input). O(cells) memory.
[[nodiscard]] Result<ResultTable> read_result(const std::filesystem::path& file);

/// Which columns visit_rows() reads.
struct ColumnChoice {
  std::vector<std::string_view> settings;  ///< of kind text
  std::vector<std::string_view> metrics;   ///< of any kind but text and list
};
/// Calls `visit` with every merged row in order. It passes the texts of the chosen settings, and an Evaluation in which
/// only the chosen metrics are set. Columns of training points may be missing: then their texts are empty and their
/// metrics as in a new Evaluation. Errors: as read_result(). Memory: the chosen settings, and 65,536 cells per chosen
/// metric.
[[nodiscard]] Status visit_rows(
    const std::filesystem::path& file, const ColumnChoice& choice,
    const std::function<void(const std::vector<std::string_view>& settings, const Evaluation& row)>& visit);

}  // namespace tenex
