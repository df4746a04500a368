// Halving as a plain value: which points a round keeps, when it may be cut, and the reason of a pruned point.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "coordinator/fake_study.hpp"
#include "coordinator/halving.hpp"
#include "tenex/base/random.hpp"

namespace tenex {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::make_study;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

Study searched(std::size_t points, std::vector<HalvingRound> rounds, bool maximize = false) {
  Study study = make_study(points);
  study.search.objective = {"collective_time_ps", maximize};
  study.search.rounds = std::move(rounds);
  return study;
}

/// Gives all points of the round their values, by index.
void value_all(Halving& halving, const std::vector<double>& values) {
  for (const auto point : halving.points())
    halving.take({point, static_cast<std::uint32_t>(halving.round()), values[point]});
}

std::vector<std::uint32_t> pruned_by(Halving& halving, const std::vector<double>& values) {
  value_all(halving, values);
  std::vector<std::uint32_t> points;
  for (const auto& pruned : halving.cut()) points.push_back(pruned.point);
  return points;
}

TEST(Halving, KeepsTheBestPart) {
  const Study study = searched(6, {{Fidelity::bound, 1, 2}});
  Halving halving(study);
  EXPECT_THAT(pruned_by(halving, {60, 10, 50, 20, 40, 30}), ElementsAre(0, 2, 4));
  EXPECT_TRUE(halving.over());
  EXPECT_THAT(halving.points(), ElementsAre(1, 3, 5));
}

TEST(Halving, KeepsTheLargestWhereMoreIsBetter) {
  const Study study = searched(6, {{Fidelity::bound, 1, 3}}, true);
  Halving halving(study);
  EXPECT_THAT(pruned_by(halving, {60, 10, 50, 20, 40, 30}), ElementsAre(1, 3, 4, 5));
}

TEST(Halving, RoundsThePartUp) {
  // A third of 7 is 2.33: three go on. A hundredth of 7: one.
  const Study third = searched(7, {{Fidelity::bound, 1, 3}});
  Halving halving(third);
  EXPECT_THAT(pruned_by(halving, {1, 2, 3, 4, 5, 6, 7}), ElementsAre(3, 4, 5, 6));
  const Study hundredth = searched(7, {{Fidelity::bound, 1, 100}});
  Halving one(hundredth);
  EXPECT_THAT(pruned_by(one, {1, 2, 3, 4, 5, 6, 7}), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Halving, KeepsWhatIsAsGoodAsTheLastThatGoesOn) {
  const Study study = searched(6, {{Fidelity::bound, 1, 3}});
  Halving halving(study);
  EXPECT_THAT(pruned_by(halving, {5, 1, 5, 5, 5, 9}), ElementsAre(5));
  Halving alike(study);
  EXPECT_THAT(pruned_by(alike, {5, 5, 5, 5, 5, 5}), IsEmpty());
}

TEST(Halving, KeepsPointsWithoutAValueAndDoesNotCountThem) {
  // Half of the four points with values: two.
  const Study study = searched(6, {{Fidelity::bound, 1, 2}});
  Halving halving(study);
  EXPECT_THAT(pruned_by(halving, {4, kNothing, 3, 2, kNothing, 1}), ElementsAre(0, 2));
}

TEST(Halving, GoesOnWithWhatIsLeftInTheNextRound) {
  const Study study = searched(8, {{Fidelity::bound, 1, 2}, {Fidelity::coarse, 1, 4}});
  Halving halving(study);
  EXPECT_THAT(pruned_by(halving, {8, 7, 6, 5, 4, 3, 2, 1}), ElementsAre(0, 1, 2, 3));
  ASSERT_FALSE(halving.over());
  EXPECT_EQ(halving.round(), 1U);
  EXPECT_FALSE(halving.complete()) << "values of the first round are not those of the second";
  EXPECT_THAT(pruned_by(halving, {0, 0, 0, 0, 1, 2, 3, 4}), ElementsAre(5, 6, 7));
  EXPECT_TRUE(halving.over());
}

TEST(Halving, IsCompleteWhenTheLastValueIsKnown) {
  const Study study = searched(3, {{Fidelity::bound, 1, 2}});
  Halving halving(study);
  halving.take({0, 0, 1});
  halving.take({0, 0, 1});  // a repeated report
  halving.take({1, 1, 5});  // of another round
  EXPECT_FALSE(halving.complete());
  halving.take({2, 0, 3});
  EXPECT_FALSE(halving.complete()) << "point 1 has no value of this round";
  halving.take({1, 0, kNothing});
  EXPECT_TRUE(halving.complete());
}

TEST(Halving, WaitsForNoPointThatWasGivenUp) {
  const Study study = searched(3, {{Fidelity::bound, 1, 2}});
  Halving halving(study);
  halving.take({0, 0, 1});
  halving.take({1, 0, 2});
  EXPECT_FALSE(halving.complete());
  halving.give_up(2);
  EXPECT_TRUE(halving.complete());
  halving.give_up(2);
  halving.give_up(1);  // after its value came
  EXPECT_TRUE(halving.complete());
  EXPECT_THAT(halving.cut(), IsEmpty()) << "point 1 has a row";
  EXPECT_THAT(halving.points(), ElementsAre(0));
}

TEST(Halving, ComparesPointsThatAgreeInPer) {
  // Points 0, 1 and 4 are rings, the others were given another algorithm: half of three is two, half of two is one.
  Study study = make_study(0);
  study.search.objective.metric = "collective_time_ps";
  study.search.rounds.push_back({Fidelity::bound, 1, 2});
  study.search.per.emplace_back("algorithm");
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    DesignPoint point = make_study(1).points[0];
    point.seed = seed;
    point.algorithm = seed == 3 || seed == 4 ? "direct" : "ring";
    seal(point);
    study.points.push_back(point);
  }
  Halving halving(study);
  EXPECT_THAT(pruned_by(halving, {10, 20, 900, 800, 30}), ElementsAre(2, 4));
}

TEST(Halving, IsSureOfAPointThatNoMissingValueCanDisplace) {
  // Half of six points: three go on, or fewer if missing ones turn out to have no value.
  const Study study = searched(6, {{Fidelity::bound, 1, 2}});
  Halving halving(study);
  halving.take({0, 0, 10});
  halving.take({1, 0, 20});
  halving.take({2, 0, 30});
  EXPECT_THAT(halving.sure(), IsEmpty()) << "three values are missing: all may be better than 10";
  halving.take({3, 0, 40});
  EXPECT_THAT(halving.sure(), ElementsAre(0)) << "two better ones leave it the third place of six";
  halving.take({4, 0, kNothing});
  EXPECT_THAT(halving.sure(), ElementsAre(0, 1, 4)) << "point 4 has no value; 20 is third of five at worst";
  halving.take({5, 0, 5});
  EXPECT_THAT(halving.sure(), ElementsAre(0, 1, 4, 5));
  (void)halving.cut();
  EXPECT_THAT(halving.points(), ElementsAre(0, 1, 4, 5));
}

TEST(Halving, CountsAValueOfAPointThatWasGivenUpLater) {
  // Points 0 and 1 are sure to go on: of four values two go on, whatever becomes of them.
  const Study study = searched(4, {{Fidelity::bound, 1, 2}});
  Halving halving(study);
  value_all(halving, {1, 2, 3, 4});
  EXPECT_THAT(halving.sure(), ElementsAre(0, 1));
  halving.give_up(0);
  EXPECT_THAT(halving.sure(), ElementsAre(1));
  std::vector<std::uint32_t> pruned;
  for (const auto& point : halving.cut()) pruned.push_back(point.point);
  EXPECT_THAT(pruned, ElementsAre(2, 3));
  EXPECT_THAT(halving.points(), ElementsAre(1));
}

/// The points that go on if the missing values are these; NaN: the point has none.
std::vector<std::uint32_t> left_after(Halving halving, const std::vector<std::uint32_t>& missing,
                                      const std::vector<double>& values) {
  for (std::size_t i = 0; i < missing.size(); ++i) halving.take({missing[i], 0, values[i]});
  (void)halving.cut();
  return halving.points();
}

TEST(Halving, IsSureOfExactlyThePointsThatGoOnWhateverIsMissing) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed, 0x68616c66);
    const std::uint32_t count = 2 + random.below(7);
    const auto denominator = 2 + random.below(3);
    const Study study = searched(count, {{Fidelity::bound, 1 + random.below(denominator - 1), denominator}});
    Halving halving(study);
    std::vector<std::uint32_t> missing;
    for (std::uint32_t point = 0; point < count; ++point) {
      if (missing.size() < 3 && random.below(2) == 0)
        missing.push_back(point);
      else
        halving.take({point, 0, random.below(8) == 0 ? kNothing : 10.0 * (1 + random.below(4))});
    }
    // Each missing value is none, or better than, as good as, between or worse than those that are known.
    constexpr double kChoices[] = {kNothing, 5, 15, 20, 25, 35, 45};
    std::vector<std::uint32_t> always(count);
    std::iota(always.begin(), always.end(), 0U);
    std::erase_if(always, [&](std::uint32_t point) { return std::ranges::binary_search(missing, point); });
    std::vector<double> values(missing.size());
    std::size_t combinations = 1;
    for (std::size_t i = 0; i < missing.size(); ++i) combinations *= std::size(kChoices);
    for (std::size_t number = 0; number < combinations; ++number) {
      auto digits = number;
      for (auto& value : values) {
        value = kChoices[digits % std::size(kChoices)];
        digits /= std::size(kChoices);
      }
      const auto left = left_after(halving, missing, values);
      std::erase_if(always, [&](std::uint32_t point) { return !std::ranges::binary_search(left, point); });
    }
    ASSERT_EQ(halving.sure(), always) << "seed " << seed;
  }
}

TEST(Halving, TellsValuePlaceAndCutOfAPrunedPoint) {
  const Study study = searched(6, {{Fidelity::bound, 1, 3}, {Fidelity::coarse, 1, 2}});
  Halving halving(study);
  value_all(halving, {10, 20, 30, 40, 40, 50});
  const auto pruned = halving.cut();
  ASSERT_EQ(pruned.size(), 4U);
  const auto reason = [&](std::size_t i) { return halving.reason_of(pruned[i]); };
  EXPECT_EQ(reason(0),
            "left out in round 1 of 2 (bound): collective_time_ps 30 is place 3 of 6, the cut is after place "
            "2 with 20 " +
                search_stamp(study));
  EXPECT_EQ(pruned[1].place, 4U);
  EXPECT_EQ(pruned[2].place, 4U) << "equal values share a place";
  EXPECT_EQ(pruned[3].place, 6U);
}

}  // namespace
}  // namespace tenex
