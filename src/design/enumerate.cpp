// Visits rows by an odometer over the axes; the last one turns fastest. A row is an array of pointers to values that
// were parsed once, so a row that `keep` removes costs only its conditions. A point is built, sealed and discarded: the
// table keeps its row's number and its key.
#include "design/enumerate.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/core.h>

#include "design/canonical.hpp"

namespace tenex {

namespace {

constexpr std::size_t kMostPoints = 10'000'000;

/// Whether a row may lack the key and have no default for it.
bool may_lack(Key key) { return !setting_of(key).fallback && key != Key::algorithm && key != Key::topology; }

/// The value of a key in expressions if the row does not give it.
std::optional<ExpressionValue> default_of(Key key) {
  const Setting& setting = setting_of(key);
  if (key == Key::algorithm)
    return std::string(kTrainingAlgorithm);  // for training points; other points always name one
  if (!setting.fallback) return std::nullopt;
  const std::string text(*setting.fallback);
  return setting.counts == Counts::numbers ? ExpressionValue(std::int64_t{std::stoll(text)}) : ExpressionValue(text);
}

}  // namespace

std::optional<ExpressionValue> Enumerator::value_of(std::string_view name) const {
  if (name == "npus") {
    const auto& topology = row_[index_of(Key::topology)]->as<TopologyValue>();
    return static_cast<std::int64_t>(topology.npus);
  }
  const auto key = find_key(name);
  if (!key) return std::nullopt;
  const SettingValue* value = row_[index_of(*key)];
  return value == nullptr ? default_of(*key) : std::optional(value->expression);
}

Enumerator::Enumerator(const Vocabulary& vocabulary, OutputConditions outputs, std::vector<Sweep> sweeps, Study& study,
                       Contradictions& contradictions, ObjectiveCheck& objectives)
    : vocabulary_(vocabulary),
      outputs_(std::move(outputs)),
      study_(study),
      contradictions_(contradictions),
      objectives_(objectives),
      checker_(vocabulary, contradictions),
      source_(std::make_shared<const RowSource>(std::move(sweeps), vocabulary)) {
  study_.points.set_source(source_);
}

void Enumerator::add_all() {
  for (std::size_t i = 0; i < source_->sweeps().size(); ++i) {
    if (source_->sweeps()[i].usable) add(source_->sweeps()[i], source_->first_row(i));
  }
  study_.points.shrink_to_fit();
}

void Enumerator::add(const Sweep& sweep, std::size_t first_row) {
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
  if (keep_.empty()) study_.points.reserve(std::min(study_.points.size() + rows, kMostPoints));
  bool complete = true;
  for (std::size_t number = 0; number < rows; ++number) {
    const bool whole = set_varying(sweep, number, row_);
    if (whole) add_row(first_row + number, rows > 1);
    complete = complete && whole;
  }
  const bool empty = study_.points.size() + study_.duplicates == points_before;
  if (empty && complete && contradictions_.additions() == errors_before) {
    contradictions_.add(input_error(sweep.keep_place, fmt::format("{} has no points left", sweep.name),
                                    fmt::format("\"keep\" removes all of its {} rows", rows)));
  }
}

void Enumerator::add_row(std::size_t number, bool varies) {
  const std::optional<bool> kept = holds(keep_);
  if (!kept || !*kept) return;
  const auto groups = checker_.check(row_, varies);
  const bool trains = row_[index_of(Key::workload)] != nullptr;  // such rows have no outputs of their own
  std::optional<bool> store = false;
  if (outputs_.schedule && !trains) store = holds({&*outputs_.schedule});
  std::optional<bool> where = !trains || !outputs_.where;
  if (outputs_.where && !trains) where = holds({&*outputs_.where});
  if (!groups || !store || !where) return;
  const DesignPoint point = build_point(row_, *groups, vocabulary_);
  study_.trains = study_.trains || point.trains();
  add_point(static_cast<std::uint32_t>(number), point, *store, *where);
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
      if (word == "npus" || (key && may_lack(*key))) words->second.push_back(word);
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

void Enumerator::add_point(std::uint32_t row, const DesignPoint& point, bool store_schedule, bool store_where) {
  if (const auto found = study_.points.find(point.key)) {
    ++study_.duplicates;
    if (store_schedule) study_.store_schedule[*found] = true;
    if (store_where && outputs_.where) study_.store_where[*found] = true;
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
  study_.points.add_row(row, point);
  if (objectives_.asks()) objectives_.count(point);
  study_.store_schedule.push_back(store_schedule);
  if (outputs_.where) study_.store_where.push_back(store_where);
}

}  // namespace tenex
