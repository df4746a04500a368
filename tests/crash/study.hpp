// A study of about a second on one core, or of many with more attempts: heavy and light points, every collective, two kinds
// of algorithm.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "support/process.hpp"

namespace tenex::crash_tests {

inline const std::string study_head = R"TOML(schema = 1
name = "crash"
seed = [1, 2]

[defaults]
alpha = "0.5us"
bandwidth = "50GB/s"
)TOML";

inline const std::string study_sweeps = R"TOML(
[[sweep]]
axes.topology = ["mesh(4,4)", "torus(8,8)", "mesh(12,12)", "RI(4)_FC(4)_SW(4)"]
axes.collective = ["all_gather", "reduce_scatter", "all_reduce", "broadcast", "reduce"]
axes.size = ["1MiB", "64MiB"]
algorithm = "tacos"

[[sweep]]
axes.topology = ["mesh(4,4)", "torus(8,8)", "RI(4)_FC(4)_SW(4)"]
axes.collective = ["all_gather", "reduce_scatter", "all_reduce"]
axes.chunks = [1, 3]
axes.algorithm = ["ring", "direct"]
size = "1MiB"
)TOML";

/// Attempts per synthesis: about a second of work in all, or time enough to be killed in.
enum Length : int { brief = 3, lengthy = 15 };

/// `tenex run` of the study into `out`, the study beside it.
inline std::vector<std::string> run_words(const std::filesystem::path& folder, const std::string& out,
                                          Length length = lengthy) {
  const auto study = folder / "study.toml";
  if (!std::filesystem::exists(study))
    support::write_text(study, study_head + "attempts = " + std::to_string(length) + "\n" + study_sweeps);
  return {TENEX_BINARY, "run", study.string(), "--out", (folder / out).string(), "--quiet"};
}

/// Waits until a run has taken its folder, then a little longer.
inline void let_it_work(support::Child& child, const std::filesystem::path& out) {
  for (int i = 0; i < 1000 && child.running() && !std::filesystem::exists(out / "lock"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
}

}  // namespace tenex::crash_tests
