// What a user gets without options, against all that a patient one would try by hand: every quick algorithm in 1, 2, 4,
// ... 512 chunks on the built-in machines. Drawn small cases and fewer numbers; under the label `long` every machine
// with each collective is a test of its own. Where the result is that near to its bound, nothing needs trying.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "evaluate/points.hpp"
#include "support/draws.hpp"
#include "tenex/evaluate/search.hpp"
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

/// A machine and one of three collectives.
struct Pairing {
  std::string machine;
  std::string collective;
  friend void PrintTo(const Pairing& pairing, std::ostream* out) {
    *out << pairing.machine << ' ' << pairing.collective;
  }
};

std::vector<Pairing> pairings(std::size_t most_npus) {
  std::vector<Pairing> all;
  for (const BuiltinFile& machine : builtin_machines())
    for (const char* collective : {"all_gather", "all_reduce", "all_to_all"}) {
      const std::string name(machine.name);
      const auto made = make_point(
          {{"topology", name}, {"collective", collective}, {"size", "1KiB"}, {"algorithm", "best"}}, vocabulary());
      if (made && made->topology.npus() <= most_npus) all.push_back({name, collective});
    }
  return all;
}

constexpr auto kSizes = {"1KiB", "16KiB", "256KiB", "4MiB", "64MiB", "1GiB"};

Words words_of(const Pairing& pairing, const char* size) {
  return {{"topology", pairing.machine}, {"collective", pairing.collective}, {"size", size}};
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

void expect_as_good_as_by_hand(const Words& words, double quick) {
  const auto asked = point_with(words, "best", "");
  const auto best = row_of(asked);
  ASSERT_EQ(best.status, PointStatus::ok) << best.reason;
  EXPECT_EQ(best.verified, Verified::yes);
  const auto longest = [](std::int64_t least) { return (1 + kTolerance) * static_cast<double>(least); };
  Cache cache;
  const auto bound = evaluate_early(asked, Fidelity::bound, cache, {});  // the least of all numbers of chunks
  ASSERT_EQ(bound.status, PointStatus::ok) << bound.reason;
  if (static_cast<double>(best.collective_time_ps) <= longest(bound.collective_time_ps)) return;
  const auto [least, who] = least_by_hand(words, quick);
  EXPECT_LE(static_cast<double>(best.collective_time_ps), longest(least))
      << "best takes " << best.chosen_algorithm << " in " << best.chosen_chunks << " chunks; " << who << " is shorter";
}

TEST(Defaults, AreAsGoodAsAllThatOneWouldTryByHand) {
  std::vector<Words> cases;
  for (const Pairing& pairing : pairings(kMostNpus))
    for (const char* size : kSizes) cases.push_back(words_of(pairing, size));
  ASSERT_GE(cases.size(), 50U);
  std::mt19937 random(support::first_seed(1));
  std::shuffle(cases.begin(), cases.end(), random);
  cases.resize(static_cast<std::size_t>(support::draws(4, 12)));
  for (const Words& words : cases) {
    SCOPED_TRACE(words[0].second + " " + words[1].second + " " + words[2].second);
    expect_as_good_as_by_hand(words, kQuickByChance);
  }
}

class DefaultsOfAMachine : public ::testing::TestWithParam<Pairing> {};

TEST_P(DefaultsOfAMachine, AreAsGoodAsAllThatOneWouldTryByHand) {
  for (const char* size : kSizes) {
    SCOPED_TRACE(size);
    expect_as_good_as_by_hand(words_of(GetParam(), size), kQuickUnderLong);
    std::printf("%s done\n", size);
    std::fflush(stdout);
  }
}

INSTANTIATE_TEST_SUITE_P(Long, DefaultsOfAMachine, ::testing::ValuesIn(pairings(kMostNpusUnderLong)),
                         [](const auto& each) { return each.param.machine + "_" + each.param.collective; });

}  // namespace
}  // namespace tenex
