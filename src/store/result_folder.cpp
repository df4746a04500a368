// Opening a result folder: whose it is, what is done, what a crash left behind.
#include <unistd.h>

#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

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
  std::set<std::string> written;
  for (const auto& point : study.points) {
    const auto& topology = point.topology;
    if (topology.machine_file.empty() || !written.insert(topology.text).second) continue;
    if (auto status = store::make_folder(layout.machines()); !status) return status;
    const std::string_view content = topology.machine_content;
    if (auto status = write_file_atomically(layout.machine(topology.text), std::as_bytes(std::span(content))); !status)
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

/// Marks the points that have a committed row.
void find_done(const Layout& layout, const store::FolderContents& contents, const store::KeyIndex& index,
               bool retry_failed, FolderState& state) {
  std::vector<bool> is_ok(state.done.size(), false);
  std::vector<bool> seen(state.done.size(), false);
  for (const auto& [writer, commit] : contents.live) {
    const auto shard = store::open_shard(layout, commit);
    const auto keys = shard ? store::read_keys(*shard, commit.shard) : shard.errors();
    const auto status = shard ? shard->read<std::int8_t>(store::columns::metric("status")) : shard.errors();
    if (!keys || !status || status->size() != keys->size()) {
      state.warnings.push_back(to_string(keys ? status.errors() : keys.errors()) + ": its rows count as not done");
      continue;
    }
    for (std::size_t row = 0; row < keys->size(); ++row) {
      const auto point = index.find((*keys)[row]);
      if (!point) continue;
      seen[*point] = true;
      if ((*status)[row] == static_cast<std::int8_t>(PointStatus::ok)) is_ok[*point] = true;
    }
  }
  for (std::size_t point = 0; point < seen.size(); ++point) {
    if (!seen[point] || (!is_ok[point] && retry_failed)) continue;
    state.done[point] = true;
    ++state.done_count;
    if (!is_ok[point]) ++state.failed_count;
  }
  for (const auto& key : contents.started) {
    const auto digest = store::parse_digest(key);
    const auto point = digest ? index.find(*digest) : std::nullopt;
    if (point && !seen[*point]) state.interrupted.push_back(*point);
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
Status ResultFolder::beat() { return impl_->lock_.beat(); }

Result<ResultFolder> ResultFolder::open(const std::filesystem::path& dir, const Study& study,
                                        const OpenOptions& options) {
  const Layout layout{dir};
  if (auto status = store::make_folder(dir); !status) return status.errors();
  // Before the lock: a folder that is refused anyway should say why, not that it is in use.
  auto before = store::read_state(layout);
  if (!before) return before.errors();
  if (*before)
    if (auto status = check_belongs(layout, **before, study, options.extend); !status) return status.errors();
  auto lock = store::FolderLock::take(layout.lock());
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
  find_done(layout, *contents, index, options.retry_failed, state);
  if (*before && (*before)->study_digest != to_string(study.digest) && state.done_count > 0 &&
      !study.outputs.store.empty())
    state.warnings.push_back(fmt::format("{} kept rows come from another study and may lack {}: they are not run again",
                                         state.done_count, fmt::join(study.outputs.store, ", ")));
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
