#include "store/folder_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "store/folder_layout.hpp"
#include "store/host_facts.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/files/atomic_write.hpp"

namespace tenex::store {
namespace {

/// The contents of a lock file: host, pid, start time and a moment, one per line.
struct LockText {
  ProcessIdentity owner;
  std::string text;
};

std::string describe_lock(const ProcessIdentity& process) {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return fmt::format("{}\n{}\n{}\n{}\n", process.host, process.pid, process.started, now);
}

/// A name beside the lock that no other process on any host uses: `text` is unique to its maker.
std::filesystem::path beside(const std::filesystem::path& path, std::string_view text) {
  auto name = path;
  name += fmt::format(".tmp-{}-{}", ::getpid(), digest64(text));
  return name;
}

LockText parse_lock(std::string_view text) {
  LockText facts;
  facts.text = text;
  std::istringstream lines(facts.text);
  std::string pid;
  std::getline(lines, facts.owner.host);
  std::getline(lines, pid);
  std::getline(lines, facts.owner.started);
  facts.owner.pid = static_cast<long>(parse_number(pid).value_or(0));
  return facts;
}

/// Makes the file with its contents unless it exists; returns 0 or an errno. link() puts the contents in place, so
/// nobody ever reads a lock without them. It is as exclusive as O_EXCL, also on network file systems.
int make_lock(const std::filesystem::path& path, std::string_view text) {
  const auto draft = beside(path, text);
  const int fd = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return errno;
  const auto written = ::write(fd, text.data(), text.size());
  int reason = written == static_cast<ssize_t>(text.size()) ? 0 : (written < 0 ? errno : ENOSPC);
  if (::fsync(fd) != 0 && reason == 0) reason = errno;
  ::close(fd);
  if (reason == 0 && ::link(draft.c_str(), path.c_str()) != 0) reason = errno;
  ::unlink(draft.c_str());
  return reason;
}

/// Seconds since the file's time, by the file server's clock; nullopt when the file is gone or no probe can be made.
std::optional<double> age_of(const std::filesystem::path& path, std::string_view text) {
  const auto probe = beside(path, text);
  const int fd = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return std::nullopt;
  struct stat now {};
  struct stat then {};
  // After a write the server's clock sets the time, not this host's.
  const bool known =
      ::write(fd, "?", 1) == 1 && ::fsync(fd) == 0 && ::fstat(fd, &now) == 0 && ::stat(path.c_str(), &then) == 0;
  ::close(fd);
  ::unlink(probe.c_str());
  if (!known) return std::nullopt;
  return static_cast<double>(now.st_mtim.tv_sec - then.st_mtim.tv_sec) +
         static_cast<double>(now.st_mtim.tv_nsec - then.st_mtim.tv_nsec) * 1e-9;
}

/// Removes a stale lock. Of two processes that try, the rename lets one succeed. A process that finds that it moved
/// another lock than the one it judged puts it back.
void remove_stale(const std::filesystem::path& path, std::string_view text, const LockText& judged) {
  const auto aside = beside(path, text);
  if (::rename(path.c_str(), aside.c_str()) != 0) return;
  const auto moved = read_file(aside);
  if (moved && text_of(*moved) != judged.text && ::link(aside.c_str(), path.c_str()) != 0 && errno != EEXIST) return;
  ::unlink(aside.c_str());
}

Diagnostic locked(const std::filesystem::path& path, const LockText& facts, double age, bool same_host) {
  const auto host = facts.owner.host.substr(0, facts.owner.host.find('/'));
  return environment_error(
      fmt::format("the folder \"{}\" is in use", path.parent_path().string()),
      fmt::format("process {} on {} holds its lock, last heartbeat {:.0f} s ago", facts.owner.pid, host, age),
      same_host ? "wait for that run, or choose another folder"
                : "wait for that run, or choose another folder; a lock without a heartbeat is taken over after 30 s");
}

}  // namespace

std::optional<LockFacts> look_at_lock(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  struct stat file {};
  if (!bytes || ::stat(path.c_str(), &file) != 0) return std::nullopt;
  const auto owner = parse_lock(text_of(*bytes)).owner;
  const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto beat = static_cast<double>(file.st_mtim.tv_sec) + static_cast<double>(file.st_mtim.tv_nsec) * 1e-9;
  LockFacts facts{owner.host.substr(0, owner.host.find('/')), owner.pid, std::max(0.0, now - beat), false};
  facts.alive = owner.host == this_process().host ? is_alive(owner) : facts.heartbeat_age <= kStaleSeconds;
  return facts;
}

/// A lock file with its heartbeat.
class FolderLock::Held {
 public:
  Held(std::filesystem::path path, std::string text, long owner, std::chrono::milliseconds heartbeat)
      : path_(std::move(path)), text_(std::move(text)), owner_(owner), heartbeat_(heartbeat) {
    heart_ = std::thread([this] { live(); });
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    heart_.join();
    if (is_ours()) ::unlink(path_.c_str());
  }

  [[nodiscard]] long owner() const { return owner_; }
  [[nodiscard]] Status health() const {
    const std::lock_guard lock(mutex_);
    return health_;
  }

 private:
  void live() {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, heartbeat_, [&] { return stopping_; })) {
      lock.unlock();
      auto status = beat();
      lock.lock();
      health_ = std::move(status);
    }
  }

  [[nodiscard]] Status beat() const {
    if (!is_ours())
      return environment_error(fmt::format("the lock \"{}\" is lost", path_.string()),
                               "another run took it, or somebody removed it", "stop this run");
    // A null time makes the file server set its own.
    if (::utimensat(AT_FDCWD, path_.c_str(), nullptr, 0) != 0)
      return system_error(fmt::format("cannot refresh \"{}\"", path_.string()), errno);
    return success();
  }

  [[nodiscard]] bool is_ours() const {
    const auto bytes = read_file(path_);
    return bytes && text_of(*bytes) == text_;
  }

  std::filesystem::path path_;
  std::string text_;  ///< the file's contents: unique to this lock
  long owner_;        ///< the process that took it
  std::chrono::milliseconds heartbeat_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Status health_ = success();
  bool stopping_ = false;
  std::thread heart_;  // last member: the thread starts when all others are ready
};

FolderLock::FolderLock(std::unique_ptr<Held> held) : held_(std::move(held)) {}
FolderLock::FolderLock(FolderLock&& other) noexcept = default;
FolderLock& FolderLock::operator=(FolderLock&& other) noexcept {
  if (this == &other) return *this;
  release();
  held_ = std::move(other.held_);
  return *this;
}
FolderLock::~FolderLock() { release(); }

void FolderLock::release() {
  // A forked child has neither the lock nor the thread: it must not release the lock and cannot join the thread.
  if (held_ && held_->owner() != ::getpid()) [[maybe_unused]]
    const auto* left_to_the_parent = held_.release();
  held_.reset();
}

Status FolderLock::health() const { return held_->health(); }

Result<FolderLock> FolderLock::take(const std::filesystem::path& path, std::chrono::milliseconds heartbeat) {
  const auto self = this_process();
  const auto text = describe_lock(self);
  constexpr int kTries = 3;  // one for removing a stale lock, one for a lost race, one that finds a live owner
  for (int attempt = 0; attempt < kTries; ++attempt) {
    const int reason = make_lock(path, text);
    if (reason == 0) return FolderLock(std::make_unique<Held>(path, text, self.pid, heartbeat));
    if (reason != EEXIST) return system_error(fmt::format("cannot lock \"{}\"", path.string()), reason);
    const auto bytes = read_file(path);
    if (!bytes) continue;  // the lock was released meanwhile
    const auto facts = parse_lock(text_of(*bytes));
    const auto age = age_of(path, text);
    if (!age) continue;
    const bool same_host = facts.owner.host == self.host && facts.owner.pid > 0;
    const bool stale = same_host ? !is_alive(facts.owner) : *age > kStaleSeconds;
    if (!stale) return locked(path, facts, *age, same_host);
    remove_stale(path, text, facts);
  }
  return environment_error(fmt::format("cannot lock \"{}\"", path.string()), "another run takes it at the same time",
                           "try again");
}

}  // namespace tenex::store
