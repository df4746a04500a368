// Checks the training keys of one sweep (or of one point from a command line) as far as no row is needed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "design/sweep.hpp"

namespace tenex {

/// Places of the keys that the sweep gives itself, not [defaults].
using GivenPlaces = PerKey<std::optional<Place>>;

/// Checks which keys go together, and gives a sweep that trains the built-in prices if it names none. Refused: keys of
/// collectives beside a workload, training keys without one, a workload without hp, and keys that no row of the sweep
/// can read (`contention` where nothing is synthesized, `split` where a scheme chooses), because a user who writes them
/// expects an effect. `sweep.usable` is false after an error. O(keys and values of axes).
void check_training_sweep(Sweep& sweep, const GivenPlaces& given, ValueContext& context, Diagnostics& errors);

}  // namespace tenex
