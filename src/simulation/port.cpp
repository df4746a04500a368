#include "simulation/port.hpp"

#include <algorithm>

namespace tenex {
namespace {
constexpr int first_ring_bits = 2;
constexpr std::size_t smallest_block = std::size_t{64} << 10;
constexpr std::size_t largest_block = std::size_t{32} << 20;
}  // namespace

/// Block sizes double, so that small networks take little memory.
void FlightRings::add_block(std::size_t least) {
  const auto last = blocks_.empty() ? smallest_block / 2 : blocks_.back().size();
  auto& block = blocks_.emplace_back(std::max(std::min(2 * last, largest_block), least + line));
  const auto misplaced = reinterpret_cast<std::uintptr_t>(block.data()) % line;
  const auto skipped = misplaced == 0 ? 0 : line - misplaced;
  next_ = block.data() + skipped;
  left_ = block.size() - skipped;
}

void Port::grow(FlightRings& rings) {
  const int wider = ring_ != nullptr ? bits_ + 1 : first_ring_bits;
  auto* const larger = rings.take(wider);
  for (std::uint32_t i = 0; i < size_; ++i) larger[i] = ring_ != nullptr ? ring_[place(i)] : only_;
  if (ring_ != nullptr) rings.give_back(ring_, bits_);
  ring_ = larger;
  head_ = 0;
  bits_ = static_cast<std::uint8_t>(wider);
}

}  // namespace tenex
