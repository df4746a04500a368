// Packs tiles of columns (HDF5's chunks) as the filters shuffle and deflate would.
//
// The library filters on one thread under its lock. Tiles packed here are stored as they are (H5Dwrite_chunk), and
// every HDF5 library reads them. zlib adds the Adler-32 of the uncompressed bytes, which readers check.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tenex {

inline constexpr int kDeflateLevel = 1;  ///< for columns that grow: half the time of level 4 at 1.1 times the size

/// The compressed form of whole elements of `element` bytes in native byte order. O(size).
[[nodiscard]] std::vector<std::byte> pack_tile(std::span<const std::byte> tile, std::size_t element);

/// The inverse of pack_tile(): fills all of `tile`. False if the bytes are not such a tile.
[[nodiscard]] bool unpack_tile(std::span<const std::byte> packed, std::size_t element, std::span<std::byte> tile);

}  // namespace tenex
