// XXH3 digests: 128 bits for keys that must not collide, 64 bits for streams.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenex {

/// A 128-bit XXH3 digest, ordered and printable.
struct Digest {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Digest&) const = default;
};

/// 32 lower-case hexadecimal digits, high half first.
[[nodiscard]] std::string to_string(const Digest& digest);

/// XXH3-128 of the bytes. O(length).
[[nodiscard]] Digest digest128(std::string_view bytes);
/// XXH3-64 of the bytes with a seed; chain by passing the previous digest as the seed. O(length).
[[nodiscard]] std::uint64_t digest64(std::string_view bytes, std::uint64_t seed = 0);

}  // namespace tenex
