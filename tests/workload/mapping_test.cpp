// Degrees from text, assigned to shapes, as process groups.
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/models.hpp"

namespace tenex {
namespace {

using support::mapping;
using support::problem_of;
using support::shape_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::uint32_t> members(const ProcessGroup& group) {
  std::vector<std::uint32_t> ids;
  for (const auto npu : group.members) ids.push_back(npu.value());
  return ids;
}

std::string refused(std::string_view shape, const Parallelization& degrees) {
  return problem_of(Mapping::make(shape_of(shape), degrees));
}

TEST(Parallelization, IsReadWithAndWithoutItsName) {
  EXPECT_EQ(*parse_parallelization("16,256"), (Parallelization{16, 256, 1, 1}));
  EXPECT_EQ(*parse_parallelization("HP-(16, 64, 4)"), (Parallelization{16, 64, 4, 1}));
  EXPECT_EQ(*parse_parallelization(" 2,8,1,4 "), (Parallelization{2, 8, 1, 4}));
  for (const auto* text : {"", "16", "16,", "a,b", "0,4", "1,2,3,4,5", "-1,4", "16x256"})
    EXPECT_FALSE(parse_parallelization(text).ok()) << text;
}

TEST(Parallelization, IsWrittenAsItIsRead) {
  EXPECT_EQ(to_string(Parallelization{16, 256}), "HP-(16,256)");
  EXPECT_EQ(to_string(Parallelization{16, 64, 4}), "HP-(16,64,4)");
  EXPECT_EQ(to_string(Parallelization{2, 8, 1, 4}), "HP-(2,8,1,4)");
}

TEST(Mapping, Gpt3TakesDimensionOneAndHalfOfDimensionTwo) {
  // LIBRA: GPT-3 has TP-16 on 4D-4K = RI(4)_FC(8)_RI(4)_SW(32). 16 = 4 * 4: all of dimension 1, 4 of the 8 in
  // dimension 2. DP-256 = 2 * 4 * 32: the other half of dimension 2 (members 4 apart), all of dimensions 3 and 4.
  const auto gpt3 = mapping("RI(4)_FC(8)_RI(4)_SW(32)", "16,256");
  EXPECT_THAT(gpt3.span(Scope::tensor).shares, ElementsAre(DimensionShare{0, 4, 4, 1}, DimensionShare{1, 8, 4, 1}));
  EXPECT_THAT(gpt3.span(Scope::data).shares,
              ElementsAre(DimensionShare{1, 8, 2, 4}, DimensionShare{2, 4, 4, 1}, DimensionShare{3, 32, 32, 1}));
  EXPECT_EQ(gpt3.span(Scope::data).members(), 256);
  EXPECT_EQ(gpt3.span(Scope::world).members(), 4096);
  EXPECT_THAT(gpt3.span(Scope::pipeline).shares, IsEmpty());
  EXPECT_EQ(gpt3.describe(),
            "tensor: 4 of 4 in dimension 1, 4 of 8 in dimension 2; "
            "data: 2 of 8 in dimension 2, 4 of 4 in dimension 3, 32 of 32 in dimension 4");
}

TEST(Mapping, WholeDimensionsStayWhole) {
  // MSFT-1T: TP-128 = 4 * 8 * 4, DP-32 is dimension 4.
  const auto model = mapping("RI(4)_FC(8)_RI(4)_SW(32)", "128,32");
  EXPECT_THAT(model.span(Scope::tensor).shares,
              ElementsAre(DimensionShare{0, 4, 4, 1}, DimensionShare{1, 8, 8, 1}, DimensionShare{2, 4, 4, 1}));
  EXPECT_THAT(model.span(Scope::data).shares, ElementsAre(DimensionShare{3, 32, 32, 1}));
}

TEST(Mapping, GroupsAreTheNpusThatDifferInTheScopesDigits) {
  // RI(2)_FC(4), TP-4: dimension 1 (ids 1 apart) and 2 of dimension 2 (ids 2 apart). DP-2: ids 2*2 = 4 apart.
  const auto two = mapping("RI(2)_FC(4)", "4,2");
  const auto tensor = two.groups(Scope::tensor);
  ASSERT_EQ(tensor.size(), 2U);
  EXPECT_THAT(members(tensor[0]), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(members(tensor[1]), ElementsAre(4, 5, 6, 7));
  const auto data = two.groups(Scope::data);
  ASSERT_EQ(data.size(), 4U);
  EXPECT_THAT(members(data[1]), ElementsAre(1, 5));
  EXPECT_THAT(two.groups(Scope::expert), IsEmpty());
  ASSERT_EQ(two.groups(Scope::world).size(), 1U);
}

TEST(Mapping, StagesAreOutsideAndExpertsInsideData) {
  // RI(4)_SW(4), HP-(2,4,2,2): tensor 2 of dimension 1; experts the other 2 of dimension 1; the other 2 replicas 2 of
  // dimension 2; stages the last 2, two apart.
  const auto all = mapping("RI(4)_SW(4)", "2,4,2,2");
  EXPECT_THAT(all.span(Scope::expert).shares, ElementsAre(DimensionShare{0, 4, 2, 2}));
  EXPECT_THAT(all.span(Scope::expert_replicas).shares, ElementsAre(DimensionShare{1, 4, 2, 1}));
  EXPECT_THAT(all.span(Scope::data).shares, ElementsAre(DimensionShare{0, 4, 2, 2}, DimensionShare{1, 4, 2, 1}));
  EXPECT_THAT(all.span(Scope::pipeline).shares, ElementsAre(DimensionShare{1, 4, 2, 2}));
  EXPECT_THAT(members(all.groups(Scope::data)[0]), ElementsAre(0, 2, 4, 6));
  EXPECT_THAT(members(all.groups(Scope::pipeline)[3]), ElementsAre(3, 11));
}

TEST(Mapping, DegreesThatShareNoWholeDimensionAreSplitByTheirFactors) {
  // TP-6 on RI(4)_RI(9): gcd(6,4) = 2 of dimension 1, gcd(3,9) = 3 of dimension 2; DP-6 the rest: 2 and 3.
  const auto odd = mapping("RI(4)_RI(9)", "6,6");
  EXPECT_THAT(odd.span(Scope::tensor).shares, ElementsAre(DimensionShare{0, 4, 2, 1}, DimensionShare{1, 9, 3, 1}));
  EXPECT_THAT(odd.span(Scope::data).shares, ElementsAre(DimensionShare{0, 4, 2, 2}, DimensionShare{1, 9, 3, 3}));
}

TEST(Mapping, EveryScopePartitionsTheNpus) {
  for (const auto* degrees : {"6,12", "3,24", "2,6,6,3", "72,1", "1,72", "4,9,2,3"}) {
    const auto one = mapping("RI(4)_FC(6)_SW(3)", degrees);
    for (const auto scope : {Scope::tensor, Scope::data, Scope::pipeline, Scope::expert, Scope::expert_replicas}) {
      std::set<std::uint32_t> seen;
      for (const auto& group : one.groups(scope)) {
        EXPECT_EQ(static_cast<std::int64_t>(group.members.size()), one.span(scope).members());
        EXPECT_TRUE(std::is_sorted(group.members.begin(), group.members.end()));
        for (const auto npu : group.members) EXPECT_TRUE(seen.insert(npu.value()).second);
      }
      EXPECT_EQ(seen.size(), one.span(scope).members() == 1 ? 0U : 72U) << degrees;
    }
  }
}

TEST(Mapping, ACommunicationBecomesTheCollectiveOfItsGroups) {
  // RI(2)_FC(4) as HP-(4,2): 4 data groups of 2; All-Gather of 64 B in 2 chunks per NPU: 4 chunks of 16 B per group.
  const auto two = mapping("RI(2)_FC(4)", "4,2");
  const auto request = collective_request({TrafficKind::all_gather, bytes(64), Scope::data}, two, 2);
  ASSERT_TRUE(request.has_value());
  const auto collective = Collective::make(*request);
  ASSERT_TRUE(collective.ok());
  EXPECT_EQ(collective->groups(), two.groups(Scope::data));
  EXPECT_EQ(collective->chunks(), 16U);
  EXPECT_EQ(collective->chunk_bytes(ChunkId(0)), bytes(16));
  EXPECT_FALSE(collective_request({TrafficKind::point_to_point, bytes(64), Scope::data}, two, 2).has_value());
}

TEST(Mapping, DegreesThatDoNotMultiplySayWhatWould) {
  EXPECT_EQ(refused("RI(4)_FC(8)_RI(4)_SW(32)", {16, 200}),
            "HP-(16,200) is for 3200 NPUs (RI(4)_FC(8)_RI(4)_SW(32) has 4096) use HP-(16,256)");
  EXPECT_EQ(refused("RI(4)_SW(4)", {4, 8}), "HP-(4,8) is for 32 NPUs (RI(4)_SW(4) has 16) use HP-(4,4) or HP-(2,8)");
  // Neither 48 nor 100 divides 4096: its divisors around 48 are 32 and 64.
  EXPECT_THAT(refused("RI(4)_FC(8)_RI(4)_SW(32)", {48, 100}), HasSubstr("use HP-(32,128) or HP-(64,64)"));
  EXPECT_THAT(refused("RI(4)_SW(4)", {2, 2, 3}), HasSubstr("pipeline stages divide 16: use 2 or 4"));
}

TEST(Mapping, ExpertsMustDivideTheReplicas) {
  EXPECT_EQ(refused("RI(4)_SW(4)", {2, 8, 1, 3}),
            "expert degree 3 does not divide data degree 8 (experts are spread over a part of the replicas) "
            "use 2 or 4");
}

TEST(Mapping, AShapeThatIsNoProductIsRefused) {
  EXPECT_THAT(refused("dragonfly(4,5)", {4, 5}), HasSubstr("is no product"));
}

}  // namespace
}  // namespace tenex
