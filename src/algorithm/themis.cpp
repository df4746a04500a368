// Themis: hierarchical collectives whose slices take the dimensions in different orders, to balance the load of the
// dimensions.
//
// A greedy schedule keeps each dimension's load: the time that its bandwidth needs for the bytes that the slices so far
// send there. The next slice takes the least loaded dimension first, where the slice is largest, and the others in
// order of load. A dimension of p NPUs leaves 1/p of the slice for the later ones. Where the loads differ by less than
// the time of a sixteenth of a slice in the least loaded dimension, the order of the dimensions is kept. All-Gather
// takes the reverse order. Loads count bandwidth alone.
//
// With a window of w, at most w slices at a time are in a dimension at an NPU, with sums or with copies. Slices meet in
// a dimension in different stages, so all NPUs must take them in one order; otherwise two NPUs could wait for each
// other. That order is computed beforehand: slices go through the dimensions, first come, first served, and each takes
// the time that its bytes and hops need there.
//
// Encoding: dimensionwise.hpp. The exchanges of a dimension are those of the hierarchical algorithm, which differs only
// in the order. Source: Rashidi et al., "Themis: a network bandwidth-aware collective scheduling policy for distributed
// training of DL models", ISCA 2022; a baseline of TACOS, section VI-B.3, and of LIBRA, section VI-D.
#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "algorithm/dimensionwise.hpp"
#include "algorithm/textbook.hpp"
#include "tenex/base/graph/least_first.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {
namespace {

/// The links of an inner NPU along one dimension of the shape.
struct DimensionLinks {
  Bandwidth bandwidth;  ///< of all out-links together
  SimTime alpha;        ///< of one of them
};

std::vector<DimensionLinks> ports_of(const Topology& topology) {
  const auto& shape = *topology.shape();
  std::vector<std::uint32_t> middle;
  for (const auto& block : shape.blocks) middle.push_back(block.size / 2);
  const auto links = topology.out_links(vertex_of(npu_at(shape, middle)));
  std::vector<DimensionLinks> ports;
  std::size_t next = 0;  // an NPU's links are ordered by dimension
  for (const auto& block : shape.blocks) {
    DimensionLinks port;
    for (const auto end = next + block.rule->degree(block.size); next < end; ++next) {
      port.bandwidth += topology.bandwidth(links[next]);
      port.alpha = topology.alpha(links[next]);
    }
    ports.push_back(port);
  }
  return ports;
}

/// The bytes that an NPU sends in a dimension of p NPUs when it has `size`.
Bytes sent(Bytes size, std::uint32_t p) { return bytes(size.count() / p * (p - 1)); }

class Loads {
 public:
  Loads(const Grid& grid, const std::vector<DimensionLinks>& ports, Bytes slice) : grid_(grid), slice_(slice) {
    for (const auto& dimension : grid) bandwidths_.push_back(ports[dimension.dimension].bandwidth);
    loads_.assign(grid.size(), SimTime::zero());
  }

  /// Returns the next slice's order and adds its load.
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

/// The turns in which slices take the dimensions of a grid.
class Turns {
 public:
  Turns(const Grid& grid, const std::vector<DimensionLinks>& ports, const BlockExchanges& exchanges,
        CollectiveKind kind, Bytes slice)
      : grid_(grid), ports_(ports), exchanges_(exchanges), kind_(kind), slice_(slice) {}

  /// Each slice takes its sums in its order and its copies in reverse. O(slices * dimensions), times a logarithm.
  [[nodiscard]] std::vector<std::vector<StageTurn>> take(const std::vector<std::vector<std::uint32_t>>& orders,
                                                         std::uint32_t window) const {
    std::vector<std::vector<Visit>> visits;
    for (std::uint32_t k = 0; k < orders.size(); ++k) visits.push_back(visits_of(k, orders[k]));
    std::vector<std::vector<StageTurn>> turns(grid_.size());
    std::vector<std::vector<SimTime>> ends(grid_.size());
    std::vector<SimTime> free(grid_.size());
    using Ready = std::tuple<SimTime, std::uint32_t, std::size_t>;  // time, slice, visit
    LeastFirst<Ready> ready;
    for (std::uint32_t k = 0; k < orders.size(); ++k) ready.push({SimTime::zero(), k, 0});
    while (!ready.empty()) {
      const auto [since, slice, number] = ready.pop();
      const auto& visit = visits[slice][number];
      auto start = std::max(since, free[visit.dimension]);
      auto& ended = ends[visit.dimension];
      if (ended.size() >= window) start = std::max(start, ended[ended.size() - window]);
      free[visit.dimension] = saturating_sum(start, visit.busy);
      ended.push_back(saturating_sum(free[visit.dimension], visit.latency));
      turns[visit.dimension].push_back(visit.turn);
      if (number + 1 < visits[slice].size()) ready.push({ended.back(), slice, number + 1});
    }
    return turns;
  }

 private:
  /// One pass of a slice through a dimension.
  struct Visit {
    std::uint32_t dimension = 0;
    SimTime busy;     ///< time of its bytes
    SimTime latency;  ///< time of its hops one after the other
    StageTurn turn;
  };

  [[nodiscard]] std::vector<Visit> visits_of(std::uint32_t slice, const std::vector<std::uint32_t>& order) const {
    std::vector<Visit> sums;
    std::uint32_t stage = 0;
    auto size = slice_;
    for (const auto d : order) {
      const auto& port = ports_[grid_[d].dimension];
      const auto steps = exchanges_.first[d + 1] - exchanges_.first[d];
      const bool ring = exchanges_.dimensions[exchanges_.first[d]].exchange == Exchange::ring;
      const std::int64_t hops = ring ? grid_[d].size / 2 : steps;
      sums.push_back({d,
                      serialization_time(sent(size, grid_[d].size), port.bandwidth),
                      port.alpha * hops,
                      {slice, stage, stage + steps - 1}});
      stage += steps;
      size = bytes(ceil_div(size.count(), grid_[d].size));
    }
    if (kind_ == CollectiveKind::reduce_scatter) return sums;
    const auto stages = kind_ == CollectiveKind::all_reduce ? 2 * stage : stage;
    std::vector<Visit> copies(sums.rbegin(), sums.rend());
    for (auto& copy : copies) copy.turn = {slice, stages - 1 - copy.turn.last, stages - 1 - copy.turn.first};
    if (kind_ == CollectiveKind::all_gather) return copies;
    sums.insert(sums.end(), copies.begin(), copies.end());
    return sums;
  }

  const Grid& grid_;
  const std::vector<DimensionLinks>& ports_;
  const BlockExchanges& exchanges_;
  CollectiveKind kind_;
  Bytes slice_;
};

}  // namespace

Result<std::shared_ptr<const Program>> make_themis(const Topology& topology, const Collective& collective,
                                                   const AlgorithmOptions& options) {
  if (auto fits = check_fits("themis", topology, collective); !fits) return fits.errors();
  const auto grids = grids_of("themis", topology, collective);
  if (!grids) return grids.errors();
  const auto ports = ports_of(topology);
  std::vector<GroupExchange> of_groups;
  for (std::size_t g = 0; g < grids->size(); ++g) {
    const auto& grid = (*grids)[g];
    BlockExchanges exchanges = exchanges_by_block(grid, collective.kind());
    const auto slice = bytes(ceil_div(collective.size().count(), collective.chunks_per_npu()));
    Loads loads(grid, ports, slice);
    std::vector<std::vector<std::uint32_t>> orders;
    for (std::int64_t k = 0; k < collective.chunks_per_npu(); ++k) orders.push_back(loads.next_order());
    GroupExchange of_group;
    if (options.window != 0)
      of_group.turns = Turns(grid, ports, exchanges, collective.kind(), slice).take(orders, options.window);
    for (const auto& order : orders) of_group.orders.push_back(exchanges.expanded(order));
    of_group.dimensions = std::move(exchanges.dimensions);
    of_groups.push_back(std::move(of_group));
  }
  return make_dimensionwise(collective, of_groups, options.order, options.window);
}

}  // namespace tenex
