// The number and the seeds of what a test draws: few and fixed for every change, many and new under the label `long`.
//
//   const unsigned seed = support::first_seed(1);           // 1, or a new one, printed
//   for (int i = 0; i < support::draws(20, 2000); ++i) check(std::mt19937(seed + static_cast<unsigned>(i)));
//
// A test binary is registered twice. The second time its environment has TENEX_LONG=1 and its tests have the label
// `long`. TENEX_SEED=NUMBER repeats the draws whose seed a failing test printed:
//
//   TENEX_LONG=1 TENEX_SEED=3141592653 build/dev/bin/tests_crash_matrix --gtest_filter='...'
#pragma once

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace tenex::support {

/// Whether the tests draw as they do under the label `long`.
inline bool long_run() {
  const char* const value = std::getenv("TENEX_LONG");
  return value != nullptr && *value != '\0' && std::string(value) != "0";
}

/// How many cases a test draws: `few` for every change, `many` under the label `long`.
inline int draws(int few, int many) { return long_run() ? many : few; }

/// The seed of the first case: TENEX_SEED if it is set; a new one under the label `long`; otherwise `fixed`. It is
/// printed unless it is `fixed`.
inline unsigned first_seed(unsigned fixed) {
  const char* const given = std::getenv("TENEX_SEED");
  if (given == nullptr && !long_run()) return fixed;
  const unsigned seed =
      given != nullptr ? static_cast<unsigned>(std::strtoul(given, nullptr, 10)) : std::random_device{}();
  std::printf("TENEX_SEED=%u draws the same cases again\n", seed);
  std::fflush(stdout);
  return seed;
}

}  // namespace tenex::support
