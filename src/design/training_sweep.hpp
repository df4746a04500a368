// What the keys of one sweep (or of one point from a command line) say of training, as far as no row is needed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "design/sweep.hpp"

namespace tenex {

/// Where the keys stand that the sweep gives itself, not [defaults].
using GivenPlaces = PerKey<std::optional<Place>>;

/// Checks which keys go together, and gives a sweep that trains tenex's own prices where it names none. Refused: keys
/// of collectives beside a workload, training keys without one, a workload without hp, and keys that no row of the
/// sweep can read (`contention` where nothing is synthesized, `split` where a scheme chooses), because who writes them
/// expects something of them. `sweep.usable` is false after an error. O(keys and values of axes).
void check_training_sweep(Sweep& sweep, const GivenPlaces& given, ValueContext& context, Diagnostics& errors);

}  // namespace tenex
