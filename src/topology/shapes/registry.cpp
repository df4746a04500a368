// The table of shape blocks: a new block is one file and its lines here.
#include <array>

#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

constexpr std::array kRules{
    &kRingRule,            // RI
    &kFullyConnectedRule,  // FC
    &kSwitchRule,          // SW
    &kLineRule,            // LI
};

}  // namespace

std::span<const BlockRule* const> block_rules() { return kRules; }

Dimension dimension_of(const Shape& shape, std::size_t index) {
  Dimension dimension;
  dimension.npus = shape.npus();
  dimension.size = shape.blocks[index].size;
  dimension.levels = shape.blocks[index].levels;
  for (std::size_t before = 0; before < index; ++before) dimension.stride *= shape.blocks[before].size;
  return dimension;
}

std::uint64_t count_switches(const BlockRule& rule, const Dimension& dimension) {
  return rule.count_switches == nullptr ? 0 : rule.count_switches(dimension);
}

}  // namespace tenex
