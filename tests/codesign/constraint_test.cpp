// Constraints as text: their rows and their errors.
#include "tenex/codesign/constraint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codesign/support.hpp"

namespace tenex {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::int64_t kGB = 1'000'000'000;

std::vector<LinearConstraint> parse(std::string_view text, std::size_t dimensions = 3) {
  static const CostRates rates = support::libra_4d_rates();
  auto rows = support::rows_of_text(text, dimensions, dimensions == 4 ? &rates : nullptr, {"s.toml", 7, 16});
  EXPECT_TRUE(rows.ok()) << to_string(rows.errors());
  return rows.ok() ? *rows : std::vector<LinearConstraint>(1);
}

std::string error(std::string_view text) {
  const auto rows = support::rows_of_text(text, 3, nullptr, {"s.toml", 7, 16});
  return rows.ok() ? "no error" : to_string(rows.errors());
}

TEST(Constraint, SumsBandwidths) {
  const auto rows = parse("B1 + B2 = 500GB/s");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_THAT(rows[0].coefficients, ElementsAre(1, 1, 0));
  EXPECT_EQ(rows[0].relation, Relation::equal);
  EXPECT_TRUE(rows[0].bound == WideInt{500} * kGB);
}

TEST(Constraint, OfAChainIsSeveral) {
  const auto rows = parse("B1 >= B2 >= B3");
  ASSERT_EQ(rows.size(), 2U);
  // B1 >= B2 is -B1 + B2 <= 0.
  EXPECT_THAT(rows[0].coefficients, ElementsAre(-1, 1, 0));
  EXPECT_THAT(rows[1].coefficients, ElementsAre(0, -1, 1));
  EXPECT_EQ(rows[0].text, "B1 >= B2");
  EXPECT_EQ(rows[1].text, "B2 >= B3");
  EXPECT_EQ(rows[1].place, (Place{"s.toml", 7, 22}));  // column 16 + 6 characters
}

TEST(Constraint, LimitsFromBothSides) {
  const auto rows = parse("25GB/s <= B3 <= 150GB/s");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_THAT(rows[0].coefficients, ElementsAre(0, 0, -1));
  EXPECT_TRUE(rows[0].bound == WideInt{-25} * kGB);
  EXPECT_THAT(rows[1].coefficients, ElementsAre(0, 0, 1));
  EXPECT_TRUE(rows[1].bound == WideInt{150} * kGB);
}

TEST(Constraint, TakesExactCoefficientsAndParentheses) {
  // B1 <= 0.25 * (B2 - B3) + 1GB/s is 4 B1 - B2 + B3 <= 4 GB/s.
  const auto rows = parse("B1 <= 0.25*(B2 - B3) + 1GB/s");
  EXPECT_THAT(rows[0].coefficients, ElementsAre(4, -1, 1));
  EXPECT_TRUE(rows[0].bound == WideInt{4} * kGB);
  // -2*B1*3 + 7 B/s <= 0 is -6 B1 <= -7, so B1 >= 7/6; for whole B1 that is -B1 <= -2.
  const auto whole = parse("-2*B1*3 + 7B/s <= B2 - B2");
  EXPECT_THAT(whole[0].coefficients, ElementsAre(-1, 0, 0));
  EXPECT_TRUE(whole[0].bound == -2);
}

TEST(Constraint, KnowsTotalAndCost) {
  EXPECT_THAT(parse("total <= 1TB/s")[0].coefficients, ElementsAre(1, 1, 1));
  // Rates 2, 4, 4 and 57.4 dollars per GB/s and NPU have the ratio 10, 20, 20, 287.
  const auto rows = parse("cost <= $1,500,000", 4);
  EXPECT_THAT(rows[0].coefficients, ElementsAre(10, 20, 20, 287));
  // 1.5e6 dollars buy 1.5e6 / (4096 * 0.2) units of 1 GB/s: 1,831,054,687,500 B/s.
  EXPECT_TRUE(rows[0].bound == WideInt{1'831'054'687'500});
  EXPECT_TRUE(parse("1.5MUSD >= cost", 4)[0].bound == rows[0].bound);
}

TEST(Constraint, HasOneTextForBothSignsOfEquality) {
  EXPECT_EQ(parse_constraint("B1 == 5GB/s").value().text, "B1 = 5GB/s");
  EXPECT_EQ(parse_constraint("B1 >= B2 == B3").value().text, "B1 >= B2 = B3");
}

TEST(Constraint, ErrorsPointAtTheirColumn) {
  EXPECT_THAT(error("B1 + B4 = 5GB/s"), StartsWith("s.toml:7:21: dimension \"B4\" does not exist"));
  EXPECT_THAT(error("25 <= B3"), StartsWith("s.toml:7:22: a plain number meets a bandwidth"));
  EXPECT_THAT(error("B1 < 5GB/s"), StartsWith("s.toml:7:19: \"<\" excludes its limit"));
  EXPECT_THAT(error("B1 <= 5GBps"), StartsWith("s.toml:7:22: "));
  EXPECT_THAT(error("B1 * B2 <= 5GB/s"), StartsWith("s.toml:7:16: \"B1 * B2\" multiplies two names"));
  // What is not linear is refused with the nearest linear form: B1/B2 <= 2.5 is B1 <= 2.5*B2, since bandwidths are
  // positive.
  EXPECT_THAT(error("B1/B2 <= 2.5"), HasSubstr("write \"B1 <= 2.5*B2\""));
  EXPECT_THAT(error("total / B2 >= 3"), HasSubstr("write \"total >= 3*B2\""));
  EXPECT_THAT(error("B1 * B2 = 5"), HasSubstr("limit B1 and B2 each, or their ratio: \"B1 <= 2*B2\""));
  EXPECT_THAT(error("max(B1, B2) <= 5GB/s"), HasSubstr("write one for each: \"B1 <= 5GB/s; B2 <= 5GB/s\""));
  EXPECT_THAT(error("min(B1,total) >= 5GB/s"), HasSubstr("write one for each: \"B1 >= 5GB/s; total >= 5GB/s\""));
  EXPECT_THAT(error("max(B1, B2) >= 5GB/s"), HasSubstr("\"one of them\" is none, so say which: \"B1 >= 5GB/s\""));
  EXPECT_THAT(error("B1^2 <= 4"), HasSubstr("limit B1 itself, by the root of the number"));
  EXPECT_THAT(error("5GB/s * B1 <= 5GB/s"), StartsWith("s.toml:7:22: a product of two quantities"));
  EXPECT_THAT(error("B1 != 5GB/s"), StartsWith("s.toml:7:19: unknown operator \"!=\""));
  EXPECT_THAT(error("B1 = B2 and B2 = B3"), StartsWith("s.toml:7:16: \"B1 = B2 and B2 = B3\" joins conditions"));
  EXPECT_THAT(error("B1 >= 5us"), StartsWith("s.toml:7:22: \"5us\" is a time"));
  EXPECT_THAT(error("B1 >= B17"), StartsWith("s.toml:7:22: dimension \"B17\" does not exist"));
  EXPECT_THAT(error("B1 + B2"), StartsWith("s.toml:7:16: \"B1 + B2\" is not a condition"));
  EXPECT_THAT(error("B1 >="), StartsWith("s.toml:7:21: the expression ends too early"));
  EXPECT_THAT(error("B1 >= (B2"), AllOf(StartsWith("s.toml:7:25: "), HasSubstr("a parenthesis is not closed")));
  EXPECT_THAT(error("totl = 5GB/s"), HasSubstr("did you mean \"total\"?"));
  EXPECT_THAT(error("b1 = 5GB/s"), HasSubstr("write \"B1\""));
  EXPECT_THAT(error("B1 - B1 = 5GB/s"), HasSubstr("says nothing about a bandwidth"));
  EXPECT_THAT(error("cost <= $5"), StartsWith("s.toml:7:16: \"cost\" without a cost model"));
  EXPECT_THAT(error("B1 \xC3\xBC B2"), StartsWith("s.toml:7:19: unexpected \"\xC3\xBC\""));
  EXPECT_THAT(error("B1 <= 0.5.5*B2"), StartsWith("s.toml:7:22: \"0.5.5\" is not a number"));
  EXPECT_THAT(error(""), StartsWith("s.toml:7:16: an empty expression"));
  std::string deep(101, '(');
  deep += "B1";
  EXPECT_THAT(error(deep), HasSubstr("nest at most 100 deep"));
  EXPECT_THAT(error("B1 <= 123456789012*987654321098*B2"), HasSubstr("too long"));
}

TEST(Money, IsReadAndWrittenExactly) {
  EXPECT_EQ(*parse_money("$1,722"), dollars(1722));
  EXPECT_EQ(*parse_money("15MUSD"), dollars(15'000'000));
  EXPECT_EQ(*parse_money("0.000001USD"), Money::of(1));
  EXPECT_FALSE(parse_money("0.0000001USD").ok());
  EXPECT_FALSE(parse_money("15").ok());
  EXPECT_FALSE(parse_money("15EUR").ok());
  EXPECT_FALSE(parse_money("$").ok());
  EXPECT_FALSE(parse_money("").ok());
  EXPECT_EQ(to_string(dollars(1'234'567)), "$1,234,567");
  EXPECT_EQ(to_string(Money::of(1'500'000)), "$1.5");
  EXPECT_EQ(to_string(Money::of(-42)), "-$0.000042");
}

}  // namespace
}  // namespace tenex
