// XXH3 digests: 128 bits for keys that must not collide, 64 bits for streams.
#pragma once

#include <compare>
#include <cstddef>
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

/// The input of a digest: int64 fields one after another. Precede each list by its length, so that different inputs
/// never make the same bytes.
class DigestText {
 public:
  void add(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (unsigned byte = 0; byte < 8; ++byte) bytes_.push_back(static_cast<char>(bits >> (8 * byte) & 0xFFU));
  }
  void add(const Digest& digest) {
    add(static_cast<std::int64_t>(digest.high));
    add(static_cast<std::int64_t>(digest.low));
  }
  void add_size(std::size_t value) { add(static_cast<std::int64_t>(value)); }
  [[nodiscard]] Digest digest() const { return digest128(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace tenex
