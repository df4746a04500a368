// Reading a table key by key, with every mistake collected.
#include "tenex/spec/table_reader.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"

namespace tenex {

namespace {

/// Reads a quantity, which is a string. The message for a bare number shows how to write it.
template <class T, class Parse>
Result<T> as_quantity(const Node& node, std::string_view name, std::string_view noun, std::string_view example,
                      const Parse& parse) {
  if (node.is(NodeKind::string)) return parse(node.text(), node.text_place());
  const bool is_number = node.is(NodeKind::integer) || node.is(NodeKind::real);
  const std::string number = node.is(NodeKind::integer) ? fmt::format("{}", node.integer())
                             : node.is(NodeKind::real)  ? fmt::format("{}", node.real())
                                                        : std::string();
  std::string help = fmt::format("write for instance {} = \"1{}\"", name, example);
  if (is_number && !number.starts_with('-')) {
    const auto as_text = parse(number, node.place());  // what a text of the same digits is told
    if (!as_text) help = as_text.errors().front().suggestion;
  }
  return input_error(node.place(),
                     is_number ? fmt::format("\"{}\" is {} without a unit", name, number)
                               : fmt::format("\"{}\" is {}", name, describe(node.kind())),
                     fmt::format("a {} is a string with a unit", noun), std::move(help));
}

}  // namespace

Result<SimTime> as_time(const Node& node, std::string_view name) {
  return as_quantity<SimTime>(node, name, "time", "us", parse_time);
}
Result<Bytes> as_bytes(const Node& node, std::string_view name) {
  return as_quantity<Bytes>(node, name, "size", "MiB", parse_bytes);
}
Result<Bandwidth> as_bandwidth(const Node& node, std::string_view name) {
  return as_quantity<Bandwidth>(node, name, "bandwidth", "GB/s", parse_bandwidth);
}

namespace {

template <class T, class AsOne, class ParseOne>
Result<std::vector<T>> as_list(const Node& node, std::string_view name, const AsOne& as_one,
                               const ParseOne& parse_one) {
  if (!node.is(NodeKind::string)) return as_one(node, name).errors();
  const std::string& text = node.text();
  std::vector<T> list;
  Diagnostics errors;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    std::size_t first = start;
    while (first < end && text[first] == ' ') ++first;
    const Result<T> one =
        parse_one(std::string_view(text).substr(first, end - first), place_within(node.text_place(), text, first));
    if (one) {
      list.push_back(*one);
    } else {
      append(errors, one.errors());
    }
    start = end + 1;
  }
  if (!errors.empty()) return errors;
  return list;
}

}  // namespace

Result<std::vector<SimTime>> as_times(const Node& node, std::string_view name) {
  return as_list<SimTime>(node, name, as_time, parse_time);
}
Result<std::vector<Bandwidth>> as_bandwidths(const Node& node, std::string_view name) {
  return as_list<Bandwidth>(node, name, as_bandwidth, parse_bandwidth);
}

TableReader::TableReader(const Node& node, std::string name, std::vector<std::string_view> known_keys)
    : node_(node), name_(std::move(name)) {
  if (!node.is(NodeKind::table)) {
    fail(input_error(node.place(), fmt::format("{} is {}", name_, describe(node.kind())), "a table belongs here"));
    return;
  }
  for (const Entry& entry : node.entries()) {
    if (std::find(known_keys.begin(), known_keys.end(), entry.key) != known_keys.end()) continue;
    fail(input_error(
        entry.key_place, fmt::format("unknown key \"{}\"", entry.key),
        listed_unless_near(fmt::format("{} may have", name_.empty() ? "the document" : name_), entry.key, known_keys),
        did_you_mean(entry.key, known_keys)));
  }
}

const Node* TableReader::require(std::string_view key) {
  const Node* found = find(key);
  if (found == nullptr && node_.is(NodeKind::table)) {
    fail(input_error(node_.place(), fmt::format("the key \"{}\" is missing", key),
                     fmt::format("{} needs it", name_.empty() ? "the document" : name_)));
  }
  return found;
}

template <class T, class Read>
std::optional<T> TableReader::read(std::string_view key, const Read& read_node) {
  const Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  Result<T> value = read_node(*node, key);
  if (!value) {
    fail(value.errors());
    return std::nullopt;
  }
  return *std::move(value);
}

std::optional<std::string> TableReader::string(std::string_view key) { return read<std::string>(key, as_string); }
std::optional<std::int64_t> TableReader::integer(std::string_view key) { return read<std::int64_t>(key, as_integer); }
std::optional<double> TableReader::real(std::string_view key) { return read<double>(key, as_real); }
std::optional<bool> TableReader::boolean(std::string_view key) { return read<bool>(key, as_boolean); }
std::optional<SimTime> TableReader::time(std::string_view key) { return read<SimTime>(key, as_time); }
std::optional<Bytes> TableReader::size(std::string_view key) { return read<Bytes>(key, as_bytes); }
std::optional<Bandwidth> TableReader::bandwidth(std::string_view key) { return read<Bandwidth>(key, as_bandwidth); }

std::optional<std::vector<SimTime>> TableReader::times(std::string_view key) {
  return read<std::vector<SimTime>>(key, as_times);
}
std::optional<std::vector<Bandwidth>> TableReader::bandwidths(std::string_view key) {
  return read<std::vector<Bandwidth>>(key, as_bandwidths);
}

std::span<const Node> TableReader::array(std::string_view key) {
  return read<std::span<const Node>>(key, as_array).value_or(std::span<const Node>());
}

std::vector<std::string> TableReader::strings(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr) return {};
  if (node->is(NodeKind::string)) return {node->text()};
  std::vector<std::string> texts;
  for (const Node& item : array(key)) {
    Result<std::string> text = as_string(item, key);
    if (text) {
      texts.push_back(*std::move(text));
    } else {
      fail(text.errors());
    }
  }
  return texts;
}

std::string TableReader::string_or(std::string_view key, std::string fallback) {
  return string(key).value_or(std::move(fallback));
}
std::int64_t TableReader::integer_or(std::string_view key, std::int64_t fallback) {
  return integer(key).value_or(fallback);
}
bool TableReader::boolean_or(std::string_view key, bool fallback) { return boolean(key).value_or(fallback); }

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
