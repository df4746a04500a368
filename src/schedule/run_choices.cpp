// The words for the choices that a study makes about running programs.
#include "tenex/schedule/run_choices.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

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

std::string_view to_string(Formulation formulation) {
  switch (formulation) {
    case Formulation::automatic:
      break;
    case Formulation::lp:
      return "lp";
    case Formulation::milp:
      return "milp";
    case Formulation::a_star:
      return "a_star";
    case Formulation::unbuffered:
      return "unbuffered";
  }
  return "auto";
}

std::string to_string(const EpochChoice& epoch) {
  if (epoch.by == EpochChoice::By::length) return fmt::format("{}", epoch.length.count());
  const std::string_view link = epoch.by == EpochChoice::By::fastest ? "fastest" : "slowest";
  return epoch.factor == 1 ? std::string(link) : fmt::format("{} x{}", link, epoch.factor);
}

std::string to_string(const Priorities& priorities) {
  return priorities.weights.empty() ? "none" : fmt::format("{}", fmt::join(priorities.weights, ","));
}

std::string to_string(const SolverChoice& choice) {
  return fmt::format("{} {} n{} l{} p{}", to_string(choice.formulation), to_string(choice.epoch), choice.nodes,
                     choice.time_limit.count(), to_string(choice.priorities));
}

bool GoodEnough::reached(SimTime time, SimTime bound) const {
  __extension__ using Wide = __int128;
  return static_cast<Wide>(bound.count()) * kWhole >= static_cast<Wide>(time.count()) * thousandths;
}

std::string to_string(const GoodEnough& share) {
  constexpr std::int64_t whole = GoodEnough::kWhole / 100;
  auto text = fmt::format("{}.{:03}", share.thousandths / whole, share.thousandths % whole);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text + '%';
}

}  // namespace tenex
