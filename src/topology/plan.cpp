// Sizes by the rules of the blocks. Bytes were counted from the types and agree with measured peaks of RI, FC and LI
// shapes.
#include "tenex/topology/plan.hpp"

#include <algorithm>

#include "tenex/topology/topology.hpp"
#include "topology/shapes/block.hpp"

namespace tenex {

namespace {

// Source, target, class, and a place in each CSR index.
constexpr std::uint64_t kBytesPerLink = 2 * sizeof(VertexId) + sizeof(std::uint16_t) + 2 * sizeof(LinkId);
// A row of each CSR index, one more during filling, and the switch properties.
constexpr std::uint64_t kBytesPerVertex = 3 * sizeof(std::size_t) + sizeof(SwitchProperties);

std::uint64_t frozen_bytes(const TopologySizes& sizes) {
  return sizes.links * kBytesPerLink + sizes.vertices() * kBytesPerVertex;
}

}  // namespace

TopologySizes sizes_of(const Shape& shape, std::uint32_t unwind) {
  TopologySizes sizes{shape.npus(), 0, 0};
  if (!shape.is_product()) {
    const ShapeCounts counts = count_shape(shape);
    if (unwind == 0 || counts.switches == 0) return {sizes.npus, counts.switches, counts.links};
    for (const auto members : shape.family->domains(shape.arguments))
      sizes.links += sizes.npus * std::min<std::uint64_t>(unwind, members - 1);
    return sizes;
  }
  for (std::size_t index = 0; index < shape.dimensions(); ++index) {
    const BlockRule& rule = *shape.blocks[index].rule;
    const Dimension dimension = dimension_of(shape, index);
    if (rule.through_switch && unwind > 0) {
      sizes.links += sizes.npus * std::min<std::uint64_t>(unwind, dimension.size - 1);
    } else {
      sizes.links += rule.count_links(dimension);
      sizes.switches += count_switches(rule, dimension);
    }
  }
  return sizes;
}

std::uint64_t topology_bytes(const TopologySizes& sizes) { return frozen_bytes(sizes) + sizes.links * sizeof(Link); }

std::uint64_t topology_bytes(const Shape& shape, std::uint32_t unwind) {
  const auto plain = sizes_of(shape);
  if (unwind == 0 || plain.switches == 0) return topology_bytes(plain);
  // Unwinding lists the NPUs on each switch and does not know in advance how many links it makes.
  constexpr std::uint64_t kBytesPerAttachment = 96;
  const auto unwound = sizes_of(shape, unwind);
  return frozen_bytes(plain) + plain.links * kBytesPerAttachment + topology_bytes(unwound) +
         unwound.links * sizeof(Link);
}

}  // namespace tenex
