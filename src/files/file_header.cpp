#include "files/file_header.hpp"

#include <algorithm>
#include <string>

#include <fmt/core.h>

namespace tenex {

void check_file_header(TableReader& reader, std::string_view kind, std::int64_t schema) {
  if (const auto* node = reader.require("schema")) {
    const auto number = reader.integer("schema");
    if (number && *number != schema)
      reader.fail(input_error(node->place(), fmt::format("schema {} is not known", *number),
                              fmt::format("this version reads schema {}", schema),
                              *number > schema ? "use a newer tenex" : ""));
  }
  if (const auto* node = reader.require("kind")) {
    std::string words(kind);
    std::ranges::replace(words, '_', ' ');
    const auto text = reader.string("kind");
    if (text && *text != kind)
      reader.fail(input_error(node->place(), fmt::format("kind \"{}\" is no {}", *text, words),
                              fmt::format("a {} file says kind = \"{}\"", words, kind)));
  }
}

}  // namespace tenex
