// Contracts where they are checked, and where they are not.
#include "tenex/base/contract.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/contracts/probe.hpp"
#include "support/contracts.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/shared_cache.hpp"

namespace tenex {
namespace {

using test::Evaluations;
using test::kProbeWithContracts;
using test::kProbeWithoutContracts;

template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const InvariantError& error) {
    return error.what();
  }
  return "";
}

TEST(Contract, SaysWhoBreaksItAndHow) {
  Evaluations evaluations;
  EXPECT_EQ(message_of([&] { kProbeWithContracts.take(evaluations, false); }),
            "take() expects a true argument: evaluations.state(expected) does not hold");
  EXPECT_EQ(message_of([&] { kProbeWithContracts.give(evaluations, false); }),
            "give() ensures a true result: evaluations.state(ensured) does not hold");
}

TEST(Contract, IsSilentWhereItHolds) {
  Evaluations evaluations;
  kProbeWithContracts.take(evaluations, true);
  kProbeWithContracts.give(evaluations, true);
  EXPECT_EQ(evaluations.count, 2);  // each condition once
}

TEST(Contract, IsNotEvaluatedWhereTheBuildChecksNone) {
  Evaluations evaluations;
  kProbeWithoutContracts.take(evaluations, false);
  kProbeWithoutContracts.give(evaluations, false);
  EXPECT_EQ(evaluations.count, 0);
}

TEST(Contract, KnowsWhetherItIsChecked) {
  EXPECT_TRUE(kProbeWithContracts.checks);
  EXPECT_FALSE(kProbeWithoutContracts.checks);
}

TEST(Contract, OfACacheFindsAValueThatIsMissing) {
  TENEX_NEEDS_CONTRACTS();
  SharedCache<int> cache(100);
  EXPECT_THAT([&] { cache.insert("key", nullptr, 1); }, support::breaks("insert() expects a value"));
  cache.insert("key", std::make_shared<const int>(1), 1);
  EXPECT_EQ(*cache.find("key"), 1);
}

}  // namespace
}  // namespace tenex
