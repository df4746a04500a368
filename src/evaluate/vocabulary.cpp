// The names that a study may use, from the registries of algorithms and synthesizers.
#include <algorithm>
#include <memory>
#include <string>

#include "evaluate/cache.hpp"
#include "evaluate/choices.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/evaluate/search.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/training/training_point.hpp"

namespace tenex {

const std::vector<AlgorithmFacts>& algorithm_facts() {
  static const std::vector<AlgorithmFacts> all = [] {
    std::vector<AlgorithmFacts> facts;
    AlgorithmFacts any{
        std::string(kAutoAlgorithm),
        AlgorithmFamily::textbook,
        {},
        {.engine = false, .attempts = false, .routes = false, .stops = false, .solves = false, .epochs = false}};
    for (const auto& algorithm : algorithms()) {
      facts.push_back({std::string(algorithm.name),
                       AlgorithmFamily::textbook,
                       algorithm.collectives,
                       {.window = !algorithm.reads.window.empty(),
                        .order = algorithm.reads.order,
                        .engine = false,
                        .attempts = false,
                        .routes = false,
                        .switches = !algorithm.direct_only,
                        .phases = has_halves(algorithm),
                        .stops = false,
                        .solves = false,
                        .epochs = false},
                       {},
                       {},
                       {},
                       std::string(algorithm.long_name)});
      for (const auto kind : algorithm.collectives)
        if (std::ranges::find(any.collectives, kind) == any.collectives.end()) any.collectives.push_back(kind);
    }
    facts.push_back(std::move(any));
    for (const auto& synthesizer : synthesizers())
      facts.push_back({std::string(synthesizer.name),
                       AlgorithmFamily::synthesizer,
                       synthesizer.collectives,
                       {.window = false,
                        .order = false,
                        .engine = !synthesizer.engines.empty(),
                        .attempts = synthesizer.draws,
                        .routes = synthesizer.routes,
                        .switches = synthesizer.uses_switches,
                        .phases = synthesizer.phases,
                        .stops = synthesizer.stops,
                        .solves = synthesizer.solves,
                        .epochs = synthesizer.has_epochs},
                       {synthesizer.engines.begin(), synthesizer.engines.end()},
                       synthesizer.delays,
                       synthesizer.varying});
    facts.push_back({std::string(kBestOfAll),
                     AlgorithmFamily::any,
                     {},
                     {.window = false, .order = false, .engine = false, .solves = false, .epochs = false}});
    return facts;
  }();
  return all;
}

Vocabulary vocabulary() {
  Vocabulary words;
  words.algorithms = algorithm_facts();
  words.check_training = [cache = std::make_shared<Cache>()](const DesignPoint& point) {
    return check_training_point(point, cache->impl().training);
  };
  words.objectives = objective_names();
  return words;
}

}  // namespace tenex
