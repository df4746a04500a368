// How a Program is run: what a study chooses of algorithms and simulators, whatever their registries hold.
#pragma once

#include <cstdint>
#include <string_view>

namespace tenex {

/// What links do while a message takes them.
enum class Backend : std::uint8_t { congestion_aware, congestion_unaware };
/// "congestion_aware", "congestion_unaware".
[[nodiscard]] std::string_view to_string(Backend backend);

/// How a congestion-aware simulation is computed; never what comes out.
enum class SimulationEngine : std::uint8_t {
  automatic,
  window,        ///< any program: one event per hop, in windows of the least hop time
  static_order,  ///< cycles on routes that share no link: recurrences over arrays
  trains,        ///< open loops where the order on each link is known: FIFOs drained whole
  orbit,         ///< programs that move with a translation group: one NPU stands for all
};
/// "auto", "window", "static_order", "trains", "orbit".
[[nodiscard]] std::string_view to_string(SimulationEngine engine);

/// In which order an NPU that addresses many peers takes them.
enum class DestinationOrder : std::uint8_t {
  relative,  ///< by offset from itself, so that symmetric NPUs behave alike
  absolute,  ///< by id, the same for all
};
/// "relative", "absolute".
[[nodiscard]] std::string_view to_string(DestinationOrder order);

}  // namespace tenex
