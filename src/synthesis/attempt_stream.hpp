// The random stream of one attempt.
#pragma once

#include <cstdint>
#include <string_view>

#include "tenex/base/hash.hpp"
#include "tenex/base/random.hpp"

namespace tenex {

/// Random numbers keyed by (seed, synthesis key, attempt) alone.
[[nodiscard]] inline Random attempt_stream(std::uint64_t seed, const Digest& synthesis_key, std::uint32_t attempt) {
  return Random(seed, digest64(to_string(synthesis_key), attempt));
}

}  // namespace tenex
