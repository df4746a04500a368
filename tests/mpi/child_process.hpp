// A job of the probe: its exit status as a shell reports it, and the numbers that it prints.
#pragma once

#include <chrono>
#include <sstream>
#include <string>

#include "support/process.hpp"

namespace tenex::testing {

class ChildProcess : public support::Child {
 public:
  using Child::Child;

  /// The exit status, 128 + the signal that ended it, or -1 when it is still running after `limit`.
  int wait(std::chrono::seconds limit = support::longest_wait) { return Child::wait(limit).status(); }

  /// The number that follows `name` on standard output, or -1.
  [[nodiscard]] long number(const std::string& name) const {
    std::istringstream words(out());
    for (std::string word; words >> word;) {
      long value = 0;
      if (word == name && words >> value) return value;
    }
    return -1;
  }
};

}  // namespace tenex::testing
