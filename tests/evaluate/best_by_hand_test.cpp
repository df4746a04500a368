// What a user gets without options, against all that a patient one would try by hand: every quick algorithm in 1, 2, 4,
// ... 512 chunks on the built-in machines. Drawn small cases and fewer numbers; under the label `long` all of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "evaluate/points.hpp"
#include "support/draws.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/files/input_files.hpp"

namespace tenex {
namespace {

using support::row_of;
using support::Words;

constexpr std::size_t kMostNpus = 8;
constexpr std::size_t kMostNpusUnderLong = 72;
/// An algorithm with a number of chunks is quick if it is expected to take no more seconds.
constexpr double kQuickByChance = 0.05;
constexpr double kQuickUnderLong = 5;
constexpr std::int64_t kMostChunks = 512;
/// The choice may be longer by this share: numbers between powers of two, and limits of work, are left to chance.
constexpr double kTolerance = 0.02;

struct Case {
  Words words;
  std::string name;
};

/// Machines, three collectives, 1 KiB to 1 GiB in factors of 16.
std::vector<Case> all_cases(std::size_t most_npus) {
  std::vector<Case> cases;
  for (const BuiltinFile& machine : builtin_machines())
    for (const char* collective : {"all_gather", "all_reduce", "all_to_all"})
      for (const char* size : {"1KiB", "16KiB", "256KiB", "4MiB", "64MiB", "1GiB"}) {
        const std::string name(machine.name);
        const Words words{{"topology", name}, {"collective", collective}, {"size", size}};
        auto any = words;
        any.emplace_back("algorithm", "best");
        const auto made = make_point(any, vocabulary());
        if (!made || made->topology.npus() > most_npus) continue;
        cases.push_back({words, name + " " + collective + " " + size});
      }
  return cases;
}

DesignPoint point_with(Words words, const std::string& algorithm, const std::string& chunks) {
  words.emplace_back("algorithm", algorithm);
  if (!chunks.empty()) words.emplace_back("chunks", chunks);
  return make_point(words, vocabulary()).value();
}

/// The least time by hand, and who has it.
std::pair<std::int64_t, std::string> least_by_hand(const Words& words, double quick) {
  std::pair<std::int64_t, std::string> least{std::numeric_limits<std::int64_t>::max(), "none"};
  for (const AlgorithmTraits* traits : algorithm_traits()) {
    const bool chooses = traits->family == AlgorithmFamily::any || traits->family == AlgorithmFamily::any_textbook;
    if (chooses || traits->reads.solves || traits->is_reference) continue;
    for (std::int64_t chunks = 1; chunks <= kMostChunks; chunks *= support::long_run() ? 2 : 8) {
      auto named = words;
      named.emplace_back("algorithm", std::string(traits->name));
      named.emplace_back("chunks", std::to_string(chunks));
      const auto made = make_point(named, vocabulary());
      if (!made || estimate(*made).seconds > quick) break;
      const auto row = row_of(*made);
      if (row.status != PointStatus::ok || row.unwound_degree > 0) break;
      least = std::min(least, {row.collective_time_ps, std::string(traits->name) + " " + std::to_string(chunks)});
    }
  }
  return least;
}

TEST(Defaults, AreAsGoodAsAllThatOneWouldTryByHand) {
  auto cases = all_cases(support::long_run() ? kMostNpusUnderLong : kMostNpus);
  ASSERT_GE(cases.size(), support::long_run() ? 300U : 50U);
  std::mt19937 random(support::first_seed(1));
  std::shuffle(cases.begin(), cases.end(), random);
  const auto few = static_cast<std::size_t>(support::draws(4, static_cast<int>(cases.size())));
  cases.resize(std::min(few, cases.size()));
  for (const Case& each : cases) {
    const auto best = row_of(point_with(each.words, "best", ""));
    ASSERT_EQ(best.status, PointStatus::ok) << each.name << ": " << best.reason;
    EXPECT_EQ(best.verified, Verified::yes) << each.name;
    const auto [least, who] = least_by_hand(each.words, support::long_run() ? kQuickUnderLong : kQuickByChance);
    EXPECT_LE(static_cast<double>(best.collective_time_ps), (1 + kTolerance) * static_cast<double>(least))
        << each.name << ": best takes " << best.chosen_algorithm << " in " << best.chosen_chunks << " chunks; " << who
        << " is shorter";
  }
}

}  // namespace
}  // namespace tenex
