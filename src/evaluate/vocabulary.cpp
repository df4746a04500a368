// The names that a study may use, from the registries of algorithms and synthesizers.
#include <algorithm>
#include <memory>
#include <string>

#include "evaluate/cache.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/evaluate/search.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/training/training_point.hpp"

namespace tenex {

Vocabulary vocabulary() {
  Vocabulary words;
  AlgorithmFacts any{std::string(kBestAlgorithm), AlgorithmFamily::textbook, {}, {true, true, false, false, false}};
  for (const auto& algorithm : algorithms()) {
    words.algorithms.push_back({std::string(algorithm.name),
                                AlgorithmFamily::textbook,
                                algorithm.collectives,
                                {!algorithm.reads.window.empty(), algorithm.reads.order, false, false, false}});
    for (const auto kind : algorithm.collectives)
      if (std::ranges::find(any.collectives, kind) == any.collectives.end()) any.collectives.push_back(kind);
  }
  words.algorithms.push_back(std::move(any));
  for (const auto& synthesizer : synthesizers())
    words.algorithms.push_back({std::string(synthesizer.name),
                                AlgorithmFamily::synthesizer,
                                synthesizer.collectives,
                                {false, false, !synthesizer.engines.empty(), synthesizer.draws, synthesizer.routes,
                                 synthesizer.uses_switches, synthesizer.phases},
                                {synthesizer.engines.begin(), synthesizer.engines.end()}});
  words.check_training = [cache = std::make_shared<Cache>()](const DesignPoint& point) {
    return check_training_point(point, cache->impl().training);
  };
  words.objectives = objective_names();
  return words;
}

}  // namespace tenex
