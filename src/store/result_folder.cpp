// Opens a result folder: finds its study, the points that are done, and what a crash left behind.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <set>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "store/asked_outputs.hpp"
#include "store/folder_layout.hpp"
#include "store/folder_lock.hpp"
#include "store/journal.hpp"
#include "store/row_selection.hpp"
#include "store/shard.hpp"
#include "tenex/base/version.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/store/store.hpp"

namespace tenex {

using store::Layout;

namespace {

Status check_physics(const Layout& layout, const store::State& state) {
  if (state.physics == physics_version) return success();
  return input_error({}, fmt::format("the folder \"{}\" was made with physics {}", layout.dir.string(), state.physics),
                     fmt::format("tenex {} made it; this is tenex {}, which computes physics {}, so the rows cannot be "
                                 "mixed or compared",
                                 state.version, version(), physics_version),
                     fmt::format("choose another folder, or go on with tenex {}", state.version));
}

/// What the folder's study and this one have in common, if the folder's can still be read.
std::string describe_change(const Layout& layout, const store::State& state, const Study& study) {
  const auto before = read_stored_study(layout.dir, vocabulary());
  if (!before) return fmt::format("its study \"{}\" has other points or outputs", state.study_name);
  std::size_t common = 0;
  for (std::size_t i = 0; i < before->points.size(); ++i) common += study.points.find(before->points.key(i)) ? 1U : 0U;
  return fmt::format(
      "its study \"{}\" has other points or outputs: {} points, of which {} are among the {} of this one",
      state.study_name, before->points.size(), common, study.points.size());
}

Status check_belongs(const Layout& layout, const store::State& state, const Study& study, bool extend) {
  if (auto status = check_physics(layout, state); !status) return status;
  if (state.study_digest == to_string(study.digest) || extend) return success();
  return input_error({}, fmt::format("the folder \"{}\" belongs to another study", layout.dir.string()),
                     describe_change(layout, state, study),
                     "choose another folder, or --extend this one: points in both studies keep their rows");
}

/// Version and revision: two builds of one version may differ.
std::string this_build() {
  const auto revision = git_revision().substr(0, 12);
  if (revision == "unknown") return std::string(version());
  return fmt::format("{} ({}{})", version(), revision, git_dirty() ? ", changed" : "");
}

/// Another version of the same physics may continue the folder. A warning says so, for users who upgraded.
void note_upgrade(const std::optional<store::State>& before, FolderState& state) {
  if (!before || before->version == this_build() || before->version.empty() || state.done_count == 0) return;
  state.warnings.push_back(fmt::format(
      "tenex {} ran here last and this is tenex {}: both compute physics {}, so the rows that are done count; "
      "`tenex replay DIR KEY` evaluates one of them again and compares",
      before->version, this_build(), physics_version));
}

/// A run that takes over a dead run's lock warns of it: nothing else tells that the dead run was killed.
void note_kill(const store::LockFacts& lock, FolderState& state) {
  const auto left = state.done.size() - state.done_count;
  if (left == 0) return;
  state.warnings.push_back(
      fmt::format("the previous run was killed: process {} on {} left its lock behind; its committed rows count; "
                  "points without a row: {}, to be evaluated now",
                  lock.pid, lock.host, left));
}

/// Keeps a copy of every machine file that the study names.
Status write_machines(const Layout& layout, const Study& study) {
  for (const auto& [path, content] : study.machines) {
    if (auto status = store::make_folder(layout.machines()); !status) return status;
    const std::string_view text = content;
    if (auto status = write_file_atomically(layout.machine(path), std::as_bytes(std::span(text))); !status)
      return status;
  }
  return success();
}

/// Rewrites study.toml and state.toml where they differ.
Status write_identity(const Layout& layout, const Study& study, std::uint32_t incarnation, const Slice& slice) {
  const auto text = read_file(layout.study());
  if (!text || text_of(*text) != study.text)
    if (auto status = write_file_atomically(layout.study(), study.text); !status) return status;
  if (auto status = write_machines(layout, study); !status) return status;
  return store::write_state(
      layout, {store::kSchema, physics_version, study.name, to_string(study.digest), this_build(), incarnation, slice});
}

/// What the committed rows tell about each point.
struct KnownRows {
  std::vector<bool> seen;
  std::vector<bool> ok;
  std::vector<bool> pruned;  ///< by the study at hand
  std::vector<store::OutputBits>
      lacking;                  ///< per ok point: outputs that the study asks for and that none of its rows has
  double occupied_seconds = 0;  ///< summed over one row of each point

  explicit KnownRows(std::size_t points)
      : seen(points, false), ok(points, false), pruned(points, false), lacking(points, 0) {}

  void add(const Study& study, std::size_t point, std::int8_t status, store::OutputBits given, double occupied) {
    if (!seen[point]) occupied_seconds += occupied;
    seen[point] = true;
    if (store::is_pruned(status)) pruned[point] = true;
    if (!is_final(static_cast<PointStatus>(status))) return;
    const auto lacks = store::lacking(store::asked_outputs(study, point), given);
    if (!ok[point] ||
        std::popcount(static_cast<unsigned>(lacks)) < std::popcount(static_cast<unsigned>(lacking[point])))
      lacking[point] = lacks;
    ok[point] = true;
  }
};

/// The thread-seconds for which each row's point occupied its rank. Zeros where the column cannot be read: no row
/// depends on it.
std::vector<double> read_occupied(const ColumnFileReader& shard, std::size_t rows) {
  using store::columns::metric;
  std::vector<double> occupied(rows, 0);
  const auto seconds = shard.read<double>(metric("evaluation_seconds"), 0, rows);
  const auto threads = shard.read<std::int64_t>(metric("threads"), 0, rows);
  if (!seconds || !threads) return occupied;
  for (std::size_t row = 0; row < rows; ++row)
    if ((*seconds)[row] > 0) occupied[row] = (*seconds)[row] * static_cast<double>((*threads)[row]);
  return occupied;
}

Result<KnownRows> read_known_rows(const Layout& layout, const store::FolderContents& contents, const Study& study,
                                  std::vector<std::string>& warnings) {
  KnownRows known(study.points.size());
  for (const auto& [writer, commit] : contents.live) {
    const auto shard = store::open_shard(layout, commit);
    const auto keys = shard ? store::read_keys(*shard, commit.shard) : shard.errors();
    const auto rows = keys ? keys->size() : 0;
    const auto status = keys ? shard->read<std::int8_t>(store::columns::metric("status"), 0, rows)
                             : Result<std::vector<std::int8_t>>(keys.errors());
    const auto outputs =
        status ? store::read_outputs(*shard, rows) : Result<std::vector<store::OutputBits>>(status.errors());
    const auto elsewhere =
        outputs ? store::rows_pruned_elsewhere(*shard, *status, study) : Result<std::vector<bool>>(outputs.errors());
    const auto origin = elsewhere ? store::read_origin(*shard) : Result<store::ShardOrigin>(elsewhere.errors());
    if (!origin) {
      if (store::is_of_newer_version(origin.errors())) return origin.errors();
      warnings.push_back(to_string(origin.errors()) + ": its rows count as not done");
      continue;
    }
    if (auto other = store::describe_other_physics(*origin, commit.shard)) {
      warnings.push_back(*std::move(other));
      continue;
    }
    const auto occupied = read_occupied(*shard, rows);
    for (std::size_t row = 0; row < rows; ++row) {
      if (!elsewhere->empty() && (*elsewhere)[row]) continue;
      if (const auto point = study.points.find((*keys)[row]))
        known.add(study, *point, (*status)[row], (*outputs)[row], occupied[row]);
    }
  }
  return known;
}

/// Marks the points that need not be evaluated: they have a committed row with all outputs.
void mark_done(const KnownRows& known, bool retry_failed, FolderState& state) {
  std::size_t incomplete = 0;
  int lacking = 0;
  for (std::size_t point = 0; point < known.seen.size(); ++point) {
    const bool is_pruned = known.pruned[point] && !known.ok[point];
    if (!known.seen[point] || (!known.ok[point] && !is_pruned && retry_failed)) continue;
    if (known.lacking[point] != 0) {
      ++incomplete;
      lacking |= known.lacking[point];
      continue;
    }
    state.done[point] = true;
    ++state.done_count;
    if (is_pruned)
      ++state.pruned_count;
    else if (!known.ok[point])
      ++state.failed_count;
  }
  if (incomplete > 0)
    state.warnings.push_back(
        fmt::format("{} rows were evaluated for another study and lack {}: they are evaluated again", incomplete,
                    store::describe_outputs(static_cast<store::OutputBits>(lacking))));
}

/// Marks the points of other slices as done: other folders hold them.
void mark_other_slices(const Slice& slice, FolderState& state) {
  for (std::size_t point = 0; point < state.done.size(); ++point) {
    if (state.done[point] || in_slice(slice, point)) continue;
    state.done[point] = true;
    ++state.done_count;
    ++state.elsewhere;
  }
}

/// Finds the points that a writer announced and that have no row.
void find_interrupted(const store::FolderContents& contents, const Study& study, const KnownRows& known,
                      FolderState& state) {
  for (const auto& key : contents.started) {
    const auto digest = store::parse_digest(key);
    const auto point = digest ? study.points.find(*digest) : std::nullopt;
    if (point && !known.seen[*point]) state.interrupted.push_back(*point);
  }
  std::sort(state.interrupted.begin(), state.interrupted.end());
  state.interrupted.erase(std::unique(state.interrupted.begin(), state.interrupted.end()), state.interrupted.end());
}

/// Finds the points that ended a process. A row resets the count: a point that is tried again in spite of its row
/// begins at zero.
void find_crashes(const store::FolderContents& contents, const Study& study, const KnownRows& known,
                  FolderState& state) {
  state.crashes = store::count_crashes(contents.crashes, study);
  std::erase_if(state.crashes, [&](const CrashRecord& crash) { return known.seen[crash.point]; });
}

/// Removes what killed writers left: temporary files, and shards that no journal names. Only the owner of the lock may
/// call it.
void remove_leftovers(const Layout& layout, const store::FolderContents& contents) {
  std::set<std::string> live;
  for (const auto& [writer, commit] : contents.live) live.insert(commit.shard);
  std::error_code error;
  for (const auto& folder : {layout.dir, layout.shards(), layout.journals(), layout.schedules()}) {
    std::vector<std::filesystem::path> leftovers;
    for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
      const auto name = file.path().filename().string();
      const bool orphan = folder == layout.shards() && store::parse_shard_name(name) && !live.contains(name);
      if (orphan || is_temporary_name(name)) leftovers.push_back(file.path());
    }
    for (const auto& file : leftovers) ::unlink(file.c_str());
  }
}

}  // namespace

class ResultFolder::Impl {
 public:
  Impl(store::FolderLock lock, FolderState state) : lock_(std::move(lock)), state_(std::move(state)) {}
  store::FolderLock lock_;
  FolderState state_;
};

ResultFolder::ResultFolder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ResultFolder::~ResultFolder() = default;
ResultFolder::ResultFolder(ResultFolder&&) noexcept = default;
ResultFolder& ResultFolder::operator=(ResultFolder&&) noexcept = default;
const FolderState& ResultFolder::state() const { return impl_->state_; }
Status ResultFolder::health() const { return impl_->lock_.health(); }

Result<ResultFolder> ResultFolder::open(const std::filesystem::path& dir, const Study& study,
                                        const OpenOptions& options) {
  const Layout layout{dir};
  if (auto status = store::make_folder(dir); !status) return status.errors();
  // Read before the lock is taken: a folder that is refused anyway should say why, and not that it is in use.
  auto before = store::read_state(layout);
  if (!before) return before.errors();
  if (*before)
    if (auto status = check_belongs(layout, **before, study, options.extend); !status) return status.errors();
  const auto left_behind = store::look_at_lock(layout.lock());
  auto lock = store::FolderLock::take(layout.lock(), options.heartbeat);
  if (!lock) return lock.errors();
  before = store::read_state(layout);
  if (!before) return before.errors();
  if (*before)
    if (auto status = check_belongs(layout, **before, study, options.extend); !status) return status.errors();
  for (const auto& folder : {layout.shards(), layout.journals()})
    if (auto status = store::make_folder(folder); !status) return status.errors();
  const auto contents = store::read_journals(layout);
  if (!contents) return contents.errors();
  if (!*before && !contents->live.empty())
    return environment_error(fmt::format("the folder \"{}\" is damaged", dir.string()),
                             "it has rows, but state.toml, which names their study, is missing",
                             "choose another folder");
  FolderState state;
  state.warnings = contents->warnings;
  state.done.assign(study.points.size(), false);
  state.incarnation = std::max(contents->last_incarnation, *before ? (*before)->incarnation : 0) + 1;
  const auto known = read_known_rows(layout, *contents, study, state.warnings);
  if (!known) return known.errors();
  mark_done(*known, options.retry_failed, state);
  state.occupied_seconds = known->occupied_seconds;
  mark_other_slices(options.slice, state);
  find_interrupted(*contents, study, *known, state);
  find_crashes(*contents, study, *known, state);
  note_upgrade(*before, state);
  if (left_behind) note_kill(*left_behind, state);
  if (auto status = write_identity(layout, study, state.incarnation, options.slice); !status) return status.errors();
  remove_leftovers(layout, *contents);
  return ResultFolder(std::make_unique<Impl>(std::move(lock).value(), std::move(state)));
}

Result<std::string> read_study_text(const std::filesystem::path& dir) {
  const Layout layout{dir};
  const auto state = store::read_state(layout);
  if (!state) return state.errors();
  if (!*state)
    return input_error({}, fmt::format("\"{}\" is no result folder", dir.string()), "it has no state.toml",
                       "name the folder that a run was given with --out");
  if (auto status = check_physics(layout, **state); !status)
    return status.errors();  // other physics give all points other keys
  const auto text = read_file(layout.study());
  if (!text) return text.errors();
  return std::string(text_of(*text));
}

Result<Study> read_stored_study(const std::filesystem::path& dir, Vocabulary vocabulary) {
  const auto text = read_study_text(dir);
  if (!text) return text.errors();
  const Layout layout{dir};
  vocabulary.stored_file = [&](const std::string& path) -> std::optional<std::string> {
    const auto content = read_file(layout.machine(path));
    if (!content) return std::nullopt;
    return std::string(text_of(*content));
  };
  return parse_study(*text, layout.study().string(), vocabulary);
}

std::int64_t result_schema() { return store::kResultSchema; }

}  // namespace tenex
