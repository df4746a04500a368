// Themis: hierarchical collectives whose slices take the dimensions in different orders, so that all dimensions have as
// much to do.
//
// A greedy schedule keeps each dimension's load: the time that its bandwidth needs for what the slices so far send
// there. The next slice takes the least loaded dimension first, where it is largest, and so on in order of load; a
// dimension of p NPUs leaves 1/p of it for those after. Where the loads lie closer together than a sixteenth of a slice
// takes in the least loaded dimension, the order of the dimensions is kept. All-Gather takes the reverse order. Loads
// count bandwidth alone.
//
// Encoding: dimensionwise.hpp; the exchanges of a dimension are those of the hierarchical algorithm, which differs in
// the order alone. Source: Rashidi et al., "Themis: a network bandwidth-aware collective scheduling policy for
// distributed training of DL models", ISCA 2022; a baseline of TACOS, section VI-B.3, and of LIBRA, section VI-D.
#include <algorithm>
#include <cstdint>

#include "algorithm/dimensionwise.hpp"
#include "algorithm/textbook.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {
namespace {

/// The bandwidth of all out-links of an NPU along each dimension of a shape, at an NPU inside all lines.
std::vector<Bandwidth> bandwidths_of(const Topology& topology) {
  const auto& shape = *topology.shape();
  std::vector<std::uint32_t> middle;
  for (const auto& block : shape.blocks) middle.push_back(block.size / 2);
  const auto links = topology.out_links(vertex_of(npu_at(shape, middle)));
  std::vector<Bandwidth> bandwidths;
  std::size_t next = 0;  // an NPU's links are ordered by dimension
  for (const auto& [kind, size] : shape.blocks) {
    std::size_t count = size == 1 ? 0 : 1;
    if ((kind == BlockKind::ring || kind == BlockKind::line) && size > 2) count = 2;
    if (kind == BlockKind::fully_connected) count = size - 1;
    Bandwidth total;
    for (std::size_t i = 0; i < count; ++i) total += topology.bandwidth(links[next++]);
    bandwidths.push_back(total);
  }
  return bandwidths;
}

/// Sent in a dimension of p NPUs by one that has `size`.
Bytes sent(Bytes size, std::uint32_t p) { return bytes(size.count() / p * (p - 1)); }

class Loads {
 public:
  Loads(const Grid& grid, const std::vector<Bandwidth>& bandwidths, Bytes slice) : grid_(grid), slice_(slice) {
    for (const auto& dimension : grid) bandwidths_.push_back(bandwidths[dimension.dimension]);
    loads_.assign(grid.size(), SimTime::zero());
  }

  /// The next slice's order; adds its load.
  std::vector<std::uint32_t> next_order() {
    auto order = in_order(grid_.size());
    const auto [least, most] = std::minmax_element(loads_.begin(), loads_.end());
    const auto d = static_cast<std::uint32_t>(least - loads_.begin());
    const auto near = time_in(d, bytes(slice_.count() / 16));
    if (*most - *least >= near && *most > *least)
      std::stable_sort(order.begin(), order.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return loads_[a] < loads_[b]; });
    auto size = slice_;
    for (const auto dimension : order) {
      loads_[dimension] = saturating_sum(loads_[dimension], time_in(dimension, size));
      size = bytes(ceil_div(size.count(), grid_[dimension].size));
    }
    return order;
  }

 private:
  [[nodiscard]] SimTime time_in(std::uint32_t dimension, Bytes size) const {
    return serialization_time(sent(size, grid_[dimension].size), bandwidths_[dimension]);
  }

  const Grid& grid_;
  Bytes slice_;
  std::vector<Bandwidth> bandwidths_;
  std::vector<SimTime> loads_;
};

}  // namespace

Result<std::shared_ptr<const Program>> make_themis(const Topology& topology, const Collective& collective,
                                                   const AlgorithmOptions& options) {
  if (auto fits = check_fits("themis", topology, collective); !fits) return fits.errors();
  const auto grids = grids_of("themis", topology, collective);
  if (!grids) return grids.errors();
  const auto bandwidths = bandwidths_of(topology);
  std::vector<DimensionPlan> plans;
  for (std::size_t g = 0; g < grids->size(); ++g) {
    const auto& grid = (*grids)[g];
    BlockExchanges exchanges = exchanges_by_block(grid);
    DimensionPlan plan{std::move(exchanges.dimensions), {}};
    const auto slice = ceil_div(collective.size().count(), collective.chunks_per_npu());
    Loads loads(grid, bandwidths, bytes(slice));
    for (std::int64_t k = 0; k < collective.chunks_per_npu(); ++k)
      plan.orders.push_back(exchanges.expanded(loads.next_order()));
    plans.push_back(std::move(plan));
  }
  return make_dimensionwise(collective, plans, options.order);
}

}  // namespace tenex
