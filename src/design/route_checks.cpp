// The check of the key `routes`: rules that have no effect over switches that cut through.
#include <algorithm>

#include <fmt/core.h>

#include "design/row_checks.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/routes.hpp"

namespace tenex {

/// Over switches that cut through a message takes the first wire of its pair, so that a rule which chooses another
/// route would be ignored. (Pieces of sprayed messages take all wires.) Where pairs have one route whatever the rule,
/// nothing is ignored.
void RowChecker::check_routes(const Row& row, const TopologyValue& topology) {
  const SettingValue* routes = row[index_of(Key::routes)];
  if (routes == nullptr || topology.switches == 0) return;
  const RouteRule rule = routes->as<RouteChoice>().rule;
  const auto* traits = find_traits(vocabulary_, row[index_of(Key::algorithm)]->text);
  const bool simulated =
      traits != nullptr && traits->reads.switches &&
      (traits->family == AlgorithmFamily::textbook || traits->family == AlgorithmFamily::any_textbook);
  if ((rule != RouteRule::single && rule != RouteRule::hashed) || !simulated) return;
  const SettingValue* given = row[index_of(Key::forwarding)];
  const auto forwarding = given == nullptr ? SwitchForwarding::as_built : given->as<SwitchForwarding>();
  const bool as_built = forwarding == SwitchForwarding::as_built && topology.cuts_through;
  if (forwarding != SwitchForwarding::cut_through && !as_built) return;
  const Shape& shape = topology.choice.shape;
  const bool intact = !topology.is_machine() && shape.is_product() && row[index_of(Key::without)] == nullptr &&
                      row[index_of(Key::faults)] == nullptr &&
                      std::ranges::all_of(shape.blocks, [](const Block& block) { return block.levels.empty(); });
  if (intact) return;
  fail(*routes, fmt::format("routes = \"{}\" where switches cut through", to_string(routes->as<RouteChoice>())),
       "each pair of NPUs has paths of its own there, spread over all, and a message takes the first",
       "write forwarding = \"store_and_forward\", or another rule: per_destination or sprayed",
       as_built ? fmt::format("routes = per_destination or topology != '{}'", topology.choice.text)
                : std::string("routes = per_destination or forwarding != cut_through"));
}

}  // namespace tenex
