// Samplers: the rows that they draw, how even these are, and that the same rows are drawn again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "design/design_support.hpp"
#include "tenex/base/random.hpp"
#include "tenex/design/sampler.hpp"
#include "tenex/design/sobol.hpp"

namespace tenex {
namespace {

using Lengths = std::vector<std::size_t>;
using Rows = std::vector<std::uint64_t>;
constexpr Sampler kSamplers[] = {Sampler::random, Sampler::latin_hypercube, Sampler::sobol};

/// How often each position of an axis occurs.
std::vector<int> marginal(const Rows& rows, const Lengths& lengths, std::size_t axis) {
  std::uint64_t below = 1;
  for (std::size_t a = axis + 1; a < lengths.size(); ++a) below *= lengths[a];
  std::vector<int> counts(lengths[axis], 0);
  for (const auto row : rows) ++counts[row / below % lengths[axis]];
  return counts;
}

/// The square of the L2 star discrepancy by Warnock's formula (1972): 3^-d - 2^(1-d)/n sum_i prod (1 - x_ik^2) + 1/n^2
/// sum_ij prod (1 - max(x_ik, x_jk)).
double discrepancy(const std::vector<std::vector<double>>& points) {
  const auto d = static_cast<double>(points.front().size());
  const auto n = static_cast<double>(points.size());
  double first = 0;
  double second = 0;
  for (const auto& x : points) {
    double product = 1;
    for (const double c : x) product *= 1 - c * c;
    first += product;
    for (const auto& y : points) {
      double pair = 1;
      for (std::size_t k = 0; k < x.size(); ++k) pair *= 1 - std::max(x[k], y[k]);
      second += pair;
    }
  }
  return std::pow(3, -d) - std::pow(2, 1 - d) / n * first + second / (n * n);
}

TEST(Sobol, BeginsAsItsSourcesSay) {
  const Sobol sobol(2, 1, false);
  // Dimension 1 has the numbers 1/2, 1/4, 1/8, ..., dimension 2 (polynomial x + 1, m = 1) 1/2, 3/4, 5/8: each is the
  // one before xor its half. Point i is their xor over the bits of i's Gray code: 0, 1, 11, 10, 110, ... In dimension 2
  // point 2 is 1/2 ^ 3/4 = 1/4, point 3 is 3/4, point 4 is 3/4 ^ 5/8 = 3/8.
  const std::vector<std::pair<double, double>> expected{
      {0, 0},         {0.5, 0.5},     {0.75, 0.25},     {0.25, 0.75},     {0.375, 0.375},  {0.875, 0.875},
      {0.625, 0.125}, {0.125, 0.625}, {0.1875, 0.3125}, {0.6875, 0.8125}, {0.9375, 0.0625}};
  for (std::uint32_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(sobol.at(i, 0) / 4294967296.0, expected[i].first) << i;
    EXPECT_EQ(sobol.at(i, 1) / 4294967296.0, expected[i].second) << i;
  }
}

TEST(Sobol, PutsOnePointIntoEveryStratumOfEveryDimension) {
  // The matrix of a dimension is triangular with ones on its diagonal exactly if every m_i is odd and below 2^i. Then
  // the first 2^k points differ in their first k bits. Shifts permute strata.
  for (const bool shifted : {false, true}) {
    const Sobol sobol(Sobol::kMostDimensions, 7, shifted);
    for (std::size_t d = 0; d < sobol.dimensions(); ++d) {
      std::set<std::uint32_t> strata;
      for (std::uint32_t i = 0; i < 1024; ++i) strata.insert(sobol.at(i, d) >> 22U);
      EXPECT_EQ(strata.size(), 1024U) << "dimension " << d + 1;
    }
  }
}

TEST(Sobol, HasNoTwoDimensionsAlike) {
  // A slip in the table that made polynomials and first numbers equal would give equal dimensions.
  const Sobol sobol(Sobol::kMostDimensions, 1, false);
  std::set<std::vector<std::uint32_t>> columns;
  for (std::size_t d = 0; d < sobol.dimensions(); ++d) {
    std::vector<std::uint32_t> column;
    for (std::uint32_t i = 0; i < 512; ++i) column.push_back(sobol.at(i, d));
    columns.insert(column);
  }
  EXPECT_EQ(columns.size(), Sobol::kMostDimensions);
}

TEST(Sobol, FillsBoxesOfTwoDimensionsAsItsPolynomialsPromise) {
  // Two dimensions with polynomials of degrees s and s' are a (t, 2)-sequence with t = (s - 1) + (s' - 1), if the
  // polynomials are primitive: at most 8 in the first ten dimensions. So the first 2^12 points put equally many, 256,
  // into every box of volume 2^-4.
  const Sobol sobol(10, 3);
  for (std::size_t d = 0; d + 1 < 10; ++d) {
    std::vector<int> boxes(16, 0);
    for (std::uint32_t i = 0; i < 4096; ++i) ++boxes[(sobol.at(i, d) >> 30U) * 4 + (sobol.at(i, d + 1) >> 30U)];
    EXPECT_THAT(boxes, testing::Each(256)) << "dimensions " << d + 1 << " and " << d + 2;
  }
}

TEST(Sobol, IsFarMoreEvenThanRandomPoints) {
  // For n random points in d dimensions the expectation is (2^-d - 3^-d) / n: (1/16 - 1/81) / 256 = 1.96e-4. A quarter
  // of that is a bound that 256 random points practically never meet. Sobol' points, whose square falls nearly with
  // n^-2, meet it easily.
  const double expected = (1.0 / 16 - 1.0 / 81) / 256;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Sobol sobol(4, seed);
    Random random(seed, 99);
    std::vector<std::vector<double>> even;
    std::vector<std::vector<double>> drawn;
    for (std::uint32_t i = 0; i < 256; ++i) {
      even.emplace_back();
      drawn.emplace_back();
      for (std::size_t d = 0; d < 4; ++d) {
        even.back().push_back(sobol.at(i, d) / 4294967296.0);
        drawn.back().push_back(random.unit());
      }
    }
    EXPECT_LT(discrepancy(even), expected / 4) << seed;
    EXPECT_LT(discrepancy(even), discrepancy(drawn)) << seed;
  }
}

TEST(Samplers, DrawDistinctRowsOfTheGridInOrder) {
  const std::vector<Lengths> grids{{7}, {2, 2, 2}, {3, 1, 4, 5}, {10, 10, 10}, Lengths(20, 2), {1'000'000, 1'000'000}};
  for (const auto& lengths : grids) {
    const std::uint64_t all = *grid_rows(lengths);
    for (const Sampler sampler : kSamplers) {
      for (const std::size_t rows : {1U, 5U, 8U, 59U, 300U}) {
        const Rows drawn = draw_rows(sampler, lengths, rows, 42);
        EXPECT_EQ(drawn.size(), std::min<std::uint64_t>(rows, all));
        EXPECT_TRUE(std::is_sorted(drawn.begin(), drawn.end()));
        EXPECT_EQ(std::set<std::uint64_t>(drawn.begin(), drawn.end()).size(), drawn.size());
        EXPECT_LT(drawn.back(), all);
      }
    }
  }
}

TEST(Samplers, DrawTheSameAgainAndOtherRowsForAnotherSeed) {
  const Lengths lengths{10, 20, 30};
  for (const Sampler sampler : kSamplers) {
    EXPECT_EQ(draw_rows(sampler, lengths, 100, 5), draw_rows(sampler, lengths, 100, 5));
    EXPECT_NE(draw_rows(sampler, lengths, 100, 5), draw_rows(sampler, lengths, 100, 6));
  }
}

TEST(Samplers, DrawFewerRowsAsAPartOfMore) {
  const Lengths lengths{6, 6, 6};  // 216 rows: the sequences meet many repeats
  for (const Sampler sampler : {Sampler::random, Sampler::sobol}) {
    for (const std::size_t rows : {10U, 100U, 214U}) {
      const Rows fewer = draw_rows(sampler, lengths, rows, 3);
      const Rows more = draw_rows(sampler, lengths, rows + 1, 3);
      EXPECT_TRUE(std::includes(more.begin(), more.end(), fewer.begin(), fewer.end())) << rows;
    }
  }
}

TEST(Samplers, HaveEachRowOnceWhenMoreAreAskedFor) {
  for (const Sampler sampler : kSamplers)
    EXPECT_THAT(draw_rows(sampler, {2, 3}, 100, 1), testing::ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(RandomSampler, FavoursNoValueOfAnAxis) {
  // 500 rows over ten values: 50 each, with a standard deviation of at most sqrt(500 * 0.1 * 0.9) = 6.7. The limit is
  // five of those.
  const Lengths lengths{10, 10, 10};
  const Rows rows = draw_rows(Sampler::random, lengths, 500, 11);
  for (std::size_t axis = 0; axis < 3; ++axis)
    EXPECT_THAT(marginal(rows, lengths, axis), testing::Each(testing::AllOf(testing::Gt(16), testing::Lt(84))));
}

TEST(LatinHypercube, GivesEveryValueItsShareOfRows) {
  // 20 rows: on axes of 4, 5, 2 and 10 values each value has 20/4 = 5, 4, 10 and 2 rows, with or without exchanged
  // positions.
  const Lengths lengths{4, 5, 2, 10};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Rows rows = draw_rows(Sampler::latin_hypercube, lengths, 20, seed);
    EXPECT_THAT(marginal(rows, lengths, 0), testing::Each(5)) << seed;
    EXPECT_THAT(marginal(rows, lengths, 1), testing::Each(4)) << seed;
    EXPECT_THAT(marginal(rows, lengths, 2), testing::Each(10)) << seed;
    EXPECT_THAT(marginal(rows, lengths, 3), testing::Each(2)) << seed;
  }
}

TEST(LatinHypercube, KeepsItsSharesWhereManyRowsRepeat) {
  // 16 of 32 rows: half of the grid, so most designs repeat rows before exchanges.
  const Lengths lengths{2, 4, 4};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Rows rows = draw_rows(Sampler::latin_hypercube, lengths, 16, seed);
    EXPECT_THAT(marginal(rows, lengths, 0), testing::Each(8)) << seed;
    EXPECT_THAT(marginal(rows, lengths, 1), testing::Each(4)) << seed;
    EXPECT_THAT(marginal(rows, lengths, 2), testing::Each(4)) << seed;
  }
}

TEST(LatinHypercube, TakesOneValueOfEveryStratumOfALongAxis) {
  // 10 rows on 1,000 values: one in each hundred.
  const Lengths lengths{1000, 3};
  const Rows rows = draw_rows(Sampler::latin_hypercube, lengths, 10, 9);
  std::set<std::uint64_t> strata;
  for (const auto row : rows) strata.insert(row / 3 / 100);
  EXPECT_EQ(strata.size(), 10U);
}

TEST(SobolSampler, FillsAGridOfPowersOfTwoEvenly) {
  // 16 of 8 x 8 rows: 2^4 points of a (0, 2)-sequence put one row into each of the 4 x 4 boxes of 2 x 2 rows.
  const Rows rows = draw_rows(Sampler::sobol, {8, 8}, 16, 21);
  std::set<std::uint64_t> boxes;
  for (const auto row : rows) boxes.insert(row / 8 / 2 * 4 + row % 8 / 2);
  EXPECT_EQ(boxes.size(), 16U);
}

const std::string kAxes =
    "axes.size = { from = \"1MiB\", to = \"64MiB\", step = \"1MiB\" }\n"
    "axes.chunks = [1, 2, 4, 8]\naxes.seed = { from = 1, to = 1000, step = 1 }\n";

TEST(SampledSweep, HasSomeOfTheRowsOfItsGrid) {
  const std::string axes = "axes.size = [\"1MiB\", \"2MiB\", \"3MiB\", \"5MiB\"]\naxes.chunks = [1, 2, 4, 8]\n";
  const auto grid = study_with(axes);
  ASSERT_EQ(messages_of(grid), "");
  const auto all = sorted_texts(*grid);
  for (const std::string sampler : {"random", "latin_hypercube", "sobol"}) {
    const auto study = study_with("sampler = \"" + sampler + "\"\npoints = 8\n" + axes);
    ASSERT_EQ(messages_of(study), "");
    EXPECT_EQ(study->points.size(), 8U);
    EXPECT_EQ(study->rows_before_keep, 8U);
    const auto some = sorted_texts(*study);
    EXPECT_TRUE(std::includes(all.begin(), all.end(), some.begin(), some.end())) << sampler;
    EXPECT_EQ(canonical_texts(*study),
              canonical_texts(*study_with("sampler = \"" + sampler + "\"\npoints = 8\n" + axes)));
  }
}

TEST(SampledSweep, IsDrawnFromAGridThatCouldNotBeEnumerated) {
  // 64 * 4 * 1000 * 2^10 rows, 262 million: more than a study may enumerate.
  std::string axes = kAxes + "axes.window = { from = 0, to = 1023, step = 1 }\nalgorithm = \"direct\"\n";
  EXPECT_NE(messages_of(study_with(axes)), "");
  const auto study = study_with("sampler = \"sobol\"\npoints = 50\n" + axes);
  ASSERT_EQ(messages_of(study), "");
  EXPECT_EQ(study->points.size(), 50U);
  for (std::size_t i = 0; i < study->points.size(); ++i) EXPECT_EQ(study->points[i].key, study->points.key(i));
}

TEST(SampledSweep, IsDrawnByTheStudysSeed) {
  const std::string sweep = base_study() + "sampler = \"random\"\npoints = 20\n" + kAxes;
  const auto one = parse_study("seed = 1\n" + sweep, "study.toml", test_words());
  const auto unsaid = parse_study(sweep, "study.toml", test_words());
  const auto two = parse_study("seed = 2\n" + sweep, "study.toml", test_words());
  ASSERT_EQ(messages_of(one) + messages_of(unsaid) + messages_of(two), "");
  EXPECT_EQ(canonical_texts(*one), canonical_texts(*unsaid));
  EXPECT_NE(canonical_texts(*one), canonical_texts(*two));
}

TEST(SampledSweep, LeavesOutWhatKeepLeavesOut) {
  const auto all = study_with("sampler = \"sobol\"\npoints = 64\n" + kAxes);
  const auto some = study_with("sampler = \"sobol\"\npoints = 64\nkeep = \"chunks = 1\"\n" + kAxes);
  ASSERT_EQ(messages_of(all) + messages_of(some), "");
  // A (0, 1)-sequence: 64 points have 16 in each quarter of the axis of four values.
  EXPECT_EQ(some->points.size(), 16U);
  for (const DesignPoint& point : some->points) {
    EXPECT_EQ(point.chunks, 1);
    EXPECT_TRUE(all->points.find(point.key).has_value());
  }
}

TEST(SampledSweep, TakesZippedKeysAsOneAxis) {
  const auto study = study_with(
      "sampler = \"latin_hypercube\"\npoints = 4\nzip.size = [\"1MiB\", \"2MiB\"]\nzip.chunks = [1, 2]\n"
      "axes.seed = [1, 2, 3, 4]\n");
  ASSERT_EQ(messages_of(study), "");
  ASSERT_EQ(study->points.size(), 4U);
  for (const DesignPoint& point : study->points) EXPECT_EQ(point.collective().size, mebibytes(point.chunks));
}

}  // namespace
}  // namespace tenex
