// Points that are built on demand equal those of the study's text, in its order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <malloc.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "design/design_support.hpp"

namespace tenex {
namespace {

using ::testing::ElementsAre;

/// Keys that advance together, with their values: written under `axes`, or under `zip` if there are two.
struct TestAxis {
  std::vector<std::string> keys;
  std::vector<std::vector<std::string>> values;  ///< per key
};

/// A sweep that is written as text and enumerated by hand.
struct TestSweep {
  Words fixed;
  std::vector<TestAxis> axes;
  int most_chunks = 9;  ///< in its `keep`
};

std::string quoted(const std::string& key, const std::string& value) {
  const bool number = key == "chunks" || key == "seed" || key == "root";
  return number ? value : "\"" + value + "\"";
}

std::string text_of(const TestSweep& sweep) {
  std::string text = "[[sweep]]\n";
  for (const auto& [key, value] : sweep.fixed) text += fmt::format("{} = {}\n", key, quoted(key, value));
  for (const auto& axis : sweep.axes) {
    for (std::size_t k = 0; k < axis.keys.size(); ++k) {
      text += fmt::format("{}.{} = [", axis.keys.size() == 1 ? "axes" : "zip", axis.keys[k]);
      for (const auto& value : axis.values[k]) text += quoted(axis.keys[k], value) + ", ";
      text += "]\n";
    }
  }
  return text + fmt::format("keep = \"chunks <= {}\"\n", sweep.most_chunks);
}

/// The rows of a sweep from axis `a` on, in order; each axis is a loop inside the one before.
void count_out(const TestSweep& sweep, std::size_t a, const Words& so_far, std::vector<Words>& rows) {
  if (a == sweep.axes.size()) {
    for (const auto& [key, value] : so_far)
      if (key == "chunks" && std::stoi(value) > sweep.most_chunks) return;
    rows.push_back(so_far);
    return;
  }
  const auto& axis = sweep.axes[a];
  for (std::size_t i = 0; i < axis.values.front().size(); ++i) {
    Words words = so_far;
    for (std::size_t k = 0; k < axis.keys.size(); ++k) words.emplace_back(axis.keys[k], axis.values[k][i]);
    count_out(sweep, a + 1, words, rows);
  }
}

/// The points of a study with these sweeps and seeds: built one by one by make_point(), each key once.
std::vector<DesignPoint> points_by_hand(const std::vector<TestSweep>& sweeps, const TestAxis& seeds) {
  std::vector<DesignPoint> points;
  std::set<std::string> seen;
  for (TestSweep sweep : sweeps) {
    sweep.axes.insert(sweep.axes.begin(), seeds);
    std::vector<Words> rows;
    count_out(sweep, 0, sweep.fixed, rows);
    for (const auto& words : rows) {
      const auto point = make_point(words, test_words());
      EXPECT_TRUE(point.ok()) << (point ? "" : to_string(point.errors()));
      if (seen.insert(point->canonical).second) points.push_back(*point);
    }
  }
  return points;
}

TestAxis axis_of(const std::string& key, std::vector<std::string> values) { return {{key}, {std::move(values)}}; }

/// `count` of the values; a value may occur more than once.
std::vector<std::string> some_of(const std::vector<std::string>& values, std::size_t count, std::mt19937& random) {
  std::vector<std::string> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(values[random() % values.size()]);
  return chosen;
}

TestSweep random_sweep(std::mt19937& random) {
  TestSweep sweep;
  sweep.fixed = {{"bandwidth", "50GB/s"}, {"collective", random() % 2 == 0 ? "all_gather" : "all_reduce"}};
  const std::size_t zipped = 1 + random() % 3;
  std::vector<TestAxis> axes{
      axis_of("size", some_of({"64KiB", "1MiB", "1024KiB", "3MB"}, 1 + random() % 4, random)),
      axis_of("chunks", some_of({"1", "2", "3", "4"}, 1 + random() % 4, random)),
      axis_of("groups", some_of({"all", "0-3", "0-3; 4-7", "0,1,2,3"}, 1 + random() % 3, random)),
      axis_of("algorithm", some_of({"ring", "direct", "tacos"}, 1 + random() % 3, random)),
      {{"topology", "alpha"},
       {some_of({"RI(8)", "mesh(2,4)", "LI(2)_LI(4)", "FC(8)"}, zipped, random),
        some_of({"1us", "1000ns", "2us"}, zipped, random)}},
  };
  std::shuffle(axes.begin(), axes.end(), random);
  sweep.axes = std::move(axes);
  sweep.most_chunks = 2 + static_cast<int>(random() % 3);
  return sweep;
}

/// All result columns of a point's settings.
std::vector<std::string> settings_of(const DesignPoint& point) {
  std::vector<std::string> words;
  for (const auto& setting : setting_columns()) words.push_back(cell_text(setting_cell(point, setting.name)));
  return words;
}

TEST(PointTable, BuildsThePointsOfRandomStudiesInOrder) {
  std::size_t repeated = 0;
  for (std::uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed);
    std::vector<TestSweep> sweeps;
    const std::size_t count = 1 + random() % 3;
    while (sweeps.size() < count) {
      TestSweep sweep = random_sweep(random);
      std::vector<Words> rows;
      count_out(sweep, 0, {}, rows);
      if (!rows.empty()) sweeps.push_back(std::move(sweep));  // a sweep without points is refused
    }
    const auto seeds = axis_of("seed", some_of({"1", "2", "7"}, 1 + random() % 3, random));
    std::string text = "schema = 1\nname = \"s\"\nseed = [";
    for (const auto& value : seeds.values.front()) text += value + ", ";
    text += "]\n";
    for (const auto& sweep : sweeps) text += text_of(sweep);
    const auto study = parse_study(text, "study.toml", test_words());
    ASSERT_EQ(messages_of(study), "") << text;
    const auto expected = points_by_hand(sweeps, seeds);
    ASSERT_EQ(study->points.size(), expected.size()) << text;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const DesignPoint point = study->points[i];
      ASSERT_EQ(point.canonical, expected[i].canonical) << i << " of\n" << text;
      EXPECT_EQ(point.key, expected[i].key);
      EXPECT_EQ(study->points.key(i), expected[i].key);
      EXPECT_EQ(study->points.find(expected[i].key), i);
      EXPECT_EQ(settings_of(point), settings_of(expected[i]));
      EXPECT_EQ(point.seed, expected[i].seed);
      EXPECT_EQ(point.family, expected[i].family);
    }
    repeated += study->duplicates;
  }
  EXPECT_GT(repeated, 0U) << "some rows of these studies share a key";
}

TEST(PointTable, OutlivesTheWordsAndTheTextThatMadeIt) {
  PointTable points;
  {
    auto words = test_words();
    words.stored_file = [&](const std::string&) -> std::optional<std::string> {
      return std::string(words.algorithms.front()->name);
    };
    const std::string text = base_study() + "axes.chunks = [1, 2, 3]\naxes.groups = [\"all\", \"0,1\"]\n";
    const auto study = parse_study(text, "study.toml", words);
    ASSERT_EQ(messages_of(study), "");
    points = study->points;
  }
  ASSERT_EQ(points.size(), 6U);
  EXPECT_EQ(points[4].chunks, 3);
  EXPECT_EQ(points[4].collective().groups.text(), "all");
  EXPECT_EQ(points.back().collective().groups.text(), "0-1");
  EXPECT_EQ(points.back().family, AlgorithmFamily::textbook);
}

/// A sealed point that differs from others only in its seed.
DesignPoint with_seed(std::uint64_t seed) {
  DesignPoint point;
  point.topology.text = "RI(4)";
  point.algorithm = "ring";
  point.seed = seed;
  seal(point);
  return point;
}

TEST(PointTable, HoldsPointsThatAreAddedByHand) {
  PointTable points;
  EXPECT_TRUE(points.empty());
  EXPECT_EQ(points.find(with_seed(1).key), std::nullopt);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) points.push_back(with_seed(seed));
  ASSERT_EQ(points.size(), 100U);
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    EXPECT_EQ(points[seed - 1].seed, seed);
    EXPECT_EQ(points.find(with_seed(seed).key), seed - 1);
  }
  EXPECT_EQ(points.find(with_seed(101).key), std::nullopt);
  // "seed=100" is one letter longer than "seed=10".
  EXPECT_EQ(points.longest_canonical(), with_seed(10).canonical.size() + 1);
}

TEST(PointTable, FindsTheFirstOfPointsWithOneKey) {
  const PointTable points{with_seed(3), with_seed(5), with_seed(3)};
  EXPECT_EQ(points.size(), 3U);
  EXPECT_EQ(points.find(with_seed(3).key), 0U);
  EXPECT_EQ(points.find(with_seed(5).key), 1U);
}

TEST(PointTable, TakesPointsByHandBehindThoseOfAText) {
  auto study = study_with("axes.groups = [\"0,1\", \"all\"]\n");
  ASSERT_EQ(messages_of(study), "");
  study->points.push_back(with_seed(9));
  std::vector<std::string> groups;
  for (const auto& point : study->points) groups.emplace_back(point.collective().groups.text());
  EXPECT_THAT(groups, ElementsAre("0-1", "all", "all"));
  EXPECT_EQ(study->points.back().seed, 9U);
  EXPECT_EQ(study->points.find(with_seed(9).key), 2U);
}

TEST(PointTable, IsARangeOfValues) {
  static_assert(std::random_access_iterator<PointTable::Iterator>);
  const PointTable points{with_seed(4), with_seed(6), with_seed(8)};
  EXPECT_EQ(points.end() - points.begin(), 3);
  EXPECT_EQ((points.begin() + 2)->seed, 8U);
  EXPECT_EQ(points.begin()[1].seed, 6U);
  EXPECT_EQ((*--points.end()).seed, 8U);
  EXPECT_LT(points.begin(), points.end());
  std::vector<std::uint64_t> seeds;
  for (const auto& point : points) seeds.push_back(point.seed);
  EXPECT_THAT(seeds, ElementsAre(4U, 6U, 8U));
}

TEST(PointTable, IsReadByManyThreadsAtOnce) {
  const auto study = study_with("axes.chunks = { from = 1, to = 500, step = 1 }\naxes.groups = [\"all\", \"0,1\"]\n");
  ASSERT_EQ(messages_of(study), "");
  std::vector<std::vector<std::string>> seen(4);
  std::vector<std::thread> threads;
  for (auto& texts : seen) threads.emplace_back([&] { texts = canonical_texts(*study); });
  for (auto& thread : threads) thread.join();
  ASSERT_EQ(seen.front().size(), 1'000U);
  for (const auto& texts : seen) EXPECT_EQ(texts, seen.front());
}

TEST(PointTable, TakesLittleMemoryPerPoint) {
  // 4 bytes of row, 16 of key and 2^18 slots of 4 bytes for 100,000 points are 30.5 bytes per point. The rest is 1,000
  // values of the axes and the study's own lists. A point stored whole takes about 1,000 bytes.
  const auto before = mallinfo2();
  const auto study =
      study_with("axes.chunks = { from = 1, to = 500, step = 1 }\naxes.seed = { from = 1, to = 200, step = 1 }\n");
  ASSERT_EQ(messages_of(study), "");
  ASSERT_EQ(study->points.size(), 100'000U);
  const auto after = mallinfo2();
  EXPECT_LT(after.uordblks + after.hblkhd, before.uordblks + before.hblkhd + 6'000'000U);
}

}  // namespace
}  // namespace tenex
