// Setting: all facts about a study key, in one entry.
//
// Studies, the command line, canonical texts, result columns, the reference page and `tenex schema` use only these
// entries. A new key is one value of Key and one entry in src/design/settings.
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
  bounds,
  matrix,
  conditions,
  relays,
  improve,
  forwarding,
  switch_copy,
  switch_reduce,
  switch_buffer,
  faults,
  good_enough,
  formulation,
  epoch,
  solver_nodes,
  solver_time_limit,
  priorities,
  routes,
  radix,
  piece,
  overhead,
  link_protocol,
  workload,
  hp,
  compute,
  training_loop,
  batch_rule,
  global_batch,
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
  microbatches,
  pipeline_schedule,
  virtual_stages,
  pipeline_timing,
  zero_stage,
  recomputation,
  sequence_parallelism,
  flash_attention,
  hp_order,
  npu_memory,
  seed,
};
inline constexpr std::size_t kKeyCount = static_cast<std::size_t>(Key::seed) + 1;

/// One slot per key.
template <class T>
using PerKey = std::array<T, kKeyCount>;
[[nodiscard]] constexpr std::size_t index_of(Key key) { return static_cast<std::size_t>(key); }

/// The unit of a key's values. Keys with a unit may have ranges such as { from = "1KiB", to = "1GiB", factor = 32 }.
enum class Counts : std::uint8_t { nothing, numbers, bytes, time, bandwidth };

/// How a value is written in TOML.
enum class Written : std::uint8_t { string, integer, boolean, pairs, texts };

/// The result column of a key.
struct SettingColumn {
  /// Quantities are numbers; a list has one integer per dimension or level of the topology.
  enum class Kind : std::uint8_t { none, text, integer, real, list };
  Kind kind = Kind::none;       ///< none: the key has no column
  std::string_view units = {};  ///< "", "B", "ps", "B/s", "FLOP/s", "USD"
  bool word_taken = false;      ///< a metric or an HDF5 group has the key's name, so the column's name ends in _setting
  std::string_view former = {};  ///< the name in schema 1 of results, if that was different
  std::string_view name = {};    ///< set by settings() from the key's name
  bool training = false;         ///< only training points have it; a study without any lacks the column
  bool has_default = false;      ///< files older than the key lack the column: their points have the default

  /// This column if a metric or an HDF5 group has the key's name.
  [[nodiscard]] constexpr SettingColumn beside_metric(std::string_view former_name) const {
    SettingColumn column = *this;
    column.word_taken = true;
    column.former = former_name;
    return column;
  }
};

/// The value of a point in a column. Absent texts are "", integers -1, reals NaN, lists empty.
using SettingCell = std::variant<std::string, std::int64_t, double, std::vector<std::int64_t>>;
[[nodiscard]] SettingCell absent_cell(SettingColumn::Kind kind);
/// The value for the rows of a file that lacks the column; nullopt if every file must have it.
[[nodiscard]] std::optional<SettingCell> cell_without(const SettingColumn& column);
/// Whether a cell_text() is the key's default: the word for it, or what it means for a shape.
[[nodiscard]] bool is_default_text(const SettingColumn& column, std::string_view text);
/// The value as text; the numbers of a list joined by ",".
[[nodiscard]] std::string cell_text(const SettingCell& cell);

/// The points that read a key.
enum class ReadBy : std::uint8_t { all, collectives, training };

/// What a key changes of a point. Caches are keyed by the keys that change what they hold (cache_key()), so a key that
/// states this is in every cache key where it matters.
enum class Changes : std::uint16_t {
  network = 1U << 0,     ///< which links join whom, what switches can do, what has failed, is slow or starts late
  latency = 1U << 1,     ///< alpha of links
  bandwidth = 1U << 2,   ///< bandwidth of links, also by the schemes and prices that choose it
  collective = 1U << 3,  ///< who has to have what in the end
  chunks = 1U << 4,      ///< in how many chunks
  size = 1U << 5,        ///< of how many bytes
  synthesis = 1U << 6,   ///< the schedule that a synthesizer makes
  simulation = 1U << 7,  ///< the program of an algorithm, and how it is timed
  bound = 1U << 8,       ///< the lower bound beside the time, for the same network and collective
  training = 1U << 9,    ///< what an iteration computes and communicates
  cost = 1U << 10,       ///< the price of the network
  draws = 1U << 11,      ///< random choices
};
[[nodiscard]] constexpr Changes operator|(Changes a, Changes b) {
  return static_cast<Changes>(static_cast<std::uint16_t>(a) | static_cast<std::uint16_t>(b));
}
/// Whether the two have something in common.
[[nodiscard]] constexpr bool meet(Changes a, Changes b) {
  return (static_cast<std::uint16_t>(a) & static_cast<std::uint16_t>(b)) != 0;
}

/// One key.
struct Setting {
  Key key;
  std::string_view name;             ///< in studies, options, columns and messages
  std::string_view first_name = {};  ///< in canonical texts, frozen, if the name has changed since; empty: the name
  std::string_view alias = {};       ///< another name in studies and options
  std::string_view help;             ///< one line, without a full stop
  std::string_view example;          ///< a value as TOML has it
  Written written = Written::string;
  Counts counts = Counts::nothing;
  std::int64_t least = 0;  ///< for integers
  std::int64_t most = 0;
  std::span<const std::string_view> words = {};                         ///< all values, if that is a fixed list
  std::vector<std::string_view> (*known)(const Vocabulary&) = nullptr;  ///< all values, if registries hold the list
  std::optional<std::string_view> fallback = {};  ///< the frozen default, as TOML text; absent: none
  std::string_view absent = {};                   ///< without a fallback: "required", and by which points
  ReadBy read_by = ReadBy::all;
  std::string_view reason =
      {};  ///< by read_by: the subject of a training key; why another key does not go with a workload
  SettingColumn column = {};
  Changes changes{};  ///< all that depends on the key; none is an error

  // How values reach a point; only for this module.
  Result<SettingValue> (*parse)(const Setting&, std::string_view name, const Node&, ValueContext&) = nullptr;
  /// The values that an item of an axis stands for; null: one, as `parse` reads it.
  Result<std::vector<SettingValue>> (*parse_item)(const Node&) = nullptr;
  void (*set)(const PointDraft&, const SettingValue&) = nullptr;  ///< null: the row's own checks set it
  void (*reset)(const PointDraft&) = nullptr;                     ///< sets the default; null: the key always matters
  bool (*matters)(const PointView&) = nullptr;           ///< whether the result can depend on the key; null: always
  std::string (*canonical)(const PointView&) = nullptr;  ///< value in the canonical text; empty: left out
  std::string (*in_caches)(const PointView&) = nullptr;  ///< value in settings_text(); null: as `canonical`
  std::string (*text)(const PointView&) = nullptr;       ///< value in a column of texts; for lists in messages
  std::int64_t (*integer)(const PointView&) = nullptr;   ///< value in a column of integers
  double (*real)(const PointView&) = nullptr;            ///< value in a column of reals
  std::vector<std::int64_t> (*list)(const PointView&) = nullptr;  ///< value in a column of lists
};

/// The name in canonical texts, which is frozen. The words that entries print there are frozen too: a new spelling of a
/// value may be parsed, but is never printed.
[[nodiscard]] constexpr std::string_view frozen_name(const Setting& setting) {
  return setting.first_name.empty() ? setting.name : setting.first_name;
}

/// All settings, in the order of Key.
[[nodiscard]] const std::vector<Setting>& settings();
[[nodiscard]] const Setting& setting_of(Key key);
/// The setting with this name or alias; null if there is none.
[[nodiscard]] const Setting* find_setting(std::string_view name);

}  // namespace tenex
