// Setting: everything that tenex knows of a study key, in one entry.
//
// Studies, the command line, canonical texts, result columns, the reference page and `tenex schema` read these entries
// and nothing else. A new key is one value of Key and one entry in src/design/settings.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

class Node;
struct PointDraft;
struct PointView;
struct SettingValue;
struct ValueContext;
struct Vocabulary;

/// The keys of a design point, in the frozen order of their result columns; `seed` last.
enum class Key : std::uint8_t {
  topology,
  alpha,
  bandwidth,
  npu_bandwidth,
  unwind,
  without,
  collective,
  size,
  chunks,
  groups,
  root,
  algorithm,
  occupancy,
  overlap,
  backend,
  attempts,
  engine,
  window,
  order,
  stragglers,
  simulation_engine,
  workload,
  hp,
  compute,
  training_loop,
  batch_rule,
  collective_time,
  contention,
  in_network,
  scheme,
  optimize_with,
  optimize_for,
  total_bandwidth,
  split,
  constraints,
  cost_budget,
  cost_model,
  price_level,
  dimension_kinds,
  seed,
};
inline constexpr std::size_t kKeyCount = static_cast<std::size_t>(Key::seed) + 1;

/// One slot per key.
template <class T>
using PerKey = std::array<T, kKeyCount>;
[[nodiscard]] constexpr std::size_t index_of(Key key) { return static_cast<std::size_t>(key); }

/// What the values of a key count. Ranges such as { from = "1KiB", to = "1GiB", factor = 32 } exist where they count
/// something.
enum class Counts : std::uint8_t { nothing, numbers, bytes, time, bandwidth };

/// How a value is written in TOML.
enum class Written : std::uint8_t { string, integer, boolean, pairs, texts };

/// How a key is stored with the results.
struct SettingColumn {
  /// Quantities are numbers; a list has one whole number per dimension of the topology.
  enum class Kind : std::uint8_t { none, text, integer, real, list };
  Kind kind = Kind::none;        ///< none: no column of its own
  std::string_view units = {};   ///< "", "B", "ps", "B/s", "FLOP/s", "USD"
  bool word_taken = false;       ///< a metric or an HDF5 group has the key's name: the column's ends in _setting
  std::string_view former = {};  ///< the name in schema 1 of results, where that was another
  std::string_view name = {};    ///< follows from the key's, see settings()
  bool training = false;         ///< only points that train have it: a study without any has no such column
  bool has_default = false;  ///< files that are older than the key have no such column: their points have its default

  /// This column where a metric or an HDF5 group has the key's name.
  [[nodiscard]] constexpr SettingColumn beside_metric(std::string_view former_name) const {
    SettingColumn column = *this;
    column.word_taken = true;
    column.former = former_name;
    return column;
  }
};

/// What a column has of a point: absent texts are "", whole numbers -1, reals NaN, lists empty.
using SettingCell = std::variant<std::string, std::int64_t, double, std::vector<std::int64_t>>;
[[nodiscard]] SettingCell absent_cell(SettingColumn::Kind kind);
/// What the rows of a file without the column have in it; nullopt where every file must have it.
[[nodiscard]] std::optional<SettingCell> cell_without(const SettingColumn& column);
/// As a word, of a list the numbers with "," between them.
[[nodiscard]] std::string cell_text(const SettingCell& cell);

/// Which points read a key at all.
enum class ReadBy : std::uint8_t { all, collectives, training };

/// One key.
struct Setting {
  Key key;
  std::string_view name;             ///< in studies, options, columns and messages
  std::string_view first_name = {};  ///< frozen, in canonical texts: where the name has changed since; empty: the name
  std::string_view alias = {};       ///< another name in studies and options
  std::string_view help;             ///< one line, without a full stop
  std::string_view example;          ///< a value as TOML has it
  Written written = Written::string;
  Counts counts = Counts::nothing;
  std::int64_t least = 0;  ///< of whole numbers
  std::int64_t most = 0;
  std::span<const std::string_view> words = {};  ///< all that may be said, where that is a fixed list
  std::vector<std::string_view> (*known)(const Vocabulary&) = nullptr;  ///< likewise, where registries hold the list
  std::optional<std::string_view> fallback = {};  ///< the frozen default, as TOML's text; absent: there is none
  std::string_view absent = {};                   ///< without a fallback: "required", and for what
  ReadBy read_by = ReadBy::all;
  std::string_view reason = {};  ///< read_by: what training keys are about; why the others do not go with a workload
  SettingColumn column = {};
  /// The links of a collective's topology follow from it too, beyond the shape or machine, its links, unwinding and
  /// removed pairs: points that differ in it have topologies of their own.
  bool of_links = false;

  // How values reach a point; for this module alone.
  Result<SettingValue> (*parse)(const Setting&, std::string_view name, const Node&, ValueContext&) = nullptr;
  void (*set)(const PointDraft&, const SettingValue&) = nullptr;  ///< null: the row's own checks set it
  void (*reset)(const PointDraft&) = nullptr;                     ///< back to the default; null: it always matters
  bool (*matters)(const PointView&) = nullptr;                    ///< whether the result can depend on it; null: it can
  std::string (*canonical)(const PointView&) = nullptr;           ///< in the canonical text; empty: left out
  std::string (*text)(const PointView&) = nullptr;                ///< in a column of texts; of lists in their messages
  std::int64_t (*integer)(const PointView&) = nullptr;            ///< in a column of integers
  double (*real)(const PointView&) = nullptr;                     ///< in a column of reals
  std::vector<std::int64_t> (*list)(const PointView&) = nullptr;  ///< in a column of lists
};

/// The name in canonical texts, frozen once and for all. So are the words that entries print there: another spelling
/// of a value is another word that is parsed, never another one that is printed.
[[nodiscard]] constexpr std::string_view frozen_name(const Setting& setting) {
  return setting.first_name.empty() ? setting.name : setting.first_name;
}

/// By key, in the order of Key.
[[nodiscard]] const std::vector<Setting>& settings();
[[nodiscard]] const Setting& setting_of(Key key);
/// By name or alias; null where there is none.
[[nodiscard]] const Setting* find_setting(std::string_view name);

}  // namespace tenex
