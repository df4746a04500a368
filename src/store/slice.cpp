// A slice takes one point of every block of neighbouring points; a hash of the block's number rotates which.
#include "tenex/store/slice.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/core.h>

#include "store/folder_layout.hpp"
#include "tenex/base/hash.hpp"

namespace tenex {

Result<Slice> parse_slice(std::string_view text) {
  const auto slash = std::min(text.find('/'), text.size());
  const auto index = store::parse_number(text.substr(0, slash)).value_or(0);
  const auto count = store::parse_number(text.substr(std::min(slash + 1, text.size()))).value_or(0);
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  if (index < 1 || index > count || count > most)
    return input_error({"--slice", 0, 0}, fmt::format("\"{}\" is no slice", text), "I/N is expected, with 1 <= I <= N",
                       "--slice 1/8 evaluates the first of eight parts");
  return Slice{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(count)};
}

std::string to_string(const Slice& slice) { return fmt::format("{}/{}", slice.index, slice.count); }

bool in_slice(const Slice& slice, std::size_t point) {
  const std::size_t block = point / slice.count;
  std::array<char, 8> bytes{};  // of the block's number, least significant first on every machine
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>((block >> (8 * i)) & 0xff);
  const auto turn = digest64({bytes.data(), bytes.size()}) % slice.count;
  return (point % slice.count + turn) % slice.count == slice.index - 1;
}

}  // namespace tenex
