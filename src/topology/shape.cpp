// Shapes: sizes, canonical text and coordinates. In a product the NPU id is a mixed-radix number whose least digit is
// dimension 1.
#include "tenex/topology/shape.hpp"

#include <fmt/format.h>

#include "tenex/topology/block.hpp"
#include "tenex/topology/family.hpp"

namespace tenex {

std::size_t Shape::dimensions() const { return family == nullptr ? blocks.size() : family->levels(arguments).size(); }

std::size_t Shape::npus() const {
  if (family != nullptr) return static_cast<std::size_t>(family->npus(arguments));
  std::size_t total = 1;
  for (const Block& block : blocks) total *= block.size;
  return total;
}

std::string to_string(const Shape& shape) {
  if (!shape.is_product()) return fmt::format("{}({})", shape.family->name, fmt::join(shape.arguments, ","));
  std::string text;
  for (const Block& block : shape.blocks) {
    text += fmt::format("{}{}({}", text.empty() ? "" : "_", block.rule->name, block.size);
    for (const auto& [npus, oversubscription] : block.levels)
      text += oversubscription == 1 ? fmt::format(",{}", npus) : fmt::format(",{}:{}", npus, oversubscription);
    text += ')';
  }
  return text;
}

std::vector<std::uint32_t> coordinates_of(const Shape& shape, NpuId npu) {
  std::vector<std::uint32_t> coordinates;
  std::uint32_t rest = npu.value();
  for (const Block& block : shape.blocks) {
    coordinates.push_back(rest % block.size);
    rest /= block.size;
  }
  return coordinates;
}

NpuId npu_at(const Shape& shape, const std::vector<std::uint32_t>& coordinates) {
  ensure(coordinates.size() == shape.dimensions(), "one coordinate per dimension");
  std::uint32_t npu = 0;
  for (std::size_t i = coordinates.size(); i > 0; --i) npu = npu * shape.blocks[i - 1].size + coordinates[i - 1];
  return NpuId(npu);
}

}  // namespace tenex
