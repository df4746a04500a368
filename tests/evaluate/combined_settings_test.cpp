// Random combinations of settings: groups, stragglers, removed links, algorithms, backends, engines and orders. Every
// point ends with a row, and an ok row has a verified schedule that is not below its bound.
#include <gtest/gtest.h>

#include <string>

#include "evaluate/points.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/random.hpp"

namespace tenex {
namespace {

using support::row_of;
using support::Words;

/// Draws the settings of one point on a ring, mesh, switch or product of six to nine NPUs.
class SettingsDraw {
 public:
  explicit SettingsDraw(std::uint64_t seed) : random_(seed, 0x636f6d62) {}

  Words words() {
    struct Network {
      const char* topology;
      std::uint32_t npus;
      const char* pair;  ///< linked vertices whose removal disconnects nothing
    };
    constexpr Network networks[] = {{"RI(6)", 6, "[[0, 1]]"},       {"mesh(3,3)", 9, "[[4, 5]]"},
                                    {"SW(8)", 8, nullptr},          {"RI(4)_FC(2)", 8, "[[1, 2]]"},
                                    {"FC(4)_SW(2)", 8, "[[0, 2]]"}, {"hypercube(3)", 8, "[[0, 1]]"}};
    const auto& [topology, npus, pair] = one_of(networks);
    Words words{{"topology", topology},
                {"alpha", one_of({"0ns", "1us"})},
                {"bandwidth", one_of({"50GB/s", "10KB/s"})},
                {"size", "72KB"},
                {"chunks", one_of({"1", "3"})},
                {"collective", one_of({"all_gather", "reduce_scatter", "all_reduce", "all_to_all", "broadcast"})},
                {"algorithm", algorithm()},
                {"groups", groups(npus)},
                {"stragglers", stragglers(npus)},
                {"faults", faults(npus)},
                {"occupancy", one_of({"serialization", "transfer"})},
                {"overlap", one_of({"true", "false"})},
                {"window", one_of({"0", "1", "2"})},
                {"order", one_of({"relative", "absolute"})},
                {"backend", one_of({"congestion_aware", "congestion_aware", "congestion_unaware"})}};
    if (pair != nullptr && random_.below(3) == 0) words.emplace_back("without", pair);
    if (random_.below(3) == 0)
      words.emplace_back("simulation_engine", one_of({"window", "static_order", "trains", "orbit"}));
    return words;
  }

 private:
  template <class T, std::size_t n>
  const T& one_of(const T (&values)[n]) {
    return values[random_.below(n)];
  }

  std::string algorithm() {
    const auto drawn = random_.below(static_cast<std::uint32_t>(algorithms().size()) + 2);
    if (drawn == 0) return "auto";
    if (drawn == 1) return "tacos";
    return std::string(algorithms()[drawn - 2].name);
  }

  std::string groups(std::uint32_t npus) {
    if (random_.below(3) == 0) return "all";
    const auto members = 2 + random_.below(npus - 2);
    std::string text = "0-" + std::to_string(members - 1);
    if (members + 2 <= npus && random_.below(2) == 0)
      text += "; " + std::to_string(members) + "-" + std::to_string(npus - 1);
    return random_.below(4) == 0 ? "1,3,5" : text;
  }

  std::string stragglers(std::uint32_t npus) {
    std::string text;
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      if (random_.below(4) == 0) text += "npu " + std::to_string(npu) + one_of({" delay 5us; ", " delay 100us; "});
      if (random_.below(6) == 0)
        text += "npu " + std::to_string(npu) + one_of({" x2; ", " x1000.5; ", " alpha x1.5; "});
    }
    return text.empty() ? "none" : text;
  }

  std::string faults(std::uint32_t npus) {
    std::string text;
    if (random_.below(12) == 0) text += "npu " + std::to_string(random_.below(npus)) + "; ";
    if (random_.below(8) == 0)
      text += "links " + std::string(one_of({"1", "10%", "30%"})) + " draw " + std::to_string(1 + random_.below(99));
    return text.empty() ? "none" : text;
  }

  Random random_;
};

TEST(CombinedSettings, EndWithARowWhateverTheyAre) {
  std::size_t valid = 0;
  std::size_t refused = 0;
  Foresight foresight;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const auto words = SettingsDraw(seed).words();
    const auto made = make_point(words, vocabulary());
    if (!made) continue;  // refused for a contradiction in its text
    const auto row = row_of(*made);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + made->canonical);
    ASSERT_NE(row.status, PointStatus::failed) << row.reason;
    // A foreseen refusal is the row's reason, and every algorithm that does not fit is foreseen.
    const auto foreseen = foresight(*made);
    if (!foreseen.empty()) {
      ASSERT_NE(row.status, PointStatus::ok);
      ASSERT_EQ(row.reason, foreseen);
      ++refused;
    }
    if (row.status != PointStatus::ok) continue;
    ++valid;
    const bool aware = made->collective().backend == Backend::congestion_aware;
    const bool records = aware && made->collective().simulation_engine == SimulationEngine::automatic;
    if (records) {
      ASSERT_EQ(row.verified, Verified::yes) << row.reason;
    }
    if (aware) {
      ASSERT_GE(row.collective_time_ps, row.bound_ps);
    }
  }
  EXPECT_GT(valid, 600U);
  EXPECT_GT(refused, 100U);
}

TEST(CombinedSettings, OfADelayedBystanderLeaveTheOthersAlone) {
  // NPU 5 of a ring of 6 is in no group and on no route of 0-3: its delay changes nothing.
  for (const auto* algorithm : {"rhd", "ring_per_dimension", "hierarchical", "blueconnect", "themis", "auto", "ring"}) {
    Words words{{"topology", "RI(6)"}, {"alpha", "1us"},         {"bandwidth", "50GB/s"},     {"groups", "0-3"},
                {"size", "1MB"},       {"algorithm", algorithm}, {"collective", "all_reduce"}};
    const auto on_time = row_of(support::point(words));
    words.emplace_back("stragglers", "npu 5 delay 5us");
    const auto late = row_of(support::point(words));
    ASSERT_EQ(late.status, on_time.status) << algorithm << ": " << late.reason;
    EXPECT_EQ(late.collective_time_ps, on_time.collective_time_ps) << algorithm;
  }
}

TEST(CombinedSettings, CountADelayOnceWithoutOverlap) {
  // FC(2), 2 KB: the reduction moves 1 KB each way in 1 us, from 100 us on; by the gather all NPUs have started.
  const auto row = row_of(support::point({{"topology", "FC(2)"},
                                          {"size", "2KB"},
                                          {"algorithm", "direct"},
                                          {"collective", "all_reduce"},
                                          {"overlap", "false"},
                                          {"stragglers", "npu 1 delay 100us"}}));
  ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.collective_time_ps, 102'000'000);
  EXPECT_EQ(row.verified, Verified::yes);
}

}  // namespace
}  // namespace tenex
