// Checks the values of a row for contradictions that the text alone shows.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "design/sweep.hpp"

namespace tenex {

/// The values of one row; null if the key has its frozen default or is absent.
using Row = PerKey<const SettingValue*>;

/// The collectives' names in studies.
[[nodiscard]] std::vector<std::string_view> names_of(const std::vector<CollectiveKind>& kinds);

/// Collects contradictions of many rows: each message once, the first ones in full, the others as a count. Messages of
/// one place that differ in the topology alone (and what follows from it) are one message with the number of
/// topologies.
class Contradictions {
 public:
  /// The topology of the rows whose errors are added from now on; the text must outlive them.
  void set_topology(std::string_view text) { topology_ = text; }
  /// `hardness`: of errors that differ in the topology alone, the one with the greatest is shown; of equal ones the
  /// first.
  void add(Diagnostic error, std::int64_t hardness = 0);
  void add(Diagnostics errors);
  /// Number of additions, with repetitions.
  [[nodiscard]] std::size_t additions() const { return additions_; }
  /// The first ones, and the number of the others.
  [[nodiscard]] Diagnostics shown() const;
  [[nodiscard]] std::size_t left_out() const { return found_.size() - shown_.size(); }

 private:
  struct Shown {
    Diagnostic error;
    std::int64_t hardness = 0;
    std::string_view topology = {};                 ///< of `error`
    std::vector<std::string_view> topologies = {};  ///< of all such errors, each once, in the order of rows
  };

  std::unordered_map<std::uint64_t, std::size_t> found_;  ///< by place and message: index in shown_, or behind it
  std::vector<Shown> shown_;
  std::string_view topology_;
  std::size_t additions_ = 0;
};

/// Calls Vocabulary::check_training for every distinct row, and adds the places in the study to its errors.
class TrainingAsker {
 public:
  TrainingAsker(const Vocabulary& vocabulary, Contradictions& contradictions)
      : vocabulary_(vocabulary), contradictions_(contradictions) {}

  /// Whether the row is free of errors; each error is reported once. `varies` as in RowChecker::check. Amortized
  /// O(keys), except at the first row with a choice and shape.
  [[nodiscard]] bool ask(const Row& row, bool varies);

 private:
  [[nodiscard]] Diagnostic relocated(Diagnostic error, const Row& row, bool varies) const;

  const Vocabulary& vocabulary_;
  Contradictions& contradictions_;
  std::unordered_map<std::uint64_t, bool>
      answers_;  // by the values on which the answer depends: whether there is no error
};

/// Checks rows one after another, and caches results that depend on few of their values. Holds pointers to values,
/// which must outlive it.
class RowChecker {
 public:
  RowChecker(const Vocabulary& vocabulary, Contradictions& contradictions)
      : vocabulary_(vocabulary), contradictions_(contradictions), asker_(vocabulary, contradictions) {}

  /// The row's groups, or nullopt if the row contradicts itself. `varies`: the row is one of several, so that a `keep`
  /// condition could leave it out. Amortized O(log), except at the first row with given groups or removed links.
  [[nodiscard]] std::optional<Groups> check(const Row& row, bool varies);

 private:
  /// Facts about one text of groups over n NPUs.
  struct GroupFacts {
    Groups groups;
    std::size_t count = 0;
    std::size_t members = 0;  ///< total over all groups
    std::size_t largest = 0;
    std::size_t smallest = 0;
    Diagnostics errors;
    bool own = false;     ///< some group has a collective of its own
    bool shared = false;  ///< some NPU is in several groups
  };

  void check_links(const Row& row, const TopologyValue& topology);
  void check_overhead(const Row& row, const TopologyValue& topology);
  void check_protocol(const Row& row, const TopologyValue& topology);
  template <class T>
  void check_dimensions(const SettingValue& value, const TopologyValue& topology);
  void check_npu_bandwidth(const SettingValue& value, const TopologyValue& topology);
  /// The total bandwidth of a collective's network, and its split, which may be null.
  void check_total(const SettingValue& total, const SettingValue* split, const TopologyValue& topology);
  void check_unwinding(const Row& row, const TopologyValue& topology);
  void check_removals(const Row& row, const TopologyValue& topology);
  [[nodiscard]] const Diagnostics& removal_errors(const SettingValue& without, const SettingValue& topology);
  void check_faults(const Row& row, const TopologyValue& topology);
  void check_failed_members(const Row& row, const GroupFacts& facts);
  [[nodiscard]] const Diagnostics& fault_errors(const SettingValue& faults, const SettingValue* without,
                                                const SettingValue& topology);
  [[nodiscard]] const Diagnostics& slow_link_errors(const SettingValue& stragglers, const SettingValue& topology);
  void check_stragglers(const Row& row, const TopologyValue& topology);
  /// `value`: of the key `stragglers`.
  void check_delays(const Row& row, const SettingValue& value);
  void check_windows(const Row& row, const SettingValue& value);
  void check_engine(const Row& row);
  void check_routes(const Row& row, const TopologyValue& topology);
  void check_priorities(const Row& row, const GroupFacts& facts);
  void check_collective(const Row& row, const GroupFacts& group_facts);
  void check_overlap(const Row& row, const GroupFacts& facts);
  bool check_choices(const Row& row, const GroupFacts& facts);
  void check_request(const Row& row, const GroupFacts& facts, std::size_t npus);
  void check_training(const Row& row, const TopologyValue& topology);
  void check_stated_bandwidth(const Row& row, const TopologyValue& topology);
  /// A training row whose file states the links.
  void check_file_links(const Row& row, const TopologyValue& topology);
  void check_split(const SettingValue& split, Bandwidth total, const TopologyValue& topology);
  void fail_groups(const Row& row, const Diagnostics& errors);
  void check_root(const Row& row, const GroupFacts& facts);
  void check_size(const Row& row, const GroupFacts& facts, std::size_t npus);
  [[nodiscard]] const GroupFacts& group_facts(const Row& row, const TopologyValue& topology);
  [[nodiscard]] static GroupFacts read_groups(const SettingValue* value, const SettingValue& topology,
                                              std::size_t npus);
  void fail(const SettingValue& at, std::string problem, std::string why, std::string remedy, const std::string& keep,
            std::int64_t hardness = 0);

  const Vocabulary& vocabulary_;
  Contradictions& contradictions_;
  TrainingAsker asker_;
  bool varies_ = false;
  std::map<std::pair<const SettingValue*, const SettingValue*>, GroupFacts> groups_;     // (groups, topology)
  std::map<std::pair<const SettingValue*, const SettingValue*>, Diagnostics> removals_;  // (without, topology)
  std::map<std::pair<const SettingValue*, const SettingValue*>, Diagnostics> slow_;      // (stragglers, topology)
  std::map<std::array<const SettingValue*, 3>, Diagnostics> faulty_;                     // (faults, without, topology)
};

}  // namespace tenex
