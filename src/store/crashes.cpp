// Reads one writer's journal and the keys of its shards; formats the crash line without an allocation.
#include "tenex/store/crashes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <system_error>

#include "store/folder_layout.hpp"
#include "store/journal.hpp"
#include "store/shard.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/files/atomic_write.hpp"

namespace tenex {

using store::Layout;

namespace store {

std::vector<CrashRecord> count_crashes(const std::vector<CrashLine>& lines, const Study& study) {
  std::vector<CrashRecord> records;
  for (const auto& line : lines) {
    const auto digest = parse_digest(line.key);
    const auto point = digest ? study.points.find(*digest) : std::nullopt;
    if (!point) continue;
    const auto known = std::ranges::find(records, *point, &CrashRecord::point);
    if (known == records.end())
      records.push_back({*point, 1, line.reason});
    else
      ++known->times, known->reason = line.reason;
  }
  std::ranges::sort(records, {}, &CrashRecord::point);
  return records;
}

}  // namespace store

namespace {

/// Adds the points of a shard's rows to the trace; none for a shard that cannot be read.
void read_rows(const Layout& layout, const store::Commit& commit, const Study& study, WriterTrace& trace) {
  const auto shard = store::open_shard(layout, commit);
  const auto keys = shard ? store::read_keys(*shard, commit.shard) : shard.errors();
  if (!keys) return;
  const auto status = shard->read<std::int8_t>(store::columns::metric("status"), 0, keys->size());
  if (!status) return;
  for (std::size_t row = 0; row < keys->size(); ++row) {
    const auto point = study.points.find((*keys)[row]);
    if (!point) continue;
    trace.committed.push_back(*point);
    trace.not_ok += (*status)[row] == static_cast<std::int8_t>(PointStatus::ok) ? 0 : 1;
  }
}

void sort_unique(std::vector<std::uint64_t>& points) {
  std::ranges::sort(points);
  points.erase(std::unique(points.begin(), points.end()), points.end());
}

}  // namespace

Result<WriterTrace> read_trace(const std::filesystem::path& dir, const Study& study, std::uint32_t incarnation,
                               std::uint32_t rank) {
  const Layout layout{dir};
  const auto path = layout.journals() / store::journal_name({incarnation, rank, 0});
  WriterTrace trace;
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return trace;
  const auto bytes = read_file(path);
  if (!bytes) return bytes.errors();
  const auto journal = store::parse_journal(text_of(*bytes), path.string());
  if (!journal) return journal.errors();
  for (const auto& commit : journal->live) read_rows(layout, commit, study, trace);
  sort_unique(trace.committed);
  for (const auto& key : journal->started) {
    const auto digest = store::parse_digest(key);
    const auto point = digest ? study.points.find(*digest) : std::nullopt;
    if (point && !std::ranges::binary_search(trace.committed, *point)) trace.unfinished.push_back(*point);
  }
  sort_unique(trace.unfinished);
  trace.crashes = store::count_crashes(journal->crashes, study);
  return trace;
}

std::size_t format_crash_line(std::span<char> buffer, std::string_view reason, std::string_view key) noexcept {
  constexpr std::string_view word = "crash ";
  constexpr std::size_t sum_digits = 16;
  const auto body = word.size() + reason.size() + 1 + key.size();
  if (buffer.size() < 1 + body + 1 + sum_digits) return 0;
  std::size_t at = 0;
  const auto put = [&](std::string_view text) {
    std::memcpy(buffer.data() + at, text.data(), text.size());
    at += text.size();
  };
  put("\n");
  put(word);
  put(reason);
  put(" ");
  put(key);
  const auto sum = digest64({buffer.data() + 1, body});
  put(" ");
  for (int shift = 60; shift >= 0; shift -= 4) buffer[at++] = "0123456789abcdef"[(sum >> shift) & 15U];
  return at;
}

}  // namespace tenex
