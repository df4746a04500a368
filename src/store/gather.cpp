// Copies shards of other folders under new names. A shard's bytes do not contain its name, and its rows are known by
// key, so a copy and a journal line make it one of this folder's own.
#include "tenex/store/gather.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "store/folder_layout.hpp"
#include "store/journal.hpp"
#include "store/shard.hpp"
#include "tenex/base/version.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/store/store.hpp"

namespace tenex {
namespace {

namespace fs = std::filesystem;
using store::Commit;
using store::Layout;

/// Shards are equal if their numbers of rows, lengths and hashes are, whatever their names.
using Identity = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;
Identity identity_of(const Commit& shard) { return {shard.rows, shard.bytes, shard.hash}; }

Status check_source(const Layout& layout, const Study& study) {
  const auto state = store::read_state(layout);
  if (!state) return state.errors();
  if (!*state)
    return input_error({}, fmt::format("\"{}\" is no result folder", layout.dir.string()), "it has no state.toml",
                       "name folders that runs were given with --out");
  if ((*state)->physics != physics_version)
    return input_error({}, fmt::format("\"{}\" was made with physics {}", layout.dir.string(), (*state)->physics),
                       fmt::format("this version computes physics {}, so the rows cannot be mixed", physics_version),
                       "use the version that made it, or run the study again");
  if ((*state)->study_digest != to_string(study.digest))
    return input_error({}, fmt::format("\"{}\" belongs to another study", layout.dir.string()),
                       fmt::format("its study \"{}\" has other points or outputs", (*state)->study_name),
                       "gather folders of one study, such as its slices, or merge several studies with --out FILE.h5");
  return success();
}

/// Copies from descriptor to descriptor; false with errno set.
bool copy_bytes(int from, int to) {
  std::vector<char> piece(std::size_t{1} << 20);
  while (true) {
    const auto got = ::read(from, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    for (ssize_t put = 0; put < got;) {
      const auto written = ::write(to, piece.data() + put, static_cast<std::size_t>(got - put));
      if (written < 0 && errno != EINTR) return false;
      put += std::max<ssize_t>(written, 0);
    }
  }
}

/// Makes a whole copy under the name `to`, or none.
Status copy_durably(const fs::path& from, const fs::path& to) {
  const auto problem = [&] { return fmt::format("cannot copy \"{}\"", from.string()); };
  auto copy = AtomicFile::create(to);
  if (!copy) return copy.errors();
  const int source = ::open(from.c_str(), O_RDONLY | O_CLOEXEC);
  if (source < 0) return system_error(problem(), errno);
  const bool whole = copy_bytes(source, copy->descriptor());
  const int reason = errno;
  ::close(source);
  if (!whole) return system_error(problem(), reason);
  return copy->commit();
}

/// Takes the shards of one folder after another.
class FolderGatherer {
 public:
  FolderGatherer(Layout into, std::uint32_t incarnation, std::set<Identity> known)
      : into_(std::move(into)), incarnation_(incarnation), known_(std::move(known)) {}

  Status take(const Layout& from, std::uint32_t number) {
    const auto contents = store::read_journals(from);
    if (!contents) return contents.errors();
    for (const auto& warning : contents->warnings) report_.warnings.push_back(from.dir.string() + ": " + warning);
    Copies copies;
    for (const auto& [writer, commit] : contents->live) {
      if (known_.contains(identity_of(commit))) continue;
      const auto bytes = store::read_shard_bytes(from, commit);
      if (!bytes) {
        report_.warnings.push_back(from.dir.string() + ": " + to_string(bytes.errors()) + ": its rows are not taken");
        continue;
      }
      if (auto status = copy(writer.incarnation, number, commit, *bytes, copies); !status) return status;
      known_.insert(identity_of(commit));
      ++report_.shards;
      report_.rows += commit.rows;
    }
    return success();
  }

  /// Links schedule files that are not here yet; copies them where the folders are on different file systems.
  Status take_schedules(const Layout& from) {
    std::error_code error;
    if (!fs::exists(from.schedules(), error)) return success();
    if (auto status = store::make_folder(into_.schedules()); !status) return status;
    for (const auto& file : fs::directory_iterator(from.schedules(), error)) {
      const auto name = file.path().filename().string();
      const auto target = into_.schedules() / name;
      if (is_temporary_name(name) || fs::exists(target, error)) continue;
      if (::link(file.path().c_str(), target.c_str()) == 0) continue;
      if (auto status = copy_durably(file.path(), target); !status) return status;
    }
    return sync_folder(into_.schedules());
  }

  [[nodiscard]] GatherReport report() && { return std::move(report_); }

 private:
  /// What has been copied of one incarnation of one folder.
  struct Copy {
    store::Journal journal;
    std::uint32_t shards = 0;
  };
  using Copies = std::map<std::uint32_t, Copy>;

  /// Incarnations stay apart and in order: of failed rows the latest incarnation's counts, and only failed rows of one
  /// incarnation must agree.
  Status copy(std::uint32_t incarnation, std::uint32_t number, const Commit& commit,
              const std::vector<std::byte>& bytes, Copies& copies) {
    const auto mine = incarnation_ + incarnation - 1;
    auto found = copies.find(incarnation);
    if (found == copies.end()) {
      auto journal = store::Journal::create(into_.journals() / store::journal_name({mine, number, 0}));
      if (!journal) return journal.errors();
      found = copies.emplace(incarnation, Copy{std::move(journal).value()}).first;
    }
    Commit copied = commit;
    copied.shard = store::shard_name({mine, number, found->second.shards++});
    if (auto status = write_file_atomically(into_.shard(copied.shard), std::span(bytes)); !status) return status;
    return found->second.journal.commit(copied);
  }

  Layout into_;
  std::uint32_t incarnation_;
  std::set<Identity> known_;
  GatherReport report_;
};

}  // namespace

Result<GatherReport> gather(const fs::path& into, const std::vector<fs::path>& from, const Study& study) {
  Diagnostics wrong;
  for (const auto& dir : from)
    if (auto status = check_source(Layout{dir}, study); !status) append(wrong, status.errors());
  if (!wrong.empty()) return wrong;
  const auto folder = ResultFolder::open(into, study, {});
  if (!folder) return folder.errors();
  const Layout layout{into};
  const auto contents = store::read_journals(layout);
  if (!contents) return contents.errors();
  std::set<Identity> known;
  for (const auto& [writer, commit] : contents->live) known.insert(identity_of(commit));
  FolderGatherer gatherer(layout, folder->state().incarnation, std::move(known));
  std::uint32_t number = 0;
  for (const auto& dir : from) {
    std::error_code error;
    if (fs::equivalent(dir, into, error)) continue;
    if (auto status = gatherer.take(Layout{dir}, number++); !status) return status.errors();
    if (auto status = gatherer.take_schedules(Layout{dir}); !status) return status.errors();
    if (auto status = folder->health(); !status) return status.errors();
  }
  return std::move(gatherer).report();
}

}  // namespace tenex
