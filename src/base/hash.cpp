// XXH3 digests. Only this file includes the library's header (not inlined: the library is linked), so no other
// translation unit parses it.
#include "tenex/base/hash.hpp"

#include <fmt/core.h>
#include <xxhash.h>

namespace tenex {

std::string to_string(const Digest& digest) { return fmt::format("{:016x}{:016x}", digest.high, digest.low); }

Digest digest128(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.high = hash.high64, .low = hash.low64};
}

std::uint64_t digest64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace tenex
