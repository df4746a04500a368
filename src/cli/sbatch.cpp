#include "sbatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <functional>
#include <numeric>

#include "tenex/base/units.hpp"

namespace tenex::cli {
namespace {

constexpr std::size_t kMostSideBySide = 64;
constexpr double kTimeMargin = 2;
constexpr double kMemoryMargin = 1.25;   // a rank plans with 80 % of its memory
constexpr double kAimedSeconds = 3600;   // of the whole job, with the margin
constexpr double kStartSeconds = 300;    // launching, enumerating, merging
constexpr std::int64_t kTimeStep = 300;  // job times are whole multiples of this
constexpr int kMostThreads = 16;
constexpr int kRanksPerNode = 2;
constexpr int kMostNodes = 64;
constexpr std::size_t kGiB = std::size_t{1} << 30;
constexpr std::size_t kRankBytes = kGiB / 2;      // the process, its cache and the rows that wait for a commit
constexpr std::size_t kMostPerThread = 4 * kGiB;  // if points need more, fewer of them run side by side

/// The text quoted for the shell, whatever it holds.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

/// A job name for Slurm, without blanks and quotes.
std::string job_name(const std::string& study) {
  std::string name = "tenex-";
  for (const char c : study)
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.' ? c : '-';
  return name;
}

std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return text;
}

std::string clock(std::int64_t seconds) {
  const auto days = seconds / 86'400;
  const auto rest = fmt::format("{:02}:{:02}:{:02}", seconds % 86'400 / 3600, seconds % 3600 / 60, seconds % 60);
  return days > 0 ? fmt::format("{}-{}", days, rest) : rest;
}

int whole(double value, int most) {
  return static_cast<int>(std::clamp(std::ceil(value), 1.0, static_cast<double>(most)));
}

}  // namespace

void StudyCost::add(const Estimate& point, double share) {
  ++points_;
  seconds_ += share * point.seconds;
  auto& longest = point.threaded ? longest_threaded_ : longest_serial_;
  longest = std::max(longest, point.seconds);
  if (largest_.size() == kMostSideBySide && point.bytes <= largest_.back()) return;
  largest_.insert(std::ranges::upper_bound(largest_, point.bytes, std::greater<>()), point.bytes);
  if (largest_.size() > kMostSideBySide) largest_.pop_back();
}

double StudyCost::longest(int threads) const { return std::max(longest_serial_, longest_threaded_ / threads); }

std::size_t StudyCost::bytes_side_by_side(int count) const {
  const auto many = std::min(largest_.size(), static_cast<std::size_t>(count));
  return std::accumulate(largest_.begin(), largest_.begin() + static_cast<std::ptrdiff_t>(many), std::size_t{0});
}

JobShape shape_job(const StudyCost& cost, const JobWishes& wishes) {
  JobShape shape;
  const double cores = kTimeMargin * cost.seconds() / (kAimedSeconds - kStartSeconds);
  const auto useful = static_cast<unsigned>(whole(cores, kMostThreads));
  shape.threads = wishes.threads > 0 ? wishes.threads : static_cast<int>(std::bit_ceil(useful));
  int ranks = wishes.ranks > 0 ? wishes.ranks : whole(cores / shape.threads, kMostNodes * kRanksPerNode);
  if (wishes.ranks == 0 && ranks > 1) ranks = (ranks + kRanksPerNode - 1) / kRanksPerNode * kRanksPerNode;
  shape.ranks_per_node = ranks % kRanksPerNode == 0 ? kRanksPerNode : 1;
  shape.nodes = ranks / shape.ranks_per_node;
  const auto in_rank =
      std::min(cost.bytes_side_by_side(shape.threads), static_cast<std::size_t>(shape.threads) * kMostPerThread);
  const auto in_ranks = static_cast<std::size_t>(shape.ranks_per_node) * (in_rank + kRankBytes);
  // A point that is larger than a rank's share has the node to itself.
  const auto alone = cost.largest_bytes() + static_cast<std::size_t>(shape.ranks_per_node) * kRankBytes;
  const auto needed = kMemoryMargin * static_cast<double>(std::max(in_ranks, alone));
  shape.memory_bytes = static_cast<std::size_t>(std::ceil(needed / static_cast<double>(kGiB))) * kGiB;
  const double share = cost.seconds() / (static_cast<double>(shape.nodes) * shape.ranks_per_node * shape.threads);
  const double seconds = kTimeMargin * std::max(share, cost.longest(shape.threads)) + kStartSeconds;
  shape.seconds = static_cast<std::int64_t>(std::ceil(seconds / kTimeStep)) * kTimeStep;
  return shape;
}

std::string sbatch_text(const std::string& name, const std::filesystem::path& study, const std::filesystem::path& dir,
                        const StudyCost& cost, const JobShape& shape) {
  const int ranks = shape.nodes * shape.ranks_per_node;
  auto text = fmt::format(
      "#!/usr/bin/env bash\n"
      "# The study \"{}\", sized by `tenex plan --sbatch`.\n"
      "#   sbatch FILE [DIR] [options of tenex run]       from the top of the checkout; the result is DIR/study.h5\n"
      "# Expected: {} points, {} of one core, the longest {}, the largest {}.\n"
      "# Asked for: {} ranks of {} threads, {} times the expected time and {} min to start and merge, memory for {}\n"
      "# points side by side on each rank and a quarter more. At the time limit the job requeues itself and\n"
      "# continues, as with requeue.sbatch. TENEX and LAUNCHER: see jobs/slurm.sh.\n",
      one_line(name), cost.points(), to_rounded(picoseconds(std::llround(std::min(cost.seconds(), 9e6) * 1e12))),
      to_rounded(picoseconds(std::llround(std::min(cost.longest(shape.threads), 9e6) * 1e12))),
      to_rounded_bytes(static_cast<double>(cost.largest_bytes())), ranks, shape.threads, kTimeMargin,
      kStartSeconds / 60, shape.threads);
  text += fmt::format(
      "#SBATCH --job-name={}\n#SBATCH --requeue\n#SBATCH --nodes={}\n#SBATCH --ntasks-per-node={}\n"
      "#SBATCH --cpus-per-task={}\n#SBATCH --hint=nomultithread\n#SBATCH --mem={}G\n#SBATCH --time={}\n"
      "#SBATCH --signal=B:USR1@120\n#SBATCH --output=%x-%j.log\n#SBATCH --open-mode=append\n",
      job_name(name), shape.nodes, shape.ranks_per_node, shape.threads, shape.memory_bytes / kGiB,
      clock(shape.seconds));
  text += fmt::format(
      "set -euo pipefail\n"
      "# shellcheck source=jobs/slurm.sh\n"
      ". \"${{SLURM_SUBMIT_DIR:-$PWD}}/jobs/slurm.sh\" || {{ echo \"submit this from the top of the checkout "
      "(jobs/slurm.sh is looked for there)\" >&2; exit 2; }}\n"
      "study={}\n"
      "need_study {}.sbatch \"$study\"\n"
      "dir={}\n"
      "if [ $# -gt 0 ]; then\n  dir=$1\n  shift\nfi\n"
      "run_in_turns \"$dir\" run \"$study\" --out \"$dir\" \"$@\"\n",
      quoted(study.string()), job_name(name), quoted(dir.string()));
  return text;
}

}  // namespace tenex::cli
