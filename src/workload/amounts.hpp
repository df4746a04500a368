// Products of a model's dimensions, with detection of overflow.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "workload/saturating.hpp"

namespace tenex {

/// Multiplies positive numbers and remembers whether any result went beyond int64.
class Amounts {
 public:
  /// The product of `factors` over `divisor`, rounded up.
  std::int64_t product(std::initializer_list<std::int64_t> factors, std::int64_t divisor = 1) {
    Wide result = 1;
    for (const auto factor : factors) {
      result *= static_cast<Wide>(factor);
      if (result > static_cast<Wide>(kMostInt64)) {
        overflowed_ = true;
        return kMostInt64;
      }
    }
    return ceil_div(static_cast<std::int64_t>(result), divisor);
  }
  [[nodiscard]] bool overflowed() const { return overflowed_; }

 private:
  bool overflowed_ = false;
};

}  // namespace tenex
