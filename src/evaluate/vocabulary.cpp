// The names that a study may use, from the registries of algorithms and synthesizers.
#include <memory>

#include "evaluate/cache.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/evaluate/search.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/training/training_point.hpp"

namespace tenex {

Vocabulary vocabulary() {
  Vocabulary words;
  words.algorithms = algorithm_traits();
  for (const auto& synthesizer : missing_synthesizers()) words.missing.push_back(&synthesizer);
  words.check_training = [cache = std::make_shared<Cache>()](const DesignPoint& point) {
    return check_training_point(point, cache->impl().training);
  };
  words.objectives = objective_names();
  return words;
}

}  // namespace tenex
