#include "sbatch.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>

#include "builtin_texts.hpp"
#include "commands.hpp"
#include "report.hpp"
#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"

namespace tenex::cli {
namespace {

constexpr std::size_t kMostSideBySide = 64;
constexpr double kTimeMargin = 2;
constexpr double kMemoryMargin = 1.25;   // a rank plans with 80 % of its memory
constexpr double kAimedSeconds = 3600;   // of the whole job, with the margin
constexpr double kStartSeconds = 300;    // launching, enumerating, merging
constexpr std::int64_t kTimeStep = 300;  // job times are whole multiples of this
constexpr int kMostRankThreads = 16;
constexpr int kRanksPerNode = 2;
constexpr int kMostNodes = 64;
constexpr std::size_t kGiB = std::size_t{1} << 30;
constexpr std::size_t kRankBytes = kGiB / 2;      // the process, its cache and the rows that wait for a commit
constexpr std::size_t kMostPerThread = 4 * kGiB;  // if points need more, fewer of them run side by side

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
  const auto useful = static_cast<unsigned>(whole(cores, kMostRankThreads));
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

namespace {

/// What the job does and asks for, for people.
std::string job_heading(const std::string& name, const StudyCost& cost, const JobShape& shape) {
  return fmt::format(
      "#!/usr/bin/env bash\n"
      "# The study \"{}\", sized by `tenex plan --sbatch`. This file holds the study, and needs no checkout.\n"
      "#   sbatch FILE [DIR] [options of tenex run]       the result is DIR/study.h5\n"
      "# Expected: {} points, {} of one core, the longest {}, the largest {}.\n"
      "# Asked for: {} of {}, {} times the expected time and {} min to start and merge, memory for {}\n"
      "# side by side on each rank and a quarter more. At the time limit the job requeues itself and "
      "continues.\n",
      one_line(name), cost.points(), to_rounded(picoseconds(std::llround(std::min(cost.seconds(), 9e6) * 1e12))),
      to_rounded(picoseconds(std::llround(std::min(cost.longest(shape.threads), 9e6) * 1e12))),
      memory_text(static_cast<std::int64_t>(cost.largest_bytes())), counted(shape.nodes * shape.ranks_per_node, "rank"),
      counted(shape.threads, "thread"), kTimeMargin, kStartSeconds / 60, counted(shape.threads, "point"));
}

/// The options of sbatch, and places for those that only the user knows.
std::string job_request(const std::string& name, const JobShape& shape) {
  return fmt::format(
      "#SBATCH --job-name={}\n#SBATCH --requeue\n#SBATCH --nodes={}\n#SBATCH --ntasks-per-node={}\n"
      "#SBATCH --cpus-per-task={}\n#SBATCH --hint=nomultithread\n#SBATCH --mem={}G\n#SBATCH --time={}\n"
      "#SBATCH --signal=B:USR1@120\n#SBATCH --output=%x-%j.log\n#SBATCH --open-mode=append\n"
      "# ==== Your cluster: what it needs, without the second # and with your names. SBATCH_ACCOUNT and\n"
      "# ==== SBATCH_PARTITION in the environment of sbatch do the same.\n"
      "##SBATCH --account=ACCOUNT\n"
      "##SBATCH --partition=PARTITION\n"
      "# ==== Modules that tenex was built with, unless they are loaded where you submit.\n"
      "# module load MPI HDF5\n"
      "# ==== The rest needs no change.\n",
      job_name(name), shape.nodes, shape.ranks_per_node, shape.threads, shape.memory_bytes / kGiB,
      clock(shape.seconds));
}

/// Number of folders above the study's that a relative path enters.
std::size_t folders_above(const std::filesystem::path& path) {
  const auto normal = path.lexically_normal();
  return static_cast<std::size_t>(std::ranges::count(normal, std::filesystem::path("..")));
}

/// Commands that write `text` to the file that the shell's words `file` name.
std::string here_document(const std::string& file, const std::string& text) {
  std::string end = "END_OF_FILE";
  while (text.find(end) != std::string::npos) end += "_";
  const bool ends_line = text.empty() || text.back() == '\n';
  return fmt::format("mkdir -p \"$(dirname {})\"\ncat >{} <<'{}'\n{}{}{}\n", file, file, end, text,
                     ends_line ? "" : "\n", end);
}

/// Commands that write the study and its files, and set `study`. The study stands so deep that every relative path
/// ends inside of `dir`/job.
std::string write_files(const JobContent& content) {
  std::size_t depth = 0;
  for (const auto& [path, text] : content.files) depth = std::max(depth, folders_above(path));
  std::string folder = "job/";
  for (std::size_t i = 0; i < depth; ++i) folder += "in/";
  std::string commands = fmt::format("study=$dir/{}{}\n", folder, shell_quoted(content.file));
  commands += here_document("\"$study\"", content.text);
  for (const auto& [path, text] : content.files)
    if (!std::filesystem::path(path).is_absolute())
      commands += here_document("\"$dir\"/" + folder + shell_quoted(path), text);
  return commands;
}

}  // namespace

std::string sbatch_text(const JobContent& content, const std::filesystem::path& dir, const StudyCost& cost,
                        const JobShape& shape) {
  const auto functions = find_builtin(job_functions(), "slurm");
  ensure(functions.has_value(), "jobs/slurm.sh is not in the binary");
  return job_heading(content.name, cost, shape) + job_request(content.name, shape) +
         fmt::format(
             "set -euo pipefail\n"
             "TENEX=${{TENEX:-{}}}\n"
             "[ -x \"$TENEX\" ] || TENEX=$(command -v tenex || echo \"$TENEX\")\n\n"
             "{}\n"
             "need_job \"the job of {}\" \"sbatch FILE [DIR]\"\n"
             "need_binary\n"
             "dir={}\n"
             "if [ $# -gt 0 ]; then\n  dir=$1\n  shift\nfi\n",
             shell_quoted(content.program.string()), *functions, job_name(content.name), shell_quoted(dir.string())) +
         write_files(content) + "run_in_turns \"$dir\" run \"$study\" --out \"$dir\" \"$@\"\n";
}

Status submit_job(const std::string& text) {
  constexpr int kNotFound = 127;
  std::signal(SIGPIPE, SIG_IGN);  // an sbatch that ends early does not read all
  std::FILE* const sbatch = ::popen("command -v sbatch >/dev/null || exit 127; exec sbatch", "w");
  if (sbatch == nullptr) return environment_error("no job was submitted", std::strerror(errno));
  (void)std::fwrite(text.data(), 1, text.size(), sbatch);
  const int status = ::pclose(sbatch);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return success();
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound)
    return environment_error("no job was submitted", "sbatch is not on PATH",
                             "run this where Slurm is, or write the job with --sbatch FILE and take the file there");
  return environment_error("no job was submitted", "sbatch refused it, as it says above",
                           "write the job with --sbatch FILE, change what your cluster needs, and run: sbatch FILE");
}

}  // namespace tenex::cli
