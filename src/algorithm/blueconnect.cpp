// BlueConnect: a ring in every dimension of a shape, whatever the block: Reduce-Scatter up the dimensions, All-Gather
// down. The c chunks of an NPU are c slices, pipelined through the dimensions, all in the same order.
//
// Encoding: dimensionwise.hpp. Source: Cho et al., "BlueConnect: Decomposing all-reduce for deep learning on
// heterogeneous network hierarchy", 2019; a baseline of TACOS, section VI-B.3. Rings run both ways, as in ASTRA-sim.
#include "algorithm/dimensionwise.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {

Result<std::shared_ptr<const Program>> make_blueconnect(const Topology& topology, const Collective& collective,
                                                        const AlgorithmOptions& options) {
  if (auto fits = check_fits("blueconnect", topology, collective); !fits) return fits.errors();
  const auto grids = grids_of("blueconnect", topology, collective);
  if (!grids) return grids.errors();
  std::vector<GroupExchange> of_groups;
  for (const auto& grid : *grids) {
    GroupExchange of_group;
    for (const auto& dimension : grid) of_group.dimensions.push_back({dimension.size, Exchange::ring});
    of_group.orders = {in_order(grid.size())};
    of_groups.push_back(std::move(of_group));
  }
  return make_dimensionwise(collective, of_groups, options.order, options.window);
}

}  // namespace tenex
