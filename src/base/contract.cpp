// The message of a broken contract.
#include "tenex/base/contract.hpp"

#include <fmt/core.h>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

void throw_broken_contract(const char* function, const char* part, const char* meaning, const char* condition) {
  throw InvariantError(fmt::format("{}() {} {}: {} does not hold", function, part, meaning, condition));
}

}  // namespace tenex
