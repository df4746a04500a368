// TOML text to a tree: the only translation unit that sees toml++.
//
// toml++ keeps tables sorted by key and its strings without their quotes' position, but it remembers where each key and
// value began. The written order is the order of the keys' positions; the place of a string's first character is found
// by looking at the quotes in the source.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include <fmt/core.h>
#include <toml++/toml.h>

#include "tenex/spec/document.hpp"

namespace tenex {

namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 20;

/// The source text, addressed by line and column (both from 1; columns count characters, as toml++ does).
class TextWithPlaces {
 public:
  explicit TextWithPlaces(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);  // toml++ does not count a byte order mark
    line_starts_.push_back(0);
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (text_[i] == '\n') line_starts_.push_back(i + 1);
    }
  }

  /// The text from a position on; empty when there is no such position.
  [[nodiscard]] std::string_view from(const toml::source_position& position) const {
    if (position.line == 0 || position.line > line_starts_.size()) return {};
    std::size_t offset = line_starts_[position.line - 1];
    for (toml::source_index column = 1; column < position.column && offset < text_.size(); ++column) {
      ++offset;
      while (offset < text_.size() && (static_cast<unsigned char>(text_[offset]) & 0xC0U) == 0x80U) ++offset;
    }
    return text_.substr(std::min(offset, text_.size()));
  }

  /// The line that holds a position, up to the position.
  [[nodiscard]] std::string_view line_before(const toml::source_position& position) const {
    const std::string_view line = from({position.line, 1});
    return line.substr(0, line.size() - from(position).size());
  }

 private:
  std::string_view text_;
  std::vector<std::size_t> line_starts_;
};

/// Turns toml++'s tree into ours.
class Converter {
 public:
  Converter(const TextWithPlaces& source, const std::string& file) : source_(source), file_(file) {}

  // Recursion is as deep as the document; toml++ refuses values nested deeper than 256.
  [[nodiscard]] Node convert(const toml::node& node, const Place& fallback) const {  // NOLINT(misc-no-recursion)
    const Place place = node.source().begin ? place_of(node.source().begin) : fallback;
    switch (node.type()) {
      case toml::node_type::table:
        return convert_table(*node.as_table(), place);
      case toml::node_type::array: {
        std::vector<Node> items;
        for (const toml::node& item : *node.as_array()) items.push_back(convert(item, place));
        return Node::make_array(place, std::move(items));
      }
      case toml::node_type::string:
        return Node::make_string(place, node.as_string()->get(), place_of_text(place, node.source().begin));
      case toml::node_type::integer:
        return Node::make_integer(place, node.as_integer()->get());
      case toml::node_type::floating_point:
        return Node::make_real(place, node.as_floating_point()->get());
      case toml::node_type::boolean:
        return Node::make_boolean(place, node.as_boolean()->get());
      default:
        return Node::make_other(place);
    }
  }

 private:
  [[nodiscard]] Place place_of(const toml::source_position& position) const {
    return {file_, position.line, position.column};
  }

  [[nodiscard]] Node convert_table(const toml::table& table, const Place& place) const {  // NOLINT(misc-no-recursion)
    std::vector<Entry> entries;
    for (const auto& [key, value] : table) {
      const Place key_place = place_of(key.source().begin);
      entries.push_back({std::string(key.str()), key_place, convert(value, key_place)});
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.key_place.line, a.key_place.column) < std::pair(b.key_place.line, b.key_place.column);
    });
    return Node::make_table(place, std::move(entries));
  }

  /// The place after the opening quote or quotes, and after the newline that may follow three of them.
  [[nodiscard]] Place place_of_text(const Place& place, const toml::source_position& quote) const {
    const std::string_view written = source_.from(quote);
    Place text_place = place;
    if (!written.starts_with("\"\"\"") && !written.starts_with("'''")) {
      ++text_place.column;
    } else if (const auto body = written.substr(3); body.starts_with("\n") || body.starts_with("\r\n")) {
      ++text_place.line;
      text_place.column = 1;
    } else {
      text_place.column += 3;
    }
    return text_place;
  }

  const TextWithPlaces& source_;
  const std::string& file_;
};

/// The text between the first pair of single quotes.
std::string_view quoted_part(std::string_view text) {
  const std::size_t open = text.find('\'');
  if (open == std::string_view::npos) return {};
  const std::size_t close = text.find('\'', open + 1);
  return close == std::string_view::npos ? std::string_view() : text.substr(open + 1, close - open - 1);
}

/// Reports `cannot redefine existing integer 'a'` at the second key instead of at its value.
std::optional<Diagnostic> duplicate_key(std::string_view detail, const toml::source_position& position,
                                        const TextWithPlaces& source, Place place) {
  if (!detail.starts_with("cannot redefine existing")) return {};
  const std::string_view key = quoted_part(detail);
  const std::string_view before = source.line_before(position);
  if (const std::size_t at = before.rfind(key); at != std::string_view::npos && !key.empty()) {
    place = place_within({place.file, place.line, 1}, before, at);
  }
  return input_error(std::move(place), fmt::format("the key \"{}\" is given twice", key),
                     "a key has one value in a table", "remove one of the two");
}

/// A text that does not end on its line, at its opening quote. toml++ complains of the end of the line, or of what
/// comes after it.
std::optional<Diagnostic> open_text(std::string_view what, std::string_view detail,
                                    const toml::source_position& position, const TextWithPlaces& source, Place place) {
  const bool at_end = detail.find("end-of-file") != std::string_view::npos ||
                      detail.find("control character") != std::string_view::npos ||
                      detail.find("newline") != std::string_view::npos ||
                      detail.find("line break") != std::string_view::npos;
  if (what.find("string") == std::string_view::npos || !at_end) return {};
  const std::string_view before = source.line_before(position);
  char open = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (open == '"' && before[i] == '\\')
      ++i;
    else if (open != 0 && before[i] == open)
      open = 0;
    else if (open == 0 && (before[i] == '"' || before[i] == '\''))
      open = before[i], start = i;
  }
  if (open == 0) return {};
  return input_error(place_within({place.file, place.line, 1}, before, start), "a text has no closing quote",
                     "a text ends on the line on which it begins", fmt::format("write {} where it ends", open));
}

Diagnostic explain(const toml::parse_error& error, const TextWithPlaces& source, const std::string& file) {
  const toml::source_position position = error.source().begin;
  Place place{file, position.line, position.column};
  const std::string_view description = error.description();
  constexpr std::string_view kPreamble = "Error while parsing ";
  if (!description.starts_with(kPreamble)) {
    if (description.find("utf-8") != std::string_view::npos) {
      return input_error(std::move(place), "not valid UTF-8", "a TOML file is encoded in UTF-8",
                         "save the file as UTF-8");
    }
    return input_error(std::move(place), fmt::format("TOML syntax error: {}", description));
  }
  const std::size_t colon = description.find(": ");
  if (colon == std::string_view::npos) {
    return input_error(std::move(place), fmt::format("TOML syntax error: {}", description));
  }
  const std::string_view what = description.substr(kPreamble.size(), colon - kPreamble.size());
  const std::string_view detail = description.substr(colon + 2);
  if (auto duplicate = duplicate_key(detail, position, source, place)) return *duplicate;
  if (auto open = open_text(what, detail, position, source, place)) return *open;
  const bool in_value = what == "value" || what == "key-value pair" || what.find("integer") != std::string_view::npos ||
                        what.find("floating-point") != std::string_view::npos;
  return input_error(std::move(place), fmt::format("TOML syntax error: {}", detail),
                     fmt::format("while reading a {}", what),
                     in_value ? "text and quantities stand in quotes, for instance \"1GiB\"" : "");
}

Result<std::string> read_text(const std::filesystem::path& path) {
  const auto fail = [&](std::string_view problem, std::string why) -> Diagnostic {
    Diagnostic error = environment_error(fmt::format("{} \"{}\"", problem, path.string()), std::move(why));
    return error;
  };
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) return fail("cannot read", "it is a directory");
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return fail("cannot read", errno == 0 ? "it cannot be opened" : std::strerror(errno));
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  while (stream) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block, 0, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > kLargestFile) {
      return fail("cannot read", fmt::format("it is larger than {} bytes", kLargestFile));
    }
  }
  if (stream.bad()) return fail("cannot read", errno == 0 ? "reading failed" : std::strerror(errno));
  return text;
}

}  // namespace

Result<Node> parse_toml(std::string_view text, const std::string& file) {
  const TextWithPlaces source(text);
  try {
    const toml::table table = toml::parse(text, file);
    return Converter(source, file).convert(table, {file, 1, 1});
  } catch (const toml::parse_error& error) {
    return explain(error, source, file);
  }
}

Result<Node> read_toml_file(const std::filesystem::path& path) {
  const Result<std::string> text = read_text(path);
  if (!text) return text.errors();
  return parse_toml(*text, path.string());
}

}  // namespace tenex
