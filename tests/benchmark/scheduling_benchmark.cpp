// The cost of scheduling: leases per second of rank 0 with messages through memory, and the efficiency of a job of many
// ranks whose points only sleep.
//
//   build/release/bin/benchmark_scheduling --benchmark_filter=leases
//   build/release/bin/benchmark_scheduling --benchmark_filter=sleeping_points/64
//
// Targets: 50,000 leases per second; 0.95 of ideal for 64 ranks on 2 cores and points of 10 ms (ideal: every evaluating
// rank sleeps without a pause from the begin of the first point to the end of the last).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coordinator/fake_study.hpp"
#include "coordinator/rank_loop.hpp"
#include "support/process.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex {
namespace {

using Clock = std::chrono::steady_clock;

/// Ranks that finish every lease at once. Messages are encoded and decoded as over a network.
class EagerRanks final : public Transport {
 public:
  EagerRanks(const Study& study, std::size_t ranks) : reports_(ranks) {
    for (std::size_t r = 1; r < ranks; ++r) {
      answer(r, HelloMessage{study.digest, study.points.size(), 1, "nowhere"});
      answer(r, RequestMessage{});
    }
  }

  [[nodiscard]] std::size_t rank() const override { return 0; }
  [[nodiscard]] std::size_t size() const override { return reports_.size(); }
  void send(std::size_t to, const RankMessage& message) override {
    const auto arrived = decode(encode(message));
    if (const auto* lease = std::get_if<LeaseMessage>(&arrived)) finish(to, *lease);
    if (std::holds_alternative<DrainMessage>(arrived)) answer(to, ByeMessage{reports_[to], {}, false, 0});
  }
  [[nodiscard]] std::optional<std::pair<std::size_t, RankMessage>> receive() override {
    if (answers_.empty()) return std::nullopt;
    const auto [from, words] = std::move(answers_.front());
    answers_.pop_front();
    return std::pair{from, decode(words)};
  }
  [[nodiscard]] bool all_sent() override { return true; }

  [[nodiscard]] std::size_t leases() const { return leases_; }
  [[nodiscard]] double seconds() const { return std::chrono::duration<double>(last_ - first_).count(); }

 private:
  void answer(std::size_t from, const RankMessage& message) { answers_.emplace_back(from, encode(message)); }
  void finish(std::size_t rank, const LeaseMessage& lease) {
    last_ = Clock::now();
    if (leases_++ == 0) first_ = last_;
    auto& report = reports_[rank];
    ++report.leases_received;
    report.evaluated += to_points(lease.ranges).size();
    report.finished_leases = {lease.id};
    report.progress.expected_done += lease.seconds;
    report.progress.busy_seconds += lease.seconds;
    answer(rank, RequestMessage{report});
  }

  std::vector<RankReport> reports_;
  std::deque<std::pair<std::size_t, Words>> answers_;
  std::size_t leases_ = 0;
  Clock::time_point first_;
  Clock::time_point last_;
};

/// Every point gets its own lease. Rank 0 evaluates too, in the estimated time.
void lease_one_by_one(benchmark::State& state, std::size_t points) {
  for (auto _ : state) {
    std::string text = testing::make_study(1).text;
    text.replace(text.find("to = 1"), 6, "to = " + std::to_string(points));
    const auto large = parse_study(text, "leases.toml", vocabulary());
    if (!large.ok()) return state.SkipWithError("the study was refused");
    const testing::TemporaryFolder folder;
    RunOptions options;
    options.out = folder.path();
    options.threads = 1;
    options.quiet = true;
    options.estimate_point = [](const DesignPoint&) { return Estimate{1.0, 1000}; };
    options.evaluate_point = [](const DesignPoint& point, Cache&, const EvaluateOptions&) {
      testing::sleep_seconds(1);
      return testing::make_row(point);
    };
    EagerRanks ranks(*large, 64);
    const auto report = lead(*large, resolve(options, 1), ranks);
    if (!report.ok() || report->evaluated != points) return state.SkipWithError("the run failed");
    state.SetIterationTime(ranks.seconds());
    state.counters["leases_per_second"] = static_cast<double>(ranks.leases()) / ranks.seconds();
  }
}

/// `points_per_rank` points of 10 ms for each of so many ranks, through mpirun.
void sleep_on_ranks(benchmark::State& state, int points_per_rank) {
  const auto ranks = static_cast<int>(state.range(0));
  for (auto _ : state) {
    const testing::TemporaryFolder folder;
    const auto notes = folder.path() / "notes";
    std::filesystem::create_directories(notes);
    const auto points = points_per_rank * ranks;
    support::Command command;
    command.environment = support::mpi_environment();
    command.arguments = {TENEX_MPIRUN,
                         "-np",
                         std::to_string(ranks),
                         "--bind-to",
                         "none",
                         TENEX_MPI_PROBE,
                         "--points",
                         std::to_string(points),
                         "--point-seconds",
                         "0.01",
                         "--out",
                         (folder.path() / "out").string(),
                         "--notes",
                         notes.string()};
    if (support::run(command).exit_code != 0) return state.SkipWithError("the job failed");
    double first = 1e300;
    double last = 0;
    for (const auto& file : std::filesystem::directory_iterator(notes)) {
      if (!file.path().filename().string().starts_with("points-")) continue;
      std::ifstream lines(file.path());
      std::uint64_t seed = 0;
      for (double begin = 0, end = 0; lines >> seed >> begin >> end; last = std::max(last, end))
        first = std::min(first, begin);
    }
    state.SetIterationTime(last - first);
    state.counters["of_ideal"] = 0.01 * points_per_rank / (last - first);
  }
}

BENCHMARK_CAPTURE(lease_one_by_one, leases, 200'000)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(lease_one_by_one, smoke, 2'000)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sleep_on_ranks, sleeping_points, 500)->Arg(64)->UseManualTime()->Iterations(1);
BENCHMARK_CAPTURE(sleep_on_ranks, smoke, 10)->Arg(3)->UseManualTime()->Iterations(1);

}  // namespace
}  // namespace tenex
