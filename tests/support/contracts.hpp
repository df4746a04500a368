// For tests of what contracts find (tenex/base/contract.hpp).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenex/base/contract.hpp"
#include "tenex/base/diagnostic.hpp"

/// Ends a test where the build checks no contracts.
#define TENEX_NEEDS_CONTRACTS() \
  if (!::tenex::kContracts) GTEST_SKIP() << "this build checks no contracts (TENEX_CONTRACTS)"

namespace tenex::support {

/// Matches a call that breaks a contract with these words: EXPECT_THAT([&] { call(); }, breaks("call() expects")).
inline auto breaks(const char* words) { return ::testing::ThrowsMessage<InvariantError>(::testing::HasSubstr(words)); }

}  // namespace tenex::support
