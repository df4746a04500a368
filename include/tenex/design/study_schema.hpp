// The version of the study grammar.
#pragma once

#include <cstdint>

namespace tenex {

/// The schema of the studies that this version reads.
inline constexpr std::int64_t kStudySchema = 1;

}  // namespace tenex
