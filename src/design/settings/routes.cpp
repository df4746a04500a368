// How messages choose among equal routes over switches (tenex/topology/routes.hpp).
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "design/settings/entry.hpp"
#include "tenex/base/decimal.hpp"
#include "tenex/base/units.hpp"
#include "tenex/topology/block.hpp"

namespace tenex {
namespace {

using namespace entry;  // NOLINT: this file is an entry

constexpr auto route_choice = [](auto& point) -> auto& { return point.collective.routes; };

constexpr std::uint32_t kMostRouteDraws = 1'000'000;
/// The rules as they are written, without a draw: `hashed` alone is its first one.
constexpr std::array<std::pair<std::string_view, RouteChoice>, 4> kRules{{
    {"per_destination", {RouteRule::per_destination}},
    {"single", {RouteRule::single}},
    {"hashed", {RouteRule::hashed, 1}},
    {"sprayed", {RouteRule::sprayed}},
}};

/// The rule of routes, and the draws of a range.
struct RouteValues {
  RouteChoice first;
  std::uint32_t last_draw = 0;
};

Result<RouteValues> read_routes(const Node& node) {
  const std::string_view text = node.text();
  const auto refuse = [&](std::string problem, std::string_view why) {
    return input_error(node.text_place(), std::move(problem), std::string(why),
                       "write per_destination, single, sprayed, or for instance \"hashed draw 1..3\"");
  };
  constexpr std::string_view kDraw = " draw ";
  const auto at = text.find(kDraw);
  const std::string_view rule = text.substr(0, at);
  const auto known = std::ranges::find(kRules, rule, &std::pair<std::string_view, RouteChoice>::first);
  if (known == kRules.end())
    return refuse(fmt::format("\"routes\" is \"{}\"", shortened(std::string(text))),
                  "it says how messages choose among equal routes");
  RouteValues values{known->second, known->second.draw};
  if (at == std::string_view::npos) return values;
  if (values.first.rule != RouteRule::hashed)
    return refuse(fmt::format("{} routes have no draws", rule), "only a hash is drawn");
  const auto range = text.substr(at + kDraw.size());
  const auto dots = range.find("..");
  const auto first = read_number<std::uint32_t>(range.substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : read_number<std::uint32_t>(range.substr(dots + 2));
  if (!first || !last || *first == 0 || *last < *first || *last - *first >= kMostRouteDraws)
    return refuse(fmt::format("\"{}\" is no draw", shortened(std::string(range))),
                  "draws are numbered from 1, and a range is written first..last");
  values.first.draw = *first;
  values.last_draw = *last;
  return values;
}

SettingValue route_value(const Node& node, RouteChoice choice) {
  SettingValue value = value_at(node);
  value.text = to_string(choice);
  value.expression = value.text;
  value.data = choice;
  return value;
}

Result<SettingValue> parse_routes(const Setting&, std::string_view, const Node& node, ValueContext&) {
  const auto values = read_routes(node);
  if (!values) return values.errors();
  if (values->last_draw > values->first.draw)
    return input_error(node.text_place(), "a range of draws is several values", "one value belongs here",
                       "write axes.routes = [...] for an axis, or one draw");
  return route_value(node, values->first);
}

/// One value for each draw of a range.
Result<std::vector<SettingValue>> parse_route_item(const Node& node) {
  const auto read = read_routes(node);
  if (!read) return read.errors();
  std::vector<SettingValue> values;
  for (RouteChoice each = read->first; each.draw <= read->last_draw; ++each.draw)
    values.push_back(route_value(node, each));
  return values;
}

/// Whether several routes may have the fewest links, and paths over switches are not links themselves.
bool has_equal_routes(const PointView& view) {
  const TopologyChoice& network = view.point.topology;
  const bool switched =
      !network.shape.is_product() || !network.machine_file.empty() ||
      std::ranges::any_of(network.shape.blocks, [](const Block& block) { return block.rule->through_switch; });
  const bool intact =
      network.machine_file.empty() && network.shape.is_product() && network.without.empty() && network.faults.empty() &&
      std::ranges::all_of(network.shape.blocks, [](const Block& block) { return block.levels.empty(); });
  // Over cut-through switches messages take the first wire of their pair, and pieces take all of them.
  const bool chooses =
      network.switches.forwarding != SwitchForwarding::cut_through || view.collective.routes.rule == RouteRule::sprayed;
  return is_textbook(view) && view.point.reads.switches && switched && !intact && chooses && network.unwind == 0;
}
}  // namespace

Setting routes_setting() {
  return {
      .key = Key::routes,
      .name = "routes",
      .help =
          "how messages of textbook algorithms choose among equal routes over switches: per_destination (the routes "
          "that a machine file gives; elsewhere all equal paths carry destinations in turn), single (the lowest link), "
          "`hashed draw D` (by source, "
          "destination and draw; on an axis `hashed draw 1..3` is 3 values) or sprayed (a message is cut into as "
          "many pieces as there are equal routes, at most 64)",
      .example = "\"hashed draw 2\"",
      .fallback = "per_destination",
      .read_by = ReadBy::collectives,
      .reason = kSaidByCollectiveTime,
      .column = text_column(),
      .changes = Changes::simulation,
      .parse = parse_routes,
      .parse_item = parse_route_item,
      .set = set<route_choice>,
      .reset = reset<route_choice>,
      .matters = has_equal_routes,
      .canonical = unless_default<route_choice>,
      .text = text_if<route_choice, runs_collective>};
}

}  // namespace tenex
