// Compact schedule files in tests: written and read back, and changed on purpose.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "support/process.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/files/schedule_file.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex::compact {

template <class T>
std::string message_of(const Result<T>& result) {
  return result.ok() ? "(no error)" : to_string(result.errors());
}

inline constexpr Occupancy kOccupancy = Occupancy::transfer;

inline ScheduleFile file_of(Topology topology, Collective collective, Schedule schedule) {
  return {std::move(topology), std::move(collective), kOccupancy, std::move(schedule), "tacos", "physics=1\n"};
}

/// Writes and reads a schedule: the same storage, the same sends.
inline ScheduleFile round_trip(const ScheduleFile& file, int threads = 1) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "s.h5";
  const auto written = write_schedule_file(path, file, {SendLayout::compact, threads});
  EXPECT_TRUE(written.ok()) << message_of(written);
  auto read = read_schedule_file(path, {threads});
  EXPECT_TRUE(read.ok()) << message_of(read);
  if (!read) return file;
  EXPECT_EQ(read->schedule.storage_kind(), file.schedule.storage_kind());
  EXPECT_EQ(read->schedule.sends(), file.schedule.sends());
  EXPECT_EQ(schedule_hash(read->schedule), schedule_hash(file.schedule));
  EXPECT_EQ(read->schedule.tiles() > 0, file.schedule.tiles() > 0);
  const auto verdict = verify({read->topology, read->collective, read->occupancy}, read->schedule);
  EXPECT_TRUE(verdict.valid()) << (verdict.findings.empty() ? "" : verdict.findings[0].message);
  return std::move(read).value();
}

/// Changes one element of a small column, without the checksum, reads the file and returns the message: a file that
/// somebody changed on purpose.
template <class T>
std::string message_after(const ScheduleFile& file, const std::string& column, std::size_t row, T value) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "s.h5";
  if (!write_schedule_file(path, file).ok()) return "(not written)";
  const auto values = ColumnFileReader::open(path).value().read<T>(column).value();
  if (row >= values.size()) return "(no such row)";
  auto text = support::read_text(path);
  text.resize(text.size() - 32);
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  const auto at = text.find(bytes);
  if (at == std::string::npos || text.find(bytes, at + 1) != std::string::npos) return "(not found once)";
  std::memcpy(text.data() + at + row * sizeof(T), &value, sizeof(T));
  support::write_text(path, text);
  const auto read = read_schedule_file(path);
  // The verifier must be able to check any schedule that is not refused.
  if (read) (void)verify({read->topology, read->collective, read->occupancy}, read->schedule);
  return message_of(read);
}

}  // namespace tenex::compact
