// Hierarchical (multi-rail): Reduce-Scatter up the dimensions of a shape, All-Gather down, each dimension by the
// algorithm made for its block: ring for rings and lines (both ways round), direct for fully connected blocks,
// recursive halving-doubling for switches, or direct for a switch whose number of NPUs is no power of two. All-to-All:
// an exchange per dimension, direct over switches. The c chunks of an NPU are c slices, pipelined through the
// dimensions.
//
// Encoding: dimensionwise.hpp; halving-doubling is a row of dimensions of two, nearest partner first. Source: LIBRA,
// section II-C and Fig. 7 (the algorithm for each block), after Cho et al., BlueConnect, 2019.
#include <bit>

#include "algorithm/dimensionwise.hpp"
#include "algorithm/textbook.hpp"
#include "tenex/topology/block.hpp"

namespace tenex {

BlockExchanges exchanges_by_block(const Grid& grid, CollectiveKind kind) {
  BlockExchanges exchanges;
  for (const auto& [dimension, rule, size] : grid) {
    exchanges.first.push_back(static_cast<std::uint32_t>(exchanges.dimensions.size()));
    if (rule->one_port && std::has_single_bit(size) && kind != CollectiveKind::all_to_all) {
      for (std::uint32_t distance = 1; distance < size; distance *= 2)
        exchanges.dimensions.push_back({2, Exchange::direct});
      continue;
    }
    exchanges.dimensions.push_back({size, rule->stepwise ? Exchange::ring : Exchange::direct});
  }
  exchanges.first.push_back(static_cast<std::uint32_t>(exchanges.dimensions.size()));
  return exchanges;
}

std::vector<std::uint32_t> BlockExchanges::expanded(const std::vector<std::uint32_t>& order) const {
  std::vector<std::uint32_t> steps;
  for (const auto d : order)
    for (auto step = first[d]; step < first[d + 1]; ++step) steps.push_back(step);
  return steps;
}

Result<std::shared_ptr<const Program>> make_hierarchical(const Topology& topology, const Collective& collective,
                                                         const AlgorithmOptions& options) {
  if (auto fits = check_fits("hierarchical", topology, collective); !fits) return fits.errors();
  const auto grids = grids_of("hierarchical", topology, collective);
  if (!grids) return grids.errors();
  std::vector<GroupExchange> of_groups;
  for (const auto& grid : *grids) {
    auto exchanges = exchanges_by_block(grid, collective.kind());
    auto order = in_order(exchanges.dimensions.size());
    of_groups.push_back({std::move(exchanges.dimensions), {std::move(order)}});
  }
  return make_dimensionwise(collective, of_groups, options.order, options.window);
}

}  // namespace tenex
