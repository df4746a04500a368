// Journals say which shards count. There is one per (incarnation, rank); it has one writer and only grows.
//
//   tenex-journal 2 <sum>
//   start <key of a point> <sum>
//   crash <reason> <key of a point> <sum>
//   commit <shard> <rows> <bytes> <xxh3 of the file> <sum>
//   replaces <shard> <rows> <bytes> <xxh3 of the file> <old shard> ... <sum>
//
// Every append begins with a newline, so a line torn by a crash or a full disk does not spoil the next one. <sum> is
// the XXH3-64 of the line before it; a line whose sum is wrong does not count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "store/folder_layout.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/design/study.hpp"
#include "tenex/store/crashes.hpp"

namespace tenex::store {

/// A shard that counts.
struct Commit {
  std::string shard;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;
  bool operator==(const Commit&) const = default;
};

/// A process ended by the fault of a point.
struct CrashLine {
  std::string reason;
  std::string key;
  bool operator==(const CrashLine&) const = default;
};

/// The contents of one journal.
struct JournalContents {
  std::vector<Commit> live;           ///< committed and not replaced, in order
  std::vector<std::string> replaced;  ///< may still lie in the folder
  std::vector<std::string> started;   ///< keys of points that were about to begin
  std::vector<CrashLine> crashes;     ///< points that ended a process
  std::size_t torn_lines = 0;
  bool torn_at_end = false;  ///< the last line is torn, as a killed writer leaves it
};

/// Ignores what is not a line of a journal. Errors (input): a newer journal.
[[nodiscard]] Result<JournalContents> parse_journal(std::string_view text, const std::string& file);

/// The writer of one journal.
class Journal {
 public:
  /// Errors (environment): the file exists already, or is not writable.
  [[nodiscard]] static Result<Journal> create(const std::filesystem::path& path);
  ~Journal();
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;

  /// The line is durable on return. On an error (environment) the journal is as it was, or ends in a torn line.
  [[nodiscard]] Status start(std::string_view key);
  [[nodiscard]] Status crash(std::string_view reason, std::string_view key);
  [[nodiscard]] Status commit(const Commit& shard);
  [[nodiscard]] Status replace(const Commit& shard, const std::vector<Commit>& old);

  /// The open file, for a signal handler that appends a last line.
  [[nodiscard]] int descriptor() const { return fd_; }

 private:
  Journal(std::filesystem::path path, int fd) : path_(std::move(path)), fd_(fd) {}
  [[nodiscard]] Status append(const std::string& body);

  std::filesystem::path path_;
  int fd_ = -1;
};

/// A line of a journal with its newline and sum.
[[nodiscard]] std::string journal_line(std::string_view body);

/// The contents of all journals of a folder.
struct FolderContents {
  std::vector<std::pair<WriterName, Commit>> live;  ///< by writer: incarnation, rank, number
  std::vector<WriterName> writers;                  ///< one per journal, ascending
  std::vector<std::string> started;
  std::vector<WriterName> starters;  ///< the writer that announced each of these
  std::vector<CrashLine> crashes;
  std::uint32_t last_incarnation = 0;  ///< over journals and shards
  std::vector<std::string> warnings;
};

/// Reads every journal. Errors: unreadable folder or journal (environment), a newer journal (input).
[[nodiscard]] Result<FolderContents> read_journals(const Layout& layout);

// Counts how often each point was at fault, from the crash lines of journals.

/// By point, ascending. Lines of points that the study does not have are ignored.
[[nodiscard]] std::vector<CrashRecord> count_crashes(const std::vector<CrashLine>& lines, const Study& study);

}  // namespace tenex::store
