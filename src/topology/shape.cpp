// Shapes: sizes, canonical text and coordinates. The NPU id is a mixed-radix number whose least digit is dimension 1.
#include "tenex/topology/shape.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "tenex/topology/block.hpp"

namespace tenex {

bool Shape::is_product() const {
  return std::none_of(blocks.begin(), blocks.end(),
                      [](const Block& block) { return block.rule->step_toward == nullptr; });
}

std::size_t Shape::npus() const {
  std::size_t total = 1;
  for (const Block& block : blocks) total *= block.size;
  return total;
}

std::string to_string(const Shape& shape) {
  if (!shape.is_product()) return fmt::format("dragonfly({},{})", shape.blocks[0].size, shape.blocks[1].size);
  std::string text;
  for (const Block& block : shape.blocks) {
    text += fmt::format("{}{}({})", text.empty() ? "" : "_", block.rule->name, block.size);
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
