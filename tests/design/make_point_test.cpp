// Points from command-line words, and settings as result columns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "design/design_support.hpp"

namespace tenex {

namespace {

const Words kMesh{{"topology", "mesh(10,10)"},
                  {"alpha", "0.5us"},
                  {"bandwidth", "50GiB/s"},
                  {"collective", "all_gather"},
                  {"size", "1GiB"},
                  {"chunks", "1"},
                  {"synthesizer", "tacos"},
                  {"occupancy", "transfer"},
                  {"attempts", "1"},
                  {"seed", "1"}};

std::string errors_of(Words words, const Words& more = {}) {
  words.insert(words.end(), more.begin(), more.end());
  const auto point = make_point(words, test_words());
  return point ? "" : to_string(point.errors());
}

/// `kMesh` with one word changed.
std::string errors_with(const std::string& name, const std::string& text) {
  Words words = kMesh;
  for (auto& word : words) {
    if (word.first == name) word.second = text;
  }
  return errors_of(words);
}

TEST(MakePoint, EqualsTheStudyOfOneRow) {
  const auto point = make_point(kMesh, test_words());
  ASSERT_TRUE(point.ok());
  const auto study = parse_study(R"toml(schema = 1
name = "one"
[[sweep]]
topology = "mesh(10,10)"
alpha = "0.5us"
bandwidth = "50GiB/s"
collective = "all_gather"
size = "1GiB"
algorithm = "tacos"
occupancy = "transfer"
)toml",
                                 "study.toml", test_words());
  ASSERT_EQ(messages_of(study), "");
  ASSERT_EQ(study->points.size(), 1U);
  EXPECT_EQ(point->canonical, study->points[0].canonical);
  EXPECT_EQ(point->key, study->points[0].key);
}

TEST(MakePoint, NamesTheOptionInItsMessages) {
  EXPECT_EQ(errors_with("size", "1024"),
            "--size: \"1024\" has no unit (a size is a number and one of B, KB, MB, GB, TB, KiB, MiB, GiB, TiB) write "
            "\"1024B\" or \"1KiB\"");
  EXPECT_EQ(
      errors_with("chunks", "two"),
      "--chunks: \"chunks\" is \"two\" (it is a number, or \"auto\": the best number is chosen) write a number without "
      "quotes, for instance 4");
  EXPECT_EQ(errors_with("chunks", "0"), "--chunks: \"chunks\" is 0 (it is at least 1)");
  EXPECT_EQ(errors_with("size", "99B"),
            "--size: size 99B is too small (every chunk holds at least a byte: n*c = 100*1) use at least 100B");
  EXPECT_EQ(errors_with("alpha", "1us,2us,3us"),
            "--alpha: \"1us,2us,3us\" is for 3 dimensions (\"mesh(10,10)\" has 2) give one value for all, or 2");
  EXPECT_EQ(errors_with("synthesizer", "tacoss"),
            "--synthesizer: unknown algorithm \"tacoss\" (it is one of ring, ring_unidirectional, direct, tacos, "
            "tacos_reference, pccl, trees, best) did you mean \"tacos\"?");
}

TEST(MakePoint, RefusesWordsThatDoNotFitTogether) {
  EXPECT_EQ(
      errors_of(kMesh, {{"npu_bandwidth", "1GB/s"}}),
      "--npu_bandwidth: \"bandwidth\" and \"npu_bandwidth\" exclude each other (bandwidth is per link, npu_bandwidth "
      "per NPU and dimension) keep one of them");
  EXPECT_EQ(errors_of(kMesh, {{"algorithm", "ring"}}), "--algorithm: \"algorithm\" is given twice keep one of them");
  EXPECT_EQ(errors_of(kMesh, {{"faults", "links 1% draw 1..3"}}),
            "--faults: a range of draws is several values (one value belongs here) write axes.faults = [...] for an "
            "axis, or one draw");
  EXPECT_EQ(errors_of(kMesh, {{"faults", "none"}}), "");
  EXPECT_EQ(
      errors_of(kMesh, {{"without", "3-4"}}),
      "--without: \"without\" is a string (it lists pairs of vertices whose links are removed) write for instance "
      "without = [[3, 4]]");
  EXPECT_EQ(
      errors_of(kMesh, {{"without", "[[0, 11]]"}}),
      "--without: no link joins 0 and 11 in \"mesh(10,10)\" (only existing links are removed) 0 has links with 1, 10");
  EXPECT_EQ(errors_of(kMesh, {{"overlap", "maybe"}}), "--overlap: \"overlap\" is a string (a boolean belongs here)");
}

TEST(MakePoint, TellsWhatIsMissing) {
  EXPECT_EQ(errors_of({{"topology", "RI(4)"}, {"collective", "all_gather"}}),
            "\"size\" is missing (every point needs one) give --size\n"
            "\"algorithm\" is missing (every point needs one) give --algorithm");
  EXPECT_THAT(errors_of({{"topology", "RI(4)"}, {"collective", "all_gather"}, {"size", "1MiB"}, {"algorithm", "ring"}}),
              testing::HasSubstr("--topology: the shape \"RI(4)\" has no alpha"));
}

TEST(MakePoint, AgreesWithCollectiveMakeOnWhatIsTooSmallOrOutside) {
  // The checks of a row repeat the collective's rules in O(1). Here both check the same 2 * 3 * 4 * 3 * 3 = 216
  // requests.
  std::size_t refused = 0;
  for (const std::string groups : {"all", "0-3; 4,5"}) {
    for (const std::string kind : {"all_gather", "all_reduce", "broadcast"}) {
      for (const std::int64_t size : {1, 2, 8, 24}) {
        for (const std::int64_t chunks : {1, 2, 3}) {
          for (const std::uint32_t root : {0U, 2U, 7U}) {
            const auto point = make_point({{"topology", "RI(8)"},
                                           {"alpha", "1us"},
                                           {"bandwidth", "1GB/s"},
                                           {"collective", kind},
                                           {"algorithm", "tacos"},
                                           {"size", std::to_string(size) + "B"},
                                           {"chunks", std::to_string(chunks)},
                                           {"groups", groups},
                                           {"root", std::to_string(root)}},
                                          test_words());
            const auto made = Collective::make(
                {*parse_collective_kind(kind), 8, *parse_groups(groups, 8), chunks, Bytes::of(size), root});
            ASSERT_EQ(point.ok(), made.ok()) << groups << ' ' << kind << ' ' << size << ' ' << chunks << ' ' << root;
            if (!made.ok()) ++refused;
          }
        }
      }
    }
  }
  EXPECT_GT(refused, 50U);
  EXPECT_LT(refused, 200U);
}

// A new key adds a column (experiments/reference.md lists it). No column of existing files is lost or comes twice.
TEST(Settings, KeepTheFrozenColumns) {
  std::vector<std::string> names;
  for (const SettingColumn& setting : setting_columns()) names.emplace_back(setting.name);
  EXPECT_THAT(names, testing::IsSupersetOf(std::vector<std::string>{"topology",
                                                                    "alpha",
                                                                    "bandwidth",
                                                                    "npu_bandwidth",
                                                                    "unwind",
                                                                    "without",
                                                                    "collective",
                                                                    "size",
                                                                    "chunks",
                                                                    "groups_setting",
                                                                    "root",
                                                                    "algorithm",
                                                                    "occupancy",
                                                                    "overlap",
                                                                    "backend",
                                                                    "attempts",
                                                                    "engine_setting",
                                                                    "window",
                                                                    "order",
                                                                    "stragglers",
                                                                    "simulation_engine_setting",
                                                                    "workload",
                                                                    "hp",
                                                                    "compute",
                                                                    "training_loop",
                                                                    "batch_rule",
                                                                    "collective_time_setting",
                                                                    "contention",
                                                                    "in_network",
                                                                    "scheme",
                                                                    "optimize_with",
                                                                    "optimize_for",
                                                                    "total_bandwidth",
                                                                    "split",
                                                                    "constraints",
                                                                    "cost_budget",
                                                                    "cost_model",
                                                                    "price_level",
                                                                    "dimension_kinds"}));
  const std::set<std::string> distinct(names.begin(), names.end());
  EXPECT_EQ(distinct.size(), names.size());
}

TEST(Settings, ReadEveryFieldInIntegerUnits) {
  const auto point = make_point({{"topology", "RI(4)_SW(4)"},
                                 {"alpha", "0.5us, 1us"},
                                 {"npu_bandwidth", "1GB/s"},
                                 {"unwind", "2"},
                                 {"without", "[[6, 5]]"},
                                 {"collective", "all_reduce"},
                                 {"size", "1MB"},
                                 {"chunks", "4"},
                                 {"groups", "0-7;8-15"},
                                 {"algorithm", "tacos"},
                                 {"occupancy", "transfer"},
                                 {"overlap", "false"},
                                 {"attempts", "8"},
                                 {"window", "3"},
                                 {"stragglers", "link 1-0 x1.50; npu 7 x2"},
                                 {"faults", "switch 17, links 1.50%"}},
                                test_words());
  ASSERT_TRUE(point.ok());
  const std::vector<std::pair<std::string_view, std::string_view>> cells{{"topology", "RI(4)_SW(4)"},
                                                                         {"alpha", "500000,1000000"},
                                                                         {"bandwidth", ""},
                                                                         {"npu_bandwidth", "1000000000,1000000000"},
                                                                         {"unwind", "2"},
                                                                         {"without", "[[5,6]]"},
                                                                         {"collective", "all_reduce"},
                                                                         {"size", "1000000"},
                                                                         {"chunks", "4"},
                                                                         {"groups_setting", "0-7; 8-15"},
                                                                         {"root", "0"},
                                                                         {"algorithm", "tacos"},
                                                                         {"occupancy", "transfer"},
                                                                         {"overlap", "0"},
                                                                         {"backend", "congestion_aware"},
                                                                         {"attempts", "8"},
                                                                         {"engine_setting", "auto"},
                                                                         {"window", "0"},
                                                                         {"order", "relative"},
                                                                         {"stragglers", "npu 7 x2; link 0-1 x1.5"},
                                                                         {"simulation_engine_setting", "auto"},
                                                                         {"faults", "links 1.5% draw 1; switch 17"}};
  for (const auto& [name, text] : cells) EXPECT_EQ(cell_text(setting_cell(*point, name)), text) << name;
}

TEST(Settings, AreNamedAsTheirKeysUnlessTheWordIsTaken) {
  std::vector<std::string_view> others;
  for (const Setting& setting : settings())
    if (setting.column.kind != SettingColumn::Kind::none && setting.column.name != setting.name) {
      others.push_back(setting.name);
      EXPECT_EQ(setting.column.name, std::string(setting.name) + "_setting");
      EXPECT_EQ(find_setting_column(setting.column.former), &setting.column);
    }
  EXPECT_THAT(others, testing::ElementsAre("groups", "engine", "simulation_engine", "collective_time"));
}

TEST(Settings, RefuseAnUnknownNameOrTheWrongKind) {
  EXPECT_THROW((void)text_setting(DesignPoint(), "colour"), InvariantError);
  EXPECT_THROW((void)text_setting(DesignPoint(), "chunks"), InvariantError);
  EXPECT_THROW((void)setting_cell(DesignPoint(), "colour"), InvariantError);
}

}  // namespace

}  // namespace tenex
