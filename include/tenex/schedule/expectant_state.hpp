// States of programs that are too large for caches.
#pragma once

#include "tenex/schedule/program.hpp"

namespace tenex {

/// A state that may be told what will arrive soon, and asks memory for what it will look at then. Engines that know
/// some arrivals ahead tell it; nothing but speed depends on it.
class ExpectantState : public ProgramState {
 public:
  /// `message` will be handed to arrive() next or after a few others. O(1).
  virtual void expect(const Message& message) const = 0;
};

}  // namespace tenex
