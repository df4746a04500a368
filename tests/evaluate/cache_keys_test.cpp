// Keys of caches: what a cache holds for one point is never taken for another one that needs something else.
//
// Every setting of a point is varied alone. A cache, an estimator and a foresight that have seen the point and all its
// variants must say of each what fresh ones say: a key that lacks a setting would give one point what belongs to
// another. Keys must not hold too much either: sweeps that differ in a setting which cannot matter share one entry.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "evaluate/setting_values.hpp"
#include "evaluate/training_points.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/training/estimate.hpp"
#include "training/collective_models.hpp"
#include "training/synthesized_time.hpp"
#include "training/training_setup.hpp"

namespace tenex {
namespace {

using support::results_of;
using support::row_of;
using support::Words;

/// What is known of points, from stores that all of them share.
class Shared {
 public:
  /// Compares what the stores say of a point with what fresh ones say.
  void expect_as_if_fresh(const DesignPoint& point, const std::string& what) {
    EXPECT_EQ(results_of(evaluate(point, cache_, {}).row), results_of(row_of(point))) << what;
    const Estimate known = estimator_(point);
    const Estimate fresh = estimate(point);
    EXPECT_EQ(known.seconds, fresh.seconds) << what;
    EXPECT_EQ(known.bytes, fresh.bytes) << what;
    EXPECT_EQ(foresight_(point), Foresight()(point)) << what;
  }

 private:
  Cache cache_;
  Estimator estimator_;
  Foresight foresight_;
};

/// Varies every setting of a point and checks all variants twice: the second time the stores know each of them.
void expect_keys_to_tell(const Words& words, const Vocabulary& vocabulary) {
  const auto plain = make_point(words, vocabulary);
  ASSERT_TRUE(plain.ok()) << to_string(plain.errors());
  Shared shared;
  shared.expect_as_if_fresh(*plain, plain->canonical);
  std::size_t varied_keys = 0;
  for (const Setting& setting : settings()) {
    bool varies = false;
    for (const std::string& value : support::values_of(setting, vocabulary)) {
      const auto varied = make_point(support::with(words, std::string(setting.name), value), vocabulary);
      if (!varied || varied->canonical == plain->canonical) continue;
      const auto* algorithm = &varied->algorithm;
      if (setting.key == Key::algorithm && find_traits(vocabulary, *algorithm)->reads.solves) continue;  // seconds each
      varies = true;
      shared.expect_as_if_fresh(*varied, std::string(setting.name) + " = " + value + " beside\n" + plain->canonical);
    }
    varied_keys += varies ? 1 : 0;
  }
  EXPECT_GE(varied_keys, 8U) << plain->canonical;
}

Words collective_words(const std::string& algorithm, const std::string& collective) {
  return {{"topology", "RI(4)_SW(4)"}, {"alpha", "1us"}, {"bandwidth", "50GB/s"},
          {"size", "480KB"},           {"chunks", "2"},  {"algorithm", algorithm},
          {"collective", collective}};
}

TEST(CacheKeys, TellCollectivePointsApartThatDifferInOneSetting) {
  const auto words = vocabulary();
  for (const char* const algorithm : {"auto", "direct", "tacos", "pccl", "trees"}) {
    expect_keys_to_tell(collective_words(algorithm, "all_reduce"), words);
    // Links that are busy until a send arrives: schedules of other paces are scaled.
    auto paced = collective_words(algorithm, "all_gather");
    paced.insert(paced.end(), {{"occupancy", "transfer"}, {"unwind", "1"}, {"groups", "0-3; 8-11"}});
    if (algorithm != std::string("direct") && algorithm != std::string("auto") && algorithm != std::string("trees"))
      expect_keys_to_tell(paced, words);
  }
  expect_keys_to_tell(collective_words("direct", "broadcast"), words);
}

Words training_words(const std::string& timing) {
  Words training{{"topology", "RI(4)_SW(4)"},
                 {"workload", "gpt3_generated"},
                 {"hp", "2,8"},
                 {"compute", "100PFLOPS"},
                 {"collective_time", timing},
                 {"training_loop", "tp_dp_overlap"},
                 {"npu_bandwidth", "100GB/s, 50GB/s"}};
  if (timing != "libra") {
    training.emplace_back("alpha", "1us");
    training.emplace_back("chunks", "2");
  }
  if (timing == "synthesized") training.emplace_back("algorithm", "direct");
  return training;
}

TEST(CacheKeys, TellTrainingPointsApartThatDifferInOneSetting) {
  const auto words = vocabulary();
  for (const char* const timing : {"libra", "pipeline", "synthesized"})
    expect_keys_to_tell(training_words(timing), words);
}

/// All that keys of caches hold.
constexpr Changes kHeldByKeys[] = {
    kOfNetwork,   Changes::network, kOfSchedule,     kOfBoundOnNetwork, kOfNetwork | kOfBoundOnNetwork,
    kOfPipelined, kOfSynthesized,   kOfTrainingCost, kOfSetup};

/// Compares keys of a point with those of its variants. Returns how many were compared.
std::size_t expect_keys_to_follow_marks(const Words& given, const Vocabulary& vocabulary) {
  const auto plain = make_point(given, vocabulary).value();
  std::size_t compared = 0;
  for (const Setting& setting : settings()) {
    for (const std::string& value : support::values_of(setting, vocabulary)) {
      const auto varied = make_point(support::with(given, std::string(setting.name), value), vocabulary);
      if (!varied || varied->canonical == plain.canonical || varied->algorithm != plain.algorithm) continue;
      for (const Changes held : kHeldByKeys)
        EXPECT_EQ(cache_key(*varied, held) != cache_key(plain, held), meet(setting.changes, held))
            << "key of " << static_cast<unsigned>(held) << " with " << setting.name << " = " << value;
      ++compared;
    }
  }
  return compared;
}

// The table of settings alone decides: a key changes with a setting that changes what it holds, and with no other one.
// Another algorithm may also mean another network (unwinding), and faults that are drawn read the seed.
TEST(CacheKeys, ChangeWithTheSettingsThatSaySo) {
  const auto words = vocabulary();
  for (const char* const algorithm : {"direct", "pccl"})
    EXPECT_GE(expect_keys_to_follow_marks(collective_words(algorithm, "all_reduce"), words), 15U);
  for (const char* const timing : {"libra", "pipeline", "synthesized"})
    EXPECT_GE(expect_keys_to_follow_marks(training_words(timing), words), 15U);
}

}  // namespace
}  // namespace tenex
