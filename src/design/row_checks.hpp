// What a row's values say against each other: contradictions that the text alone shows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "design/sweep.hpp"

namespace tenex {

/// The values of one row; null where the key has its frozen default or is absent.
using Row = PerKey<const SettingValue*>;

/// Collects contradictions of many rows: each message once, the first of them in full, the rest as a number.
class Contradictions {
 public:
  void add(Diagnostic error);
  void add(Diagnostics errors);
  /// How often anything was added, repetitions included.
  [[nodiscard]] std::size_t additions() const { return additions_; }
  /// The first ones, and how many were left out.
  [[nodiscard]] const Diagnostics& shown() const { return shown_; }
  [[nodiscard]] std::size_t left_out() const { return seen_.size() - shown_.size(); }

 private:
  std::unordered_set<std::uint64_t> seen_;
  Diagnostics shown_;
  std::size_t additions_ = 0;
};

/// Asks Vocabulary::check_training about every distinct row, and finds the places of what it answers.
class TrainingAsker {
 public:
  TrainingAsker(const Vocabulary& vocabulary, Contradictions& contradictions)
      : vocabulary_(vocabulary), contradictions_(contradictions) {}

  /// Whether nothing is wrong; each thing is told once. `varies` as in RowChecker::check. Amortized O(keys) but for the
  /// first sight of a choice and shape.
  [[nodiscard]] bool ask(const Row& row, bool varies);

 private:
  [[nodiscard]] Diagnostic relocated(Diagnostic error, const Row& row, bool varies) const;

  const Vocabulary& vocabulary_;
  Contradictions& contradictions_;
  std::unordered_map<std::uint64_t, bool> answers_;  // by the values that the answer depends on: nothing is wrong
};

/// Checks rows one after the other, remembering what only depends on few of their values. Holds pointers to values,
/// which must outlive it.
class RowChecker {
 public:
  RowChecker(const Vocabulary& vocabulary, Contradictions& contradictions)
      : vocabulary_(vocabulary), contradictions_(contradictions), asker_(vocabulary, contradictions) {}

  /// The row's groups, or nullopt when the row contradicts itself. `varies`: the row is one of
  /// several, so that a `keep` condition could leave it out. Amortized O(log) but for the first sight of groups and
  /// removed links.
  [[nodiscard]] std::optional<Groups> check(const Row& row, bool varies);

 private:
  /// What is known of one text of groups over n NPUs.
  struct GroupFacts {
    Groups groups;
    std::size_t count = 0;
    std::size_t members = 0;  ///< of all groups together
    std::size_t largest = 0;
    std::size_t smallest = 0;
    Diagnostics errors;
  };

  void check_links(const Row& row, const TopologyValue& topology);
  template <class T>
  void check_dimensions(const SettingValue& value, const TopologyValue& topology);
  void check_npu_bandwidth(const SettingValue& value, const TopologyValue& topology);
  void check_unwinding(const Row& row, const TopologyValue& topology);
  void check_removals(const Row& row, const TopologyValue& topology);
  [[nodiscard]] const Diagnostics& removal_errors(const SettingValue& without, const SettingValue& topology);
  [[nodiscard]] const Diagnostics& slow_link_errors(const SettingValue& stragglers, const SettingValue& topology);
  void check_stragglers(const Row& row, const TopologyValue& topology);
  void check_engine(const Row& row);
  void check_collective(const Row& row);
  void check_training(const Row& row, const TopologyValue& topology);
  void check_stated_bandwidth(const Row& row, const TopologyValue& topology);
  void check_split(const SettingValue& split, Bandwidth total, const TopologyValue& topology);
  void fail_groups(const Row& row, const Diagnostics& errors);
  void check_root(const Row& row, const GroupFacts& facts);
  void check_size(const Row& row, const GroupFacts& facts, std::size_t npus);
  [[nodiscard]] const GroupFacts& group_facts(const Row& row, const TopologyValue& topology);
  [[nodiscard]] static GroupFacts read_groups(const SettingValue* value, const SettingValue& topology,
                                              std::size_t npus);
  void fail(const SettingValue& at, std::string problem, std::string why, std::string remedy, const std::string& keep);

  const Vocabulary& vocabulary_;
  Contradictions& contradictions_;
  TrainingAsker asker_;
  bool varies_ = false;
  std::map<std::pair<const SettingValue*, const SettingValue*>, GroupFacts> groups_;     // (groups, topology)
  std::map<std::pair<const SettingValue*, const SettingValue*>, Diagnostics> removals_;  // (without, topology)
  std::map<std::pair<const SettingValue*, const SettingValue*>, Diagnostics> slow_;      // (stragglers, topology)
};

}  // namespace tenex
