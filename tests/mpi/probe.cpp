// A program that runs a study of made-up points as `tenex run` does, under mpirun or (--alone) without: rows are a pure
// function of the point, and evaluation sleeps. For the tests it writes its process id, and when each point ran, into
// files. Points may end their process: `--crash-seed 12 --crash-signal 11`, or `--memory-seed 12` as a system without
// memory does (which counts such kills; here a file counts them).
#define OMPI_SKIP_MPICXX 1
#include <fmt/format.h>
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>

#include "coordinator/fake_study.hpp"
#include "tenex/coordinator/coordinator.hpp"
#include "tenex/coordinator/signals.hpp"

namespace {

using namespace tenex;  // NOLINT: a program of its own

/// Pairs `--name value`; `--alone` has no value.
class Arguments {
 public:
  Arguments(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
      const std::string name = argv[i];
      values_[name] = name == "--alone" || i + 1 >= argc ? "yes" : argv[++i];
    }
  }
  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }
  [[nodiscard]] std::string text(const std::string& name) const { return values_.at(name); }
  [[nodiscard]] double number(const std::string& name, double otherwise) const {
    return has(name) ? std::stod(values_.at(name)) : otherwise;
  }

 private:
  std::map<std::string, std::string> values_;
};

double monotonic_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// 20 to 50 thousandths of the scale: unequal, and the same on all ranks; or `--point-seconds` for all.
double expected_seconds(const DesignPoint& point, double scale, double equal) {
  return equal > 0 ? equal : scale * 1e-3 * static_cast<double>(20 + point.seed * 7 % 31);
}

constexpr std::size_t share_of_memory = std::size_t{1} << 30U;  ///< of each rank; made-up points use none

/// Number of such kills in the notes.
std::uint64_t counted_kills(const std::filesystem::path& notes) {
  std::uint64_t kills = 0;
  std::ifstream(notes / "memory-kills") >> kills;
  return kills;
}

/// Ends the process if it is asked to at this point.
void end_process(const Arguments& arguments, const DesignPoint& point, const std::filesystem::path& notes) {
  const auto seed = static_cast<double>(point.seed);
  if (arguments.number("--crash-seed", 0) == seed) {
    std::ofstream(notes / "crashes", std::ios::app) << point.seed << std::endl;
    std::raise(static_cast<int>(arguments.number("--crash-signal", SIGSEGV)));
  }
  if (arguments.number("--memory-seed", 0) == seed) {
    const auto kills = counted_kills(notes) + 1;
    std::ofstream(notes / "memory-kills") << kills << std::endl;
    std::raise(SIGKILL);
  }
}

/// Waits until the notes tell of that many crashes, at most a minute.
void wait_for_crashes(const std::filesystem::path& notes, double crashes) {
  const double last = monotonic_seconds() + 60;
  for (double seen = 0; seen < crashes && monotonic_seconds() < last; testing::sleep_seconds(0.01)) {
    std::ifstream lines(notes / "crashes");
    seen = static_cast<double>(std::count(std::istreambuf_iterator<char>(lines), {}, '\n'));
  }
}

RunOptions make_options(const Arguments& arguments, int rank) {
  const double scale = arguments.number("--scale", 1);
  const double equal = arguments.number("--point-seconds", 0);
  const bool slow = static_cast<int>(arguments.number("--slow-rank", -1)) == rank;
  const auto large_seed = static_cast<std::uint64_t>(arguments.number("--large-seed", 0));
  const auto stuck_seed = static_cast<std::uint64_t>(arguments.number("--stuck-seed", 0));
  const std::filesystem::path notes = arguments.text("--notes");
  std::ofstream(notes / fmt::format("pid-{}", rank)) << getpid() << std::endl;
  auto log = std::make_shared<std::ofstream>(notes / fmt::format("points-{}", rank), std::ios::app);
  auto mutex = std::make_shared<std::mutex>();

  RunOptions options;
  options.out = arguments.text("--out");
  options.threads = static_cast<int>(arguments.number("--threads", 1));
  options.quiet = true;
  options.memory_limit_bytes = share_of_memory;
  options.silence_seconds = arguments.number("--silence", 60);
  options.commit_seconds = arguments.number("--commit", options.commit_seconds);
  options.time_limit_seconds = arguments.number("--time-limit", 0);
  options.count_memory_kills = [notes] { return counted_kills(notes); };
  options.estimate_point = [=](const DesignPoint& point) {
    const std::size_t bytes = point.seed == large_seed ? share_of_memory / 2 * 3 : 1000;
    return Estimate{expected_seconds(point, scale, equal), bytes};
  };
  options.evaluate_point = [=](const DesignPoint& point, Cache&, const EvaluateOptions&) {
    const double start = monotonic_seconds();
    end_process(arguments, point, notes);
    if (slow) wait_for_crashes(notes, arguments.number("--slow-until-crashes", 0));
    testing::sleep_seconds(point.seed == stuck_seed ? 1000 : expected_seconds(point, scale, equal) * (slow ? 10 : 1));
    const std::lock_guard lock(*mutex);
    *log << fmt::format("{} {:.6f} {:.6f}", point.seed, start, monotonic_seconds()) << std::endl;
    return testing::make_row(point);
  };
  return options;
}

int report_and_code(const Result<RunReport>& report, int rank) {
  if (!report.ok()) {
    if (rank == 0) fmt::print(stderr, "{}\n", to_string(report.errors()));
    return 2;
  }
  if (rank == 0) {
    fmt::print("already_done {}\nevaluated {}\nfailed {}\ninterrupted {}\nlost_ranks {}\nquarantined {}\ntoo_long {}\n",
               report->already_done, report->evaluated, report->failed, report->interrupted ? 1 : 0, report->lost_ranks,
               report->quarantined, report->too_long);
    for (const auto& warning : report->warnings) fmt::print(stderr, "warning: {}\n", warning);
  }
  return report->interrupted ? 3 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr rlimit none{};
  ::setrlimit(RLIMIT_CORE,
              &none);  // this program crashes on purpose and must leave no core file in its working directory
  block_run_signals();
  const Arguments arguments(argc, argv);
  const bool alone = arguments.has("--alone");
  int rank = 0;
  if (!alone) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  }
  auto count = static_cast<std::size_t>(arguments.number("--points", 40));
  if (static_cast<int>(arguments.number("--other-study-on", -1)) == rank) ++count;
  const Study study = tenex::testing::make_study(count);
  auto options = make_options(arguments, rank);
  bool all_alive = true;
  options.on_lost_rank = [&] { all_alive = false; };
  const auto report = alone ? run_alone(study, options) : run_with_mpi(study, options);
  const int code = report_and_code(report, rank);
  if (!alone && all_alive) MPI_Finalize();
  return code;
}
