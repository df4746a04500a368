// Packs tiles of columns (HDF5's chunks) as the filters shuffle and deflate would.
//
// The library filters on one thread under its lock. Tiles packed here are stored as they are (H5Dwrite_chunk), and
// every HDF5 library reads them. zlib adds the Adler-32 of the uncompressed bytes, which readers check.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

namespace tenex {

inline constexpr int kDeflateLevel = 1;  ///< for columns that grow: half the time of level 4 at 1.1 times the size

/// The compressed form of whole elements of `element` bytes in native byte order. O(size).
[[nodiscard]] std::vector<std::byte> pack_tile(std::span<const std::byte> tile, std::size_t element);

/// The inverse of pack_tile(): fills all of `tile`. False if the bytes are not such a tile.
[[nodiscard]] bool unpack_tile(std::span<const std::byte> packed, std::size_t element, std::span<std::byte> tile);

// A few threads for compression and encoding, beside the coordinator's threads that evaluate points.

/// Calls work(part) once for each part 0 .. parts-1 on up to `threads` threads, including this one.
template <class Work>
void in_parallel(int threads, std::size_t parts, Work&& work) {
  std::atomic<std::size_t> next{0};
  const auto take_parts = [&] {
    for (std::size_t part = next.fetch_add(1); part < parts; part = next.fetch_add(1)) work(part);
  };
  std::vector<std::jthread> helpers;
  const auto useful = std::min(static_cast<std::size_t>(std::max(1, threads)), parts);
  for (std::size_t i = 1; i < useful; ++i) helpers.emplace_back(take_parts);
  take_parts();
}

}  // namespace tenex
