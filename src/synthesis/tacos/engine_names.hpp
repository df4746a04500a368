// The names of TACOS's engines in studies.
#pragma once

#include <string_view>

namespace tenex::tacos_engine {

inline constexpr std::string_view event_driven = "event_driven";  ///< any topology, event by event
/// A table of steps, chunk by chunk: links of one class, or one step length per dimension.
inline constexpr std::string_view exact = "exact";
inline constexpr std::string_view coarse =
    "coarse";  ///< blocks of NPUs as units, expanded: fast, a little above the bound
inline constexpr std::string_view symmetric = "symmetric";  ///< one NPU's schedule, translated to all others: O(n)

}  // namespace tenex::tacos_engine
