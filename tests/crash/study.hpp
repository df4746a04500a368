// A study of a third of a second on one core, or of more with more seeds: heavy and light points, every collective, two
// kinds of algorithm.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "support/process.hpp"

namespace tenex::crash_tests {

inline const std::string study_sweeps = R"TOML(
[defaults]
alpha = "0.5us"
bandwidth = "50GB/s"
attempts = 3

[[sweep]]
axes.topology = ["mesh(4,4)", "torus(8,8)", "mesh(12,12)", "RI(4)_FC(4)_SW(4)"]
axes.collective = ["all_gather", "reduce_scatter", "all_reduce", "broadcast", "reduce"]
axes.size = ["1MiB", "64MiB"]
algorithm = "tacos"
engine = "event_driven"

[[sweep]]
axes.topology = ["mesh(4,4)", "torus(8,8)", "RI(4)_FC(4)_SW(4)"]
axes.collective = ["all_gather", "reduce_scatter", "all_reduce"]
axes.chunks = [1, 3]
axes.algorithm = ["ring", "direct"]
size = "1MiB"
)TOML";

/// Six points of some 30 us for each of `seeds` seeds. With 5,000 a rank commits a shard every 4,096 points, several
/// times a second.
inline std::string cheap_points(int seeds) {
  return "schema = 1\nname = \"cheap\"\nseed = { from = 1, to = " + std::to_string(seeds) + R"TOML(, step = 1 }

[[sweep]]
topology = "RI(3)"
alpha = "0.5us"
bandwidth = "50GB/s"
axes.collective = ["all_gather", "reduce_scatter"]
axes.algorithm = ["ring", "ring_unidirectional", "direct"]
size = "1MiB"
)TOML";
}

/// Number of seeds for every point: a third of a second of work in all, or enough of it to kill the run.
enum Length : int { brief = 1, lengthy = 5 };

/// `tenex run` of the study into `out`, the study beside it.
inline std::vector<std::string> run_words(const std::filesystem::path& folder, const std::string& out,
                                          Length length = lengthy) {
  const auto study = folder / "study.toml";
  if (!std::filesystem::exists(study))
    support::write_text(study, "schema = 1\nname = \"crash\"\nseed = { from = 1, to = " + std::to_string(length) +
                                   ", step = 1 }\n" + study_sweeps);
  return {TENEX_BINARY, "run", study.string(), "--out", (folder / out).string(), "--quiet"};
}

}  // namespace tenex::crash_tests
