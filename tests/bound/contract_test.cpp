// What bounds and their certificates expect.
#include <gtest/gtest.h>

#include <vector>

#include "support/contracts.hpp"
#include "support/topologies.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/bound/cut.hpp"
#include "tenex/bound/flow.hpp"
#include "tenex/bound/strength.hpp"

namespace tenex {
namespace {

using support::breaks;

TEST(BoundContracts, OfAProblemAreAboutItsCaller) {
  TENEX_NEEDS_CONTRACTS();
  const Topology topology = support::line(3);
  const Collective of_two = support::collective(CollectiveKind::all_gather, 2, bytes(2000));
  EXPECT_THAT([&] { (void)BoundProblem(topology, of_two); },
              breaks("BoundProblem() expects a collective of the topology's NPUs"));
  const Collective gather = support::collective(CollectiveKind::all_gather, 3, bytes(3000));
  const std::vector<StartDelay> nobody{{NpuId(3), nanoseconds(1)}};
  const std::vector<StartDelay> twice{{NpuId(1), nanoseconds(1)}, {NpuId(1), nanoseconds(2)}};
  for (const auto& delays : {nobody, twice})
    EXPECT_THAT(
        [&] {
          (void)BoundProblem({topology, gather}, true, true, delays);
        },
        breaks("BoundProblem() expects late NPUs that exist, none twice"));
}

TEST(BoundContracts, OfCertificatesAreAboutTheirCaller) {
  TENEX_NEEDS_CONTRACTS();
  const Topology topology = support::line(3);  // four links
  const Collective reduce = support::collective(CollectiveKind::all_reduce, 3, bytes(3000));
  const BoundProblem problem(topology, reduce);
  const std::vector<VertexId> outside{VertexId(3)};
  EXPECT_THAT([&] { (void)cut_time(problem, outside); }, breaks("cut_time() expects vertices that exist"));
  const std::vector<std::uint32_t> three(3, 1);
  EXPECT_THAT([&] { (void)flow_time(problem, three); }, breaks("flow_time() expects one weight per link"));
  EXPECT_THAT([&] { (void)strength_time(problem, three); }, breaks("strength_time() expects one weight per link"));
}

}  // namespace
}  // namespace tenex
