// Network cost: LIBRA's example and the rules behind it.
#include "tenex/codesign/network_cost.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codesign/support.hpp"

namespace tenex {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kinds = std::vector<std::string>;

PriceRange price(std::int64_t millionths) {
  return {Money::of(millionths), Money::of(2 * millionths), Money::of(3 * millionths)};
}

/// Link 1, switch 10, NIC 100 dollars at the low end between pods; only links elsewhere.
CostModel simple_model() {
  CostModel model;
  model.name = "simple";
  for (const auto* kind : {"chiplet", "package", "node", "pod"}) model.kinds[kind].link = price(1'000'000);
  model.kinds["pod"].switch_port = price(10'000'000);
  model.kinds["pod"].nic = price(100'000'000);
  return model;
}

TEST(NetworkCost, ChargesSwitchesAndNicsOnSwitchDimensionsAlone) {
  const auto shape = *parse_shape("RI(2)_FC(3)_SW(5)");
  const Kinds kinds{"package", "pod", "pod"};
  // 30 NPUs: links 1; the ring and the fully connected dimension have only links; the switch 1 + 10 + 100.
  EXPECT_THAT(cost_rates(simple_model(), PriceLevel::low, shape, kinds)->per_gigabyte_per_second,
              ElementsAre(dollars(30), dollars(30), dollars(30 * 111)));
  auto with_nics = simple_model();
  with_nics.nic_without_switch = true;
  EXPECT_THAT(cost_rates(with_nics, PriceLevel::mid, shape, kinds)->per_gigabyte_per_second,
              ElementsAre(dollars(60), dollars(30 * 202), dollars(30 * 222)));
}

TEST(NetworkCost, ChargesLinksAndPortsBetweenTheSwitchesOfADimension) {
  // Per GB/s of one of 32 NPUs: link 1, port 10, NIC 100. SW(32): 1 + 10 + 100 = 111.
  // SW(32,8): as many links between switches as NPUs have, each with two ports: 2 + 30 + 100 = 132.
  // SW(32,8:2): half of that: 1.5 + 20 + 100 = 121.5.
  // SW(32,4:2,16:2): leaves of 4 have 2 links up, 16 in all; two switches over 16 have 4 * 2 / 2 = 4 each, 8 in all:
  // 56 links, 32 + 2 * 24 = 80 ports, 32 NICs.
  const auto rate = [](const char* text) {
    return cost_rates(simple_model(), PriceLevel::low, *parse_shape(text), Kinds{"pod"})->per_gigabyte_per_second[0];
  };
  EXPECT_EQ(rate("SW(32)"), dollars(32 * 111));
  EXPECT_EQ(rate("SW(32,8)"), dollars(32 * 132));
  EXPECT_EQ(rate("SW(32,8:2)"), dollars(16 * 243));
  EXPECT_EQ(rate("SW(32,4:2,16:2)"), dollars(56 + 800 + 3200));
}

TEST(NetworkCost, OfLibrasHierarchyAtThePricesOfItsTableI) {
  // The example at the head of the header: 4 NPUs with 10 GB/s, link $7.8, switch port $18.0, NIC $31.6 per GB/s.
  CostModel table_1;
  table_1.kinds["pod"] = {price(7'800'000), price(18'000'000), price(31'600'000), {}, {}};
  const auto cost = [&](const char* text) {
    const auto rates = *cost_rates(table_1, PriceLevel::low, *parse_shape(text), Kinds{"pod"});
    return network_cost(rates, std::vector{gigabytes_per_second(10)});
  };
  EXPECT_EQ(cost("SW(4)"), dollars(2296));
  EXPECT_EQ(cost("SW(4,2)"), dollars(4048));
  EXPECT_EQ(cost("SW(4,2:2)"), dollars(3172));
}

TEST(NetworkCost, IsLinearInTheBandwidths) {
  const CostRates rates{{dollars(30), dollars(3)}, {}};
  // 30 * 2 + 3 * 0.5 = 61.5 dollars.
  EXPECT_EQ(network_cost(rates, std::vector{gigabytes_per_second(2), bytes_per_second(500'000'000)}),
            Money::of(61'500'000));
  // 1 B/s at 30 dollars per 1e9 B/s is 0.03 millionths: rounded up to 1.
  EXPECT_EQ(network_cost(rates, std::vector{bytes_per_second(1), bytes_per_second(1)}), Money::of(1));
  EXPECT_EQ(network_cost({{Money::max(), Money::max()}, {}}, std::vector{Bandwidth::max(), Bandwidth::max()}),
            Money::max());
}

TEST(NetworkCost, RefusesPartsWithoutAPrice) {
  const auto shape = *parse_shape("SW(2)_SW(3)");
  const auto rates = cost_rates(simple_model(), PriceLevel::low, shape, Kinds{"chiplet", "pod"});
  ASSERT_FALSE(rates.ok());
  EXPECT_THAT(to_string(rates.errors()), HasSubstr("dimension 1 (chiplet) has a switch without a price"));
  EXPECT_THAT(to_string(cost_rates(simple_model(), PriceLevel::low, shape, Kinds{"pod"}).errors()),
              HasSubstr("1 dimension kinds for 2 dimensions"));
  EXPECT_THAT(to_string(cost_rates(simple_model(), PriceLevel::low, *parse_shape("fat_tree(4)"),
                                   Kinds{"package", "node", "pod"})
                            .errors()),
              HasSubstr("fat_tree(4) has no network cost"));
}

TEST(NetworkCost, NamesTheOutermostKindsByDefault) {
  EXPECT_THAT(default_dimension_kinds(1), ElementsAre("pod"));
  EXPECT_THAT(default_dimension_kinds(3), ElementsAre("package", "node", "pod"));
  EXPECT_THAT(default_dimension_kinds(5), ElementsAre("chiplet", "chiplet", "package", "node", "pod"));
}

TEST(NetworkCost, OfATechnologyHasItsLimits) {
  // RI(2)_FC(3)_SW(5): dimension 2 joins 6 NPUs, dimension 3 all 30.
  const auto shape = *parse_shape("RI(2)_FC(3)_SW(5)");
  auto model = simple_model();
  model.kinds["copper"] = {price(500'000), price(4'000'000), {}, gigabytes_per_second(100), 6};
  const auto rates = cost_rates(model, PriceLevel::low, shape, Kinds{"copper", "copper", "pod"});
  ASSERT_TRUE(rates.ok()) << to_string(rates.errors());
  EXPECT_THAT(rates->per_gigabyte_per_second, ElementsAre(dollars(15), dollars(15), dollars(30 * 111)));
  EXPECT_THAT(rates->limits, ElementsAre(BandwidthLimit{0, gigabytes_per_second(100), "copper"},
                                         BandwidthLimit{1, gigabytes_per_second(100), "copper"}));
  const auto far = cost_rates(model, PriceLevel::low, shape, Kinds{"copper", "pod", "copper"});
  ASSERT_FALSE(far.ok());
  EXPECT_THAT(to_string(far.errors()), HasSubstr("dimension 3 (copper) joins 30 NPUs"));
  EXPECT_THAT(to_string(far.errors()), HasSubstr("reaches 6"));
}

TEST(NetworkCost, NamesTheKindsThatThereAre) {
  const auto wrong = cost_rates(simple_model(), PriceLevel::low, *parse_shape("SW(4)"), Kinds{"pods"});
  ASSERT_FALSE(wrong.ok());
  EXPECT_THAT(to_string(wrong.errors()), HasSubstr("unknown dimension kind \"pods\""));
  EXPECT_THAT(to_string(wrong.errors()), HasSubstr("has chiplet, node, package, pod"));
  EXPECT_THAT(to_string(wrong.errors()), HasSubstr("did you mean \"pod\"?"));
}

TEST(NetworkCost, ReadsItsWords) {
  EXPECT_EQ(*parse_price_level("mid"), PriceLevel::mid);
  EXPECT_FALSE(parse_price_level("middle").ok());
}

}  // namespace
}  // namespace tenex
