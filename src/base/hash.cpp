// XXH3 digests. Only this file includes the library's header (not inlined: the library is linked), so no other
// translation unit parses it.
#include "tenex/base/hash.hpp"

#include <xxhash.h>

namespace tenex {

std::string to_string(const Digest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  constexpr std::size_t kDigitsOfHalf = 16;
  std::string text(2 * kDigitsOfHalf, '0');
  for (std::size_t i = 0; i < kDigitsOfHalf; ++i) {
    text[kDigitsOfHalf - 1 - i] = kDigits[digest.high >> (4 * i) & 15U];
    text[2 * kDigitsOfHalf - 1 - i] = kDigits[digest.low >> (4 * i) & 15U];
  }
  return text;
}

Digest digest128(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.high = hash.high64, .low = hash.low64};
}

std::uint64_t digest64(std::string_view bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace tenex
