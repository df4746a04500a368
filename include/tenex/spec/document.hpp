// A TOML document as a tree of values that know where they were written.
//
// toml++ does the parsing and stays behind this header. Its tables are sorted by key; here the entries of a table keep
// the order in which the user wrote them, because the order of axes is the order of a study's points.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

struct Entry;

/// The kind of a TOML value. `other` is a date or a time, which no key of tenex takes.
enum class NodeKind : std::uint8_t { table, array, string, integer, real, boolean, other };

/// "a table", "a string", ...: for messages.
[[nodiscard]] std::string_view describe(NodeKind kind);

/// One value of a document. A value type; the typed readers throw InvariantError when asked for another kind, so ask
/// kind() first or go through the as_... functions below.
class Node {
 public:
  [[nodiscard]] static Node make_table(Place place, std::vector<Entry> entries);
  [[nodiscard]] static Node make_array(Place place, std::vector<Node> items);
  /// `text_place` is where the first character inside the quotes stands.
  [[nodiscard]] static Node make_string(Place place, std::string text, Place text_place);
  [[nodiscard]] static Node make_integer(Place place, std::int64_t value);
  [[nodiscard]] static Node make_real(Place place, double value);
  [[nodiscard]] static Node make_boolean(Place place, bool value);
  [[nodiscard]] static Node make_other(Place place);

  [[nodiscard]] NodeKind kind() const { return static_cast<NodeKind>(value_.index()); }
  [[nodiscard]] bool is(NodeKind wanted) const { return kind() == wanted; }
  /// The place where the value starts (of a string: its opening quote).
  [[nodiscard]] const Place& place() const { return place_; }

  /// The entries of a table in the order written.
  [[nodiscard]] const std::vector<Entry>& entries() const;
  /// The items of an array.
  [[nodiscard]] const std::vector<Node>& items() const;
  [[nodiscard]] const std::string& text() const;
  /// The place of the first character of a string's text: the base of places inside it.
  [[nodiscard]] const Place& text_place() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] double real() const;
  [[nodiscard]] bool boolean() const;

  /// The value of a table's key; null when absent or when this is no table. O(entries).
  [[nodiscard]] const Node* find(std::string_view key) const;
  /// As `find`, with the key's own place.
  [[nodiscard]] const Entry* find_entry(std::string_view key) const;

 private:
  struct Text {
    std::string text;
    Place place;
  };
  struct Other {};
  // In the order of NodeKind.
  using Storage = std::variant<std::vector<Entry>, std::vector<Node>, Text, std::int64_t, double, bool, Other>;

  Node(Place place, Storage value);

  Place place_;
  Storage value_;
};

/// A key and its value.
struct Entry {
  std::string key;
  Place key_place;
  Node value;
};

/// Parses a document; the result is a table. `file` names it in places and messages. Errors: syntax, duplicate keys and
/// invalid UTF-8, each at its line and column (columns count characters). O(length).
[[nodiscard]] Result<Node> parse_toml(std::string_view text, const std::string& file);

/// Reads and parses a file. Errors: those of parse_toml; missing, unreadable or too large files (over 64 MiB) are
/// environment errors at the file.
[[nodiscard]] Result<Node> read_toml_file(const std::filesystem::path& path);

/// The place `offset` bytes into `text`, whose first character stands at `start`: newlines and UTF-8 are counted.
[[nodiscard]] Place place_within(const Place& start, std::string_view text, std::size_t offset);

// Typed access. `name` is what messages call the value, usually its key: `"chunks" is a string (an integer belongs
// here)`. Errors: input, at the value.

[[nodiscard]] Result<std::string> as_string(const Node& node, std::string_view name);
[[nodiscard]] Result<std::int64_t> as_integer(const Node& node, std::string_view name);
/// A real; an integer is converted.
[[nodiscard]] Result<double> as_real(const Node& node, std::string_view name);
[[nodiscard]] Result<bool> as_boolean(const Node& node, std::string_view name);
/// The items of an array; the span lives as long as the node.
[[nodiscard]] Result<std::span<const Node>> as_array(const Node& node, std::string_view name);
/// The entries of a table; the span lives as long as the node.
[[nodiscard]] Result<std::span<const Entry>> as_table(const Node& node, std::string_view name);

}  // namespace tenex
