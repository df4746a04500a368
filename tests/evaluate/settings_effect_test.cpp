// Every setting with every kind of point: a setting in a point's canonical text can change its results, and a setting
// that cannot is left out of the text, or refused.
//
// A kind is an algorithm (with each collective and network below), or a model of collective times with a scheme. Every
// setting is varied alone, over values that follow from its entry: its words, the ends of its range, its example. If a
// value changes the canonical text of a point, then some value of that setting must change the row of some point of the
// kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "evaluate/setting_values.hpp"
#include "evaluate/training_points.hpp"
#include "support/process.hpp"
#include "tenex/design/setting.hpp"

namespace tenex {
namespace {

using support::results_of;
using support::row_of;
using support::values_of;
using support::Words;

/// The effects of varying settings in a kind of points.
struct Effect {
  std::set<std::string> in_text;     ///< settings that changed a canonical text
  std::set<std::string> in_results;  ///< settings that changed a row
};

/// Every canonical text has the seed, even if nothing is drawn, because the text was frozen so. The simulation engine
/// never changes a result; it has an effect only if the row names it. How far bounds are searched shows only where a
/// quick search does not come to its end (BoundsInRows.AreLargerAfterAFullSearch).
const std::set<std::string> kFrozen{"seed", "simulation_engine", "bounds"};

class Kind {
 public:
  /// Varies every setting of a point that no row has shown yet. Refused points do not count.
  void add(const Words& words) {
    const auto plain = make_point(words, vocabulary_);
    if (!plain) return;
    std::optional<std::vector<MetricValue>> before;  // evaluated where it is compared, or where no point has a row yet
    const auto results = [&]() -> const std::vector<MetricValue>& {
      if (!before) {
        const auto row = row_of(*plain);
        if (row.status == PointStatus::ok) ++points_;
        before = results_of(row);
      }
      return *before;
    };
    if (points_ < kFewestPoints) results();
    for (const Setting& setting : settings()) {
      const std::string name(setting.name);
      if (kFrozen.contains(name)) continue;
      for (const std::string& value : values_of(setting, vocabulary_)) {
        if (effect_.in_results.contains(name)) break;
        const auto varied = make_point(support::with(words, name, value), vocabulary_);
        if (!varied || varied->canonical == plain->canonical) continue;
        effect_.in_text.insert(name);
        if (results_of(row_of(*varied)) != results()) effect_.in_results.insert(name);
      }
    }
  }

  static constexpr std::size_t kFewestPoints = 2;
  [[nodiscard]] std::size_t points() const { return points_; }

  /// Settings in canonical texts that changed no row.
  [[nodiscard]] std::vector<std::string> without_effect() const {
    std::vector<std::string> names;
    std::ranges::set_difference(effect_.in_text, effect_.in_results, std::back_inserter(names));
    return names;
  }

 private:
  Vocabulary vocabulary_ = tenex::vocabulary();
  Effect effect_;
  std::size_t points_ = 0;  ///< with a row, of those that were evaluated
};

TEST(SettingsEffect, OfEveryAlgorithmIsShownByARow) {
  const support::TemporaryFolder folder;
  const auto slow_senders = folder.path() / "slow_senders.toml";
  support::write_text(slow_senders, R"(schema = 1
kind = "machine"
name = "slow senders"
source = "made up"
npus = 4
[[switches]]
count = 1
[[links]]
bandwidth = "100GB/s"
alpha = "1us"
directed = [[0, 4], [4, 0], [4, 1], [4, 2], [4, 3]]
[[links]]
bandwidth = "20GB/s"
alpha = "1us"
directed = [[1, 4], [2, 4], [3, 4]]
)");
  for (const AlgorithmTraits* each : vocabulary().algorithms) {
    const AlgorithmTraits& algorithm = *each;
    Kind kind;
    // Solvers take longer, and show their settings on small networks. The sooner a setting shows, the fewer rows there
    // are: mesh(3,4) shows most.
    const std::vector<const char*> topologies =
        algorithm.reads.solves
            ? std::vector{"LI(3)", "mesh(2,3)", "SW(3)"}
            : std::vector{"mesh(3,4)",         "FC(8)",          "SW(8)", "RI(4)_SW(4)", "hypercube(4)", "RI(4)_FC(4)",
                          "leaf_spine(2,4,2)", "RI(2)_SW(8,4:2)"};
    for (const char* topology : topologies)
      for (const char* collective : {"all_reduce", "all_gather", "broadcast", "all_to_all"})
        for (const auto& [chunks, few, alpha] : {std::tuple("4", "1", "1us"), std::tuple("16", "2", "20us")})
          kind.add({{"topology", topology},
                    {"alpha", alpha},
                    {"bandwidth", "50GB/s"},
                    {"size", "480KB"},
                    {"chunks", algorithm.reads.solves ? few : chunks},
                    {"collective", collective},
                    {"algorithm", std::string(algorithm.name)}});
    // A bound counts what switches can do: sums and copies of an All-Reduce, and copies where NPUs 1 to 3 send slowly.
    for (const char* ability : {"switch_copy", "switch_reduce"})
      kind.add({{"topology", algorithm.reads.solves ? "SW(3)" : "SW(8)"},
                {"alpha", "1us"},
                {"bandwidth", "50GB/s"},
                {"size", "480KB"},
                {"chunks", algorithm.reads.solves ? "2" : "4"},
                {"collective", "all_reduce"},
                {ability, "yes"},
                {"algorithm", std::string(algorithm.name)}});
    for (const char* collective : {"all_gather", "broadcast"})
      if (!algorithm.reads.solves)
        kind.add({{"topology", slow_senders.string()},
                  {"size", "480KB"},
                  {"collective", collective},
                  {"algorithm", std::string(algorithm.name)}});
    if (algorithm.reads.solves)  // where a node is not enough for the best routes
      kind.add({{"topology", "RI(4)_LI(2)"},
                {"alpha", "1us"},
                {"bandwidth", "50GB/s"},
                {"size", "480KB"},
                {"collective", "all_to_all"},
                {"algorithm", std::string(algorithm.name)}});
    // Two groups of which one ends first; and two that meet at NPU 2, where a node proves less than more of them do.
    for (const char* groups : {"0,1; 0,2", "0,2; 1,2"})
      if (algorithm.reads.epochs)
        kind.add({{"topology", "SW(3)"},
                  {"alpha", "1us"},
                  {"bandwidth", "50GB/s"},
                  {"size", "480KB"},
                  {"collective", "broadcast"},
                  {"groups", groups},
                  {"algorithm", std::string(algorithm.name)}});
    EXPECT_GE(kind.points(), 1U) << algorithm.name;
    for (const std::string& name : kind.without_effect())
      ADD_FAILURE() << name << " is in the key of " << algorithm.name << " and changes nothing";
  }
}

TEST(SettingsEffect, OfEveryTimingModelAndSchemeIsShownByARow) {
  const auto words_of = [](Key key) { return setting_of(key).words; };
  for (const std::string_view timing : words_of(Key::collective_time))
    for (const std::string_view scheme : words_of(Key::scheme))
      for (const std::string_view loop : words_of(Key::training_loop)) {
        Kind kind;
        const bool synthesized = timing == "synthesized";  // by the quick algorithm first: it shows most settings
        const auto algorithms = synthesized ? std::vector{"direct", "tacos"} : std::vector{""};
        // HP-(2,8) leaves a part of dimension 1 to each slot; the other one reduces over both dimensions.
        for (const auto& [workload, hp] : {std::pair("gpt3_generated", "2,8"), std::pair("resnet50", "1,16")})
          for (const char* algorithm : algorithms) {
            Words words{{"topology", "RI(4)_SW(4)"},
                        {"workload", workload},
                        {"hp", hp},
                        {"compute", "100PFLOPS"},
                        {"training_loop", std::string(loop)},
                        {"scheme", std::string(scheme)},
                        {"collective_time", std::string(timing)}};
            if (timing != "libra" && timing != "libra_derated") {
              words.emplace_back("alpha", "1us");
              words.emplace_back("chunks", "2");
            }
            if (synthesized) words.emplace_back("algorithm", algorithm);
            if (scheme == "given")
              words.emplace_back("npu_bandwidth", "100GB/s, 50GB/s");
            else
              words.emplace_back("total_bandwidth", "150GB/s");
            kind.add(words);
            if (std::string_view(algorithm) != "tacos") continue;
            words.emplace_back("engine", "exact");  // whose second attempt is better there
            kind.add(words);
          }
        EXPECT_GE(kind.points(), 2U) << timing << ' ' << scheme << ' ' << loop;
        for (const std::string& name : kind.without_effect())
          ADD_FAILURE() << name << " is in the key of " << timing << ", " << scheme << ", " << loop
                        << " and changes nothing";
      }
}

}  // namespace
}  // namespace tenex
