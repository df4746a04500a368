// States of programs that are too large for caches.
#pragma once

#include "tenex/schedule/program.hpp"

namespace tenex {

/// A state that prefetches what it will read when an announced message arrives. Engines that know some arrivals ahead
/// announce them. Only speed depends on it.
class ExpectantState : public ProgramState {
 public:
  /// `message` will be handed to arrive() next or after a few others. O(1).
  virtual void expect(const Message& message) const = 0;
};

}  // namespace tenex
