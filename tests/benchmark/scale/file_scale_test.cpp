// Files of large schedules, lists and recipes: bytes on disk, time, and memory beside the schedule itself.
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
#include "tenex/design/study.hpp"
#include "tenex/evaluate/kept_schedule.hpp"
#include "tenex/files/schedule_file.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/topology/shape.hpp"

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

constexpr const char* kTorusOfAMillion = "torus(100,100,100)";

/// A point of the All-Gather of 1 MB from each NPU, and its schedule.
struct Made {
  DesignPoint point;
  EvaluationOutput output;
};

Made gather(const std::string& topology, std::string_view engine) {
  const auto npus = parse_shape(topology).value().npus();
  auto point = make_point({{"topology", topology},
                           {"alpha", "0.5us"},
                           {"bandwidth", "50GB/s"},
                           {"collective", "all_gather"},
                           {"size", std::to_string(npus) + "MB"},
                           {"occupancy", "transfer"},
                           {"algorithm", "tacos"},
                           {"engine", std::string(engine)}},
                          vocabulary())
                   .value();
  Cache cache;
  EvaluateOptions options;
  options.threads = kThreads;
  options.memory_limit_bytes = std::size_t{24} << 30;
  options.keep_schedule = true;
  options.schedule_only = true;
  auto output = evaluate(point, cache, options);
  return {std::move(point), std::move(output)};
}

/// Writes a list, frees the schedule, reads and verifies it; prints the costs.
TEST(FileScale, KeepsAListOf10000Npus) {
  auto [point, output] = gather("mesh(100,100)", "exact");
  ASSERT_EQ(output.schedule.sends(), 99'990'000U);  // 10,000 chunks to 9,999 others
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "s.h5";
  const auto hash = schedule_hash(output.schedule);
  const PeakGrowth writing;
  const Stopwatch write_time;
  ASSERT_TRUE(keep_schedule(path, point, output, {KeepAs::list, kThreads}).ok());
  const auto write_growth = writing.bytes();
  const auto size = static_cast<double>(std::filesystem::file_size(path));
  std::printf("list of 10,000 NPUs: %.1f MB on disk, %.3f bytes per send; %s to write, %.0f MB beside the schedule\n",
              size / 1e6, size / 99'990'000, write_time.text().c_str(), static_cast<double>(write_growth) / 1e6);
  EXPECT_LT(write_growth, 64 * kMiB);
  const PeakGrowth reading;
  const Stopwatch read_time;
  const auto read = open_schedule(path, {.threads = kThreads});
  ASSERT_TRUE(read.ok());
  const auto held = static_cast<std::int64_t>(read->file.schedule.memory_bytes());
  const auto read_growth = reading.bytes() - held;
  std::printf("list of 10,000 NPUs: %s to read, %.0f MB beside the schedule of %.0f MB\n", read_time.text().c_str(),
              static_cast<double>(read_growth) / 1e6, static_cast<double>(held) / 1e6);
  EXPECT_LT(read_growth, 128 * kMiB);
  EXPECT_EQ(schedule_hash(read->file.schedule), hash);
}

/// Writes a recipe, makes its schedule again, verifies it whole, and lists a part of it; prints the costs.
void expect_recipe(const std::string& topology, std::string_view engine) {
  const support::TemporaryFolder folder;
  const auto path = folder.path() / "s.h5";
  std::uint64_t sends = 0;
  {
    auto [point, output] = gather(topology, engine);
    sends = output.schedule.sends();
    const Stopwatch write_time;
    const auto as = keep_schedule(path, point, output);
    ASSERT_TRUE(as.ok());
    EXPECT_EQ(*as, KeepAs::recipe);
    std::printf("%s, %s: %.3g sends, %s to write a recipe of %ju bytes\n", topology.c_str(), engine.data(),
                static_cast<double>(sends), write_time.text().c_str(),
                static_cast<std::uintmax_t>(std::filesystem::file_size(path)));
    EXPECT_LT(std::filesystem::file_size(path), 20'000U);
  }
  const Stopwatch make_time;
  const auto opened = open_schedule(path, {kThreads, std::size_t{24} << 30});
  ASSERT_TRUE(opened.ok());
  std::printf("%s, %s: %s to make and to hash\n", topology.c_str(), engine.data(), make_time.text().c_str());
  EXPECT_TRUE(opened->as_recorded());
  const auto& file = opened->file;
  const Stopwatch verify_time;
  VerifyOptions options;
  options.threads = kThreads;
  const auto verdict = verify_by_size({file.topology, file.collective, file.occupancy}, file.schedule, options);
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.sends, sends);
  std::printf("%s, %s: %s to verify whole\n", topology.c_str(), engine.data(), verify_time.text().c_str());
  const PeakGrowth exporting;
  const Stopwatch export_time;
  const auto part = folder.path() / "part.h5";
  const auto written = write_schedule_file(part, file, {kThreads, {.npus = {NpuId(7)}, .before = microseconds(2000)}});
  ASSERT_TRUE(written.ok());
  std::printf("%s, %s: %s to list %ju sends of NPU 7, %.0f MB beside the schedule\n", topology.c_str(), engine.data(),
              export_time.text().c_str(),
              static_cast<std::uintmax_t>(read_schedule_file(part).value().schedule.sends()),
              static_cast<double>(exporting.bytes()) / 1e6);
  std::fflush(stdout);
}

TEST(FileScale, KeepsARecipeOfACoarseScheduleOf40000Npus) { expect_recipe("mesh(200,200)", "coarse"); }

TEST(FileScale, KeepsARecipeOfAnExactScheduleOf40000Npus) { expect_recipe("mesh(200,200)", "exact"); }

TEST(FileScale, KeepsARecipeOfASymmetricScheduleOfAMillionNpus) { expect_recipe(kTorusOfAMillion, "symmetric"); }

}  // namespace
}  // namespace tenex
