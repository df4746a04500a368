// Internal to pages: self-contained HTML. One file has its text, style, scripts and data, asks for nothing else, and
// says so in its content security policy: scripts and styles run by their hashes alone, and nothing is fetched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

/// The text with &, <, >, " and ' as references, for elements and for attributes in quotes.
[[nodiscard]] std::string escape_html(std::string_view text);

/// RFC 4648, section 4, with padding.
[[nodiscard]] std::string base64(std::span<const std::byte> bytes);

/// Builds JSON text, member by member. Commas follow from the calls. `<` is written as an escape, so that no text ends
/// a script element.
class JsonText {
 public:
  JsonText& begin_object() { return open('{'); }
  JsonText& end_object() { return close('}'); }
  JsonText& begin_array() { return open('['); }
  JsonText& end_array() { return close(']'); }
  /// The name of the next value.
  JsonText& key(std::string_view name);
  JsonText& text(std::string_view value);
  /// null where it is not finite.
  JsonText& real(double value);
  JsonText& integer(std::int64_t value);
  JsonText& truth(bool value);
  JsonText& null();

  JsonText& member(std::string_view name, std::string_view value) { return key(name).text(value); }
  JsonText& member(std::string_view name, std::int64_t value) { return key(name).integer(value); }
  template <class Numbers>
  JsonText& list(std::string_view name, const Numbers& numbers) {
    key(name).begin_array();
    for (const auto& each : numbers) {
      if constexpr (std::is_floating_point_v<std::remove_cvref_t<decltype(each)>>)
        real(each);
      else
        integer(static_cast<std::int64_t>(each));
    }
    return end_array();
  }
  [[nodiscard]] const std::string& str() const { return text_; }

 private:
  JsonText& open(char bracket);
  JsonText& close(char bracket);
  void separate();
  void quote(std::string_view value);

  std::string text_;
  bool first_ = true;
};

/// Long columns of numbers for a page: little-endian, compressed together (zlib), as base64. What a script needs to
/// find them is JSON.
class ColumnPack {
 public:
  void add(std::string_view name, std::span<const double> values) { append(name, "f64", std::as_bytes(values), 8); }
  void add(std::string_view name, std::span<const float> values) { append(name, "f32", std::as_bytes(values), 4); }
  void add(std::string_view name, std::span<const std::uint32_t> values) {
    append(name, "u32", std::as_bytes(values), 4);
  }
  void add(std::string_view name, std::span<const std::uint8_t> values) {
    append(name, "u8", std::as_bytes(values), 1);
  }
  /// An array with an object for each column: name, type, offset in bytes, count.
  void describe(JsonText& json, std::string_view name) const;
  /// All columns. O(bytes).
  [[nodiscard]] std::string packed() const;

 private:
  struct Column {
    std::string name;
    std::string_view type;
    std::size_t offset = 0;
    std::size_t count = 0;
  };
  void append(std::string_view name, std::string_view type, std::span<const std::byte> bytes, std::size_t width);

  std::vector<Column> columns_;
  std::vector<std::byte> bytes_;
};

/// What a page is made of.
struct PageParts {
  std::string title;
  std::vector<std::string_view> scripts;  ///< by their names in src/pages/web, in the order of loading
  std::string_view skeleton;              ///< the page's elements, likewise
  std::string data;                       ///< JSON, for the scripts
  std::string columns = {};               ///< ColumnPack::packed(); empty: none
};

/// The whole page. Errors (environment): this tenex was built without the libraries of its scripts.
[[nodiscard]] Result<std::string> page_of(const PageParts& parts);

}  // namespace tenex
