// The writer thread: it takes finished points from a queue and writes schedule files and shards.
#include "coordinator/committer.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tenex/evaluate/kept_schedule.hpp"
#include "tenex/files/atomic_write.hpp"

namespace tenex {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto longest_pending = std::chrono::seconds(30);

}  // namespace

class Committer::Impl {
 public:
  Impl(const Study& study, std::filesystem::path dir, ShardWriter writer)
      : study_(study), dir_(std::move(dir)), writer_(std::move(writer)) {
    journal_descriptor_ = writer_.journal_descriptor();
    thread_ = std::thread([this] { loop(); });
  }

  ~Impl() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      ++flushes_asked_;
    }
    changed_.notify_all();
    thread_.join();
  }

  void put(FinishedPoint point) {
    const bool has_schedule = point.output.topology.has_value();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return queue_.size() < most_waiting; });
    queue_.push_back(std::move(point));
    const auto mine = ++put_;
    changed_.notify_all();
    if (has_schedule) changed_.wait(lock, [&] { return taken_ >= mine; });
  }

  std::size_t waiting() const {
    const std::lock_guard lock(mutex_);
    return queue_.size();
  }

  void announce(std::uint32_t point, std::string crash) {
    std::unique_lock lock(mutex_);
    announced_.push_back({point, std::move(crash)});
    const auto mine = ++announces_asked_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return announces_done_ >= mine; });
  }

  int journal_descriptor() const { return journal_descriptor_; }

  bool flush_until(Clock::time_point deadline) {
    std::unique_lock lock(mutex_);
    const auto mine = ++flushes_asked_;
    changed_.notify_all();
    return changed_.wait_until(lock, deadline, [&] { return flushes_done_ >= mine; }) && errors_.empty();
  }

  Status finish() {
    std::unique_lock lock(mutex_);
    const auto mine = ++flushes_asked_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return flushes_done_ >= mine; });
    return errors_.empty() ? success() : Status(errors_);
  }

  bool failed() const {
    const std::lock_guard lock(mutex_);
    return !errors_.empty();
  }

 private:
  void loop() {
    std::unique_lock lock(mutex_);
    while (true) {
      const bool woken = changed_.wait_for(lock, longest_pending, [&] {
        return !queue_.empty() || !announced_.empty() || flushes_done_ < flushes_asked_ || stopping_;
      });
      if (!announced_.empty()) {
        write_announcements(lock);  // first, because a thread of the runner waits for it
      } else if (!queue_.empty()) {
        write_next(lock);
      } else if (flushes_done_ < flushes_asked_ || !woken) {
        flush(lock);
      } else if (stopping_) {
        return;
      }
    }
  }

  void write_announcements(std::unique_lock<std::mutex>& lock) {
    const auto points = std::exchange(announced_, {});
    const bool broken = !errors_.empty();
    lock.unlock();
    Status status = success();
    for (const auto& note : points) {
      if (broken || !status.ok()) break;
      status = note.crash.empty() ? writer_.start(note.point) : writer_.note_crash(note.point, note.crash);
    }
    lock.lock();
    if (!status.ok()) errors_ = status.errors();
    announces_done_ += points.size();
    changed_.notify_all();
  }

  void write_next(std::unique_lock<std::mutex>& lock) {
    FinishedPoint point = std::move(queue_.front());
    queue_.pop_front();
    const bool broken = !errors_.empty();
    lock.unlock();
    Status status = success();
    if (!broken) status = write(std::move(point));
    lock.lock();
    if (!status.ok()) errors_ = status.errors();
    ++taken_;
    changed_.notify_all();
  }

  Status write(FinishedPoint point) {
    // A point that was too long to record has no schedule.
    if (point.output.topology && point.output.schedule.sends() > 0) {
      if (auto status = write_schedule(point); !status.ok()) return status;
    }
    return writer_.add({point.point, std::move(point.output.row), point.finished_unix_ms});
  }

  /// Makes the folder of schedules. Its name is durable before a row counts that has its schedule there, whichever rank
  /// makes it.
  Status make_schedule_folder(const std::filesystem::path& folder) {
    if (has_schedule_folder_) return success();
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return environment_error("cannot create the folder " + folder.string(), error.message());
    if (auto status = sync_folder(dir_); !status.ok()) return status;
    has_schedule_folder_ = true;
    return success();
  }

  Status write_schedule(FinishedPoint& point) {
    const auto folder = dir_ / "schedules";
    if (auto status = make_schedule_folder(folder); !status.ok()) return status;
    const DesignPoint& design = study_.points[point.point];
    const auto kept = keep_schedule(folder / (to_string(design.key) + ".h5"), design, point.output);
    return kept ? success() : Status(kept.errors());
  }

  void flush(std::unique_lock<std::mutex>& lock) {
    const auto asked = flushes_asked_;
    const bool broken = !errors_.empty();
    lock.unlock();
    const Status status = broken ? success() : writer_.flush();
    lock.lock();
    if (!status.ok()) errors_ = status.errors();
    flushes_done_ = asked;
    changed_.notify_all();
  }

  /// An entry for the journal: a point begins, or has ended a process.
  struct Announcement {
    std::uint32_t point = 0;
    std::string crash;  ///< why the process ended; empty: the point begins
  };

  const Study& study_;
  std::filesystem::path dir_;
  ShardWriter writer_;  ///< used by the thread alone
  int journal_descriptor_ = -1;
  bool has_schedule_folder_ = false;  ///< used by the thread alone

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<FinishedPoint> queue_;
  std::vector<Announcement> announced_;
  std::uint64_t announces_asked_ = 0;
  std::uint64_t announces_done_ = 0;
  std::uint64_t put_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t flushes_asked_ = 0;
  std::uint64_t flushes_done_ = 0;
  Diagnostics errors_;
  bool stopping_ = false;
  std::thread thread_;
};

Committer::Committer(const Study& study, std::filesystem::path dir, ShardWriter writer)
    : impl_(std::make_unique<Impl>(study, std::move(dir), std::move(writer))) {}
Committer::~Committer() = default;

void Committer::put(FinishedPoint point) { impl_->put(std::move(point)); }
std::size_t Committer::waiting() const { return impl_->waiting(); }
void Committer::announce(std::uint32_t point) { impl_->announce(point, {}); }
void Committer::note_crash(std::uint32_t point, const std::string& reason) { impl_->announce(point, reason); }
int Committer::journal_descriptor() const { return impl_->journal_descriptor(); }
bool Committer::flush_until(Clock::time_point deadline) { return impl_->flush_until(deadline); }
Status Committer::finish() { return impl_->finish(); }
bool Committer::failed() const { return impl_->failed(); }

}  // namespace tenex
