// A row of parsed values as a sealed design point.
#include <algorithm>
#include <utility>

#include "design/canonical.hpp"
#include "design/enumerate.hpp"
#include "design/settings/entry.hpp"

namespace tenex {

namespace {

void set_facts(DesignPoint& point, const Vocabulary& vocabulary) {
  const AlgorithmFacts* facts = find_facts(vocabulary, point.algorithm);
  if (facts == nullptr) return;
  point.family = facts->family;
  point.reads_window = facts->reads_window;
  point.reads_order = facts->reads_order;
}

}  // namespace

const AlgorithmFacts* find_facts(const Vocabulary& vocabulary, std::string_view algorithm) {
  const auto found = std::ranges::find(vocabulary.algorithms, algorithm, &AlgorithmFacts::name);
  return found == vocabulary.algorithms.end() ? nullptr : &*found;
}

DesignPoint build_point(const Row& row, std::string groups, const Vocabulary& vocabulary) {
  DesignPoint point;
  TrainingChoice training;
  const PointDraft draft{point, training};
  for (const Setting& setting : settings())
    if (const SettingValue* value = row[index_of(setting.key)]) setting.set(draft, *value);
  point.groups = std::move(groups);
  set_facts(point, vocabulary);
  if (row[index_of(Key::workload)] != nullptr) {
    normalise_training(training, point);
    point.training = std::make_shared<const TrainingChoice>(std::move(training));
  } else {
    normalise_but_groups(point);
  }
  seal_normalised(point);
  return point;
}

}  // namespace tenex
