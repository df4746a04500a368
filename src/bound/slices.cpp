// Slices: all data that enters a slice of a product shape passes the links of the dimensions across it.
//
// Fix the coordinates of some dimensions to the first position. The remaining NPUs are a slice; the other (free)
// dimensions join them. Data from outside enters over the links of the fixed dimensions, of which every NPU of the
// slice has equally many. An All-Gather brings (n - s) c chunks into a slice of s NPUs, each at least once. An
// All-Reduce brings in all nc chunks, because none is complete without the contributions of the others. A
// Reduce-Scatter is a gather on the reversed topology, over the out-links. Floor counts are as in ejection, which is
// the slice without a free dimension. The bound binds where the fixed dimensions are much slower than the free ones.
// The first position is the end of a line, which has the fewest links. Of the 2^dimensions slices, those are examined
// that free the fastest k dimensions, for each k.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "bound/capacity.hpp"
#include "bound/methods.hpp"

namespace tenex {

namespace {

/// The dimension of a link of NPU 0: the other end has one coordinate that is not zero.
std::size_t dimension_of_neighbour(const Shape& shape, NpuId neighbour) {
  const auto coordinates = coordinates_of(shape, neighbour);
  const auto moved = std::find_if(coordinates.begin(), coordinates.end(), [](std::uint32_t at) { return at != 0; });
  return static_cast<std::size_t>(moved - coordinates.begin());
}

/// The number of NPU 0's in-links or out-links, per dimension and class.
std::vector<std::vector<std::int64_t>> corner_links(const Topology& topology, bool outgoing) {
  const Shape& shape = *topology.shape();
  std::vector<std::vector<std::int64_t>> links(shape.dimensions(),
                                               std::vector<std::int64_t>(topology.classes().size(), 0));
  for (const LinkId link : outgoing ? topology.out_links(VertexId(0)) : topology.in_links(VertexId(0))) {
    const VertexId other = outgoing ? topology.target(link) : topology.source(link);
    ++links[dimension_of_neighbour(shape, npu_of(other))][topology.class_of(link)];
  }
  return links;
}

/// The dimensions by decreasing bandwidth of NPU 0's links.
std::vector<std::size_t> fastest_first(const Topology& topology, const std::vector<std::vector<std::int64_t>>& corner) {
  std::vector<double> speed;
  for (const auto& classes : corner) {
    double sum = 0;
    for (std::size_t k = 0; k < classes.size(); ++k)
      sum += static_cast<double>(classes[k]) * static_cast<double>(topology.classes()[k].effective_bandwidth().count());
    speed.push_back(sum);
  }
  std::vector<std::size_t> order(corner.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return speed[a] > speed[b]; });
  return order;
}

}  // namespace

std::optional<SimTime> slices_bound(const BoundProblem& problem) {
  const auto& topology = problem.topology;
  const auto& collective = problem.collective;
  const auto kind = collective.kind();
  if (kind != CollectiveKind::all_gather && kind != CollectiveKind::reduce_scatter &&
      kind != CollectiveKind::all_reduce)
    return std::nullopt;
  if (!topology.shape() || !topology.shape()->is_product() || topology.switches() > 0) return std::nullopt;
  if (collective.groups().size() != 1 || collective.groups()[0].members.size() != topology.npus()) return std::nullopt;
  const Shape& shape = *topology.shape();
  const auto corner = corner_links(topology, kind == CollectiveKind::reduce_scatter);
  const auto n = static_cast<std::int64_t>(topology.npus());
  const std::int64_t c = collective.chunks_per_npu();
  std::int64_t slice = 1;
  std::vector<bool> fixed(shape.dimensions(), true);
  SimTime bound = SimTime::zero();
  for (const std::size_t dimension : fastest_first(topology, corner)) {
    slice *= shape.blocks[dimension].size;
    fixed[dimension] = false;
    if (slice == n) break;
    std::vector<std::int64_t> links(topology.classes().size(), 0);
    for (std::size_t i = 0; i < corner.size(); ++i)
      for (std::size_t k = 0; fixed[i] && k < links.size(); ++k) links[k] += corner[i][k] * slice;
    const std::int64_t chunks = kind == CollectiveKind::all_reduce ? n * c : (n - slice) * c;
    bound = std::max(bound, least_time(problem, links, collective.chunk_sizes()[0], chunks));
  }
  return bound;
}

}  // namespace tenex
