// Internal to evaluate: wall time for the measured columns, which no result depends on.
#pragma once

#include <chrono>

namespace tenex {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace tenex
