// Schedules in files as lists or recipes: what can be made again, and that it is the same.
#include "tenex/evaluate/kept_schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/process.hpp"
#include "tenex/design/canonical_point.hpp"
#include "tenex/design/study.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/prepared_point.hpp"

namespace tenex {
namespace {

using support::TemporaryFolder;
using ::testing::HasSubstr;

template <class T>
std::string message_of(const Result<T>& result) {
  return result.ok() ? "(no error)" : to_string(result.errors());
}

// Every point that runs a collective in the studies of experiments/ is made again from its text.
TEST(CanonicalPoint, IsThePointOfTheText) {
  const auto words = vocabulary();
  std::size_t studies = 0;
  std::size_t collectives = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(TENEX_SOURCE_DIR) / "experiments")) {
    if (entry.path().extension() != ".toml") continue;
    if (entry.path().parent_path().filename() == "million") continue;  // enumerating it takes long, and it says no more
    const auto study = read_study(entry.path(), words);
    if (!study) continue;  // a machine, a workload, or what this build lacks
    ++studies;
    const auto step = std::max<std::uint64_t>(1, study->points.size() / 50);
    for (std::uint64_t i = 0; i < study->points.size(); i += step) {
      const DesignPoint point = study->points[i];
      if (point.trains() || is_digest(point.collective().matrix.text())) continue;
      const auto again = point_of_canonical(point.canonical, point.topology.machine_content, words);
      ASSERT_TRUE(again.ok()) << entry.path() << '\n' << point.canonical << '\n' << message_of(again);
      EXPECT_EQ(again->canonical, point.canonical) << entry.path();
      EXPECT_EQ(again->key, point.key);
      ++collectives;
    }
  }
  EXPECT_GT(studies, 20U);
  EXPECT_GT(collectives, 500U);
}

DesignPoint point_of(std::vector<std::pair<std::string, std::string>> settings) {
  for (const auto& [key, text] : std::vector<std::pair<std::string, std::string>>{{"topology", "mesh(3,3)"},
                                                                                  {"alpha", "0.5us"},
                                                                                  {"bandwidth", "1GB/s"},
                                                                                  {"collective", "all_gather"},
                                                                                  {"size", "9KB"},
                                                                                  {"algorithm", "tacos"}})
    if (std::ranges::none_of(settings, [&](const auto& setting) { return setting.first == key; }))
      settings.emplace_back(key, text);
  return make_point(settings, vocabulary()).value();
}

// All spellings of values: lists, words, pairs, texts with commas and units inside.
TEST(CanonicalPoint, ReadsEveryKindOfValue) {
  using Settings = std::vector<std::pair<std::string, std::string>>;
  for (const auto& settings : {
           Settings{{"alpha", "0.5us, 1us"}, {"bandwidth", "1GB/s, 3GB/s"}},
           Settings{{"without", "[[0, 1], [4, 5]]"}},
           Settings{{"collective", "halo_exchange"}, {"algorithm", "pccl"}, {"piece", "auto"}},
           Settings{{"collective", "halo_exchange"}, {"algorithm", "pccl"}, {"piece", "100B"}},
           Settings{{"faults", "link 0-1; npus 1 draw 3"}},
           Settings{{"stragglers", "npu 3 x2; link 0-1 alpha x1.5; npu 7 delay 5us"}, {"algorithm", "ring"}},
           Settings{{"groups", "0-3; 4-8"}, {"chunks", "3"}},
           Settings{{"collective", "mixed"},
                    {"groups", "0-3 all_to_all 8MiB; 4-8 all_reduce 1MiB 4 chunks"},
                    {"algorithm", "pccl"}},
           Settings{{"collective", "all_to_allv"},
                    {"groups", "0-2"},
                    {"matrix", "0,2,2; 1,0,1; 1,1,0"},
                    {"algorithm", "direct"}},
           Settings{{"collective", "conditions"}, {"conditions", "0 -> 1,2,3 4MiB; 5 -> 6"}, {"algorithm", "pccl"}},
           Settings{{"collective", "broadcast"}, {"root", "3"}},
           Settings{{"collective", "all_reduce"}, {"overlap", "false"}},
           Settings{{"topology", "RI(4)_SW(4)"}, {"npu_bandwidth", "400GB/s"}, {"bandwidth_", ""}},
           Settings{{"topology", "RI(4)_SW(4)"},
                    {"forwarding", "cut_through"},
                    {"switch_copy", "yes"},
                    {"algorithm", "pccl"}},
           Settings{{"topology", "RI(4)_SW(4)"}, {"switch_buffer", "3"}, {"algorithm", "ring"}},
           Settings{{"chunks", "auto"}, {"algorithm", "best"}, {"good_enough", "99%"}},
           Settings{{"attempts", "7"}, {"seed", "5"}, {"engine", "event_driven"}, {"occupancy", "transfer"}},
       }) {
    Settings given = settings;
    const bool per_npu = std::erase_if(given, [](const auto& setting) { return setting.first == "bandwidth_"; }) > 0;
    auto point = per_npu ? make_point({{"topology", "RI(4)_SW(4)"},
                                       {"alpha", "1us"},
                                       {"npu_bandwidth", "400GB/s"},
                                       {"collective", "all_gather"},
                                       {"size", "1MB"},
                                       {"algorithm", "ring"}},
                                      vocabulary())
                               .value()
                         : point_of(given);
    const auto again = point_of_canonical(point.canonical, {}, vocabulary());
    ASSERT_TRUE(again.ok()) << point.canonical << '\n' << message_of(again);
    EXPECT_EQ(again->canonical, point.canonical);
  }
}

TEST(CanonicalPoint, RefusesWhatItDoesNotSay) {
  const auto text = point_of({}).canonical;
  const auto message = [](const std::string& canonical) {
    return message_of(point_of_canonical(canonical, {}, vocabulary()));
  };
  EXPECT_EQ(message(text), "(no error)");
  EXPECT_THAT(message(text + "\ncolour=green"), HasSubstr("does not know the line \"colour=green\""));
  EXPECT_THAT(message(text + "\nattempts=1"), HasSubstr("does not say what the point has"));  // a default is left out
  EXPECT_THAT(message("algorithm=tacos"), HasSubstr("missing"));
  auto other = text;
  other.replace(other.find("physics="), 9, "physics=7");
  EXPECT_EQ(message(other), "(no error)");
  EXPECT_EQ(physics_of_canonical(other) % 10, physics_version % 10);
}

EvaluationOutput made(const DesignPoint& point) {
  Cache cache;
  EvaluateOptions options;
  options.keep_schedule = true;
  return evaluate(point, cache, options);
}

TEST(KeptSchedule, IsAListUnlessItIsLarge) {
  const TemporaryFolder folder;
  const auto point = point_of({});
  auto output = made(point);
  const auto hash = schedule_hash(output.schedule);
  const auto as = keep_schedule(folder.path() / "s.h5", point, output);
  ASSERT_TRUE(as.ok()) << message_of(as);
  EXPECT_EQ(*as, KeepAs::list);
  const auto opened = open_schedule(folder.path() / "s.h5");
  ASSERT_TRUE(opened.ok()) << message_of(opened);
  EXPECT_FALSE(opened->recipe.has_value());
  EXPECT_TRUE(opened->as_recorded());
  EXPECT_EQ(schedule_hash(opened->file.schedule), hash);
}

TEST(KeptSchedule, OfARecipeIsTheSame) {
  const TemporaryFolder folder;
  for (const auto& settings : std::vector<std::vector<std::pair<std::string, std::string>>>{
           {{"topology", "mesh(5,4)"}, {"collective", "all_reduce"}, {"size", "100KB"}},
           {{"topology", "SW(5)"}, {"algorithm", "bruck"}},
           {{"topology", "dgx1"}, {"alpha", ""}, {"bandwidth", ""}, {"size", "8MB"}},
           {{"stragglers", "npu 7 delay 5us"}, {"algorithm", "trees"}},
           {{"algorithm", "auto"}, {"chunks", "auto"}}}) {
    std::vector<std::pair<std::string, std::string>> given;
    for (const auto& setting : settings)
      if (!setting.second.empty()) given.push_back(setting);
    const bool machine = given.front().second == "dgx1";
    const auto point =
        machine
            ? make_point({{"topology", "dgx1"}, {"collective", "all_gather"}, {"size", "8MB"}, {"algorithm", "tacos"}},
                         vocabulary())
                  .value()
            : point_of(given);
    auto output = made(point);
    ASSERT_EQ(output.row.status, PointStatus::ok) << output.row.reason;
    const auto row = output.row;
    const auto sends = list_sends(output.schedule);
    const auto as = keep_schedule(folder.path() / "s.h5", point, output, {.as = KeepAs::recipe});
    ASSERT_TRUE(as.ok()) << message_of(as);
    for (const int threads : {1, 3}) {
      const auto opened = open_schedule(folder.path() / "s.h5", {.threads = threads});
      ASSERT_TRUE(opened.ok()) << message_of(opened);
      EXPECT_TRUE(opened->as_recorded());
      EXPECT_EQ(opened->time.count(), row.collective_time_ps);
      EXPECT_EQ(list_sends(opened->file.schedule), sends);
      EXPECT_EQ(opened->file.canonical, point.canonical);
      EXPECT_EQ(opened->file.start_delays.size(), start_delays_of(point).size());
    }
  }
}

TEST(KeptSchedule, ThatAClockEndedHasNoRecipe) {
  const TemporaryFolder folder;
  const auto point = point_of({});
  auto output = made(point);
  output.row.clock_ended = 1;
  const auto refused = keep_schedule(folder.path() / "s.h5", point, output, {.as = KeepAs::recipe});
  EXPECT_THAT(message_of(refused), HasSubstr("solver_time_limit ended the search"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_EQ(keep_schedule(folder.path() / "s.h5", point, output).value(), KeepAs::list);
}

// The text of the point has a digest of 9 * 9 amounts of four digits.
TEST(KeptSchedule, OfALongMatrixHasNoRecipe) {
  const TemporaryFolder folder;
  std::string matrix;
  for (int rank = 0; rank < 9; ++rank) matrix += "1000,1000,1000,1000,1000,1000,1000,1000,1000;";
  matrix.pop_back();
  const auto point = point_of({{"collective", "all_to_allv"}, {"matrix", matrix}, {"algorithm", "pccl"}});
  auto output = made(point);
  ASSERT_EQ(output.row.status, PointStatus::ok) << output.row.reason;
  const auto refused = keep_schedule(folder.path() / "s.h5", point, output, {.as = KeepAs::recipe});
  EXPECT_THAT(message_of(refused), HasSubstr("too long for the text of its point"));
  EXPECT_EQ(keep_schedule(folder.path() / "s.h5", point, output).value(), KeepAs::list);
}

TEST(KeptSchedule, OfAChangedRecipeIsNotAsRecorded) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s.json";
  const auto point = point_of({});
  auto output = made(point);
  ASSERT_TRUE(keep_schedule(path, point, output, {.as = KeepAs::recipe}).ok());
  auto recipe = std::get<ScheduleRecipe>(read_schedule(path).value());
  const auto with = [&](auto&& change) {
    auto changed = recipe;
    change(changed);
    EXPECT_TRUE(write_recipe_file(path, changed).ok());
    auto opened = open_schedule(path);
    EXPECT_TRUE(opened.ok()) << message_of(opened);
    return *std::move(opened);
  };
  EXPECT_TRUE(with([](ScheduleRecipe&) {}).as_recorded());
  EXPECT_FALSE(with([](ScheduleRecipe& other) { other.hash ^= 1; }).as_recorded());
  EXPECT_FALSE(with([](ScheduleRecipe& other) { ++other.sends; }).as_recorded());
  const auto slower = with([](ScheduleRecipe& other) { other.time += picoseconds(1); });
  EXPECT_FALSE(slower.as_recorded());
  const auto message = to_string(changed_schedule("s.json", slower));
  EXPECT_THAT(message, HasSubstr("s.json: this tenex makes another schedule"));
  EXPECT_THAT(message, HasSubstr("(" + std::to_string(recipe.time.count()) + " ps)"));
  EXPECT_THAT(message, HasSubstr("(" + std::to_string(recipe.time.count() + 1) + " ps)"));
  // What cannot be made says why.
  EXPECT_TRUE(write_recipe_file(path, recipe).ok());
  EXPECT_THAT(message_of(open_schedule(path, {.memory_limit_bytes = 100})), HasSubstr("cannot be made"));
  recipe.canonical.replace(recipe.canonical.find("tacos"), 5, "cocoa");
  EXPECT_TRUE(write_recipe_file(path, recipe).ok());
  EXPECT_THAT(message_of(open_schedule(path)), HasSubstr("s.json"));
}

}  // namespace
}  // namespace tenex
