// Internal to exchange: places from byte offsets, and what is checked before any parser sees a text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex::exchange {

/// The beginnings of a text's lines. Construction O(length), a place O(log lines).
class TextLines {
 public:
  TextLines(std::string file, std::string_view text);
  /// The place of the byte; columns count bytes.
  [[nodiscard]] Place at(std::size_t offset) const;

 private:
  std::string file_;
  std::vector<std::size_t> begins_;
};

/// Refuses a text over `limit` bytes, and NUL bytes: parsers end at them or not. Errors (input), with place.
[[nodiscard]] Status check_text(std::string_view file, std::string_view text, std::size_t limit);

}  // namespace tenex::exchange
