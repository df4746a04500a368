// The words for the choices that a study makes about running programs.
#include "tenex/schedule/run_choices.hpp"

namespace tenex {

std::string_view to_string(Backend backend) {
  return backend == Backend::congestion_aware ? "congestion_aware" : "congestion_unaware";
}

std::string_view to_string(SimulationEngine engine) {
  switch (engine) {
    case SimulationEngine::automatic:
      return "auto";
    case SimulationEngine::window:
      return "window";
    case SimulationEngine::static_order:
      return "static_order";
    case SimulationEngine::trains:
      return "trains";
    case SimulationEngine::orbit:
      return "orbit";
    case SimulationEngine::wires:
      return "wires";
  }
  return "auto";
}

std::string_view to_string(DestinationOrder order) {
  return order == DestinationOrder::relative ? "relative" : "absolute";
}

std::string_view to_string(Relays relays) { return relays == Relays::any ? "any" : "members"; }

std::string_view to_string(Improvement improvement) {
  switch (improvement) {
    case Improvement::none:
      return "none";
    case Improvement::retime:
      return "retime";
    case Improvement::reroute:
      return "reroute";
    case Improvement::all:
      break;
  }
  return "all";
}

}  // namespace tenex
