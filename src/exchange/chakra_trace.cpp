// Reads and writes Chakra's protocol buffers with protozero. Numbers of fields are those of et_def.proto.
#include "exchange/chakra_trace.hpp"

#include <fmt/format.h>
#define ZLIB_CONST  // zlib reads, and does not change, what it unpacks
#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>
#include <set>
#include <utility>

namespace tenex::exchange {
namespace {

constexpr std::size_t kMostNodes = std::size_t{1} << 22;
constexpr std::size_t kMostUnpacked = std::size_t{1} << 30;

enum class MetadataField : protozero::pbf_tag_type { version = 1, attribute = 2 };
enum class NodeField : protozero::pbf_tag_type {
  id = 1,
  name = 2,
  type = 3,
  control = 4,
  data = 5,
  duration = 7,
  attribute = 10
};
enum class AttributeField : protozero::pbf_tag_type {
  name = 1,
  real64 = 3,
  real32 = 5,
  int32 = 7,
  int64 = 9,
  uint32 = 11,
  uint64 = 13,
  sint32 = 15,
  sint64 = 17,
  fixed32 = 19,
  fixed64 = 21,
  sfixed32 = 23,
  sfixed64 = 25,
  boolean = 27,
  text = 29
};

constexpr std::array<std::string_view, 8> kTypeNames{"INVALID", "METADATA",  "MEM_LOAD",  "MEM_STORE",
                                                     "COMP",    "COMM_SEND", "COMM_RECV", "COMM_COLL"};
/// Attributes that readers take as int32 alone.
constexpr std::array<std::string_view, 4> kInt32Names{"comm_src", "comm_dst", "comm_tag", "comm_priority"};

/// A field as a file has it: its number and how it is written. Others are skipped, also known numbers that are written
/// in another way.
template <class Field>
constexpr std::uint32_t written(Field field, protozero::pbf_wire_type as) {
  return protozero::tag_and_type(static_cast<protozero::pbf_tag_type>(field), as);
}
constexpr auto kVarint = protozero::pbf_wire_type::varint;
constexpr auto kBytes = protozero::pbf_wire_type::length_delimited;
constexpr auto kFour = protozero::pbf_wire_type::fixed32;
constexpr auto kEight = protozero::pbf_wire_type::fixed64;

void read_attribute(protozero::pbf_reader message, ChakraAttributes& attributes) {
  std::string name;
  std::optional<ChakraValue> value;
  while (message.next()) {
    switch (message.tag_and_type()) {
      case written(AttributeField::name, kBytes):
        name = message.get_string();
        break;
      case written(AttributeField::real64, kEight):
        value = message.get_double();
        break;
      case written(AttributeField::real32, kFour):
        value = static_cast<double>(message.get_float());
        break;
      case written(AttributeField::int32, kVarint):
        value = std::int64_t{message.get_int32()};
        break;
      case written(AttributeField::int64, kVarint):
        value = message.get_int64();
        break;
      case written(AttributeField::uint32, kVarint):
        value = std::int64_t{message.get_uint32()};
        break;
      case written(AttributeField::uint64, kVarint):
        value = static_cast<std::int64_t>(message.get_uint64());
        break;
      case written(AttributeField::sint32, kVarint):
        value = std::int64_t{message.get_sint32()};
        break;
      case written(AttributeField::sint64, kVarint):
        value = message.get_sint64();
        break;
      case written(AttributeField::fixed32, kFour):
        value = std::int64_t{message.get_fixed32()};
        break;
      case written(AttributeField::fixed64, kEight):
        value = static_cast<std::int64_t>(message.get_fixed64());
        break;
      case written(AttributeField::sfixed32, kFour):
        value = std::int64_t{message.get_sfixed32()};
        break;
      case written(AttributeField::sfixed64, kEight):
        value = message.get_sfixed64();
        break;
      case written(AttributeField::boolean, kVarint):
        value = message.get_bool();
        break;
      case written(AttributeField::text, kBytes):
        value = message.get_string();
        break;
      default:
        message.skip();
    }
  }
  if (value) attributes.insert_or_assign(std::move(name), *std::move(value));
}

/// Throws protozero::exception for bytes that are no node.
ChakraNode read_node(std::string_view bytes, std::uint64_t& type) {
  ChakraNode node;
  protozero::pbf_reader message{bytes.data(), bytes.size()};
  while (message.next()) {
    switch (message.tag_and_type()) {
      case written(NodeField::id, kVarint):
        node.id = message.get_uint64();
        break;
      case written(NodeField::name, kBytes):
        node.name = message.get_string();
        break;
      case written(NodeField::type, kVarint):
        type = message.get_uint64();
        break;
      case written(NodeField::control, kVarint):  // one by one
      case written(NodeField::data, kVarint):
        node.after.push_back(message.get_uint64());
        break;
      case written(NodeField::control, kBytes):  // in a row
      case written(NodeField::data, kBytes):
        for (const auto id : message.get_packed_uint64()) node.after.push_back(id);
        break;
      case written(NodeField::duration, kVarint):
        node.duration_us = message.get_uint64();
        break;
      case written(NodeField::attribute, kBytes):
        read_attribute(protozero::pbf_reader(message.get_view()), node.attributes);
        break;
      default:
        message.skip();
    }
  }
  if (type < kTypeNames.size()) node.type = static_cast<ChakraType>(type);
  std::ranges::sort(node.after);
  node.after.erase(std::unique(node.after.begin(), node.after.end()), node.after.end());
  return node;
}

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

Result<std::string> unpack(const SourceText& source) {
  z_stream stream{};
  const auto refuse = [&](std::string_view why) {
    return input_error({source.file, 0, 0}, "the trace's gzip cannot be unpacked", std::string(why));
  };
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) return refuse("zlib has no memory");
  stream.next_in = reinterpret_cast<const Bytef*>(source.text.data());
  stream.avail_in = static_cast<uInt>(source.text.size());
  std::string out;
  std::string buffer(std::size_t{1} << 16, '\0');
  int state = Z_OK;
  while (state == Z_OK && out.size() <= kMostUnpacked) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(buffer, 0, buffer.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (out.size() > kMostUnpacked)
    return resource_error(fmt::format("the trace {} is too large", source.file), "at most 1 GiB is unpacked");
  if (state != Z_STREAM_END) return refuse("it ends early or is damaged");
  return out;
}

/// The messages of a file, one after another.
class Messages {
 public:
  explicit Messages(std::string_view bytes) : bytes_(bytes), rest_(bytes) {}
  [[nodiscard]] bool done() const { return rest_.empty(); }
  [[nodiscard]] std::size_t offset() const { return bytes_.size() - rest_.size(); }
  /// The next message; nullopt where the length is none, or goes beyond the end.
  std::optional<std::string_view> next() {
    const char* at = rest_.data();
    std::uint64_t length = 0;
    try {
      length = protozero::decode_varint(&at, rest_.data() + rest_.size());
    } catch (const protozero::exception&) {
      return std::nullopt;
    }
    const auto head = static_cast<std::size_t>(at - rest_.data());
    if (length > rest_.size() - head) return std::nullopt;
    const auto message = rest_.substr(head, length);
    rest_.remove_prefix(head + length);
    return message;
  }

 private:
  std::string_view bytes_;
  std::string_view rest_;
};

class TraceReader {
 public:
  explicit TraceReader(const SourceText& source) : source_(source) {}

  Result<ChakraTrace> read(std::string_view bytes) {
    Messages messages(bytes);
    bool first = true;
    while (!messages.done()) {
      const auto offset = messages.offset();
      const auto message = messages.next();
      if (!message) return refuse(offset, "its length goes beyond the end of the file");
      try {
        if (std::exchange(first, false))
          read_metadata(*message);
        else if (auto status = add_node(*message, offset); !status)
          return status.errors();
      } catch (const protozero::exception& error) {
        return refuse(offset, fmt::format("it is no protocol buffer ({})", error.what()));
      }
    }
    if (auto status = check_ids(); !status) return status.errors();
    return std::move(trace_);
  }

 private:
  [[nodiscard]] Diagnostic refuse(std::size_t offset, std::string why) const {
    return input_error({source_.file, 0, 0}, fmt::format("the message at byte {} cannot be read", offset),
                       std::move(why), "is it a Chakra execution trace, whole?");
  }

  void read_metadata(std::string_view bytes) {
    protozero::pbf_reader message{bytes.data(), bytes.size()};
    trace_.version.clear();
    while (message.next()) {
      if (message.tag_and_type() == written(MetadataField::version, kBytes))
        trace_.version = message.get_string();
      else if (message.tag_and_type() == written(MetadataField::attribute, kBytes))
        read_attribute(protozero::pbf_reader(message.get_view()), trace_.attributes);
      else
        message.skip();
    }
  }

  Status add_node(std::string_view bytes, std::size_t offset) {
    if (trace_.nodes.size() == kMostNodes)
      return resource_error(fmt::format("the trace {} is too large", source_.file),
                            fmt::format("at most {} nodes are read", kMostNodes));
    std::uint64_t type = 0;
    trace_.nodes.push_back(read_node(bytes, type));
    if (type >= kTypeNames.size())
      return refuse(offset, fmt::format("node {} has type {}", trace_.nodes.back().id, type));
    return success();
  }

  [[nodiscard]] Status check_ids() const {
    std::set<std::uint64_t> ids;
    for (const auto& node : trace_.nodes)
      if (!ids.insert(node.id).second)
        return input_error({source_.file, 0, 0}, fmt::format("two nodes have the id {}", node.id));
    for (const auto& node : trace_.nodes)
      for (const auto before : node.after)
        if (!ids.contains(before))
          return input_error({source_.file, 0, 0},
                             fmt::format("node {} depends on node {}, which is not in the file", node.id, before));
    return success();
  }

  const SourceText& source_;
  ChakraTrace trace_;
};

template <class Writer>
void write_attributes(Writer& writer, protozero::pbf_tag_type tag, const ChakraAttributes& attributes) {
  const auto number = [](AttributeField field) { return static_cast<protozero::pbf_tag_type>(field); };
  for (const auto& [name, value] : attributes) {
    std::string bytes;
    protozero::pbf_writer message{bytes};
    message.add_string(number(AttributeField::name), name);
    if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      if (std::ranges::find(kInt32Names, name) != kInt32Names.end())
        message.add_int32(number(AttributeField::int32), static_cast<std::int32_t>(*whole));
      else
        message.add_int64(number(AttributeField::int64), *whole);
    }
    if (const auto* real = std::get_if<double>(&value)) message.add_double(number(AttributeField::real64), *real);
    if (const auto* yes = std::get_if<bool>(&value)) message.add_bool(number(AttributeField::boolean), *yes);
    if (const auto* text = std::get_if<std::string>(&value)) message.add_string(number(AttributeField::text), *text);
    writer.add_message(tag, bytes);
  }
}

void append_message(std::string& file, const std::string& message) {
  protozero::write_varint(std::back_inserter(file), message.size());
  file += message;
}

}  // namespace

std::string_view to_string(ChakraType type) { return kTypeNames[static_cast<std::size_t>(type)]; }

bool is_chakra(std::string_view bytes) {
  if (is_gzip(bytes)) return true;
  Messages messages(bytes);
  if (bytes.empty()) return false;
  const auto first = messages.next();
  if (!first || messages.done()) return false;
  // Text may begin with a length by chance: all of the message must be fields of GlobalMetadata.
  try {
    protozero::pbf_reader metadata{first->data(), first->size()};
    while (metadata.next()) {
      const auto field = metadata.tag_and_type();
      if (field != written(MetadataField::version, kBytes) && field != written(MetadataField::attribute, kBytes))
        return false;
      metadata.skip();
    }
  } catch (const protozero::exception&) {
    return false;
  }
  return true;
}

Result<ChakraTrace> read_chakra(const SourceText& source) {
  if (!is_gzip(source.text)) return TraceReader(source).read(source.text);
  const auto unpacked = unpack(source);
  if (!unpacked) return unpacked.errors();
  return TraceReader(source).read(*unpacked);
}

std::string write_chakra(const ChakraTrace& trace) {
  const auto number = [](auto field) { return static_cast<protozero::pbf_tag_type>(field); };
  std::string file;
  std::string metadata;
  protozero::pbf_writer head{metadata};
  head.add_string(number(MetadataField::version), trace.version);
  write_attributes(head, number(MetadataField::attribute), trace.attributes);
  append_message(file, metadata);
  for (const auto& node : trace.nodes) {
    std::string bytes;
    protozero::pbf_writer message{bytes};
    if (node.id > 0) message.add_uint64(number(NodeField::id), node.id);
    message.add_string(number(NodeField::name), node.name);
    message.add_enum(number(NodeField::type), static_cast<std::int32_t>(node.type));
    if (!node.after.empty()) message.add_packed_uint64(number(NodeField::data), node.after.begin(), node.after.end());
    if (node.duration_us > 0) message.add_uint64(number(NodeField::duration), node.duration_us);
    write_attributes(message, number(NodeField::attribute), node.attributes);
    append_message(file, bytes);
  }
  return file;
}

}  // namespace tenex::exchange
