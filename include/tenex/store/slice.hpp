// Slices divide a study into parts that separate jobs evaluate, each into its own folder; gather() joins the folders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// Part `index` of `count`, counted from 1. The whole is 1/1.
struct Slice {
  std::uint32_t index = 1;
  std::uint32_t count = 1;
  bool operator==(const Slice&) const = default;
};

/// "3/8". Errors (input): not I/N with 1 <= I <= N.
[[nodiscard]] Result<Slice> parse_slice(std::string_view text);
[[nodiscard]] std::string to_string(const Slice& slice);

/// Whether the slice has this point of the study. A slice has one of every `count` neighbouring points. Which one is
/// drawn anew for every such block: if it were always the same, an axis of `count` values would be split, and one slice
/// would have all points of the slowest algorithm. O(1).
[[nodiscard]] bool in_slice(const Slice& slice, std::size_t point);

}  // namespace tenex
