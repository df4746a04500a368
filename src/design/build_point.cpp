// A row of parsed values as a sealed design point.
#include <algorithm>
#include <utility>

#include "design/canonical.hpp"
#include "design/enumerate.hpp"
#include "design/settings/entry.hpp"
#include "tenex/design/divide_bandwidth.hpp"
#include "tenex/design/point_collective.hpp"

namespace tenex {

namespace {

/// The total bandwidth of a collective's network is a spelling of its bandwidths per NPU and dimension.
void spread_total(TopologyChoice& topology, const TrainingPoint& words) {
  if (words.total_bandwidth == Bandwidth{}) return;
  topology.links.bandwidth = divide_bandwidth(words.total_bandwidth, words.split, topology.shape.dimensions());
  topology.links.per_npu = true;
}

}  // namespace

void name_algorithm(DesignPoint& point, const AlgorithmTraits& traits) {
  point.algorithm = traits.name;
  point.family = traits.family;
  point.reads = traits.reads;
}

const AlgorithmTraits* find_traits(const Vocabulary& vocabulary, std::string_view algorithm) {
  if (algorithm.empty()) return nullptr;  // as most points that train
  const auto found = std::ranges::find_if(vocabulary.algorithms, [&](const AlgorithmTraits* each) {
    return each->name == algorithm || (!each->long_name.empty() && each->long_name == algorithm);
  });
  return found == vocabulary.algorithms.end() ? nullptr : *found;
}

std::vector<std::string_view> Vocabulary::engines() const {
  std::vector<std::string_view> names{kAutomaticEngine};
  for (const AlgorithmTraits* algorithm : algorithms)
    for (const auto engine : algorithm->engines)
      if (std::ranges::find(names, engine) == names.end()) names.push_back(engine);
  return names;
}

std::vector<std::string_view> Vocabulary::algorithm_names() const {
  std::vector<std::string_view> names;
  for (const AlgorithmTraits* algorithm : algorithms) names.push_back(algorithm->name);
  for (const AlgorithmTraits* algorithm : algorithms)
    if (!algorithm->long_name.empty()) names.push_back(algorithm->long_name);
  return names;
}

DesignPoint build_point(const Row& row, Groups groups, const Vocabulary& vocabulary) {
  DesignPoint point;
  CollectivePoint collective;
  TrainingPoint training;
  const PointDraft draft{point, collective, training};
  for (const Setting& setting : settings())
    if (const SettingValue* value = row[index_of(setting.key)]) setting.set(draft, *value);
  collective.groups = std::move(groups);
  if (const auto* traits = find_traits(vocabulary, point.algorithm)) name_algorithm(point, *traits);
  const bool trains = row[index_of(Key::workload)] != nullptr;
  const bool chunks_given =
      row[index_of(Key::chunks)] != nullptr || collective.piece != kNoPiece || have_own(collective.groups.list());
  if (point.family == AlgorithmFamily::any && !trains && !chunks_given) point.chunks = kAutomaticChunks;
  if (collective.piece != kNoPiece && !trains)
    point.chunks = chunks_of_piece(collective, point.chunks, point.topology.npus());
  settle_groups(collective, point.chunks, point.topology.npus());
  if (is_counted(collective)) collective.piece = kNoPiece;
  if (!trains) spread_total(point.topology, training);
  normalise_draft(draft, trains);
  if (trains)
    point.work = std::move(training);
  else
    point.work = std::move(collective);
  seal_normalised(point);
  return point;
}

}  // namespace tenex
