// Which engine or bound is the only best one how often, and what it costs, on a named set of networks and collectives
// (set.toml): the evidence for keeping an engine, adding one, or deleting one. The registries say what competes.
//
//   ablation SET EXCEPTIONS OUT      writes OUT.md (the tables) and OUT.csv (every competitor in every case)
//   ablation --self-test             checks the judging
//
// Four contests, each with the seconds of processor time on one thread:
// - Schedules: the time of the collective, of every engine of every synthesizer and of the best textbook algorithm. An
//   engine that is expected to take longer than kMostSeconds does not compete. All schedules are verified.
// - Simulation: the seconds of every simulation engine that runs a textbook algorithm's program, once for its time
//   alone and once with its sends recorded. All must give the same time.
// - Cheap bounds: the largest among those that rows always have.
// - All bounds: the largest with those that search for a certificate, as long as a row's would be.
//
// It ends with 1 if something in a registry is nowhere the only best one and is no exception (exceptions.csv), if an
// exception is out of date, or if a schedule is invalid, a bound is above a time, or two engines disagree.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ablation/tally.hpp"
#include "execution/point_traits.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/bound/certificates.hpp"
#include "tenex/design/study.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/execution/sizes.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex::ablation {
namespace {

constexpr double kMostSeconds = 4;                            ///< expected of a competitor in a case
constexpr SimTime kMostSolverTime = microseconds(1'000'000);  ///< wall clock, as models vary
constexpr std::size_t kMostSolvedSends = 64;                  ///< chunks on links: models of more take solvers minutes
constexpr std::size_t kMostBytes = std::size_t{4} << 30;      ///< of a schedule or a record
constexpr std::uint64_t kMostVerified = std::uint64_t{1} << 22;  ///< sends
constexpr std::uint64_t kMostMessages = std::uint64_t{1} << 20;  ///< of a simulated program
constexpr double kSimulationMargin = 1.2;                        ///< equal times: 20 % is a clear lead
constexpr double kLeastMeasured = 0.001;                         ///< seconds that are worth a comparison
constexpr double kEnoughMeasured = 0.05;                         ///< seconds, after which it is not run again
constexpr std::uint64_t kMostRecorded = std::uint64_t{1} << 20;  ///< hops of a program
constexpr int kRuns = 5;                                         ///< of a simulation; the fastest counts

/// Processor time of this thread.
double now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The contests, and what must never happen in them.
struct Contests {
  Tally schedules{"Schedules"};
  Tally simulation{"Simulation", kSimulationMargin};
  Tally recording{"Simulation with a record", kSimulationMargin};
  Tally cheap{"Cheap bounds"};
  Tally bounds{"All bounds"};
  std::vector<std::string> defects;
  std::string rows = "contest,case,competitor,value,seconds\n";

  void judge(Tally& tally, const std::string& name, const std::vector<Entry>& entries) {
    tally.judge(entries);
    for (const Entry& entry : entries)
      rows += fmt::format("{},\"{}\",{},{:.9g},{:.6f}\n", tally.title(), name, entry.name, entry.value, entry.seconds);
  }
};

/// The point in words, without what all points have in common.
std::string name_of(const DesignPoint& point) {
  std::string name;
  for (const char letter : point.canonical) name += letter == '\n' ? ' ' : letter;
  return name;
}

/// One point of the set.
class Case {
 public:
  Case(const PreparedPoint& prepared, Contests& contests)
      : prepared_(prepared), contests_(contests), name_(name_of(prepared.point)) {}

  void run() {
    bound_all();
    simulate_all();
    synthesize_all();
    contests_.judge(contests_.schedules, name_, makers_);
  }

 private:
  [[nodiscard]] bool without_overlap() const {
    const auto& runs = prepared_.point.collective();
    return runs.kind == CollectiveKind::all_reduce && !runs.overlap;
  }

  void report(std::string what) { contests_.defects.push_back(fmt::format("{}: {}", name_, what)); }

  /// A competitor made a schedule of this time.
  void enter(std::string name, SimTime time, double seconds) {
    if (single_bound_ && time < *single_bound_) report(fmt::format("{} is below the bound", name));
    makers_.push_back({std::move(name), static_cast<double>(time.count()), seconds});
  }

  void bound_all() {
    const auto plain = topology_for_bounds(prepared_.point, prepared_.topology());
    const Topology& bounded = plain ? *plain : prepared_.topology();
    const BoundProblem problem{{bounded, *prepared_.collective, prepared_.point.occupancy},
                               prepared_.point.collective().overlap,
                               true,
                               prepared_.start_delays};
    std::vector<Entry> cheap;
    std::vector<Entry> all;
    const auto work = bound_work(prepared_.point, prepared_.sizes, false);
    const bool searches = 2 * bounded.links() <= work;  // as rows do
    std::optional<StandIn> stand_in;
    for (const auto& method : bound_methods()) {
      const double begin = now();
      std::optional<SimTime> time;
      if (method.compute != nullptr) {
        time = method.compute(problem);
      } else if (searches && method.concerns(prepared_.collective->kind())) {
        if (!stand_in) stand_in.emplace(problem);
        if (const auto found = stand_in->find(method, std::min(work, method.full_work)))
          time = method.time_of(problem, *found);
      }
      if (!time) continue;
      all.push_back({std::string(method.name), -static_cast<double>(time->count()), now() - begin});
      if (method.compute != nullptr) cheap.push_back(all.back());
      single_bound_ = std::max(single_bound_.value_or(SimTime::zero()), *time);
    }
    contests_.judge(contests_.cheap, name_, cheap);
    contests_.judge(contests_.bounds, name_, all);
  }

  [[nodiscard]] SimulationOptions simulation_options(bool record) const {
    SimulationOptions options;
    options.occupancy = prepared_.point.occupancy;
    options.start_delays = prepared_.start_delays;
    options.record_sends = record;
    return options;
  }

  /// All simulation engines on one program; the time that they agree on.
  std::optional<SimTime> race(const Algorithm& algorithm, const Program& program, bool record) {
    std::optional<SimTime> finish;
    std::vector<Entry> entries;
    for (const SimulationEngineTraits& traits : simulation_engines()) {
      auto options = simulation_options(record);
      options.engine = traits.engine;
      Entry entry{std::string(to_string(traits.engine)), 0, 0};
      bool able = true;
      for (int i = 0; i < kRuns && able && entry.seconds < kEnoughMeasured; ++i) {
        const double begin = now();
        const auto simulation = simulate(prepared_.topology(), *prepared_.collective, program, options);
        const double seconds = now() - begin;
        able = simulation.ok();
        if (!able) break;
        if (finish && *finish != simulation->finish) report(fmt::format("{} ends at another time", entry.name));
        finish = simulation->finish;
        hops_ = simulation->hops;
        entry.value = i == 0 ? seconds : std::min(entry.value, seconds);
        entry.seconds += seconds;
      }
      if (able) entries.push_back(std::move(entry));
    }
    const bool lasts = std::ranges::any_of(entries, [](const Entry& entry) { return entry.value >= kLeastMeasured; });
    if (lasts)
      contests_.judge(record ? contests_.recording : contests_.simulation,
                      fmt::format("{} by {}", name_, algorithm.name), entries);
    return finish;
  }

  void simulate_all() {
    std::optional<SimTime> best;
    const double begin = now();
    for (const Algorithm* algorithm : candidates(prepared_.topology(), *prepared_.collective)) {
      const auto program = algorithm->make(prepared_.topology(), *prepared_.collective, {});
      if (!program || (*program)->messages() > kMostMessages) continue;
      const auto time = race(*algorithm, **program, false);
      if (hops_ <= kMostRecorded) race(*algorithm, **program, true);
      if (time && (!best || *time < *best)) best = time;
    }
    if (!best || without_overlap()) return;
    makers_.push_back({std::string(kTextbook), static_cast<double>(best->count()), now() - begin});
  }

  void synthesize_all() {
    const auto kind = prepared_.collective->kind();
    for (const Synthesizer& synthesizer : synthesizers()) {
      if (!synthesizer.makes(kind)) continue;
      if (!prepared_.start_delays.empty() && !synthesizer.waits_for_late(kind)) continue;
      if (without_overlap() && !synthesizer.reads.phases) continue;
      const auto sends = prepared_.topology().links() * prepared_.collective->chunks();
      if (synthesizer.reads.solves && sends > kMostSolvedSends) continue;
      if (synthesizer.engines.empty()) synthesize(synthesizer, kAutomaticEngine);
      for (const auto engine : synthesizer.engines) synthesize(synthesizer, engine);
    }
  }

  void synthesize(const Synthesizer& synthesizer, std::string_view engine) {
    auto problem = prepared_.problem(kMostBytes);
    problem.engine = engine;
    problem.solver.time_limit = kMostSolverTime;
    if (synthesizer.count_work(problem).seconds() > kMostSeconds) return;
    if (synthesizer.estimate_bytes(problem) > kMostBytes) return;
    const double begin = now();
    const auto made = synthesizer.synthesize(problem);
    const double seconds = now() - begin;
    if (!made) return;
    const auto name = competitor(synthesizer, engine);
    const Schedule& schedule = without_overlap() ? made->without_overlap : made->schedule;
    if (schedule.sends() <= kMostVerified) {
      VerifyOptions options;
      options.start_delays = prepared_.start_delays;
      const auto verdict = verify(prepared_.instance(), schedule, options);
      if (verdict.outcome == Verification::invalid) report(fmt::format("the schedule of {} is invalid", name));
    }
    enter(name, without_overlap() ? made->time_without_overlap : made->time, seconds);
  }

 public:
  static constexpr std::string_view kTextbook = "textbook algorithms";

  static std::string competitor(const Synthesizer& synthesizer, std::string_view engine) {
    if (synthesizer.engines.empty()) return std::string(synthesizer.name);
    return fmt::format("{} {}", synthesizer.name, engine);
  }

 private:
  const PreparedPoint& prepared_;
  Contests& contests_;
  std::string name_;
  std::vector<Entry> makers_;
  std::uint64_t hops_ = 0;               ///< of the last program
  std::optional<SimTime> single_bound_;  ///< of schedules whose sends carry one chunk each
};

/// Whatever the registries have must win somewhere.
void require_registries(Contests& contests) {
  for (const Synthesizer& synthesizer : synthesizers()) {
    if (synthesizer.engines.empty()) contests.schedules.require(Case::competitor(synthesizer, kAutomaticEngine));
    for (const auto engine : synthesizer.engines) contests.schedules.require(Case::competitor(synthesizer, engine));
  }
  for (const auto& traits : simulation_engines()) {
    contests.simulation.require(std::string(to_string(traits.engine)));
    if (traits.records_sends) contests.recording.require(std::string(to_string(traits.engine)));
  }
  for (const auto& method : bound_methods())
    (method.compute != nullptr ? contests.cheap : contests.bounds).require(std::string(method.name));
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

int run(const std::filesystem::path& set, const std::filesystem::path& exceptions, const std::string& out) {
  Vocabulary words;
  words.algorithms = algorithm_traits();
  const auto study = read_study(set, words);
  if (!study) {
    fmt::print(stderr, "{}\n", to_string(study.errors()));
    return 2;
  }
  Contests contests;
  require_registries(contests);
  ExecutionCache cache(std::size_t{1} << 28);
  for (std::size_t i = 0; i < study->points.size(); ++i) {
    const DesignPoint point = study->points[i];
    const double begin = now();
    const auto prepared = prepare(point, kMostBytes, cache);
    if (!prepared || !check_point(*prepared)) {
      contests.defects.push_back(name_of(point) + ": cannot be prepared");
      continue;
    }
    Case(*prepared, contests).run();
    fmt::print(stderr, "{} of {}, {:.1f} s: {}\n", i + 1, study->points.size(), now() - begin, name_of(point));
  }
  std::string text;
  auto complaints = contests.defects;
  const auto excused = read_exceptions(text_of(exceptions));
  for (const Tally* tally :
       {&contests.schedules, &contests.simulation, &contests.recording, &contests.cheap, &contests.bounds}) {
    text += tally->table();
    for (auto& complaint : complaints_of(*tally, excused)) complaints.push_back(std::move(complaint));
  }
  for (const auto& complaint : complaints) text += fmt::format("- {}\n", complaint);
  fmt::print("{}", text);
  std::ofstream(out + ".md") << text;
  std::ofstream(out + ".csv") << contests.rows;
  return complaints.empty() ? 0 : 1;
}

}  // namespace
}  // namespace tenex::ablation

int main(int argc, char** argv) {
  using namespace tenex::ablation;
  if (argc == 2 && std::string_view(argv[1]) == "--self-test") return self_test() ? 0 : 1;
  if (argc == 4) return run(argv[1], argv[2], argv[3]);
  fmt::print(stderr, "usage: ablation SET EXCEPTIONS OUT, or ablation --self-test\n");
  return 2;
}
