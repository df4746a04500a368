// Schedules of synthesizers and textbook algorithms on the built-in machines, and those of the quickstart study, go out
// in both executable formats, are found valid by the interpreters, and come back as the same collective, verified on
// the machine.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluate/points.hpp"
#include "support/draws.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/judged_schedule.hpp"
#include "tenex/evaluate/kept_schedule.hpp"
#include "tenex/exchange/foreign_schedule.hpp"
#include "tenex/exchange/schedule_export.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/files/input_files.hpp"

namespace tenex {
namespace {

constexpr std::size_t kMostNpus = 32;
constexpr std::size_t kMostNpusOfTheQuickstart = 64;
constexpr double kQuickSeconds = 2;

/// What became of the schedules.
struct Counts {
  int exported = 0;
  int verified = 0;
  std::map<std::string, int> refused = {};  ///< by the reason
};

/// Writes a schedule in a format and judges what was written as somebody else's.
void round_trip(const DesignPoint& point, const ScheduleFile& file, const Result<std::string>& text, Counts& counts) {
  if (!text) {
    const Diagnostic error = text.errors().front();
    EXPECT_TRUE(error.fault == Fault::resource || error.fault == Fault::unsupported) << to_string(text.errors());
    ++counts.refused[error.fault == Fault::resource ? "limits of the executor" : error.problem];
    return;
  }
  auto schedule = interpret_schedule({"exported", *text});
  ASSERT_TRUE(schedule.ok()) << to_string(schedule.errors());
  ASSERT_TRUE(schedule->valid() || schedule->wrong.front().wrong == Wrong::hang) << schedule->wrong.front().message;
  EXPECT_EQ(schedule->kind, file.collective.kind());
  EXPECT_EQ(schedule->npus, file.topology.npus());
  schedule->wrong.clear();  // a size at which a FIFO fills is above that of the point
  ++counts.exported;
  const auto judged = judge_schedule(*schedule, point, {});
  ASSERT_TRUE(judged.ok()) << to_string(judged.errors());
  counts.verified += judged->verdict.valid() ? 1 : 0;
}

bool is_tried(const AlgorithmTraits& traits) {
  const bool chooses = traits.family == AlgorithmFamily::any || traits.family == AlgorithmFamily::any_textbook;
  if (chooses || traits.reads.solves || traits.is_reference) return false;
  return support::long_run() || traits.name == "tacos" || traits.name == "pccl" || traits.name == "trees";
}

void export_all(const DesignPoint& point, Counts& counts) {
  Cache cache;
  const auto made = make_schedule(point, cache, {});
  if (!made) return;  // the algorithm does not make it there
  for (const auto& text : {to_checked_mscclang(made->file, {}), to_checked_mscclpp(made->file, {.protocol = "Simple"}),
                           to_checked_mscclpp(made->file, {.protocol = "LL"})})
    round_trip(point, made->file, text, counts);
}

void all_algorithms_on(std::string_view machine, const char* collective, Counts& counts) {
  for (const AlgorithmTraits* traits : algorithm_traits()) {
    if (!is_tried(*traits)) continue;
    for (const char* chunks : {"1", "4"}) {
      const auto made_point = make_point({{"topology", std::string(machine)},
                                          {"collective", collective},
                                          {"size", "1MiB"},
                                          {"algorithm", std::string(traits->name)},
                                          {"chunks", chunks}},
                                         vocabulary());
      if (!made_point || estimate(*made_point).seconds > kQuickSeconds) continue;
      SCOPED_TRACE(fmt::format("{} {} {} {}", machine, collective, traits->name, chunks));
      export_all(*made_point, counts);
    }
  }
}

/// Whether a machine has few enough NPUs for all executors.
bool is_small(std::string_view machine) {
  const auto probe = make_point(
      {{"topology", std::string(machine)}, {"collective", "all_gather"}, {"size", "1MiB"}, {"algorithm", "best"}},
      vocabulary());
  return probe && probe->topology.npus() <= kMostNpus;
}

/// Prints what became of schedules, and expects that some went out and came back.
void expect_all_verified(const Counts& counts, bool sums) {
  std::string refused;
  for (const auto& [reason, count] : counts.refused) refused += fmt::format("; {} times: {}", count, reason);
  std::printf("%d exported, %d verified on their machine%s\n", counts.exported, counts.verified, refused.c_str());
  // Sums that pass NPUs in other pieces than they left are no messages of tenex: the interpreters alone have judged
  // them. On all machines together they are 212 of 7,591.
  EXPECT_GE(counts.verified, sums ? counts.exported * 3 / 4 : counts.exported);
}

void expect_round_trips(std::string_view machine, const char* collective) {
  Counts counts;
  all_algorithms_on(machine, collective, counts);
  EXPECT_GT(counts.exported, 0);
  expect_all_verified(counts, reduces(*parse_collective_kind(collective)));
}

constexpr auto kCollectives = {"all_gather", "reduce_scatter", "all_reduce", "all_to_all"};

TEST(MachineRoundTrip, OfDgx1) {
  for (const char* collective : kCollectives) {
    SCOPED_TRACE(collective);
    expect_round_trips("dgx1", collective);
  }
}

class RoundTripOfAMachine : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(RoundTripOfAMachine, OfEveryQuickAlgorithm) { expect_round_trips(GetParam().first, GetParam().second.c_str()); }

std::vector<std::pair<std::string, std::string>> small_machines() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const BuiltinFile& machine : builtin_machines())
    if (is_small(machine.name))
      for (const char* collective : kCollectives) all.emplace_back(machine.name, collective);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Long, RoundTripOfAMachine, ::testing::ValuesIn(small_machines()),
                         [](const auto& each) { return each.param.first + "_" + each.param.second; });

// Every schedule of the quickstart study on up to 64 NPUs, a network each.
class RoundTripOfTheQuickstart : public ::testing::TestWithParam<std::string> {};

Study quickstart() { return read_study(TENEX_SOURCE_DIR "/experiments/quickstart/study.toml", vocabulary()).value(); }

TEST_P(RoundTripOfTheQuickstart, OfEveryPoint) {
  Counts counts;
  for (const DesignPoint& point : quickstart().points) {
    if (to_string(point.topology.shape) != GetParam()) continue;
    SCOPED_TRACE(point.canonical);
    export_all(point, counts);
  }
  EXPECT_GT(counts.exported, 0);
  expect_all_verified(counts, true);
}

std::vector<std::string> networks_of_the_quickstart() {
  std::vector<std::string> all;
  for (const DesignPoint& point : quickstart().points)
    if (const auto name = to_string(point.topology.shape);
        point.topology.npus() <= kMostNpusOfTheQuickstart && std::ranges::find(all, name) == all.end())
      all.push_back(name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Long, RoundTripOfTheQuickstart, ::testing::ValuesIn(networks_of_the_quickstart()),
                         [](const auto& each) { return fmt::format("network_{}", each.index); });

}  // namespace
}  // namespace tenex
