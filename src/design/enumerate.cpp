// Rows by an odometer over the axes, the last turning fastest. A row is an array of pointers to values that were parsed
// once, so a row that `keep` removes costs nothing but the conditions.
#include "design/enumerate.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "design/canonical.hpp"

namespace tenex {

namespace {

constexpr std::size_t kMostRows = 100'000'000;
constexpr std::size_t kMostPoints = 10'000'000;

/// The product of the axes' lengths; saturates.
std::size_t rows_of(const Sweep& sweep) {
  std::size_t rows = 1;
  for (const Axis& axis : sweep.axes) {
    if (__builtin_mul_overflow(rows, axis.length(), &rows)) return kMostRows + 1;
  }
  return rows;
}

/// What an expression sees of a key that the row does not give.
std::optional<ExpressionValue> default_of(Key key) {
  switch (key) {
    case Key::unwind:
    case Key::root:
    case Key::window:
      return std::int64_t{0};
    case Key::chunks:
    case Key::attempts:
    case Key::seed:
      return std::int64_t{1};
    case Key::without:
    case Key::stragglers:
      return std::string("none");
    case Key::order:
      return std::string("relative");
    case Key::groups:
      return std::string("all");
    case Key::occupancy:
      return std::string("serialization");
    case Key::overlap:
      return std::string("true");
    case Key::backend:
      return std::string("congestion_aware");
    case Key::engine:
    case Key::simulation_engine:
      return std::string("auto");
    default:
      return std::nullopt;
  }
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <class T, class Field>
void set(Field& field, const Row& row, Key key) {
  if (const SettingValue* value = row[index_of(key)]) field = static_cast<Field>(std::get<T>(value->data));
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
  const bool textbook = contains(vocabulary.algorithms, point.algorithm);
  point.family = textbook                                             ? AlgorithmFamily::textbook
                 : contains(vocabulary.synthesizers, point.algorithm) ? AlgorithmFamily::synthesizer
                                                                      : AlgorithmFamily::unknown;
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
  normalise_but_groups(point);
  seal_normalised(point);
  return point;
}

std::optional<ExpressionValue> Enumerator::value_of(std::string_view name) const {
  if (name == "npus") {
    const auto& topology = std::get<TopologyValue>(row_[index_of(Key::topology)]->data);
    return topology.npus == 0 ? std::nullopt : std::optional<ExpressionValue>(static_cast<std::int64_t>(topology.npus));
  }
  const auto key = find_key(name);
  if (!key) return std::nullopt;
  const SettingValue* value = row_[index_of(*key)];
  return value == nullptr ? default_of(*key) : std::optional(value->expression);
}

void Enumerator::add(const Sweep& sweep) {
  const std::size_t rows = rows_of(sweep);
  if (rows > kMostRows || study_.rows_before_keep + rows > kMostRows) {
    contradictions_.add(input_error(sweep.place, fmt::format("{} makes too many rows", sweep.name),
                                    fmt::format("a study enumerates at most {}", kMostRows),
                                    "split it into several studies"));
    return;
  }
  study_.rows_before_keep += rows;
  keep_.clear();
  for (const Expression& condition : sweep.keep) keep_.push_back(&condition);
  for (std::size_t i = 0; i < kKeyCount; ++i) row_[i] = sweep.fixed[i].get();
  const std::size_t points_before = study_.points.size() + study_.duplicates;
  const std::size_t errors_before = contradictions_.additions();
  bool complete = true;
  std::vector<std::size_t> at(sweep.axes.size(), 0);
  for (std::size_t number = 0; number < rows; ++number) {
    bool whole = true;
    for (std::size_t a = 0; a < at.size(); ++a) {
      const Axis& axis = sweep.axes[a];
      for (std::size_t k = 0; k < axis.keys.size(); ++k) {
        row_[index_of(axis.keys[k])] = axis.columns[k][at[a]].get();
        whole = whole && axis.columns[k][at[a]] != nullptr;
      }
    }
    if (whole) add_row(rows > 1);
    complete = complete && whole;
    for (std::size_t a = at.size(); a-- > 0;) {
      if (++at[a] < sweep.axes[a].length()) break;
      at[a] = 0;
    }
  }
  const bool empty = study_.points.size() + study_.duplicates == points_before;
  if (empty && complete && contradictions_.additions() == errors_before) {
    contradictions_.add(input_error(sweep.keep_place, fmt::format("{} has no points left", sweep.name),
                                    fmt::format("\"keep\" removes all of its {} rows", rows)));
  }
}

void Enumerator::add_row(bool varies) {
  const std::optional<bool> kept = holds(keep_);
  if (!kept || !*kept) return;
  const auto groups = checker_.check(row_, varies);
  std::optional<bool> store = false;
  if (outputs_.schedule) store = holds({&*outputs_.schedule});
  std::optional<bool> where = true;
  if (outputs_.where) where = holds({&*outputs_.where});
  if (!groups || !store || !where) return;
  add_point(build_point(row_, std::string(*groups), vocabulary_), *store, *where);
}

std::optional<bool> Enumerator::holds(const std::vector<const Expression*>& conditions) {
  if (conditions.empty()) return true;
  bool all = true;
  bool failed = false;
  for (const Expression* condition : conditions) {
    if (!has_values(*condition)) {
      failed = true;
      continue;
    }
    const Result<bool> holds = evaluate_condition(*condition, lookup_);
    if (!holds) {
      contradictions_.add(holds.errors());
      failed = true;
    } else {
      all = all && *holds;
    }
  }
  return failed ? std::nullopt : std::optional(all);
}

bool Enumerator::has_values(const Expression& condition) {
  const auto [words, is_new] = optional_words_.try_emplace(&condition);
  if (is_new) {
    for (const std::string& word : identifiers(condition)) {
      const auto key = find_key(word);
      const bool optional = word == "npus" || key == Key::alpha || key == Key::bandwidth || key == Key::npu_bandwidth;
      if (optional) words->second.push_back(word);
    }
  }
  bool all = true;
  for (const std::string& word : words->second) {
    if (value_of(word)) continue;
    all = false;
    contradictions_.add(
        input_error(condition.place, fmt::format("\"{}\" has no value in \"{}\"", word, shortened(condition.text)),
                    fmt::format("for topology \"{}\" it is not given", shortened(row_[index_of(Key::topology)]->text)),
                    "use the condition in a sweep where it is"));
  }
  return all;
}

void Enumerator::add_point(DesignPoint point, bool store_schedule, bool store_where) {
  const auto [found, is_new] = index_of_.try_emplace(point.key, study_.points.size());
  if (!is_new) {
    ++study_.duplicates;
    if (store_schedule) study_.store_schedule[found->second] = true;
    if (store_where && outputs_.where) study_.store_where[found->second] = true;
    return;
  }
  if (study_.points.size() == kMostPoints) {
    if (!overfull_) {
      contradictions_.add(resource_error(fmt::format("the study has more than {} points", kMostPoints),
                                         "every point is held in memory", "split it into several studies"));
    }
    overfull_ = true;
    return;
  }
  study_.points.push_back(std::move(point));
  study_.store_schedule.push_back(store_schedule);
  if (outputs_.where) study_.store_where.push_back(store_where);
}

}  // namespace tenex
