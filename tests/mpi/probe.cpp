// A program that runs a study of made-up points as `tenex run` does, under mpirun or (--alone) without: rows are a pure
// function of the point, evaluation is sleep. It notes its process id and when each point ran in files, for the tests
// to read.
#define OMPI_SKIP_MPICXX 1
#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>

#include "coordinator/fake_study.hpp"
#include "tenex/coordinator/coordinator.hpp"
#include "tenex/coordinator/signals.hpp"

namespace {

using namespace tenex;  // NOLINT: a program of its own

/// `--name value` pairs; `--alone` has none.
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

/// 20 to 50 parts of a thousandth of the scale: unequal, and the same everywhere.
double expected_seconds(const DesignPoint& point, double scale) {
  return scale * 1e-3 * static_cast<double>(20 + point.seed * 7 % 31);
}

RunOptions make_options(const Arguments& arguments, int rank) {
  const double scale = arguments.number("--scale", 1);
  const bool slow = static_cast<int>(arguments.number("--slow-rank", -1)) == rank;
  const auto stuck_seed = static_cast<std::uint64_t>(arguments.number("--stuck-seed", 0));
  const std::filesystem::path notes = arguments.text("--notes");
  std::ofstream(notes / fmt::format("pid-{}", rank)) << getpid() << std::endl;
  auto log = std::make_shared<std::ofstream>(notes / fmt::format("points-{}", rank), std::ios::app);
  auto mutex = std::make_shared<std::mutex>();

  RunOptions options;
  options.out = arguments.text("--out");
  options.threads = static_cast<int>(arguments.number("--threads", 1));
  options.quiet = true;
  options.estimate_point = [scale](const DesignPoint& point) { return Estimate{expected_seconds(point, scale), 1000}; };
  options.evaluate_point = [=](const DesignPoint& point, Cache&, const EvaluateOptions&) {
    const double start = monotonic_seconds();
    testing::sleep_seconds(point.seed == stuck_seed ? 1000 : expected_seconds(point, scale) * (slow ? 10 : 1));
    const std::lock_guard lock(*mutex);
    *log << fmt::format("{} {} {}", point.seed, start, monotonic_seconds()) << std::endl;
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
    fmt::print("already_done {}\nevaluated {}\nfailed {}\ninterrupted {}\n", report->already_done, report->evaluated,
               report->failed, report->interrupted ? 1 : 0);
  }
  return report->interrupted ? 3 : 0;
}

}  // namespace

int main(int argc, char** argv) {
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
  const auto options = make_options(arguments, rank);
  const auto report = alone ? run_alone(study, options) : run_with_mpi(study, options);
  const int code = report_and_code(report, rank);
  if (!alone) MPI_Finalize();
  return code;
}
