// Rows on machines that give routes: times by hand, what overrides them, faults, and every textbook algorithm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <string_view>

#include "evaluate/points.hpp"
#include "support/process.hpp"

namespace tenex {
namespace {

using support::row_of;
using support::Words;

/// NPUs 0 and 1 on leaves 2 and 3; spine 4 with links of 100 MB/s, spine 5 of 1 GB/s like those of the NPUs.
constexpr std::string_view kMachine = R"(schema = 1
kind = "machine"
name = "two spines"
source = "made for a test"
npus = 2
[[switches]]
count = 4
[[links]]
bandwidth = "1GB/s"
alpha = "0s"
pairs = [[0, 2], [1, 3], [2, 5], [3, 5]]
[[links]]
bandwidth = "100MB/s"
alpha = "0s"
pairs = [[2, 4], [3, 4]]
)";

class RowsOfGivenRoutes : public ::testing::Test {
 protected:
  std::string machine(const std::string& name, std::string_view routes) {
    const auto path = folder_.path() / (name + ".toml");
    std::ofstream(path) << kMachine << routes;
    return path.string();
  }
  static DesignPoint point(const std::string& path, Words more = {}) {
    Words words{{"topology", path}, {"collective", "all_to_all"}, {"size", "2000B"}, {"algorithm", "direct"}};
    words.insert(words.end(), more.begin(), more.end());
    return make_point(words, vocabulary()).value();
  }
  /// NPU 0 to 1 and back over spine 5.
  std::string over_fast() {
    return machine("fast",
                   "[[route]]\nfrom = 0\nto = 1\nthrough = [2, 5, 3]\n"
                   "[[next_hops]]\nat = 3\nto = [[0, 5]]\n");
  }

  support::TemporaryFolder folder_;
};

TEST_F(RowsOfGivenRoutes, HaveTheirTimes) {
  // 1,000 B each way take 1 us on a fast link and 10 us on a slow one. Without routes NPU 1 is reached over the second
  // of two links in order of the file, which leads to spine 4: 1 + 10 + 10 + 1 = 22 us; NPU 0 over spine 5. Given, both
  // go over spine 5: 4 us.
  const auto plain = row_of(point(machine("plain", "")));
  EXPECT_EQ(plain.collective_time_ps, 22'000'000) << plain.reason;
  const auto given = row_of(point(over_fast()));
  EXPECT_EQ(given.collective_time_ps, 4'000'000) << given.reason;
  EXPECT_EQ(given.verified, Verified::yes);
  EXPECT_NE(point(over_fast()).key, point(machine("plain", "")).key);
  // Without congestion: the slowest link alone.
  EXPECT_EQ(row_of(point(machine("plain", ""), {{"backend", "congestion_unaware"}})).collective_time_ps, 10'000'000);
  EXPECT_EQ(row_of(point(over_fast(), {{"backend", "congestion_unaware"}})).collective_time_ps, 1'000'000);
  // Over spine 4, for all rules but the default the file's routes do not count: `single` takes the lowest links.
  const auto slow = machine("slow", "[[next_hops]]\nat = 2\nto = [[1, 4]]\n[[next_hops]]\nat = 3\nto = [[0, 4]]\n");
  EXPECT_EQ(row_of(point(slow)).collective_time_ps, 22'000'000);
  EXPECT_EQ(row_of(point(slow, {{"routes", "single"}})).collective_time_ps, 4'000'000);
  // Cut-through switches: a path takes the time of its slowest link.
  EXPECT_EQ(row_of(point(slow, {{"forwarding", "cut_through"}})).collective_time_ps, 10'000'000);
  EXPECT_EQ(row_of(point(over_fast(), {{"forwarding", "cut_through"}})).collective_time_ps, 1'000'000);
}

TEST_F(RowsOfGivenRoutes, FallBackAfterAFault) {
  const auto broken = row_of(point(over_fast(), {{"faults", "link 5-3"}}));
  EXPECT_EQ(broken.collective_time_ps, 22'000'000) << broken.reason;
  EXPECT_EQ(broken.verified, Verified::yes);
  EXPECT_EQ(row_of(point(over_fast(), {{"without", "[[5, 3]]"}})).collective_time_ps, 22'000'000);
  EXPECT_EQ(row_of(point(over_fast(), {{"faults", "link 4-3"}})).collective_time_ps, 4'000'000);
  // Links of NPU 0 at half speed: 2 + 1 + 1 + 1 us there, as much back.
  EXPECT_EQ(row_of(point(over_fast(), {{"stragglers", "npu 0 x2"}})).collective_time_ps, 5'000'000);
}

TEST_F(RowsOfGivenRoutes, AreSoundForEveryTextbookAlgorithmAndForSynthesizers) {
  const auto path = over_fast();
  for (const char* collective : {"all_gather", "all_to_all", "all_reduce", "broadcast"})
    for (const AlgorithmTraits* algorithm : vocabulary().algorithms) {
      if (!algorithm->makes(parse_collective_kind(collective).value())) continue;
      const auto made = make_point({{"topology", path},
                                    {"collective", collective},
                                    {"size", "2000B"},
                                    {"algorithm", std::string(algorithm->name)}},
                                   vocabulary());
      if (!made) continue;
      const auto row = row_of(*made);
      if (row.status != PointStatus::ok) continue;
      EXPECT_EQ(row.verified, Verified::yes) << algorithm->name << " " << collective << ": " << row.reason;
      EXPECT_GE(row.collective_time_ps, row.bound_ps) << algorithm->name << " " << collective;
    }
}

TEST_F(RowsOfGivenRoutes, RefuseRulesThatWiresIgnore) {
  const std::string cuts = "[[switches]]\nforwarding = \"cut_through\"\ncount = 4\n";
  std::string text(kMachine);
  text.replace(text.find("[[switches]]\ncount = 4\n"), std::string("[[switches]]\ncount = 4\n").size(), cuts);
  const auto path = folder_.path() / "cuts.toml";
  std::ofstream(path) << text;
  const Words words{{"topology", path.string()},
                    {"collective", "all_to_all"},
                    {"size", "2000B"},
                    {"algorithm", "direct"},
                    {"routes", "single"}};
  const auto refused = make_point(words, vocabulary());
  ASSERT_FALSE(refused.ok());
  EXPECT_THAT(to_string(refused.errors()), ::testing::HasSubstr("routes = \"single\" where switches cut through"));
  Words stored = words;
  stored.emplace_back("forwarding", "store_and_forward");
  EXPECT_TRUE(make_point(stored, vocabulary()).ok());
}

}  // namespace
}  // namespace tenex
