// Cost model files: the built-in one holds LIBRA's table, and every mistake has its place.
#include "tenex/files/input_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/topologies.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;

const std::filesystem::path kLibra =
    std::filesystem::path(TENEX_SOURCE_DIR) / "experiments" / "cost_models" / "libra.toml";

constexpr std::string_view kCostHeader = "schema = 1\nkind = \"cost_model\"\nname = \"mine\"\nsource = \"here\"\n";

Result<CostModelFile> parse(const std::string& rest) {
  return parse_cost_model(std::string(kCostHeader) + rest, "c.toml");
}

TEST(CostModelFile, OfLibraPricesItsExampleAt1722Dollars) {
  const auto file = read_cost_model_file(kLibra);
  ASSERT_TRUE(file.ok()) << to_string(file.errors());
  EXPECT_THAT(file->model.source, HasSubstr("Table I"));
  // Fig. 12: three NPUs on a switch between pods, 10 GB/s each, lowest prices: links 7.8 * 10 * 3 = 234, switch ports
  // 18.0 * 3 * 10 = 540, NICs 31.6 * 10 * 3 = 948, together 1,722 dollars.
  const Shape shape{{support::block("SW", 3)}};
  const auto rates = cost_rates(file->model, PriceLevel::low, shape, std::vector<std::string>{"pod"});
  ASSERT_TRUE(rates.ok()) << to_string(rates.errors());
  EXPECT_EQ(network_cost(*rates, std::vector{gigabytes_per_second(10)}), dollars(1722));
}

TEST(CostModelFile, OfLibraHasTheRangesOfTableI) {
  const auto file = read_cost_model_file(kLibra);
  ASSERT_TRUE(file.ok()) << to_string(file.errors());
  const auto range = [](std::int64_t low, std::int64_t mid, std::int64_t high) {
    return PriceRange{Money::of(low), Money::of(mid), Money::of(high)};
  };
  // Millionths of a dollar; the mid of [7.8, 16] is 11.9, of [18, 69.6] 43.8, of [31.6, 144] 87.8, of [4, 5.2] 4.6.
  EXPECT_EQ(file->model.kinds.at("chiplet"), (DimensionKind{range(2'000'000, 2'000'000, 2'000'000), {}, {}, {}, {}}));
  const DimensionKind board{
      range(4'000'000, 4'600'000, 5'200'000), range(13'000'000, 13'000'000, 13'000'000), {}, {}, {}};
  EXPECT_EQ(file->model.kinds.at("package"), board);
  EXPECT_EQ(file->model.kinds.at("node"), board);
  EXPECT_EQ(file->model.kinds.at("pod"), (DimensionKind{range(7'800'000, 11'900'000, 16'000'000),
                                                        range(18'000'000, 43'800'000, 69'600'000),
                                                        range(31'600'000, 87'800'000, 144'000'000),
                                                        {},
                                                        {}}));
}

TEST(CostModelFile, TakesARangeOfThreePrices) {
  const auto file = parse("[node]\nlink = [1, 2, 4]\n");
  ASSERT_TRUE(file.ok()) << to_string(file.errors());
  EXPECT_EQ(file->model.kinds.at("node").link, (PriceRange{dollars(1), dollars(2), dollars(4)}));
  EXPECT_FALSE(file->model.kinds.contains("pod"));
}

TEST(CostModelFile, NamesItsOwnKindsWithTheirLimits) {
  const auto file = parse("[copper]\nlink = 3\nswitch = 9\nbandwidth = \"200GB/s\"\nreach = 72\n[optics]\nlink = 12\n");
  ASSERT_TRUE(file.ok()) << to_string(file.errors());
  const auto& copper = file->model.kinds.at("copper");
  EXPECT_EQ(copper.bandwidth, gigabytes_per_second(200));
  EXPECT_EQ(copper.reach, 72);
  EXPECT_FALSE(file->model.kinds.at("optics").reach.has_value());
  const auto text = to_string(parse("[Copper]\nlink = 3\nreach = 1\nbandwidth = 5\n").errors());
  EXPECT_THAT(text, HasSubstr("c.toml:5:2: \"Copper\" is no name of a dimension kind"));
  EXPECT_THAT(text, HasSubstr("c.toml:7:9: reach = 1"));
  EXPECT_THAT(text, HasSubstr("c.toml:8:13"));
}

TEST(CostModelFile, ReportsEveryMistakeAtItsPlace) {
  const auto file = parse("[node]\nlink = [3, 2]\nswich = 1\n[pod]\nlink = -1\nnic = [1]\n");
  ASSERT_FALSE(file.ok());
  const auto text = to_string(file.errors());
  EXPECT_THAT(text, HasSubstr("c.toml:6:12: the range of \"link\" falls"));
  EXPECT_THAT(text, HasSubstr("c.toml:7:1: unknown key \"swich\""));
  EXPECT_THAT(text, HasSubstr("did you mean \"switch\"?"));
  EXPECT_THAT(text, HasSubstr("c.toml:9:8: \"link\" is -1"));
  EXPECT_THAT(text, HasSubstr("c.toml:10:7: \"nic\" has 1 prices"));
}

TEST(CostModelFile, NeedsAPricedKindAndItsHeader) {
  EXPECT_THAT(to_string(parse("").errors()), HasSubstr("no dimension kind has prices"));
  EXPECT_THAT(to_string(parse_cost_model("schema = 2\nkind = \"machine\"\n[pod]\nlink = 1\n", "c.toml").errors()),
              ::testing::AllOf(HasSubstr("schema 2 is not known"), HasSubstr("is no cost model"),
                               HasSubstr("\"name\" is missing")));
}

}  // namespace
}  // namespace tenex
