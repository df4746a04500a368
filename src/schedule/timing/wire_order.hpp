// The order of sends on the physical links that wires share, as difference constraints (tenex/topology/wires.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/send.hpp"

namespace tenex {

/// start of `later` >= start of `earlier` + gap.
struct StartConstraint {
  std::size_t later = 0;
  std::size_t earlier = 0;
  SimTime gap;            ///< may be negative: the later send may start first and reach the shared link after the other
  bool together = false;  ///< one signal with the other
};

/// The constraints that keep the order of a valid schedule's sends on every physical link, and sends that are one
/// signal together. Empty where links are physical. O(spans log spans) for the sends' spans.
[[nodiscard]] std::vector<StartConstraint> wire_order(const Instance& instance, std::span<const Send> sends);

}  // namespace tenex
