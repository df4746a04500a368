// Journals: which shards count. One per (incarnation, rank), one writer each, append only.
//
//   tenex-journal 1 <sum>
//   start <key of a point> <sum>
//   crash <reason> <key of a point> <sum>
//   commit <shard> <rows> <bytes> <xxh3 of the file> <sum>
//   replaces <shard> <rows> <bytes> <xxh3 of the file> <old shard> ... <sum>
//
// Every append begins with a newline, so that a line torn by a crash or a full disk stays alone; <sum> is the XXH3-64
// of the line before it, and a line whose sum is wrong does not count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "store/folder_layout.hpp"
#include "tenex/base/diagnostic.hpp"

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

/// What a journal says when read from its beginning.
struct JournalContents {
  std::vector<Commit> live;           ///< committed and not replaced, in order
  std::vector<std::string> replaced;  ///< may still lie in the folder
  std::vector<std::string> started;   ///< keys of points that were about to begin
  std::vector<CrashLine> crashes;     ///< points that ended a process
  std::size_t torn_lines = 0;
  bool torn_at_end = false;  ///< the last line is torn: what a killed writer leaves
};

/// Never fails but for a newer journal (input): what does not read as a line does not count.
[[nodiscard]] Result<JournalContents> parse_journal(std::string_view text, const std::string& file);

/// The one who appends.
class Journal {
 public:
  /// Errors (environment): exists already, not writable.
  [[nodiscard]] static Result<Journal> create(const std::filesystem::path& path);
  ~Journal();
  Journal(Journal&& other) noexcept;
  Journal& operator=(Journal&& other) noexcept;

  /// Durable when it returns. On an error (environment) the journal is as it was, or ends in a torn line.
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

/// A journal's line with its newline and sum.
[[nodiscard]] std::string journal_line(std::string_view body);

/// All journals of a folder together.
struct FolderContents {
  std::vector<std::pair<WriterName, Commit>> live;  ///< by writer: incarnation, rank, number
  std::vector<WriterName> writers;                  ///< one per journal, ascending
  std::vector<std::string> started;
  std::vector<WriterName> starters;  ///< who announced each of these
  std::vector<CrashLine> crashes;
  std::uint32_t last_incarnation = 0;  ///< over journals and shards
  std::vector<std::string> warnings;
};

/// Reads every journal. Errors: unreadable folder or journal (environment), a newer journal (input).
[[nodiscard]] Result<FolderContents> read_journals(const Layout& layout);

}  // namespace tenex::store
