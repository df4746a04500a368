// Opening a result folder: whose it is, what is done, what a crash left behind.
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
#include "store/key_index.hpp"
#include "store/shard.hpp"
#include "tenex/base/version.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/store/store.hpp"

namespace tenex {

using store::Layout;

namespace {

Status check_belongs(const Layout& layout, const store::State& state, const Study& study, bool extend) {
  if (state.physics != physics_version)
    return input_error({},
                       fmt::format("the folder \"{}\" was made with physics {}", layout.dir.string(), state.physics),
                       fmt::format("this version computes physics {}, so the rows cannot be mixed", physics_version),
                       "choose another folder");
  if (state.study_digest == to_string(study.digest) || extend) return success();
  return input_error({}, fmt::format("the folder \"{}\" belongs to another study", layout.dir.string()),
                     fmt::format("its study \"{}\" has other points or outputs", state.study_name),
                     "choose another folder, or --extend this one: points in both studies keep their rows");
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

/// Rewrites what the folder says of its study, where that differs.
Status write_identity(const Layout& layout, const Study& study, std::uint32_t incarnation) {
  const auto text = read_file(layout.study());
  if (!text || text_of(*text) != study.text)
    if (auto status = write_file_atomically(layout.study(), study.text); !status) return status;
  if (auto status = write_machines(layout, study); !status) return status;
  return store::write_state(layout, {store::kSchema, physics_version, study.name, to_string(study.digest),
                                     std::string(version()), incarnation});
}

/// What the committed rows say of each point.
struct KnownRows {
  std::vector<bool> seen;
  std::vector<bool> ok;
  std::vector<store::OutputBits> lacking;  ///< of an ok point: what none of its rows has of what the study asks for

  explicit KnownRows(std::size_t points) : seen(points, false), ok(points, false), lacking(points, 0) {}

  void add(const Study& study, std::size_t point, bool row_ok, store::OutputBits given) {
    seen[point] = true;
    if (!row_ok) return;
    const auto lacks = store::lacking(store::asked_outputs(study, point), given);
    if (!ok[point] ||
        std::popcount(static_cast<unsigned>(lacks)) < std::popcount(static_cast<unsigned>(lacking[point])))
      lacking[point] = lacks;
    ok[point] = true;
  }
};

KnownRows read_known_rows(const Layout& layout, const store::FolderContents& contents, const Study& study,
                          const store::KeyIndex& index, std::vector<std::string>& warnings) {
  KnownRows known(study.points.size());
  for (const auto& [writer, commit] : contents.live) {
    const auto shard = store::open_shard(layout, commit);
    const auto keys = shard ? store::read_keys(*shard, commit.shard) : shard.errors();
    const auto rows = keys ? keys->size() : 0;
    const auto status = keys ? shard->read<std::int8_t>(store::columns::metric("status"), 0, rows)
                             : Result<std::vector<std::int8_t>>(keys.errors());
    const auto outputs =
        status ? store::read_outputs(*shard, rows) : Result<std::vector<store::OutputBits>>(status.errors());
    if (!outputs) {
      warnings.push_back(to_string(outputs.errors()) + ": its rows count as not done");
      continue;
    }
    for (std::size_t row = 0; row < rows; ++row)
      if (const auto point = index.find((*keys)[row]))
        known.add(study, *point, (*status)[row] == static_cast<std::int8_t>(PointStatus::ok), (*outputs)[row]);
  }
  return known;
}

/// Marks the points that have a committed row, and a whole one.
void mark_done(const KnownRows& known, bool retry_failed, FolderState& state) {
  std::size_t incomplete = 0;
  int lacking = 0;
  for (std::size_t point = 0; point < known.seen.size(); ++point) {
    if (!known.seen[point] || (!known.ok[point] && retry_failed)) continue;
    if (known.lacking[point] != 0) {
      ++incomplete;
      lacking |= known.lacking[point];
      continue;
    }
    state.done[point] = true;
    ++state.done_count;
    if (!known.ok[point]) ++state.failed_count;
  }
  if (incomplete > 0)
    state.warnings.push_back(
        fmt::format("{} rows were evaluated for another study and lack {}: they are evaluated again", incomplete,
                    store::describe_outputs(static_cast<store::OutputBits>(lacking))));
}

/// Finds the points that a writer announced and that have no row.
void find_interrupted(const store::FolderContents& contents, const store::KeyIndex& index, const KnownRows& known,
                      FolderState& state) {
  for (const auto& key : contents.started) {
    const auto digest = store::parse_digest(key);
    const auto point = digest ? index.find(*digest) : std::nullopt;
    if (point && !known.seen[*point]) state.interrupted.push_back(*point);
  }
  std::sort(state.interrupted.begin(), state.interrupted.end());
  state.interrupted.erase(std::unique(state.interrupted.begin(), state.interrupted.end()), state.interrupted.end());
}

/// Removes what killed writers left: temporary files, and shards that no journal names. Only the owner of the lock may.
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
  // Before the lock: a folder that is refused anyway should say why, not that it is in use.
  auto before = store::read_state(layout);
  if (!before) return before.errors();
  if (*before)
    if (auto status = check_belongs(layout, **before, study, options.extend); !status) return status.errors();
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
                             "it has rows, but state.toml is missing, which says whose", "choose another folder");
  FolderState state;
  state.warnings = contents->warnings;
  state.done.assign(study.points.size(), false);
  state.incarnation = std::max(contents->last_incarnation, *before ? (*before)->incarnation : 0) + 1;
  const store::KeyIndex index(study);
  const auto known = read_known_rows(layout, *contents, study, index, state.warnings);
  mark_done(known, options.retry_failed, state);
  find_interrupted(*contents, index, known, state);
  if (auto status = write_identity(layout, study, state.incarnation); !status) return status.errors();
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
  const auto text = read_file(layout.study());
  if (!text) return text.errors();
  return std::string(text_of(*text));
}

Result<Study> read_stored_study(const std::filesystem::path& dir, Vocabulary vocabulary) {
  const auto text = read_study_text(dir);
  if (!text) return text.errors();
  const Layout layout{dir};
  vocabulary.stored_machine = [&](const std::string& path) -> std::optional<std::string> {
    const auto content = read_file(layout.machine(path));
    if (!content) return std::nullopt;
    return std::string(text_of(*content));
  };
  return parse_study(*text, layout.study().string(), vocabulary);
}

}  // namespace tenex
