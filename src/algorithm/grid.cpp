// Finds the groups of NPUs that are boxes of a shape: products of sets of positions, one set per dimension, in order of
// id. The digits of a rank then number the positions.
#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "algorithm/dimensionwise.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {
namespace {

/// nullopt where the members are no box, or not in order.
std::optional<Grid> grid_of(const Shape& shape, const ProcessGroup& group) {
  Grid grid;
  std::vector<std::uint32_t> strides;
  std::vector<std::vector<std::uint32_t>> positions;
  std::size_t volume = 1;
  std::uint32_t stride = 1;
  for (std::uint32_t d = 0; d < shape.dimensions(); ++d) {
    const auto size = shape.blocks[d].size;
    std::set<std::uint32_t> seen;
    for (const auto npu : group.members) seen.insert(npu.value() / stride % size);
    if (seen.size() > 1) {
      grid.push_back({d, shape.blocks[d].rule, static_cast<std::uint32_t>(seen.size())});
      strides.push_back(stride);
      positions.emplace_back(seen.begin(), seen.end());
    }
    volume *= seen.size();
    stride *= size;
  }
  if (volume != group.members.size()) return std::nullopt;
  std::uint32_t base = group.members[0].value();
  for (std::size_t d = 0; d < grid.size(); ++d) base -= positions[d][0] * strides[d];
  for (std::size_t rank = 0; rank < volume; ++rank) {
    std::uint32_t expected = base;
    auto rest = rank;
    for (std::size_t d = 0; d < grid.size(); rest /= grid[d].size, ++d)
      expected += positions[d][rest % grid[d].size] * strides[d];
    if (group.members[rank].value() != expected) return std::nullopt;
  }
  return grid;
}

}  // namespace

Result<std::vector<Grid>> grids_of(std::string_view algorithm, const Topology& topology, const Collective& collective) {
  if (!topology.shape() || !topology.shape()->is_product())
    return input_error(
        {}, fmt::format("algorithm \"{}\" on a topology of {} NPUs that has no dimensions", algorithm, topology.npus()),
        "it works along the dimensions of an intact product of blocks; families and lists of links have none",
        "write equal boxes as a shape, such as \"SW(8)_SW(4)\" with a bandwidth per dimension (`shape` in a machine "
        "file), or choose another algorithm");
  std::vector<Grid> grids;
  for (const auto& group : collective.groups()) {
    auto grid = grid_of(*topology.shape(), group);
    if (!grid)
      return input_error(
          {},
          fmt::format("algorithm \"{}\" for a process group of {} NPUs from NPU {} on", algorithm, group.members.size(),
                      group.members[0].value()),
          fmt::format("it needs groups that are boxes of {} in order of id", to_string(*topology.shape())),
          "choose groups along the dimensions, or another algorithm");
    grids.push_back(*std::move(grid));
  }
  return grids;
}

std::vector<std::uint32_t> in_order(std::size_t dimensions) {
  std::vector<std::uint32_t> order(dimensions);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

Status fits_boxes(std::string_view name, const Topology& topology, const Collective& collective) {
  return status_of(grids_of(name, topology, collective));
}

}  // namespace tenex
