// The table of shape blocks: a new block is one file and one line here.
#include <array>

#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

constexpr std::array kRules{
    &kRingRule,             // RI
    &kFullyConnectedRule,   // FC
    &kSwitchRule,           // SW
    &kLineRule,             // LI
    &kDragonflyGroupsRule,  // the second dimension of dragonfly(a,g)
};

}  // namespace

std::span<const BlockRule* const> block_rules() { return kRules; }

const BlockRule& rule_of(BlockKind kind) {
  for (const BlockRule* rule : kRules) {
    if (rule->kind == kind) return *rule;
  }
  throw InvariantError("a block kind without a rule");
}

Dimension dimension_of(const Shape& shape, std::size_t index) {
  Dimension dimension;
  dimension.npus = shape.npus();
  dimension.size = shape.blocks[index].size;
  for (std::size_t before = 0; before < index; ++before) dimension.stride *= shape.blocks[before].size;
  return dimension;
}

}  // namespace tenex
