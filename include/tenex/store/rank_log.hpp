// The log of one rank: DIR/logs/<run>.<rank>.log shows why a run was slow or ended.
//
// A line is `2026-01-31T12:00:00.123Z info text`. Times are in UTC, and lines in the order of events of that rank.
// There is no log unless asked for, and a log that cannot be written is given up. One call writes a whole line, so
// threads may share the log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// Each level has the lines of those before it.
enum class LogLevel : std::uint8_t {
  off,
  warning,  ///< what went wrong: lost ranks, failed commits
  info,     ///< leases, commits, joined shards, the beginning and the end
  debug,    ///< every point as it begins and ends
};
/// "off", "warning", "info" or "debug". Errors (input): anything else.
[[nodiscard]] Result<LogLevel> parse_log_level(std::string_view text);

/// Thread-safe.
class RankLog {
 public:
  /// A log that writes nothing.
  RankLog() = default;
  /// Makes the folder and the file, unless the level is LogLevel::off. A rank has one log per run; an existing one is
  /// continued. Errors (environment): not writable.
  [[nodiscard]] static Result<RankLog> open(const std::filesystem::path& dir, std::uint32_t incarnation,
                                            std::uint32_t rank, LogLevel level);
  ~RankLog();
  RankLog(RankLog&& other) noexcept;
  RankLog& operator=(RankLog&& other) noexcept;

  [[nodiscard]] bool wants(LogLevel level) const { return fd_ >= 0 && level <= level_; }
  /// Writes one line if the log has this level. A newline in the text becomes a blank.
  void note(LogLevel level, std::string text) const;

 private:
  int fd_ = -1;
  LogLevel level_ = LogLevel::off;
};

}  // namespace tenex
