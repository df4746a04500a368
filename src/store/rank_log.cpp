#include "tenex/store/rank_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "store/folder_layout.hpp"
#include "tenex/files/atomic_write.hpp"

namespace tenex {
namespace {

constexpr std::array<std::string_view, 4> kLevels{"off", "warning", "info", "debug"};

std::string time_text() {
  using std::chrono::system_clock;
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch()).count();
  const auto seconds = static_cast<std::time_t>(now / 1000);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec, now % 1000);
}

}  // namespace

Result<LogLevel> parse_log_level(std::string_view text) {
  const auto found = std::ranges::find(kLevels, text);
  if (found != kLevels.end()) return static_cast<LogLevel>(found - kLevels.begin());
  return input_error({}, fmt::format("\"{}\" is no log level", text), "it is off, warning, info or debug", {});
}

Result<RankLog> RankLog::open(const std::filesystem::path& dir, std::uint32_t incarnation, std::uint32_t rank,
                              LogLevel level) {
  RankLog log;
  if (level == LogLevel::off) return log;
  const auto folder = dir / "logs";
  if (auto status = store::make_folder(folder); !status) return status.errors();
  const auto file = folder / fmt::format("{}.{}.log", incarnation, rank);
  log.fd_ = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (log.fd_ < 0) return system_error(fmt::format("cannot write the log \"{}\"", file.string()), errno);
  log.level_ = level;
  return log;
}

RankLog::~RankLog() {
  if (fd_ >= 0) ::close(fd_);
}
RankLog::RankLog(RankLog&& other) noexcept : fd_(std::exchange(other.fd_, -1)), level_(other.level_) {}
RankLog& RankLog::operator=(RankLog&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(level_, other.level_);
  return *this;
}

void RankLog::note(LogLevel level, std::string text) const {
  if (!wants(level)) return;
  std::ranges::replace(text, '\n', ' ');
  const auto line = fmt::format("{} {} {}\n", time_text(), kLevels[static_cast<std::size_t>(level)], text);
  // A full disk must not end a run because of its log.
  [[maybe_unused]] const auto written = ::write(fd_, line.data(), line.size());
}

}  // namespace tenex
