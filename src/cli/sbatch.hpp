// Internal to cli: an sbatch file for a study, sized by the study's expected cost.
//
// Expectations come from constants that were measured on one machine, so the request has a margin that the file states:
// twice the time and a quarter more memory. A job that is too small loses nothing: at the time limit it is requeued and
// continues.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex::cli {

/// The expected cost of a study, gathered point by point.
class StudyCost {
 public:
  /// `share`: the fraction of points like this one that is evaluated; a search leaves out the others.
  void add(const Estimate& point, double share = 1);
  /// Adds seconds of one core beside those of the points.
  void add_seconds(double seconds) { seconds_ += seconds; }

  [[nodiscard]] std::size_t points() const { return points_; }
  [[nodiscard]] double seconds() const { return seconds_; }  ///< of one core
  /// The time of the longest point on `threads` threads.
  [[nodiscard]] double longest(int threads) const;
  [[nodiscard]] std::size_t largest_bytes() const { return largest_.empty() ? 0 : largest_.front(); }
  /// The most bytes that `count` points at the same time may take, for up to 64 points.
  [[nodiscard]] std::size_t bytes_side_by_side(int count) const;

 private:
  std::size_t points_ = 0;
  double seconds_ = 0;
  double longest_serial_ = 0;
  double longest_threaded_ = 0;
  std::vector<std::size_t> largest_;  ///< descending
};

/// The request of a job to Slurm.
struct JobShape {
  int nodes = 1;
  int ranks_per_node = 1;
  int threads = 1;               ///< per rank
  std::size_t memory_bytes = 0;  ///< per node
  std::int64_t seconds = 0;
};

/// The user's choices; 0 where none was made.
struct JobWishes {
  int ranks = 0;
  int threads = 0;
};

/// Chooses as many cores as do the work, with its margin, in an hour: threads of one rank first (at most 16, a NUMA
/// domain of many machines), then two ranks on a node, then nodes (at most 64). Pure.
[[nodiscard]] JobShape shape_job(const StudyCost& cost, const JobWishes& wishes);

/// What a job carries with it.
struct JobContent {
  std::string name;                          ///< of the study
  std::string file;                          ///< the name of the study's file, without folders
  std::string text;                          ///< of the study
  std::map<std::string, std::string> files;  ///< that the study names, by path as written there
  std::filesystem::path program;             ///< the binary to run unless TENEX names another
};

/// The file's text: a job that needs neither the checkout nor the study's file. It writes the study and the files of
/// relative paths to `dir`/job; files of absolute paths are read where they are. `dir` is the default result folder.
/// Names and texts may hold any characters. Pure.
[[nodiscard]] std::string sbatch_text(const JobContent& content, const std::filesystem::path& dir,
                                      const StudyCost& cost, const JobShape& shape);

/// Gives a job to Slurm: runs sbatch, found on PATH, with `text` as its standard input; it prints the job's number.
/// Errors: environment (no sbatch, or it refused the job).
[[nodiscard]] Status submit_job(const std::string& text);

}  // namespace tenex::cli
