// The tree of a TOML document: construction, search and typed access. Parsing is in parse_toml.cpp.
#include "tenex/spec/document.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

namespace tenex {

std::string_view describe(NodeKind kind) {
  constexpr std::array<std::string_view, 7> kNames{"a table",       "an array",  "a string",      "an integer",
                                                   "a real number", "a boolean", "a date or time"};
  return kNames.at(static_cast<std::size_t>(kind));
}

Node::Node(Place place, Storage value) : place_(std::move(place)), value_(std::move(value)) {}

Node Node::make_table(Place place, std::vector<Entry> entries) { return {std::move(place), std::move(entries)}; }
Node Node::make_array(Place place, std::vector<Node> items) { return {std::move(place), std::move(items)}; }
Node Node::make_string(Place place, std::string text, Place text_place) {
  return {std::move(place), Text{std::move(text), std::move(text_place)}};
}
Node Node::make_integer(Place place, std::int64_t value) { return {std::move(place), value}; }
Node Node::make_real(Place place, double value) { return {std::move(place), value}; }
Node Node::make_boolean(Place place, bool value) { return {std::move(place), value}; }
Node Node::make_other(Place place) { return {std::move(place), Other{}}; }

namespace {

template <class T, class Storage>
const T& get_or_throw(const Storage& storage) {
  const T* found = std::get_if<T>(&storage);
  ensure(found != nullptr, "Node: the value is of another kind");
  return *found;
}

Diagnostic wrong_kind(const Node& node, std::string_view name, NodeKind wanted) {
  return input_error(node.place(), fmt::format("\"{}\" is {}", name, describe(node.kind())),
                     fmt::format("{} belongs here", describe(wanted)));
}

}  // namespace

const std::vector<Entry>& Node::entries() const { return get_or_throw<std::vector<Entry>>(value_); }
const std::vector<Node>& Node::items() const { return get_or_throw<std::vector<Node>>(value_); }
const std::string& Node::text() const { return get_or_throw<Text>(value_).text; }
const Place& Node::text_place() const { return get_or_throw<Text>(value_).place; }
std::int64_t Node::integer() const { return get_or_throw<std::int64_t>(value_); }
double Node::real() const { return get_or_throw<double>(value_); }
bool Node::boolean() const { return get_or_throw<bool>(value_); }

const Entry* Node::find_entry(std::string_view key) const {
  if (!is(NodeKind::table)) return nullptr;
  const auto found =
      std::find_if(entries().begin(), entries().end(), [&](const Entry& entry) { return entry.key == key; });
  return found == entries().end() ? nullptr : &*found;
}

const Node* Node::find(std::string_view key) const {
  const Entry* entry = find_entry(key);
  return entry == nullptr ? nullptr : &entry->value;
}

Place place_within(const Place& start, std::string_view text, std::size_t offset) {
  Place place = start;
  if (place.line == 0) return place;
  for (const char letter : text.substr(0, std::min(offset, text.size()))) {
    if (letter == '\n') {
      ++place.line;
      place.column = 1;
    } else if ((static_cast<unsigned char>(letter) & 0xC0U) != 0x80U) {  // not a UTF-8 continuation byte
      ++place.column;
    }
  }
  return place;
}

Result<std::string> as_string(const Node& node, std::string_view name) {
  if (!node.is(NodeKind::string)) return wrong_kind(node, name, NodeKind::string);
  return node.text();
}

Result<std::int64_t> as_integer(const Node& node, std::string_view name) {
  if (!node.is(NodeKind::integer)) return wrong_kind(node, name, NodeKind::integer);
  return node.integer();
}

Result<double> as_real(const Node& node, std::string_view name) {
  if (node.is(NodeKind::integer)) return static_cast<double>(node.integer());
  if (!node.is(NodeKind::real)) return wrong_kind(node, name, NodeKind::real);
  return node.real();
}

Result<bool> as_boolean(const Node& node, std::string_view name) {
  if (!node.is(NodeKind::boolean)) return wrong_kind(node, name, NodeKind::boolean);
  return node.boolean();
}

Result<std::span<const Node>> as_array(const Node& node, std::string_view name) {
  if (!node.is(NodeKind::array)) return wrong_kind(node, name, NodeKind::array);
  return std::span<const Node>(node.items());
}

Result<std::span<const Entry>> as_table(const Node& node, std::string_view name) {
  if (!node.is(NodeKind::table)) return wrong_kind(node, name, NodeKind::table);
  return std::span<const Entry>(node.entries());
}

}  // namespace tenex
