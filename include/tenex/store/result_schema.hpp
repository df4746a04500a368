// The version of result files.
#pragma once

#include <cstdint>

namespace tenex {

/// The schema of the result files that this version writes; readers refuse a newer one.
[[nodiscard]] std::int64_t result_schema();

}  // namespace tenex
