// Internal to exchange: XML as a bounded tree with places.
//
// Entities are not expanded beyond the five of XML itself, and a DOCTYPE is refused, so a text cannot grow while it is
// read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex::exchange {

struct XmlAttribute {
  std::string name;
  std::string value;
  Place place;  ///< of the value
};

struct XmlElement {
  std::string name;
  Place place;
  std::vector<XmlAttribute> attributes;
  std::vector<XmlElement> children;

  /// Null where it has none of this name.
  [[nodiscard]] const XmlAttribute* find(std::string_view attribute) const;
  /// Its value, or nothing.
  [[nodiscard]] std::string_view text(std::string_view attribute) const;
};

struct XmlDocument {
  XmlElement root;
  std::vector<Place> stray;  ///< text between elements, which NCCL's own parser refuses
};

/// The limits of a document. NCCL's own are 255 characters, 16 attributes and a few thousand elements.
struct XmlLimits {
  std::size_t bytes = std::size_t{8} << 20;
  std::size_t elements = std::size_t{1} << 17;
  std::size_t depth = 64;
  std::size_t attributes = 64;      ///< of an element
  std::size_t value_length = 4096;  ///< of an attribute
  bool operator==(const XmlLimits&) const = default;
};

/// Errors (input, with line and column): not well formed, over a limit, a DOCTYPE, an attribute given twice. O(length).
[[nodiscard]] Result<XmlDocument> parse_xml(std::string_view file, std::string_view text, const XmlLimits& limits = {});

}  // namespace tenex::exchange
