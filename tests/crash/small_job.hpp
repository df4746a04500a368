// Jobs of cheap points that commit many small shards, so that a fault at any call meets something: the program itself,
// alone, or three ranks without a launcher (rank_job.cpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "crash/study.hpp"
#include "support/draws.hpp"
#include "support/process.hpp"

namespace tenex::crash_tests {

inline constexpr int ranks = 3;
inline constexpr std::size_t rows_of_a_shard_alone = 6;

/// 20 seeds of 6 points; under the label `long` 80.
inline std::size_t points() { return 6 * static_cast<std::size_t>(support::draws(20, 80)); }
inline std::string small_study() { return cheap_points(static_cast<int>(points() / 6)); }
inline std::size_t rows_of_a_shard() { return static_cast<std::size_t>(support::draws(6, 12)); }
/// A run alone commits 20 shards, of which it joins the first 16; under the label `long` it commits 80 and joins 64, as
/// users' runs do. Three ranks commit 20 in all; under the label `long` 40.
inline std::size_t shards_to_join() { return static_cast<std::size_t>(support::draws(16, 64)); }

using Environment = std::vector<std::pair<std::string, std::string>>;

/// The seconds after which ranks take rank 0 for dead: few where it may die by itself, and else so many that they do
/// not on a busy machine.
inline constexpr double soon = 0.9;
inline constexpr double never = 60;

/// The command of a job into `out`, with a fault or none.
inline support::Command small_job(bool alone, double silence, const std::string& study_file,
                                  const std::filesystem::path& out, const std::string& shims, Environment fault) {
  support::Command command;
  if (alone)
    command.arguments = {TENEX_BINARY, "run", study_file, "--out", out.string(), "--quiet"};
  else
    command.arguments = {CRASH_RANK_JOB, std::to_string(ranks), study_file, out.string(), std::to_string(silence)};
  command.environment = std::move(fault);
  command.environment.insert(
      command.environment.end(),
      {{"LD_PRELOAD", shims},
       {"OMP_NUM_THREADS", "1"},
       {"TENEX_PACE", alone ? "0" : "0.001"},  // every rank has its part, however slowly it starts
       {"CRASH_FOLDER", out.string()},
       {"TENEX_FLUSH_ROWS", std::to_string(alone ? rows_of_a_shard_alone : rows_of_a_shard())},
       {"TENEX_MANY_SHARDS", std::to_string(shards_to_join())}});
  return command;
}

/// About how many calls that change the folder a rank of the job makes for this many points: 8 for a shard, and of
/// three ranks two for every point that it begins. Rank 0 makes 16 more at the start and when it merges, the others
/// make 4. A fault after the last call does not happen.
inline int calls_for(bool alone, int rank, std::size_t points_left) {
  const auto own = alone ? points_left : points_left / ranks;
  const auto rows = alone ? rows_of_a_shard_alone : rows_of_a_shard();
  return static_cast<int>((rank == 0 ? 16 : 4) + (alone ? 0 : 2 * own) + 8 * own / rows);
}
/// The number of a call at which a fault is to happen: one of four is early.
template <class Random>
int draw_call(int last, Random& random) {
  const auto draw = [&random](int from, int to) { return std::uniform_int_distribution(from, to)(random); };
  return draw(1, draw(0, 3) == 0 ? std::max(last / 10, 4) : last);
}

/// The process that a rank job has named on its standard output, or 0.
inline pid_t pid_of(int rank, const std::string& out) {
  const auto word = "pid " + std::to_string(rank) + " ";
  const auto at = out.find(word);
  return at == std::string::npos || out.find('\n', at) == std::string::npos ? 0
                                                                            : std::stoi(out.substr(at + word.size()));
}
/// Ranks of a killed job may live a moment longer; the next run must not meet them.
inline void leave_no_rank(const std::string& out) {
  for (int rank = 0; rank < ranks; ++rank)
    if (const auto pid = pid_of(rank, out); pid > 0) support::wait_until_dead(pid);
}

}  // namespace tenex::crash_tests
