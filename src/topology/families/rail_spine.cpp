// rail_spine(g,n,s): n boxes of g NPUs with a switch per box, a rail switch per local rank, and s spine switches, each
// joined with every rail switch. multi_rail(g,n) = SW(g)_SW(n) is the same without spines.
//
// NPU u is the local rank u mod g of box u / g, on box switch u / g and on rail switch u mod g. Switches are numbered
// boxes, rails, spines. A permutation of the boxes or of the ranks is a symmetry: all NPUs are alike.
#include "topology/families/family.hpp"

namespace tenex {

namespace {

void add_rail_spine_links(FamilyArguments arguments, std::span<const LinkClass> links, TopologyBuilder& builder) {
  const std::size_t per_box = arguments[0];
  const std::size_t boxes = arguments[1];
  const std::size_t spines = arguments[2];
  const std::size_t npus = per_box * boxes;
  const std::size_t first_rail = npus + boxes;
  const std::size_t first_spine = first_rail + per_box;
  for (std::size_t i = 0; i < boxes + per_box + spines; ++i) builder.add_switch();
  for (std::size_t npu = 0; npu < npus; ++npu) add_family_pair(builder, links[0], npu, npus + npu / per_box);
  for (std::size_t npu = 0; npu < npus; ++npu) add_family_pair(builder, links[1], npu, first_rail + npu % per_box);
  for (std::size_t rail = 0; rail < per_box; ++rail)
    for (std::size_t spine = 0; spine < spines; ++spine)
      add_family_pair(builder, links[2], first_rail + rail, first_spine + spine);
}

/// Two hops within a box or on a rail; four else, over a box and a rail or over a spine.
FamilyHops rail_spine_hops(FamilyArguments arguments) {
  const double per_box = arguments[0];
  const double boxes = arguments[1];
  return {2 * (1 - 1 / per_box) + 2 * (1 - 1 / boxes), 2 + (boxes > 1 && per_box > 1 ? 2 / per_box : 0)};
}

/// Within the box over its switch; else over the own rail, and from there over any spine to another rail.
EqualLinks rail_spine_next_links(FamilyArguments arguments, std::size_t at, std::size_t to) {
  const std::size_t per_box = arguments[0];
  const std::size_t boxes = arguments[1];
  const std::uint32_t spines = arguments[2];
  const std::size_t npus = per_box * boxes;
  const auto to_spine = [&](std::size_t rail, std::size_t spine) { return 2 * (2 * npus + rail * spines + spine); };
  if (at < npus) return {at / per_box == to / per_box ? 2 * at : 2 * (npus + at)};
  if (at < npus + boxes) return {2 * ((at - npus) * per_box + to % per_box) + 1};  // a box: the NPU on the rail
  if (at >= npus + boxes + per_box) return {to_spine(to % per_box, at - npus - boxes - per_box) + 1};
  const std::size_t rail = at - npus - boxes;
  if (rail == to % per_box) return {2 * (npus + to) + 1};
  return {to_spine(rail, 0), spines, 1};
}

constexpr std::string_view kRailSpineLevels[] = {"NPU-box", "NPU-rail", "rail-spine"};

}  // namespace

constinit const FamilyRule kRailSpineFamily{
    .name = "rail_spine",
    .usage = "rail_spine(g,n,s)",
    .description = "n boxes SW(g), a rail switch per local rank, all rails joined with s spines",
    .arguments = 3,
    .npus = [](FamilyArguments a) { return std::uint64_t{a[0]} * a[1]; },
    .switches = [](FamilyArguments a) { return std::uint64_t{a[1]} + a[0] + a[2]; },
    .domains =
        [](FamilyArguments a) {
          return std::vector{std::uint64_t{a[0]}, std::uint64_t{a[0]} * a[1]};
        },
    .levels =
        [](FamilyArguments a) {
          const FamilyLevel of_npus{2 * std::uint64_t{a[0]} * a[1], 1};
          return std::vector<FamilyLevel>{of_npus, of_npus, {2 * std::uint64_t{a[0]} * a[2], 1}};
        },
    .level_names = kRailSpineLevels,
    .add_links = add_rail_spine_links,
    .hops = rail_spine_hops,
    .next_links = rail_spine_next_links,
    .most_routes = [](FamilyArguments arguments) { return std::uint64_t{arguments[2]}; },
    .representatives = [](FamilyArguments) { return std::vector<std::uint32_t>{0}; },
};

}  // namespace tenex
