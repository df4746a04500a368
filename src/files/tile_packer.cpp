#include "files/tile_packer.hpp"

#include <zlib.h>

#include <bit>
#include <cstdint>

#include "tenex/base/diagnostic.hpp"

namespace tenex {
namespace {

/// Position in memory of byte `i` (least significant first) of an element.
std::size_t place_of(std::size_t i, std::size_t element) {
  return std::endian::native == std::endian::little ? i : element - 1 - i;
}

}  // namespace

std::vector<std::byte> pack_tile(std::span<const std::byte> tile, std::size_t element) {
  std::vector<std::byte> planes;
  if (element > 1) {
    const std::size_t elements = tile.size() / element;
    planes.resize(tile.size());
    for (std::size_t byte = 0; byte < element; ++byte) {
      const std::byte* from = tile.data() + place_of(byte, element);
      std::byte* const to = planes.data() + byte * elements;
      for (std::size_t i = 0; i < elements; ++i) to[i] = from[i * element];
    }
    tile = planes;
  }
  uLongf size = compressBound(static_cast<uLong>(tile.size()));
  std::vector<std::byte> packed(size);
  const int result =
      compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(tile.data()),
                static_cast<uLong>(tile.size()), kDeflateLevel);
  ensure(result == Z_OK, "pack_tile: zlib refuses to compress");
  packed.resize(size);
  return packed;
}

bool unpack_tile(std::span<const std::byte> packed, std::size_t element, std::span<std::byte> tile) {
  std::vector<std::byte> planes(element > 1 ? tile.size() : 0);
  const std::span<std::byte> whole = element > 1 ? std::span(planes) : tile;
  auto size = static_cast<uLongf>(whole.size());
  if (uncompress(reinterpret_cast<Bytef*>(whole.data()), &size, reinterpret_cast<const Bytef*>(packed.data()),
                 static_cast<uLong>(packed.size())) != Z_OK ||
      size != whole.size())
    return false;
  const std::size_t elements = tile.size() / element;
  for (std::size_t byte = 0; element > 1 && byte < element; ++byte) {
    const std::byte* const from = planes.data() + byte * elements;
    std::byte* to = tile.data() + place_of(byte, element);
    for (std::size_t i = 0; i < elements; ++i) to[i * element] = from[i];
  }
  return true;
}

}  // namespace tenex
