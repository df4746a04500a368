// A study's text as data: fixed values, axes and conditions. This is parsing only; enumerate.hpp enumerates the rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "design/setting_value.hpp"
#include "tenex/design/sampler.hpp"
#include "tenex/spec/expression.hpp"

namespace tenex {

// The values of an axis: an array, or a range { from, to, factor | step } that includes both ends.

/// The values of one key of an axis in order. A wrong element is null, so that the others keep their rows.
using AxisColumn = std::vector<SharedValue>;

/// Reads the axis of a key; messages call it `name` ("axes.size"). Every mistake goes to `errors`; the column is empty
/// if the axis as a whole cannot be read. O(values).
[[nodiscard]] AxisColumn read_axis(Key key, const std::string& name, const Node& node, ValueContext& context,
                                   Diagnostics& errors);

/// Whether a node is written as an axis: an array or a range table.
[[nodiscard]] inline bool is_axis(const Node& node) { return node.is(NodeKind::array) || node.is(NodeKind::table); }

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

/// Calls `visit` with every value of a key in the sweep, from the sweep itself, [defaults] or an axis. Values are null
/// after a mistake.
template <class Visit>
void for_each_value(const Sweep& sweep, Key key, const Visit& visit) {
  if (const SharedValue& fixed = sweep.fixed[index_of(key)]) visit(fixed);
  for (const Axis& axis : sweep.axes)
    for (std::size_t k = 0; k < axis.keys.size(); ++k)
      if (axis.keys[k] == key) std::ranges::for_each(axis.columns[k], visit);
}

/// Whether sizes may stand in the groups or in the conditions alone.
[[nodiscard]] bool may_lack_size(const Sweep& sweep);

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

/// Replaces every value of `faults` that stands for each NIC, leaf, ... of the network by one value for each of them,
/// and makes an axis of `faults` where it was none: the fastest. Errors (input): topologies of the sweep that have
/// different numbers of the element, or none. O(links of the topologies, values).
void spread_elements(Sweep& sweep, Diagnostics& errors);

// Checks the training keys of one sweep (or of one point from a command line) as far as no row is needed.

/// Places of the keys that the sweep gives itself, not [defaults].
using GivenPlaces = PerKey<std::optional<Place>>;

/// Checks which keys go together, and gives a sweep that trains the built-in prices if it names none. Refused: keys of
/// collectives beside a workload, training keys without one, a workload without hp, and keys that no row of the sweep
/// can read (`contention` where nothing is synthesized, `split` where a scheme chooses), because a user who writes them
/// expects an effect. `sweep.usable` is false after an error. O(keys and values of axes).
void check_training_sweep(Sweep& sweep, const GivenPlaces& given, ValueContext& context, Diagnostics& errors);

/// A warning if the sweep has parallelizations of equally many NPUs whose iterations process different numbers of
/// sequences, because every replica takes the workload's own batch and the sweep does not say so. None where a
/// condition chooses parallelizations. O(values of axes).
[[nodiscard]] std::optional<std::string> warn_of_batches(const Sweep& sweep);

/// A warning if switches of several tiers cut through in the sweep, and do nothing else in it. O(values of axes).
[[nodiscard]] std::optional<std::string> warn_of_held_links(const Sweep& sweep);

}  // namespace tenex
