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
  std::vector<DimensionPlan> plans;
  for (const auto& grid : *grids) {
    DimensionPlan plan;
    for (const auto& dimension : grid) plan.dimensions.push_back({dimension.size, Exchange::ring});
    plan.orders = {in_order(grid.size())};
    plans.push_back(std::move(plan));
  }
  return make_dimensionwise(collective, plans, options.order, options.window);
}

}  // namespace tenex
