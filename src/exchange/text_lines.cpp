#include "exchange/text_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tenex::exchange {

TextLines::TextLines(std::string file, std::string_view text) : file_(std::move(file)), begins_{0} {
  for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) begins_.push_back(at + 1);
}

Place TextLines::at(std::size_t offset) const {
  const auto line = std::ranges::upper_bound(begins_, offset) - begins_.begin();
  const auto begin = begins_[static_cast<std::size_t>(line) - 1];
  return {file_, static_cast<std::uint32_t>(line), static_cast<std::uint32_t>(offset - begin + 1)};
}

Status check_text(std::string_view file, std::string_view text, std::size_t limit) {
  if (text.size() > limit)
    return input_error({std::string(file), 0, 0}, fmt::format("the file has {} bytes", text.size()),
                       fmt::format("at most {} are read of this format", limit));
  if (const auto nul = text.find('\0'); nul != std::string_view::npos)
    return input_error(TextLines(std::string(file), text.substr(0, nul)).at(nul), "a NUL byte", "the format is text");
  return success();
}

}  // namespace tenex::exchange
