// The keys of a design point: their names, and the names that later versions will know.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// In the order of the result columns; `seed` last.
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
inline constexpr std::size_t kKeyCount = 40;

/// One slot per key.
template <class T>
using PerKey = std::array<T, kKeyCount>;
[[nodiscard]] constexpr std::size_t index_of(Key key) { return static_cast<std::size_t>(key); }

[[nodiscard]] std::string_view name_of(Key key);
/// Whether only points that train read the key: workload to dimension_kinds.
[[nodiscard]] constexpr bool is_training(Key key) { return key >= Key::workload && key <= Key::dimension_kinds; }
/// Why the key does not go with a workload: of collective, size, groups, root, overlap, backend, window, order,
/// stragglers, without, simulation_engine. Empty for the others.
[[nodiscard]] std::string_view why_not_training(Key key);
/// What a training key is about: "it says how a workload is parallelized". Empty for the others.
[[nodiscard]] std::string_view training_purpose(Key key);
/// By name, or by the alias `synthesizer` of `algorithm`.
[[nodiscard]] std::optional<Key> find_key(std::string_view name);
/// All names and the alias.
[[nodiscard]] const std::vector<std::string_view>& key_names();

/// A word that a later version will know: refused by name, so that no study silently means less than it says.
struct LaterWord {
  std::string_view name;
  std::string_view purpose;  ///< "it draws link failures"
};
/// null when there is none of that name.
[[nodiscard]] const LaterWord* find_later_key(std::string_view name);
[[nodiscard]] const LaterWord* find_later_collective(std::string_view name);
[[nodiscard]] const LaterWord* find_later_algorithm(std::string_view name);

/// What to say of a key that this version does not take in a table whose keys are `known`.
[[nodiscard]] Diagnostic refuse_key(const Place& place, std::string_view name, std::string_view table,
                                    const std::vector<std::string_view>& known);

/// "a, b, c".
[[nodiscard]] std::string join(const std::vector<std::string_view>& words);
/// `did you mean "x"?`, or nothing.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& candidates);

}  // namespace tenex
