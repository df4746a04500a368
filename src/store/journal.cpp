#include "store/journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "tenex/base/hash.hpp"
#include "tenex/files/atomic_write.hpp"

namespace tenex::store {
namespace {

constexpr std::string_view kHeader = "tenex-journal";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

/// The line without its sum; nullopt when the sum is wrong.
std::optional<std::string_view> checked_body(std::string_view line) {
  const auto at = line.rfind(' ');
  if (at == std::string_view::npos) return std::nullopt;
  const auto sum = parse_hex64(line.substr(at + 1));
  const auto body = line.substr(0, at);
  if (!sum || *sum != digest64(body)) return std::nullopt;
  return body;
}

std::optional<Commit> parse_commit(const std::vector<std::string_view>& words) {
  if (words.size() < 5 || !parse_shard_name(words[1])) return std::nullopt;
  const auto rows = parse_number(words[2]);
  const auto bytes = parse_number(words[3]);
  const auto hash = parse_hex64(words[4]);
  if (!rows || !bytes || !hash) return std::nullopt;
  return Commit{std::string(words[1]), *rows, *bytes, *hash};
}

/// Takes one line whose sum is right; false when its words make no sense.
bool take_line(const std::vector<std::string_view>& words, JournalContents& contents) {
  if (words[0] == "start" && words.size() == 2) {
    contents.started.emplace_back(words[1]);
    return true;
  }
  if (words[0] == "crash" && words.size() == 3) {
    contents.crashes.push_back({std::string(words[1]), std::string(words[2])});
    return true;
  }
  const auto commit = parse_commit(words);
  if (!commit) return false;
  if (words[0] == "commit" && words.size() == 5) {
    contents.live.push_back(*commit);
    return true;
  }
  if (words[0] != "replaces") return false;
  for (std::size_t i = 5; i < words.size(); ++i) {
    std::erase_if(contents.live, [&](const Commit& old) { return old.shard == words[i]; });
    contents.replaced.emplace_back(words[i]);
  }
  contents.live.push_back(*commit);
  return true;
}

std::string describe_commit(const Commit& shard) {
  return fmt::format("{} {} {} {}", shard.shard, shard.rows, shard.bytes, hex64(shard.hash));
}

/// Writes and syncs the line; returns 0 or an errno. A short write is continued, because only the next write returns
/// the reason.
int write_line(int fd, std::string_view line) {
  while (!line.empty()) {
    const auto written = ::write(fd, line.data(), line.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    line.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fsync(fd) == 0 ? 0 : errno;
}

}  // namespace

std::string journal_line(std::string_view body) { return fmt::format("\n{} {}", body, hex64(digest64(body))); }

Result<JournalContents> parse_journal(std::string_view text, const std::string& file) {
  JournalContents contents;
  std::uint32_t number = 0;
  for (const auto line : split(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    const auto body = checked_body(line);
    const auto words = split(body.value_or(std::string_view()), ' ');
    contents.torn_at_end = false;
    if (body && words[0] == kHeader) {
      const auto schema = words.size() == 2 ? parse_number(words[1]) : std::nullopt;
      if (!schema || *schema > static_cast<std::uint64_t>(kSchema))
        return input_error({file, number, 1}, "the journal is newer than this version",
                           fmt::format("this version reads schema {}", kSchema), "use a newer tenex");
    } else if (!body || !take_line(words, contents)) {
      ++contents.torn_lines;
      contents.torn_at_end = true;
    }
  }
  return contents;
}

Result<Journal> Journal::create(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
  if (fd < 0) return system_error(fmt::format("cannot make the journal \"{}\"", path.string()), errno);
  Journal journal(path, fd);
  if (auto status = journal.append(fmt::format("{} {}", kHeader, kSchema)); !status) return status.errors();
  if (auto status = sync_folder(path.parent_path()); !status) return status.errors();
  return journal;
}

Journal::~Journal() {
  if (fd_ >= 0) ::close(fd_);
}
Journal::Journal(Journal&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}
Journal& Journal::operator=(Journal&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

Status Journal::start(std::string_view key) { return append(fmt::format("start {}", key)); }

Status Journal::crash(std::string_view reason, std::string_view key) {
  return append(fmt::format("crash {} {}", reason, key));
}

Status Journal::commit(const Commit& shard) { return append("commit " + describe_commit(shard)); }

Status Journal::replace(const Commit& shard, const std::vector<Commit>& old) {
  auto body = "replaces " + describe_commit(shard);
  for (const auto& name : old) body += " " + name.shard;
  return append(body);
}

Status Journal::append(const std::string& body) {
  const auto line = journal_line(body);
  struct stat before {};
  const auto problem = [this] { return fmt::format("cannot append to \"{}\"", path_.string()); };
  if (::fstat(fd_, &before) != 0) return system_error(problem(), errno);
  const int reason = write_line(fd_, line);
  if (reason == 0) return success();
  // Removes the line again: the caller will append it anew with another shard. If even this fails, the torn line does
  // no harm to the next one.
  [[maybe_unused]] const int taken_back = ::ftruncate(fd_, before.st_size);
  return system_error(problem(), reason);
}

Result<FolderContents> read_journals(const Layout& layout) {
  FolderContents folder;
  std::vector<std::pair<WriterName, std::filesystem::path>> journals;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(layout.journals(), error))
    if (const auto writer = parse_journal_name(file.path().filename().string())) journals.emplace_back(*writer, file);
  if (error)
    return system_error(fmt::format("cannot read the folder \"{}\"", layout.journals().string()), error.value());
  std::sort(journals.begin(), journals.end());
  for (const auto& [writer, path] : journals) {
    const auto bytes = read_file(path);
    if (!bytes) return bytes.errors();
    auto journal = parse_journal(text_of(*bytes), path.string());
    if (!journal) return journal.errors();
    folder.last_incarnation = std::max(folder.last_incarnation, writer.incarnation);
    for (auto& commit : journal->live) folder.live.emplace_back(*parse_shard_name(commit.shard), std::move(commit));
    folder.writers.push_back(writer);
    folder.starters.insert(folder.starters.end(), journal->started.size(), writer);
    for (auto& key : journal->started) folder.started.push_back(std::move(key));
    for (auto& crash : journal->crashes) folder.crashes.push_back(std::move(crash));
    const auto unexpected = journal->torn_lines - (journal->torn_at_end ? 1U : 0U);
    if (unexpected > 0)
      folder.warnings.push_back(fmt::format("{}: {} damaged lines do not count", path.string(), unexpected));
  }
  for (const auto& file : std::filesystem::directory_iterator(layout.shards(), error))
    if (const auto writer = parse_shard_name(file.path().filename().string()))
      folder.last_incarnation = std::max(folder.last_incarnation, writer->incarnation);
  std::sort(folder.live.begin(), folder.live.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return folder;
}

}  // namespace tenex::store
