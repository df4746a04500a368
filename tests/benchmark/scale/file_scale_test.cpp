// Schedule files of large schedules: bytes on disk, time, and memory beside the schedule itself.
#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <utility>

#include "support/process.hpp"
#include "support/topologies.hpp"
#include "tenex/files/schedule_file.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

constexpr int kThreads = 2;
constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// Wall and CPU seconds (of all threads) since it was made.
class Stopwatch {
 public:
  [[nodiscard]] std::string text() const {
    char text[64];
    std::snprintf(text, sizeof(text), "%.1f s (%.1f s of CPU)",
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count(),
                  static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC);
    return text;
  }

 private:
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
  std::clock_t cpu_ = std::clock();
};

/// A line of /proc/self/status, in bytes.
std::int64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(name + ":")) return std::stoll(line.substr(name.size() + 1)) * 1024;
  return -1;
}

/// The growth of the resident memory's peak since construction.
class PeakGrowth {
 public:
  PeakGrowth() {
    malloc_trim(0);
    std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
    before_ = status_bytes("VmRSS");
  }
  [[nodiscard]] std::int64_t bytes() const { return status_bytes("VmHWM") - before_; }

 private:
  std::int64_t before_ = 0;
};

ScheduleFile gather(Topology topology, std::string_view engine) {
  auto collective = support::collective(CollectiveKind::all_gather, topology.npus(),
                                        bytes(1'000'000) * static_cast<std::int64_t>(topology.npus()));
  auto made = find_synthesizer("tacos")
                  ->synthesize({topology, collective, Occupancy::transfer, {1, 1, std::string(engine)}, kThreads})
                  .value();
  return {std::move(topology), std::move(collective), Occupancy::transfer, std::move(made.schedule), "tacos", ""};
}

Verdict judge(const ScheduleFile& file) {
  VerifyOptions options;
  options.threads = kThreads;
  if (has_orbit_check(file.topology, file.collective, file.schedule))
    return verify_symmetric({file.topology, file.collective, file.occupancy}, file.schedule, options);
  return verify({file.topology, file.collective, file.occupancy}, file.schedule, options);
}

/// Writes, frees, reads and verifies a schedule; prints the costs. `hashed`: also compares hashes.
void expect_round_trip(const std::string& name, ScheduleFile file, bool hashed) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "s.h5";
  const auto sends = file.schedule.sends();
  const auto held = static_cast<std::int64_t>(file.schedule.memory_bytes());
  const auto hash = hashed ? schedule_hash(file.schedule) : 0;
  const PeakGrowth writing;
  const Stopwatch write_time;
  ASSERT_TRUE(write_schedule_file(path, file, {SendLayout::compact, kThreads}).ok());
  const auto write_text = write_time.text();
  const auto write_growth = writing.bytes();
  file = ScheduleFile{Topology(file.topology), Collective(file.collective), file.occupancy, {}, "", ""};
  const auto size = static_cast<double>(std::filesystem::file_size(path));
  std::printf("%s: %.1f MB on disk, %.3f bytes per send; %s to write, %.0f MB of memory beside the schedule\n",
              name.c_str(), size / 1e6, size / static_cast<double>(sends), write_text.c_str(),
              static_cast<double>(write_growth) / 1e6);
  std::fflush(stdout);
  EXPECT_LT(write_growth, 64 * kMiB);
  const PeakGrowth reading;
  const Stopwatch read_time;
  const auto read = read_schedule_file(path, {kThreads});
  const auto read_text = read_time.text();
  const auto read_growth = reading.bytes() - held;
  ASSERT_TRUE(read.ok());
  std::printf("%s: %s to read, %.0f MB beside the schedule of %.0f MB\n", name.c_str(), read_text.c_str(),
              static_cast<double>(read_growth) / 1e6, static_cast<double>(held) / 1e6);
  std::fflush(stdout);
  EXPECT_EQ(read->schedule.sends(), sends);
  EXPECT_LT(read_growth, 64 * kMiB + 200 * static_cast<std::int64_t>(read->topology.links()));
  const Stopwatch verify_time;
  const Verdict verdict = judge(*read);
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.sends, sends);
  std::printf("%s: %s to verify\n", name.c_str(), verify_time.text().c_str());
  if (hashed) {
    EXPECT_EQ(schedule_hash(read->schedule), hash);
  }
}

TEST(FileScale, KeepsAnExactScheduleOf10000Npus) {
  auto file = gather(support::mesh(100, 100), "exact");
  ASSERT_EQ(file.schedule.sends(), 99'990'000U);  // 10,000 chunks to 9,999 others
  expect_round_trip("mesh(100,100), exact", std::move(file), true);
}

TEST(FileScale, KeepsACoarseScheduleOf10000Npus) {
  expect_round_trip("mesh(100,100), coarse", gather(support::mesh(100, 100), "coarse"), false);
}

TEST(FileScale, KeepsACoarseScheduleOf40000Npus) {
  expect_round_trip("mesh(200,200), coarse", gather(support::mesh(200, 200), "coarse"), false);
}

TEST(FileScale, KeepsAnExactScheduleOf40000Npus) {
  expect_round_trip("mesh(200,200), exact", gather(support::mesh(200, 200), "exact"), false);
}

TEST(FileScale, KeepsAnExactScheduleOf43000NpusOfAGrid) {
  expect_round_trip("grid(35,35,35), exact", gather(support::shape("grid(35,35,35)"), "exact"), false);
}

TEST(FileScale, KeepsASymmetricScheduleOfAMillionNpus) {
  expect_round_trip("torus(100,100,100), symmetric", gather(support::shape("torus(100,100,100)"), "symmetric"), false);
}

}  // namespace
}  // namespace tenex
