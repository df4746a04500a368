// A study's text as data: fixed values, axes and conditions. This is parsing only; enumerate.hpp enumerates the rows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "design/axis.hpp"
#include "tenex/design/sampler.hpp"
#include "tenex/spec/expression.hpp"

namespace tenex {

/// Keys that advance together: one key of `axes`, or all keys of `zip`.
struct Axis {
  std::vector<Key> keys;
  std::vector<AxisColumn> columns;  ///< one per key, of equal length
  [[nodiscard]] std::size_t length() const { return columns.front().size(); }
};

/// One [[sweep]] with the defaults merged in.
struct Sweep {
  std::string name;   ///< for messages: `sweep "training"`, or `sweep 2`
  std::string title;  ///< the name as written, or the number: `training`, or `2`
  Place place;
  PerKey<SharedValue> fixed;                        ///< null: not given, or on an axis
  std::vector<Axis> axes;                           ///< in the order of variation, the slowest first
  std::optional<std::vector<std::uint64_t>> drawn;  ///< numbers of the rows that a sampler drew; absent: all rows
  std::vector<Expression> keep;
  Place keep_place;
  bool trains = false;  ///< its rows train a workload
  bool usable = true;   ///< false: a mistake makes its rows meaningless, so they are not enumerated
};

/// Values for every sweep that does not give its own: [defaults] and the study's seed.
struct Defaults {
  PerKey<SharedValue> fixed;
  PerKey<std::optional<Place>> given;  ///< place of the key, also if its value is wrong
  std::optional<Axis> seed;            ///< the study's list of seeds
};

/// Names that expressions may use: the keys and `npus`.
[[nodiscard]] const std::vector<std::string_view>& expression_names();

/// Reads one key of [defaults] or the study's own `seed` into `defaults`.
void read_default(const Entry& entry, Defaults& defaults, ValueContext& context, Diagnostics& errors);
/// Reads [defaults].
void read_defaults(const Node& node, Defaults& defaults, ValueContext& context, Diagnostics& errors);
/// Reads the `number`-th [[sweep]] (from 1) and merges the defaults in.
[[nodiscard]] Sweep read_sweep(const Node& node, std::size_t number, const Defaults& defaults, ValueContext& context,
                               Diagnostics& errors);
/// Parses a condition and checks its names; nullopt after an error.
[[nodiscard]] std::optional<Expression> read_condition(const Node& node, std::string_view name, Diagnostics& errors);

}  // namespace tenex
