// Reads the journals first, then the keys and a few columns of every shard that they name.
#include "tenex/store/folder_status.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "store/asked_outputs.hpp"
#include "store/folder_layout.hpp"
#include "store/folder_lock.hpp"
#include "store/journal.hpp"
#include "store/row_selection.hpp"
#include "store/shard.hpp"

namespace tenex {
namespace {

using store::Layout;

/// Reads columns of one shard into rows; the first failure is kept.
class ShardGlimpse {
 public:
  ShardGlimpse(const ColumnFileReader& shard, std::size_t rows) : shard_(shard), rows_(rows) {}

  /// Sets `field` of every row from a column. Does nothing where the shard lacks the column (no point of its study
  /// trains).
  template <class T, class Field>
  void fill(const std::string& path, Field field) {
    if (!status_ || !shard_.has(path)) return;
    const auto values = shard_.read<T>(path, 0, rows_.size());
    if (!values) {
      status_ = values.errors();
      return;
    }
    for (std::size_t row = 0; row < rows_.size(); ++row) field(rows_[row], (*values)[row]);
  }
  [[nodiscard]] Status status() const { return status_; }
  std::vector<CommittedRow>& rows() { return rows_; }

 private:
  const ColumnFileReader& shard_;
  std::vector<CommittedRow> rows_;
  Status status_ = success();
};

/// The rows of a shard that belong to the study and have the outputs that it asks for.
Result<std::vector<CommittedRow>> read_committed_rows(const Layout& layout, const store::WriterName& writer,
                                                      const store::Commit& commit, const Study& study,
                                                      std::string& host) {
  using store::columns::metric;
  const auto shard = store::open_shard(layout, commit);
  if (!shard) return shard.errors();
  const auto keys = store::read_keys(*shard, commit.shard);
  if (!keys) return keys.errors();
  const auto outputs = store::read_outputs(*shard, keys->size());
  if (!outputs) return outputs.errors();
  const auto origin = store::read_origin(*shard);
  if (!origin) return origin.errors();
  host = origin->host;
  if (origin->physics != physics_version) return std::vector<CommittedRow>();  // merge() warns of it
  ShardGlimpse glimpse(*shard, keys->size());
  using Row = CommittedRow;
  glimpse.fill<std::int8_t>(metric("status"), [](Row& row, auto v) { row.status = static_cast<PointStatus>(v); });
  glimpse.fill<std::int64_t>(store::columns::kFinished, [](Row& row, auto v) { row.finished_unix_ms = v; });
  glimpse.fill<double>(metric("evaluation_seconds"), [](Row& row, auto v) { row.evaluation_seconds = v; });
  glimpse.fill<std::int64_t>(metric("collective_time_ps"), [](Row& row, auto v) { row.collective_time_ps = v; });
  glimpse.fill<std::int64_t>(metric("training_time_ps"), [](Row& row, auto v) { row.training_time_ps = v; });
  glimpse.fill<double>(metric("efficiency"), [](Row& row, auto v) { row.efficiency = v; });
  glimpse.fill<double>(metric("algbw_bytes_per_s"), [](Row& row, auto v) { row.algbw_bytes_per_s = v; });
  glimpse.fill<double>(metric("perf_per_cost_per_s_usd"), [](Row& row, auto v) { row.perf_per_cost = v; });
  if (!glimpse.status()) return glimpse.status().errors();
  std::vector<std::int8_t> statuses;
  for (const auto& row : glimpse.rows()) statuses.push_back(static_cast<std::int8_t>(row.status));
  const auto elsewhere = store::rows_pruned_elsewhere(*shard, statuses, study);
  if (!elsewhere) return elsewhere.errors();
  std::vector<CommittedRow> rows;
  for (std::size_t i = 0; i < keys->size(); ++i) {
    if (!elsewhere->empty() && (*elsewhere)[i]) continue;
    auto row = glimpse.rows()[i];
    const auto point = study.points.find((*keys)[i]);
    if (!point) continue;
    if (row.status == PointStatus::ok && store::lacking(store::asked_outputs(study, *point), (*outputs)[i]) != 0)
      continue;  // kept from another study, to be evaluated again
    row.point = *point;
    row.incarnation = writer.incarnation;
    row.rank = writer.rank;
    rows.push_back(row);
  }
  return rows;
}

/// Keeps the row of each point that counts. `rows` are in the order of their writers.
void keep_one_per_point(std::vector<CommittedRow>& rows) {
  std::ranges::stable_sort(rows, {}, &CommittedRow::point);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool first = kept == 0 || rows[kept - 1].point != rows[i].point;
    if (first)
      rows[kept++] = rows[i];
    else if (!is_final(rows[kept - 1].status))
      rows[kept - 1] = rows[i];
  }
  rows.resize(kept);
}

std::vector<AnnouncedPoint> find_announced(const store::FolderContents& contents, const Study& study,
                                           const std::vector<CommittedRow>& rows) {
  std::map<std::uint64_t, AnnouncedPoint> last;
  for (std::size_t i = 0; i < contents.started.size(); ++i) {
    const auto digest = store::parse_digest(contents.started[i]);
    const auto point = digest ? study.points.find(*digest) : std::nullopt;
    if (!point) continue;
    const auto& writer = contents.starters[i];
    const auto row = std::ranges::lower_bound(rows, *point, {}, &CommittedRow::point);
    const bool done = row != rows.end() && row->point == *point;
    // A failed row of an earlier run does not count for a point that is tried again.
    if (done && (is_final(row->status) || row->incarnation >= writer.incarnation)) continue;
    last[*point] = {*point, writer.incarnation, writer.rank};
  }
  std::vector<AnnouncedPoint> points;
  for (const auto& [key, point] : last) points.push_back(point);
  return points;
}

std::int64_t file_time_ms(const std::filesystem::path& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return 0;
  return static_cast<std::int64_t>(file.st_mtim.tv_sec) * 1'000 + file.st_mtim.tv_nsec / 1'000'000;
}

/// One pass. `vanished` is set when a shard that a journal names was missing: its writer has joined it with others.
Result<FolderStatus> look_once(const Layout& layout, const FolderIdentity& identity, const Study& study,
                               bool& vanished) {
  FolderStatus status;
  status.identity = identity;
  if (const auto lock = store::look_at_lock(layout.lock()))
    status.owner = FolderOwner{lock->host, lock->pid, lock->heartbeat_age, lock->alive};
  status.run_began_unix_ms = file_time_ms(layout.state());
  const auto contents = store::read_journals(layout);
  if (!contents) return contents.errors();
  status.warnings = contents->warnings;
  for (const auto& writer : contents->writers)
    if (writer.incarnation == identity.incarnation) status.ranks.push_back({writer.rank, {}});
  for (const auto& [writer, commit] : contents->live) {
    std::string host;
    const auto rows = read_committed_rows(layout, writer, commit, study, host);
    if (!rows) {
      if (store::is_of_newer_version(rows.errors())) return rows.errors();
      std::error_code error;
      vanished = vanished || !std::filesystem::exists(layout.shard(commit.shard), error);
      status.warnings.push_back(to_string(rows.errors()) + ": its rows do not count");
      continue;
    }
    status.rows.insert(status.rows.end(), rows->begin(), rows->end());
    for (auto& rank : status.ranks)
      if (writer.incarnation == identity.incarnation && rank.rank == writer.rank) rank.host = host;
  }
  keep_one_per_point(status.rows);
  status.announced = find_announced(*contents, study, status.rows);
  status.crashes = store::count_crashes(contents->crashes, study);
  for (std::size_t point = 0; point < study.points.size(); ++point)
    status.mine.push_back(in_slice(identity.slice, point));
  if (status.is_live()) status.told = read_run_progress(layout.dir);
  if (status.told && status.told->progress.incarnation != identity.incarnation) status.told.reset();
  return status;
}

}  // namespace

Result<FolderIdentity> read_identity(const std::filesystem::path& dir) {
  const auto state = store::read_state(Layout{dir});
  if (!state) return state.errors();
  if (!*state)
    return input_error({}, fmt::format("\"{}\" is no result folder", dir.string()), "it has no state.toml",
                       "name the folder that a run was given with --out");
  const auto& s = **state;
  return FolderIdentity{s.physics, s.study_name, s.study_digest, s.version, s.incarnation, s.slice};
}

Result<FolderStatus> read_folder_status(const std::filesystem::path& dir, const Study& study) {
  const auto identity = read_identity(dir);
  if (!identity) return identity.errors();
  constexpr int kTries = 3;
  for (int attempt = 1;; ++attempt) {
    bool vanished = false;
    auto status = look_once(Layout{dir}, *identity, study, vanished);
    if (!status || !vanished || attempt == kTries) return status;
  }
}

}  // namespace tenex
