// A row of parsed values as a sealed design point.
#include <algorithm>
#include <utility>

#include "design/canonical.hpp"
#include "design/enumerate.hpp"
#include "design/settings/entry.hpp"

namespace tenex {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void set_family(DesignPoint& point, const Vocabulary& vocabulary) {
  const bool textbook = contains(vocabulary.algorithms, point.algorithm);
  point.family = textbook                                             ? AlgorithmFamily::textbook
                 : contains(vocabulary.synthesizers, point.algorithm) ? AlgorithmFamily::synthesizer
                                                                      : AlgorithmFamily::unknown;
}

}  // namespace

DesignPoint build_point(const Row& row, std::string groups, const Vocabulary& vocabulary) {
  DesignPoint point;
  TrainingChoice training;
  const PointDraft draft{point, training};
  for (const Setting& setting : settings())
    if (const SettingValue* value = row[index_of(setting.key)]) setting.set(draft, *value);
  point.groups = std::move(groups);
  set_family(point, vocabulary);
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
