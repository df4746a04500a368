#include "simulation/shape_routes.hpp"

#include <algorithm>

#include "tenex/topology/block.hpp"

namespace tenex {

WayAlong way_along(const Block& block) {
  const BlockRule& rule = *block.rule;
  if (!block.levels.empty()) return WayAlong::unknown;
  if (rule.through_switch) return WayAlong::over_switch;
  if (rule.all_neighbours) return WayAlong::direct;
  if (rule.stepwise && rule.hops(0, 1, block) == 1 && rule.hops(1, 0, block) == 1)
    return rule.hops(0, block.size - 1, block) == 1 ? WayAlong::round : WayAlong::straight;
  return rule.degree(block.size) == 1 ? WayAlong::one_link : WayAlong::unknown;
}

std::optional<ShapeRoutes> ShapeRoutes::of(const Topology& topology) {
  if (!topology.shape() || !topology.shape()->is_product()) return std::nullopt;
  ShapeRoutes links;
  links.npus_ = topology.npus();
  if (!links.add_dimensions(*topology.shape()) || !links.add_hubs(topology) || !links.add_links(topology))
    return std::nullopt;
  return links;
}

bool ShapeRoutes::add_dimensions(const Shape& shape) {
  std::uint32_t stride = 1;
  for (const auto& block : shape.blocks) {
    if (block.size == 1) continue;
    const auto way = way_along(block);
    if (way == WayAlong::unknown) return false;
    dimensions_.push_back({way, block.size, directions_});
    strides_.push_back(stride);
    directions_ += block.rule->degree(block.size);
    stride *= block.size;
  }
  coordinates_.reserve(npus_ * dimensions_.size());
  for (std::uint32_t npu = 0; npu < npus_; ++npu)
    for (std::size_t d = 0; d < dimensions_.size(); ++d)
      coordinates_.push_back(npu / strides_[d] % dimensions_[d].size);
  pack_coordinates();
  out_.assign(npus_ * directions_, LinkId::none());
  return stride == npus_;
}

void ShapeRoutes::pack_coordinates() {
  if (dimensions_.size() > 64 / packed_bits) return;
  for (const auto& dimension : dimensions_)
    if (dimension.size > packed_mask) return;
  packed_.assign(npus_, 0);
  for (std::size_t npu = 0; npu < npus_; ++npu)
    for (std::size_t d = 0; d < dimensions_.size(); ++d)
      packed_[npu] |= std::uint64_t{coordinates_[npu * dimensions_.size() + d]} << (d * packed_bits);
}

/// The dimension in which two NPUs differ; nullopt if there are several.
std::optional<std::size_t> ShapeRoutes::dimension_between(NpuId a, NpuId b) const {
  std::optional<std::size_t> found;
  for (std::size_t d = 0; d < dimensions_.size(); ++d) {
    if (coordinates_[a.index() * dimensions_.size() + d] == coordinates_[b.index() * dimensions_.size() + d]) continue;
    if (found) return std::nullopt;
    found = d;
  }
  return found;
}

/// Finds the dimension of each switch: a switch joins a line of NPUs, so two of them differ in that dimension alone.
bool ShapeRoutes::add_hubs(const Topology& topology) {
  for (std::size_t v = npus_; v < topology.vertices(); ++v) {
    const auto row = topology.out_links(VertexId::at(v));
    if (row.size() < 2) return false;
    const auto d = dimension_between(npu_of(topology.target(row[0])), npu_of(topology.target(row[1])));
    if (!d || dimensions_[*d].way != WayAlong::over_switch) return false;
    hubs_.push_back({static_cast<std::uint32_t>(*d), out_.size()});
    out_.resize(out_.size() + dimensions_[*d].size, LinkId::none());
  }
  return true;
}

bool ShapeRoutes::add_links(const Topology& topology) {
  for (std::uint32_t l = 0; l < topology.links(); ++l) {
    const LinkId link(l);
    const auto source = topology.source(link);
    const auto target = topology.target(link);
    std::size_t slot = 0;
    if (!topology.is_npu(source)) {
      const auto& hub = hubs_[source.index() - npus_];
      slot = hub.first + coordinates_[target.index() * dimensions_.size() + hub.dimension];
    } else if (!topology.is_npu(target)) {
      slot = source.index() * directions_ + dimensions_[hubs_[target.index() - npus_].dimension].first_direction;
    } else {
      const auto d = dimension_between(npu_of(source), npu_of(target));
      if (!d) return false;
      const auto from = coordinates_[source.index() * dimensions_.size() + *d];
      const auto to = coordinates_[target.index() * dimensions_.size() + *d];
      slot = source.index() * directions_ + dimensions_[*d].first_direction + direction(dimensions_[*d], from, to);
    }
    out_[slot] = std::min(out_[slot], link);
  }
  return true;
}

}  // namespace tenex
