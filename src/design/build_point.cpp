// A row of parsed values as a sealed design point.
#include <algorithm>
#include <utility>

#include "design/canonical.hpp"
#include "design/enumerate.hpp"

namespace tenex {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <class T, class Field>
void set(Field& field, const Row& row, Key key) {
  if (const SettingValue* value = row[index_of(key)]) field = static_cast<Field>(std::get<T>(value->data));
}

/// The files of a set are in its value.
void set_workloads(TrainingChoice& training, const Row& row) {
  const SettingValue* value = row[index_of(Key::optimize_for)];
  if (value == nullptr) return;
  const auto& set = std::get<WorkloadSet>(value->data);
  training.optimize_for = set.text;
  training.optimize_for_files = set.files;
}

TrainingChoice build_training(const Row& row) {
  TrainingChoice training;
  set<NamedFile>(training.workload, row, Key::workload);
  set<std::string>(training.hp, row, Key::hp);
  set<std::string>(training.compute, row, Key::compute);
  set<std::string>(training.training_loop, row, Key::training_loop);
  set<std::string>(training.batch_rule, row, Key::batch_rule);
  set<std::string>(training.collective_time, row, Key::collective_time);
  set<std::string>(training.contention, row, Key::contention);
  set<std::string>(training.in_network, row, Key::in_network);
  set<std::string>(training.scheme, row, Key::scheme);
  set<std::string>(training.optimize_with, row, Key::optimize_with);
  set_workloads(training, row);
  set<Bandwidth>(training.total_bandwidth, row, Key::total_bandwidth);
  set<std::string>(training.split, row, Key::split);
  set<std::string>(training.constraints, row, Key::constraints);
  set<std::string>(training.cost_budget, row, Key::cost_budget);
  set<NamedFile>(training.cost_model, row, Key::cost_model);
  set<std::string>(training.price_level, row, Key::price_level);
  set<std::string>(training.dimension_kinds, row, Key::dimension_kinds);
  return training;
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
  TopologyChoice& choice = point.topology;
  choice = std::get<TopologyValue>(row[index_of(Key::topology)]->data).choice;
  set<std::vector<SimTime>>(choice.links.alpha, row, Key::alpha);
  set<std::vector<Bandwidth>>(choice.links.bandwidth, row, Key::bandwidth);
  set<std::vector<Bandwidth>>(choice.links.bandwidth, row, Key::npu_bandwidth);
  choice.links.per_npu = row[index_of(Key::npu_bandwidth)] != nullptr;
  set<std::int64_t>(choice.unwind, row, Key::unwind);
  set<LinkPairs>(choice.without, row, Key::without);
  set<CollectiveKind>(point.collective, row, Key::collective);
  set<Bytes>(point.size, row, Key::size);
  set<std::int64_t>(point.chunks, row, Key::chunks);
  point.groups = std::move(groups);
  set<std::int64_t>(point.root, row, Key::root);
  set<std::string>(point.algorithm, row, Key::algorithm);
  set_family(point, vocabulary);
  set<Occupancy>(point.occupancy, row, Key::occupancy);
  set<bool>(point.overlap, row, Key::overlap);
  set<std::string>(point.backend, row, Key::backend);
  set<std::int64_t>(point.attempts, row, Key::attempts);
  set<std::string>(point.engine, row, Key::engine);
  set<std::int64_t>(point.window, row, Key::window);
  set<std::string>(point.order, row, Key::order);
  set<Stragglers>(point.stragglers, row, Key::stragglers);
  set<std::string>(point.simulation_engine, row, Key::simulation_engine);
  set<std::int64_t>(point.seed, row, Key::seed);
  if (row[index_of(Key::workload)] != nullptr) {
    TrainingChoice training = build_training(row);
    normalise_training(training, point);
    point.training = std::make_shared<const TrainingChoice>(std::move(training));
  } else {
    normalise_but_groups(point);
  }
  seal_normalised(point);
  return point;
}

}  // namespace tenex
