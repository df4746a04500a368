// Internal to exchange: Chakra execution traces (mlcommons/chakra, schema/protobuf/et_def.proto, package
// ChakraProtoMsg).
//
// A file holds what one rank does: messages of protocol buffers, each after its length as a varint. The first is
// GlobalMetadata, all others are Nodes. A node waits for the nodes that it depends on, whichever kind of dependency the
// file names; nodes without open dependencies run side by side.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/exchange/machine_import.hpp"

namespace tenex::exchange {

/// A node's type, by its number in the format.
enum class ChakraType : std::uint8_t { invalid, metadata, mem_load, mem_store, comp, send, receive, collective };
/// "COMM_SEND", ...
[[nodiscard]] std::string_view to_string(ChakraType type);

/// An attribute's value. All integers of the format are int64 here; lists and raw bytes are left out.
using ChakraValue = std::variant<std::int64_t, double, bool, std::string>;
using ChakraAttributes = std::map<std::string, ChakraValue, std::less<>>;

/// The value of an attribute as T; nullptr where it is absent or something else.
template <class T>
[[nodiscard]] const T* find_attribute(const ChakraAttributes& attributes, std::string_view name) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

struct ChakraNode {
  std::uint64_t id = 0;
  std::string name;
  ChakraType type = ChakraType::invalid;
  std::vector<std::uint64_t> after;  ///< ids, of both kinds of dependencies
  std::uint64_t duration_us = 0;
  ChakraAttributes attributes;
};

/// What one rank does.
struct ChakraTrace {
  std::string version = "0.0.4";
  ChakraAttributes attributes;
  std::vector<ChakraNode> nodes;
};

/// Whether bytes begin like a trace: with a whole GlobalMetadata behind its length, or with gzip's. O(metadata).
[[nodiscard]] bool is_chakra(std::string_view bytes);

/// Reads a trace, which may be compressed by gzip. Errors (input): bytes that are no such messages, with their offset;
/// a node of an unknown type; two nodes of one id; a dependency on a node that is not there; (resource) more than 2^22
/// nodes, or more than 1 GiB behind gzip. O(bytes).
[[nodiscard]] Result<ChakraTrace> read_chakra(const SourceText& source);

/// The bytes of a trace. Integers are written as int64, but peers and tags, which readers take as int32. O(nodes).
[[nodiscard]] std::string write_chakra(const ChakraTrace& trace);

}  // namespace tenex::exchange
