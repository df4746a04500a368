// The file's text, its reader, and the thread that writes it.
#include "tenex/store/run_progress.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "store/folder_layout.hpp"
#include "tenex/spec/table_reader.hpp"

namespace tenex {
namespace {

std::string text_of(const RunProgress& progress) {
  auto text = fmt::format(
      "# State of the run at work here, rewritten every second; not part of the result.\n"
      "run = {}\nfinished = {}\ndraining = {}\nphase = \"{}\"\n",
      progress.incarnation, progress.finished, progress.draining, progress.phase);
  if (progress.fraction >= 0) text += fmt::format("fraction = {:.6f}\n", progress.fraction);
  if (progress.seconds_left >= 0) text += fmt::format("seconds_left = {:.3f}\n", progress.seconds_left);
  for (const auto& point : progress.running)
    text += fmt::format("[[running]]\nkey = \"{}\"\nrank = {}\nthreads = {}\nseconds = {:.3f}\nleft_seconds = {:.3f}\n",
                        to_string(point.key), point.rank, point.threads, point.seconds, point.left_seconds);
  return text;
}

/// The keys of a table. Keys that this version does not know are ignored.
std::vector<std::string_view> keys_of(const Node& table) {
  std::vector<std::string_view> keys;
  for (const auto& entry : table.entries()) keys.push_back(entry.key);
  return keys;
}

std::uint32_t small(std::int64_t value) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, std::numeric_limits<std::uint32_t>::max()));
}

std::optional<RunningNote> parse_running(const Node& node) {
  if (!node.is(NodeKind::table)) return std::nullopt;
  TableReader reader(node, "a [[running]]", keys_of(node));
  RunningNote point;
  const auto key = store::parse_digest(reader.string_or("key", ""));
  point.rank = small(reader.integer_or("rank", 0));
  point.threads = small(reader.integer_or("threads", 1));
  point.seconds = reader.real("seconds").value_or(0);
  point.left_seconds = reader.real("left_seconds").value_or(0);
  if (!key || reader.failed()) return std::nullopt;
  point.key = *key;
  return point;
}

std::optional<RunProgress> parse_progress(const Node& document) {
  TableReader reader(document, "", keys_of(document));
  RunProgress progress;
  progress.incarnation = small(reader.integer_or("run", 0));
  progress.finished = static_cast<std::uint64_t>(std::max<std::int64_t>(0, reader.integer_or("finished", 0)));
  progress.draining = reader.boolean_or("draining", false);
  progress.phase = reader.string_or("phase", "");
  progress.fraction = reader.real("fraction").value_or(-1);
  progress.seconds_left = reader.real("seconds_left").value_or(-1);
  for (const auto& node : reader.array("running"))
    if (const auto point = parse_running(node)) progress.running.push_back(*point);
  if (reader.failed() || progress.incarnation == 0) return std::nullopt;
  return progress;
}

/// Replaces the file by a new one; a failure leaves it as it was. Nothing is synced, because its loss does no harm.
void replace_file(const std::filesystem::path& path, std::string_view text) {
  auto temporary = path;
  temporary += fmt::format(".tmp-{}-0", ::getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return;
  const bool whole = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool closed = ::close(fd) == 0;
  if (!whole || !closed || ::rename(temporary.c_str(), path.c_str()) != 0) ::unlink(temporary.c_str());
}

}  // namespace

std::optional<ToldProgress> read_run_progress(const std::filesystem::path& dir) {
  const auto path = store::Layout{dir}.progress();
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return std::nullopt;
  const auto document = read_toml_file(path);
  if (!document) return std::nullopt;
  auto progress = parse_progress(*document);
  if (!progress) return std::nullopt;
  const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto then = static_cast<double>(file.st_mtim.tv_sec) + static_cast<double>(file.st_mtim.tv_nsec) * 1e-9;
  return ToldProgress{*std::move(progress), std::max(0.0, now - then)};
}

class ProgressFile::Writer {
 public:
  explicit Writer(std::filesystem::path path) : path_(std::move(path)), thread_([this] { loop(); }) {}
  ~Writer() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
    ::unlink(path_.c_str());
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  void put(RunProgress progress) {
    {
      const std::lock_guard lock(mutex_);
      next_ = std::move(progress);
    }
    changed_.notify_all();
  }

 private:
  void loop() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return stopping_ || next_; });
      if (stopping_) return;
      const auto progress = std::exchange(next_, std::nullopt);
      lock.unlock();
      replace_file(path_, text_of(*progress));
      lock.lock();
    }
  }

  std::filesystem::path path_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<RunProgress> next_;
  bool stopping_ = false;
  std::thread thread_;  // last member: the thread starts when all others are ready
};

ProgressFile::ProgressFile(std::filesystem::path dir) : dir_(std::move(dir)) {}
ProgressFile::~ProgressFile() = default;

void ProgressFile::put(RunProgress progress) {
  if (!writer_) writer_ = std::make_unique<Writer>(store::Layout{dir_}.progress());
  writer_->put(std::move(progress));
}

}  // namespace tenex
