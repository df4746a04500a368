// Rings over all dimensions at once: d rings over d dimensions. Slice k (the k-th chunks of all NPUs) begins its
// Reduce-Scatter in dimension k mod d and goes through the others in order from there, with a ring both ways in each.
// So d slices use all dimensions at the same time, each of them a different one. With fewer chunks per NPU than
// dimensions, some dimensions idle; multiples of d load equal dimensions equally.
//
// Encoding: dimensionwise.hpp. Source: the multi-dimensional rings of ASTRA-sim (the ASTRA-sim2.0 thesis, section
// 3.4.1), with the dimension in which a chunk begins rotated as in Jain and Sabharwal, "Optimal bucket algorithms for
// large MPI collectives on torus interconnects", 2010.
#include "algorithm/dimensionwise.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {

Result<std::shared_ptr<const Program>> make_ring_per_dimension(const Topology& topology, const Collective& collective,
                                                               const AlgorithmOptions& options) {
  if (auto fits = check_fits("ring_per_dimension", topology, collective); !fits) return fits.errors();
  const auto grids = grids_of("ring_per_dimension", topology, collective);
  if (!grids) return grids.errors();
  std::vector<GroupExchange> of_groups;
  for (const auto& grid : *grids) {
    GroupExchange of_group;
    for (const auto& dimension : grid) of_group.dimensions.push_back({dimension.size, Exchange::ring});
    for (std::uint32_t first = 0; first < grid.size(); ++first) {
      std::vector<std::uint32_t> order;
      for (std::uint32_t i = 0; i < grid.size(); ++i)
        order.push_back((first + i) % static_cast<std::uint32_t>(grid.size()));
      of_group.orders.push_back(std::move(order));
    }
    of_groups.push_back(std::move(of_group));
  }
  return make_dimensionwise(collective, of_groups, options.order, options.window);
}

}  // namespace tenex
