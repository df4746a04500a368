// The formulas for links.
//
// Rings and pairs number an NPU's links by direction. A fully connected block numbers them by target: the link from
// position p to position q is number q, or q-1 where q > p. The direction (q-p mod k) follows from p and the number,
// and the number from p and the direction. An unwound switch numbers them by direction.
#include "tenex/topology/translation.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "tenex/topology/block.hpp"

namespace tenex {

namespace {

std::uint32_t position(const TranslationDimension& dimension, NpuId npu) {
  return npu.value() / dimension.stride % dimension.size;
}

/// The NPU on the same line at another position.
NpuId moved(const TranslationDimension& dimension, NpuId npu, std::uint32_t from, std::uint32_t to) {
  return NpuId(npu.value() + to * dimension.stride - from * dimension.stride);
}

}  // namespace

std::optional<TranslationGroup> TranslationGroup::of(const Topology& topology, LinkPorts ports) {
  if (topology.switches() > 0) return std::nullopt;
  const auto& unwound = topology.unwound_shape();
  if ((topology.wires() != nullptr || unwound) && ports == LinkPorts::own) return std::nullopt;
  const Shape* shape = topology.shape() ? &*topology.shape() : nullptr;
  if (unwound) shape = &unwound->shape;
  if (shape == nullptr || (!shape->is_product() && shape->family->rings == nullptr)) return std::nullopt;
  TranslationGroup group;
  if (!shape->is_product()) group.add_rings(shape->family->rings(shape->arguments));
  for (const Block& block : shape->blocks) {
    if (unwound && block.rule->through_switch) {
      if (!block.levels.empty()) return std::nullopt;
      group.add_circulant(block.size, unwound->degree, topology.wires() != nullptr);
    } else if (!group.add_block(block)) {
      return std::nullopt;
    }
  }
  if (group.npus() != topology.npus() || group.links() != topology.links()) return std::nullopt;
  if (!group.leads_as_built(topology) || !group.take_classes(topology)) return std::nullopt;
  return group;
}

bool TranslationGroup::add_block(const Block& block) {
  if (block.size == 1) return true;
  if (block.rule->translations == nullptr) return false;
  const auto steps = block.rule->translations(block.size);
  if (steps.empty()) return false;
  TranslationDimension dimension;
  dimension.size = block.size;
  dimension.farthest_hops = block.rule->diameter_hops(block);
  dimension.links_by_target = block.rule->all_neighbours;
  dimension.one_port = block.rule->one_port;
  add_dimension(dimension, steps);
  return true;
}

/// A switch unwound: every position sends to the next `degree` ones; over wires by one port.
void TranslationGroup::add_circulant(std::uint32_t size, std::uint32_t degree, bool one_port) {
  if (size == 1) return;
  std::vector<std::uint32_t> steps(std::min(degree, size - 1));
  std::iota(steps.begin(), steps.end(), 1U);
  TranslationDimension dimension;
  dimension.size = size;
  dimension.farthest_hops = static_cast<std::uint32_t>((size - 1 + steps.size() - 1) / steps.size());
  dimension.one_port = one_port;
  add_dimension(dimension, steps);
}

void TranslationGroup::add_dimension(TranslationDimension dimension, const std::vector<std::uint32_t>& steps) {
  dimension.stride = static_cast<std::uint32_t>(npus_);
  dimension.first_direction = static_cast<std::uint32_t>(directions_.size());
  dimension.directions = static_cast<std::uint32_t>(steps.size());
  for (const std::uint32_t step : steps) {
    const auto back = std::find(steps.begin(), steps.end(), dimension.size - step);
    directions_.push_back({static_cast<std::uint32_t>(dimensions_.size()), step, NpuId(step * dimension.stride),
                           back == steps.end()
                               ? kNoOpposite
                               : dimension.first_direction + static_cast<std::uint32_t>(back - steps.begin()),
                           0});
  }
  dimensions_.push_back(dimension);
  npus_ *= dimension.size;
  std::uint64_t link = 0;
  for (auto& each : dimensions_) {
    each.first_link = link;
    link += std::uint64_t{npus_} * each.directions;
  }
}

/// A ring has the directions +1 and -1, which differ also where the ring has two positions.
void TranslationGroup::add_rings(std::span<const FamilyRing> rings) {
  for (const FamilyRing& ring : rings) {
    TranslationDimension dimension;
    dimension.size = ring.size;
    dimension.farthest_hops = ring.size / 2;
    dimension.carry = ring.carry;
    add_dimension(dimension, {1, ring.size - 1});
  }
  const TranslationDimension& last = dimensions_.back();
  for (std::uint32_t d = 0; d < directions_.size(); ++d) {
    TranslationDirection& direction = directions_[d];
    const std::uint32_t carry = dimensions_[direction.dimension].carry;
    if (d % 2 == 1 && carry > 0) direction.along_last = last.size - carry;
    direction.offset = NpuId(direction.offset.value() + direction.along_last * last.stride);
    direction.opposite = d ^ 1U;
  }
}

/// Whether the links of the first and the last NPU lead where the shape says, which is false for a reversed topology. A
/// reversed pair differs only in the order of its links, which this also checks.
bool TranslationGroup::leads_as_built(const Topology& topology) const {
  for (std::uint32_t direction = 0; direction < directions_.size(); ++direction) {
    for (const NpuId source : {NpuId(0), NpuId::at(npus_ - 1)}) {
      const LinkId id = link({source, direction});
      if (topology.source(id) != vertex_of(source)) return false;
      if (topology.target(id) != vertex_of(neighbour(source, direction))) return false;
    }
  }
  return true;
}

/// Sets the class of every direction; returns false where the links of a direction differ.
bool TranslationGroup::take_classes(const Topology& topology) {
  for (auto& direction : directions_) {
    const auto& dimension = dimensions_[direction.dimension];
    direction.link_class = topology.class_of(LinkId::at(dimension.first_link));
  }
  if (topology.homogeneous()) return true;
  for (const auto& dimension : dimensions_) {
    const std::uint16_t first = topology.class_of(LinkId::at(dimension.first_link));
    const std::uint64_t end = dimension.first_link + std::uint64_t{npus_} * dimension.directions;
    for (std::uint64_t link = dimension.first_link; link < end; ++link)
      if (topology.class_of(LinkId::at(link)) != first) return false;
  }
  return true;
}

NpuId TranslationGroup::add(NpuId npu, NpuId offset) const {
  std::uint32_t sum = npu.value();
  std::uint64_t carried = 0;
  for (const auto& dimension : dimensions_) {
    const std::uint32_t from = position(dimension, npu);
    std::uint64_t to = std::uint64_t{from} + position(dimension, offset);
    if (to >= dimension.size) carried += dimension.carry;
    if (&dimension == &dimensions_.back()) to += carried;
    sum = moved(dimension, NpuId(sum), from, static_cast<std::uint32_t>(to % dimension.size)).value();
  }
  return NpuId(sum);
}

NpuId TranslationGroup::subtract(NpuId npu, NpuId from) const {
  std::uint32_t difference = 0;
  std::uint64_t carried = 0;
  for (const auto& dimension : dimensions_) {
    std::uint32_t to = position(dimension, npu);
    const std::uint32_t at = position(dimension, from);
    if (to < at) carried += dimension.carry;
    if (carried > 0 && &dimension == &dimensions_.back())
      to = static_cast<std::uint32_t>((to + (dimension.size - carried % dimension.size)) % dimension.size);
    difference += (to >= at ? to - at : to + (dimension.size - at)) * dimension.stride;
  }
  return NpuId(difference);
}

NpuId TranslationGroup::neighbour(NpuId npu, std::uint32_t direction) const {
  const auto& dimension = dimensions_[directions_[direction].dimension];
  if (dimension.carry > 0) return add(npu, directions_[direction].offset);
  const std::uint32_t from = position(dimension, npu);
  const std::uint64_t to = std::uint64_t{from} + directions_[direction].step;
  return moved(dimension, npu, from, static_cast<std::uint32_t>(to >= dimension.size ? to - dimension.size : to));
}

NpuId TranslationGroup::origin(NpuId npu, std::uint32_t direction) const {
  const auto& dimension = dimensions_[directions_[direction].dimension];
  if (dimension.carry > 0) return subtract(npu, directions_[direction].offset);
  const std::uint32_t at = position(dimension, npu);
  const std::uint32_t step = directions_[direction].step;
  return moved(dimension, npu, at, at >= step ? at - step : at + (dimension.size - step));
}

bool TranslationGroup::two_way() const {
  return std::all_of(directions_.begin(), directions_.end(),
                     [](const TranslationDirection& direction) { return direction.opposite != kNoOpposite; });
}

bool TranslationGroup::twisted() const {
  return std::any_of(dimensions_.begin(), dimensions_.end(),
                     [](const TranslationDimension& dimension) { return dimension.carry > 0; });
}

LinkId TranslationGroup::link(Departure departure) const {
  const auto& direction = directions_[departure.direction];
  const auto& dimension = dimensions_[direction.dimension];
  std::uint32_t port = departure.direction - dimension.first_direction;
  if (dimension.links_by_target) {
    const std::uint32_t from = position(dimension, departure.source);
    const std::uint32_t left = dimension.size - from;  // steps of this many positions or more wrap around
    port = direction.step >= left ? direction.step - left : from + direction.step - 1;
  }
  return LinkId::at(dimension.first_link + std::uint64_t{departure.source.value()} * dimension.directions + port);
}

TranslationGroup::Departure TranslationGroup::departure(LinkId link) const {
  const auto after =
      std::upper_bound(dimensions_.begin(), dimensions_.end(), link.index(),
                       [](std::size_t id, const TranslationDimension& dimension) { return id < dimension.first_link; });
  const auto& dimension = *std::prev(after);
  const std::uint64_t in_dimension = link.index() - dimension.first_link;
  const NpuId source = NpuId::at(in_dimension / dimension.directions);
  auto port = static_cast<std::uint32_t>(in_dimension % dimension.directions);
  if (dimension.links_by_target) {
    const std::uint32_t from = position(dimension, source);
    port = port < from ? port + (dimension.size - from) - 1 : port - from;  // step - 1
  }
  return {source, dimension.first_direction + port};
}

}  // namespace tenex
