// Tiles of columns (HDF5's chunks) as the filters shuffle and deflate would leave them.
//
// The library filters on one thread under its lock; tiles packed here are stored as they are (H5Dwrite_chunk), and
// every HDF5 library reads them. zlib adds the Adler-32 of what it compressed, which readers check.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tenex {

inline constexpr int kDeflateLevel = 1;  ///< of grown columns: half the time of level 4 at 1.1 times the size

/// The compressed form of whole elements of `element` bytes (numbers of the machine). O(size).
[[nodiscard]] std::vector<std::byte> pack_tile(std::span<const std::byte> tile, std::size_t element);

/// The inverse of pack_tile(): fills `tile` with exactly its size. False where the bytes are no such tile.
[[nodiscard]] bool unpack_tile(std::span<const std::byte> packed, std::size_t element, std::span<std::byte> tile);

}  // namespace tenex
