// Offsets with each coordinate in its own bits.
//
// A step along a dimension then changes one field: an addition, a comparison and two shifts, no division. The packed
// range is up to twice the group's per dimension (rings of 2^j + 1), which only affects the size of a bitset. Encoding
// of an item: number of the chunk at its owner, then the coordinates, the first dimension lowest. In a twisted group a
// step also changes the last coordinate, by a constant and, where it goes around, by the carry.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "tenex/topology/translation.hpp"

namespace tenex {

/// A chunk as one NPU sees it: packed offset from its owner in the low bits, and its number there above them.
using PackedItem = std::uint64_t;

/// The effect of a direction on a packed item.
struct PackedStep {
  std::uint64_t mask = 0;  ///< of the digit, not shifted
  std::uint64_t step = 0;
  std::uint64_t size = 1;
  unsigned shift = 0;
  unsigned last_shift = 0;      ///< of the last digit; as those below, of twisted dimensions only
  std::uint64_t last_mask = 0;  ///< 0: the step changes its own digit only
  std::uint64_t last_size = 1;
  std::uint64_t along_last = 0;  ///< below last_size
  std::uint64_t carry = 0;       ///< below last_size

  [[nodiscard]] PackedItem apply(PackedItem item) const {
    const std::uint64_t digit = (item >> shift) & mask;
    const std::uint64_t sum = digit + step;
    const PackedItem there = item + ((sum - (sum >= size ? size : 0) - digit) << shift);
    return last_mask == 0 ? there : moved_last(there, along_last + (sum >= size ? carry : 0));
  }
  /// The item that apply() takes to this one.
  [[nodiscard]] PackedItem origin(PackedItem item) const {
    const std::uint64_t digit = (item >> shift) & mask;
    const PackedItem there = item + ((digit + (digit >= step ? 0 : size) - step - digit) << shift);
    return last_mask == 0 ? there : moved_last(there, 2 * last_size - along_last - (digit >= step ? 0 : carry));
  }
  /// The item at position 0 of the same line.
  [[nodiscard]] PackedItem line_of(PackedItem item) const { return item & ~(mask << shift); }

 private:
  [[nodiscard]] PackedItem moved_last(PackedItem item, std::uint64_t by) const {
    const std::uint64_t digit = (item >> last_shift) & last_mask;
    return item + (((digit + by) % last_size - digit) << last_shift);
  }
};

class PackedOffsets {
 public:
  explicit PackedOffsets(const TranslationGroup& group) : group_(&group) {
    for (const auto& dimension : group.dimensions()) {
      shifts_.push_back(bits_);
      bits_ += static_cast<unsigned>(std::bit_width(dimension.size - 1));
    }
  }

  /// Bits of one packed offset.
  [[nodiscard]] unsigned bits() const { return bits_; }
  /// The bits of one dimension's coordinate.
  [[nodiscard]] std::uint64_t field(std::size_t dimension) const {
    const unsigned width = static_cast<unsigned>(std::bit_width(group_->dimensions()[dimension].size - 1));
    return ((std::uint64_t{1} << width) - 1) << shifts_[dimension];
  }
  [[nodiscard]] PackedStep step(const TranslationDirection& direction) const {
    const auto& dimension = group_->dimensions()[direction.dimension];
    const unsigned shift = shifts_[direction.dimension];
    PackedStep step{field(direction.dimension) >> shift, direction.step, dimension.size, shift};
    if (dimension.carry == 0) return step;
    const std::size_t last = shifts_.size() - 1;
    step.last_shift = shifts_[last];
    step.last_mask = field(last) >> shifts_[last];
    step.last_size = group_->dimensions()[last].size;
    step.along_last = direction.along_last;
    step.carry = dimension.carry;
    return step;
  }
  /// The item of the owner's chunk at the owner itself.
  [[nodiscard]] PackedItem own(std::uint32_t number) const { return std::uint64_t{number} << bits_; }
  [[nodiscard]] PackedItem packed(NpuId offset, std::uint32_t number) const {
    PackedItem item = own(number);
    for (std::size_t i = 0; i < shifts_.size(); ++i) {
      const auto& dimension = group_->dimensions()[i];
      item |= std::uint64_t{offset.value() / dimension.stride % dimension.size} << shifts_[i];
    }
    return item;
  }
  [[nodiscard]] std::uint32_t number(PackedItem item) const { return static_cast<std::uint32_t>(item >> bits_); }
  [[nodiscard]] NpuId offset(PackedItem item) const {
    std::uint64_t offset = 0;
    for (std::size_t i = 0; i < shifts_.size(); ++i)
      offset += ((item & field(i)) >> shifts_[i]) * group_->dimensions()[i].stride;
    return NpuId::at(offset);
  }

 private:
  const TranslationGroup* group_;
  std::vector<unsigned> shifts_;
  unsigned bits_ = 0;
};

}  // namespace tenex
