// The only file that includes pugixml. It parses in place, so that the address of a value tells its offset; the tree is
// copied from it with a stack of its own, since recursion over a hostile depth would end the process.
#include "exchange/xml_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <pugixml.hpp>
#include <utility>

#include "exchange/text_lines.hpp"

namespace tenex::exchange {
namespace {

/// Copies pugixml's tree while checking the limits.
class TreeCopy {
 public:
  TreeCopy(const std::string& buffer, const TextLines& lines, const XmlLimits& limits)
      : buffer_(buffer), lines_(lines), limits_(limits) {}

  Result<XmlDocument> copy(const pugi::xml_document& document) {
    std::optional<XmlElement> root;
    for (auto node = document.first_child(); node; node = node.next_sibling()) {
      if (node.type() == pugi::node_doctype)
        return refuse(node, "a DOCTYPE", "entities are not read, and no topology has one", "remove it");
      if (node.type() != pugi::node_element) continue;
      if (root) return refuse(node, fmt::format("a second root element <{}>", shown(node.name())), {}, {});
      XmlElement element;
      if (auto status = fill(node, element); !status) return status.errors();
      root = std::move(element);
    }
    if (!root) return input_error(lines_.at(0), "no element", "an XML file has one root element");
    document_.root = *std::move(root);
    return std::move(document_);
  }

 private:
  static std::string shown(const char* text) { return std::string(std::string_view(text).substr(0, 60)); }
  [[nodiscard]] Place place_of(const pugi::xml_node& node) const {
    const auto offset = node.offset_debug();
    return lines_.at(offset < 0 ? 0 : static_cast<std::size_t>(offset));
  }
  [[nodiscard]] Place place_of(const char* text, const pugi::xml_node& node) const {
    const auto* const begin = buffer_.data();
    if (text < begin || text > begin + buffer_.size()) return place_of(node);
    return lines_.at(static_cast<std::size_t>(text - begin));
  }
  [[nodiscard]] Diagnostic refuse(const pugi::xml_node& node, std::string problem, std::string why,
                                  std::string suggestion) const {
    return input_error(place_of(node), std::move(problem), std::move(why), std::move(suggestion));
  }

  /// The element itself, without its children.
  Status open(const pugi::xml_node& node, XmlElement& element) {
    if (++elements_ > limits_.elements)
      return refuse(node, "too many elements", fmt::format("at most {} are read", limits_.elements), {});
    element.name = node.name();
    element.place = place_of(node);
    for (auto each = node.first_attribute(); each; each = each.next_attribute()) {
      const std::string_view value = each.value();
      XmlAttribute attribute{each.name(), {}, place_of(each.value(), node)};
      if (value.size() > limits_.value_length || attribute.name.size() > limits_.value_length)
        return input_error(attribute.place,
                           fmt::format("the attribute \"{}\" has {} bytes", shown(each.name()), value.size()),
                           fmt::format("at most {} are read, NCCL reads 255", limits_.value_length));
      if (element.find(attribute.name) != nullptr)
        return input_error(attribute.place, fmt::format("the attribute \"{}\" is given twice", attribute.name));
      if (element.attributes.size() == limits_.attributes)
        return refuse(node, fmt::format("<{}> has too many attributes", shown(node.name())),
                      fmt::format("at most {} are read", limits_.attributes), {});
      attribute.value = value;
      element.attributes.push_back(std::move(attribute));
    }
    return success();
  }

  /// The element with all below it.
  Status fill(const pugi::xml_node& top, XmlElement& root) {
    if (auto status = open(top, root); !status) return status;
    std::vector<std::pair<pugi::xml_node, XmlElement>> above;  // elements whose children are being read
    above.emplace_back(top.first_child(), std::move(root));
    while (true) {
      auto& [child, element] = above.back();
      if (!child) {
        XmlElement done = std::move(element);
        above.pop_back();
        if (above.empty()) {
          root = std::move(done);
          return success();
        }
        above.back().second.children.push_back(std::move(done));
        continue;
      }
      const auto node = child;
      child = child.next_sibling();
      if (node.type() == pugi::node_pcdata || node.type() == pugi::node_cdata)
        document_.stray.push_back(place_of(node.value(), node));
      if (node.type() != pugi::node_element) continue;
      if (above.size() == limits_.depth)
        return refuse(node, "elements are nested too deep", fmt::format("at most {} levels are read", limits_.depth),
                      {});
      XmlElement next;
      if (auto status = open(node, next); !status) return status;
      above.emplace_back(node.first_child(), std::move(next));
    }
  }

  const std::string& buffer_;
  const TextLines& lines_;
  const XmlLimits& limits_;
  XmlDocument document_;
  std::size_t elements_ = 0;
};

}  // namespace

const XmlAttribute* XmlElement::find(std::string_view attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &XmlAttribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

std::string_view XmlElement::text(std::string_view attribute) const {
  const auto* const found = find(attribute);
  return found == nullptr ? std::string_view() : std::string_view(found->value);
}

Result<XmlDocument> parse_xml(std::string_view file, std::string_view text, const XmlLimits& limits) {
  if (auto status = check_text(file, text, limits.bytes); !status) return status.errors();
  const TextLines lines(std::string(file), text);
  std::string buffer(text);
  pugi::xml_document document;
  const auto parsed = document.load_buffer_inplace(buffer.data(), buffer.size(),
                                                   pugi::parse_default | pugi::parse_doctype, pugi::encoding_utf8);
  if (!parsed)
    return input_error(
        lines.at(std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(parsed.offset, 0)), text.size())),
        "the XML is not well formed", parsed.description());
  return TreeCopy(buffer, lines, limits).copy(document);
}

}  // namespace tenex::exchange
