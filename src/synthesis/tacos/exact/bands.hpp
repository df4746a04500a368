// Bands: NPUs in an order in which links join only neighbours, so that several tiles can pass over them together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "synthesis/tacos/exact/step_setup.hpp"

namespace tenex {

/// NPUs by band; ports join NPUs of the same band or of two that follow each other.
struct Bands {
  std::vector<std::uint32_t> npus;
  std::vector<std::size_t> begin;  ///< into `npus`, and the end
  std::size_t depth = 0;           ///< of the breadth-first searches: about the diameter in hops

  [[nodiscard]] std::size_t count() const { return begin.size() - 1; }
};

/// Bands of `width` steps of a breadth-first search each, from an NPU at the rim of each group. O(links).
[[nodiscard]] Bands find_bands(const StepSetup& setup, std::size_t width);

}  // namespace tenex
