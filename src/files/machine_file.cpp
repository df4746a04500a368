// Machine files: a TOML edge list, with links grouped by common properties, read into a Topology, or the name of a
// shape with the alphas and bandwidths of its dimensions.
//
// Links are numbered in the order of the file: group by group, `pairs` before `directed`, each pair as two consecutive
// links. Every mistake in a file is reported at its own line. Its routes are read by machine_routes.cpp.
#include "tenex/files/input_files.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "files/machine_routes.hpp"
#include "tenex/base/decimal.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/spec/document.hpp"
#include "tenex/spec/table_reader.hpp"
#include "tenex/topology/given_routes.hpp"
#include "tenex/topology/plan.hpp"

namespace tenex {
namespace {

/// Vertices are 32-bit ids; a larger number is a mistake in the file.
constexpr std::int64_t kMaxVertices = std::int64_t{1} << 31;

/// The state of a machine while its file is read.
struct Reading {
  Diagnostics errors;
  std::int64_t npus = 0;
  std::vector<std::pair<std::int64_t, SwitchProperties>> switches;  ///< (number, properties) of each kind
  std::int64_t switch_count = 0;
  std::vector<Link> links;
  GivenRoutes routes;

  [[nodiscard]] std::int64_t vertices() const { return npus + switch_count; }
};

Forwarding read_forwarding(TableReader& reader, std::string_view whose) {
  const auto* node = reader.find("forwarding");
  const auto text = reader.string("forwarding");
  if (!text) return Forwarding::store_and_forward;
  for (const Forwarding forwarding : kForwardings)
    if (*text == to_string(forwarding)) return forwarding;
  reader.fail(input_error(node->text_place(), fmt::format("{} has forwarding = \"{}\"", whose, *text),
                          "a switch forwards by \"store_and_forward\", \"cut_through\" or \"virtual_cut_through\""));
  return Forwarding::store_and_forward;
}

std::uint32_t read_buffer(TableReader& reader) {
  const auto* node = reader.find("buffer");
  if (node == nullptr) return kUnlimitedBuffer;
  const auto chunks = reader.integer_or("buffer", 0);
  if (chunks >= 0 && chunks < std::int64_t{kUnlimitedBuffer}) return static_cast<std::uint32_t>(chunks);
  reader.fail(input_error(node->place(), fmt::format("a [[switches]] has buffer = {}", chunks),
                          "it is the number of chunks that may wait in a switch; without it any number may"));
  return kUnlimitedBuffer;
}

void read_switches(TableReader& document, Reading& machine) {
  for (const auto& node : document.array("switches")) {
    TableReader reader(node, "a [[switches]]", {"count", "copy", "reduce", "forwarding", "buffer"});
    const auto count = reader.integer_or("count", 1);
    SwitchProperties properties{reader.boolean_or("copy", false), reader.boolean_or("reduce", false)};
    properties.forwarding = read_forwarding(reader, "a [[switches]]");
    properties.buffer = read_buffer(reader);
    if (properties.forwarding == Forwarding::cut_through && properties.buffer != kUnlimitedBuffer)
      reader.fail(input_error(reader.find("buffer")->place(), "a buffer in switches that cut through",
                              "nothing waits in them",
                              "remove the buffer, or write forwarding = \"virtual_cut_through\""));
    if (count < 1 || count > kMaxVertices - machine.vertices())
      reader.fail(input_error(node.place(), fmt::format("a [[switches]] has count = {}", count),
                              "a count is at least 1, and a machine has at most 2^31 vertices"));
    if (reader.failed()) {
      append(machine.errors, reader.take_errors());
      continue;
    }
    machine.switches.emplace_back(count, properties);
    machine.switch_count += count;
  }
}

/// The two vertices of `[source, target]`; nullopt after recording the error.
std::optional<std::pair<VertexId, VertexId>> read_ends(const Node& node, Reading& machine) {
  const auto refuse = [&](std::string problem, std::string why) {
    machine.errors.push_back(input_error(node.place(), std::move(problem), std::move(why)));
    return std::nullopt;
  };
  if (!node.is(NodeKind::array) || node.items().size() != 2 || !node.items()[0].is(NodeKind::integer) ||
      !node.items()[1].is(NodeKind::integer))
    return refuse("a link is not [source, target]", "its ends are two vertex numbers");
  const auto source = node.items()[0].integer();
  const auto target = node.items()[1].integer();
  for (const auto end : {source, target})
    if (end < 0 || end >= machine.vertices())
      return refuse(fmt::format("vertex {} does not exist", end),
                    fmt::format("the machine has {} NPUs and {} switches: vertices 0 to {}", machine.npus,
                                machine.switch_count, machine.vertices() - 1));
  if (source == target) return refuse(fmt::format("a link from {} to itself", source), "links join two vertices");
  return std::pair(VertexId(static_cast<std::uint32_t>(source)), VertexId(static_cast<std::uint32_t>(target)));
}

void read_links(TableReader& document, Reading& machine) {
  for (const auto& node : document.array("links")) {
    TableReader reader(node, "a [[links]]", {"kind", "bandwidth", "alpha", "pairs", "directed"});
    (void)reader.string("kind");
    if (reader.find("bandwidth") == nullptr) (void)reader.require("bandwidth");
    if (reader.find("alpha") == nullptr) (void)reader.require("alpha");
    const auto bandwidth = reader.bandwidth("bandwidth");
    const auto alpha = reader.time("alpha");
    if (reader.find("pairs") == nullptr && reader.find("directed") == nullptr)
      reader.fail(input_error(node.place(), "a [[links]] names no link", "it has `pairs`, `directed` or both"));
    for (const auto& ends : reader.array("pairs"))
      if (const auto pair = read_ends(ends, machine); pair && bandwidth && alpha) {
        machine.links.push_back({pair->first, pair->second, *alpha, *bandwidth});
        machine.links.push_back({pair->second, pair->first, *alpha, *bandwidth});
      }
    for (const auto& ends : reader.array("directed"))
      if (const auto pair = read_ends(ends, machine); pair && bandwidth && alpha)
        machine.links.push_back({pair->first, pair->second, *alpha, *bandwidth});
    append(machine.errors, reader.take_errors());
  }
}

/// Checks that there are enough links for all vertices. Otherwise a mistyped number could ask for excessive memory.
Status check_vertices(const Reading& machine, const Place& place) {
  const auto most = std::max<std::int64_t>(1, 2 * static_cast<std::int64_t>(machine.links.size()));
  if (machine.vertices() <= most) return success();
  return input_error(place,
                     fmt::format("the machine has {} NPUs and {} switches, and {} links", machine.npus,
                                 machine.switch_count, machine.links.size()),
                     "so few links reach not all of them", "correct the numbers, or name all links");
}

/// The keys of a file that names a shape, and those of one that lists its links.
constexpr std::array<std::string_view, 7> kShapeKeys{"shape",      "alpha",     "bandwidth", "npu_bandwidth",
                                                     "forwarding", "scale_out", "protocols"};
constexpr std::array<std::string_view, 5> kListKeys{"npus", "switches", "links", "route", "next_hops"};

/// The link to other boxes; nullopt where none is stated, and after recording the errors.
std::optional<ScaleOut> read_scale_out(TableReader& machine) {
  const Node* node = machine.find("scale_out");
  if (node == nullptr) return std::nullopt;
  TableReader reader(*node, "[scale_out]", {"alpha", "bandwidth"});
  if (reader.find("alpha") == nullptr) (void)reader.require("alpha");
  if (reader.find("bandwidth") == nullptr) (void)reader.require("bandwidth");
  const auto alpha = reader.time("alpha");
  const auto bandwidth = reader.bandwidth("bandwidth");
  machine.fail(reader.take_errors());
  return alpha && bandwidth ? std::optional(ScaleOut{*alpha, *bandwidth}) : std::nullopt;
}

/// The share of data, "120/128", of a protocol; 1/1 after recording the errors.
std::pair<std::int64_t, std::int64_t> read_share(TableReader& reader) {
  const Node* node = reader.require("data");
  const auto text = reader.string("data");
  if (node == nullptr || !text) return {1, 1};
  const auto slash = text->find('/');
  const auto data = read_number<std::int64_t>(std::string_view(*text).substr(0, slash));
  const auto line = slash == std::string::npos ? std::optional<std::int64_t>(1)
                                               : read_number<std::int64_t>(std::string_view(*text).substr(slash + 1));
  constexpr std::int64_t kMostBytes = 1'000'000;
  if (data && line && *data >= 1 && *line >= *data && *line <= kMostBytes) return {*data, *line};
  reader.fail(input_error(node->text_place(), fmt::format("\"{}\" is no share of data", *text),
                          "of so many bytes on the wire so many are data", "write for instance data = \"120/128\""));
  return {1, 1};
}

/// [protocols.NAME] tables; without those that have errors, which are recorded.
std::vector<LinkProtocol> read_protocols(TableReader& machine, const ShapedNetwork& network) {
  std::vector<LinkProtocol> protocols;
  const Node* node = machine.find("protocols");
  if (node == nullptr) return protocols;
  if (!node->is(NodeKind::table)) {
    machine.fail(input_error(node->place(), fmt::format("\"protocols\" is {}", describe(node->kind())),
                             "each protocol is a table", "write for instance [protocols.ll]"));
    return protocols;
  }
  for (const Entry& entry : node->entries()) {
    const auto table = fmt::format("[protocols.{}]", entry.key);
    TableReader reader(entry.value, table, {"data", "alpha", "scale_out_alpha"});
    const auto [data, line] = read_share(reader);
    (void)reader.require("alpha");
    LinkProtocol protocol{entry.key, data, line, reader.times("alpha").value_or(std::vector<SimTime>())};
    protocol.scale_out_alpha = reader.time("scale_out_alpha");
    const Node* alpha = reader.find("alpha");
    if (const auto given = protocol.alpha.size(); given > 1 && given != network.shape.dimensions())
      reader.fail(input_error(alpha->place(),
                              fmt::format("{} alphas for {} dimensions", given, network.shape.dimensions()),
                              "a protocol has one latency for all links, or one per dimension"));
    if (const Node* other = reader.find("scale_out_alpha"); other != nullptr && !network.scale_out)
      reader.fail(input_error(other->place(), "\"scale_out_alpha\" without [scale_out]",
                              "it is the latency of the links to other boxes", "add [scale_out], or remove the key"));
    if (!reader.failed()) protocols.push_back(std::move(protocol));
    machine.fail(reader.take_errors());
  }
  return protocols;
}

/// The shape and its links as a study would write them; nullopt after recording the errors.
std::optional<ShapedNetwork> read_shape(TableReader& reader) {
  const Node& node = *reader.find("shape");
  for (const auto key : kListKeys)
    if (const Node* given = reader.find(key))
      reader.fail(input_error(given->place(), fmt::format("\"{}\" beside a shape", key),
                              "the shape has its NPUs, switches, links and routes", "keep one of them"));
  ShapedNetwork network;
  if (const auto text = reader.string("shape")) {
    auto shape = parse_shape(*text, node.text_place());
    if (shape)
      network.shape = *std::move(shape);
    else
      reader.fail(shape.errors());
  }
  if (reader.find("alpha") == nullptr) (void)reader.require("alpha");
  network.links.per_npu = reader.find("npu_bandwidth") != nullptr;
  if (const Node* both = reader.find("bandwidth"); both != nullptr && network.links.per_npu)
    reader.fail(input_error(both->place(), "\"bandwidth\" and \"npu_bandwidth\" exclude each other",
                            "bandwidth is per link, npu_bandwidth per NPU and dimension", "keep one of them"));
  const auto bandwidth = network.links.per_npu ? "npu_bandwidth" : "bandwidth";
  if (reader.find(bandwidth) == nullptr) (void)reader.require(bandwidth);
  network.forwarding = read_forwarding(reader, "the machine");
  network.scale_out = read_scale_out(reader);
  network.links.alpha = reader.times("alpha").value_or(std::vector<SimTime>());
  network.links.bandwidth = reader.bandwidths(bandwidth).value_or(std::vector<Bandwidth>());
  network.protocols = read_protocols(reader, network);
  if (reader.failed()) return std::nullopt;
  for (Diagnostic error : check_shape(network.shape, network.links)) {
    error.place = node.place();
    reader.fail(std::move(error));
  }
  return network;
}

/// Records the keys that only a file with a shape has.
void refuse_shape_keys(TableReader& reader) {
  for (const auto key : kShapeKeys)
    if (const Node* given = reader.find(key))
      reader.fail(input_error(given->place(), fmt::format("\"{}\" of a machine that names no shape", key),
                              "each [[links]] has its own alpha and bandwidth, and each [[switches]] its forwarding",
                              "name a shape, or remove the key"));
}

/// The vertices and links; without effect after an error.
void read_lists(TableReader& reader, Reading& machine) {
  refuse_shape_keys(reader);
  if (const auto* npus = reader.require("npus")) {
    machine.npus = reader.integer_or("npus", 0);
    if (npus->is(NodeKind::integer) && (machine.npus < 1 || machine.npus > kMaxVertices))
      reader.fail(
          input_error(npus->place(), fmt::format("npus = {}", machine.npus), "a machine has between 1 and 2^31 NPUs"));
  }
  (void)reader.require("links");
  // With a wrong number of NPUs every link would be reported as dangling: report only the cause.
  const bool counted = machine.npus >= 1 && machine.npus <= kMaxVertices;
  if (counted) read_switches(reader, machine);
  if (counted && machine.errors.empty()) read_links(reader, machine);
  if (counted) machine.routes = read_given_routes(reader, machine.npus);
  reader.fail(std::move(machine.errors));
}

Result<Topology> build(const Reading& machine) {
  TopologyBuilder builder(static_cast<std::size_t>(machine.npus));
  for (const auto& [count, properties] : machine.switches)
    for (std::int64_t i = 0; i < count; ++i) builder.add_switch(properties);
  for (const auto& link : machine.links) builder.add_link(link);
  auto topology = std::move(builder).build();
  if (!topology || machine.routes.empty()) return topology;
  return with_routes(*topology, machine.routes);
}

}  // namespace

Result<Machine> parse_machine(std::string_view text, const std::string& file) {
  const auto document = parse_toml(text, file);
  if (!document) return document.errors();
  TableReader reader(*document, "",
                     {"schema", "kind", "name", "source", "remarks", "npus", "switches", "links", "route", "next_hops",
                      "shape", "alpha", "bandwidth", "npu_bandwidth", "forwarding", "scale_out", "protocols"});
  check_file_header(reader, "machine");
  const auto require_text = [&reader](std::string_view key) {
    return reader.require(key) == nullptr ? std::string() : reader.string_or(key, "");
  };
  auto name = require_text("name");
  auto source = require_text("source");
  auto remarks = reader.strings("remarks");
  Machine machine{std::move(name), std::move(source), std::move(remarks), std::nullopt, {}, digest128(text)};
  if (reader.find("shape") != nullptr) {
    machine.shaped = read_shape(reader);
    if (reader.failed()) return reader.take_errors();
    return machine;
  }
  Reading lists;
  read_lists(reader, lists);
  if (reader.failed()) return reader.take_errors();
  if (auto status = check_vertices(lists, reader.find("npus")->place()); !status) return status.errors();
  auto topology = build(lists);
  if (!topology) return topology.errors();
  machine.topology = std::move(topology).value();
  return machine;
}

BoxesName split_boxes(std::string_view text) {
  const auto at = text.rfind(" x");
  if (at == std::string_view::npos) return {text, std::nullopt};
  auto number = text.substr(at + 2);
  while (number.starts_with(' ')) number.remove_prefix(1);
  const auto boxes = read_number<std::uint32_t>(number);
  if (!boxes) return {text, std::nullopt};
  auto machine = text.substr(0, at);
  while (machine.ends_with(' ')) machine.remove_suffix(1);
  return {machine, boxes};
}

ShapeLinks links_under(const LinkProtocol& protocol, ShapeLinks links) {
  links.alpha = protocol.alpha;
  for (Bandwidth& each : links.bandwidth)  // both factors are at most a million: the quotient first, the rest after it
    each = each / protocol.line * protocol.data +
           Bandwidth::of(each.count() % protocol.line * protocol.data / protocol.line);
  return links;
}

Result<ShapedNetwork> join_boxes(const ShapedNetwork& machine, std::uint32_t boxes) {
  if (boxes < 2)
    return input_error({}, fmt::format("{} boxes of a machine", boxes), "boxes are joined with each other",
                       "name the machine alone, or write for instance \" x 4\"");
  if (!machine.scale_out)
    return input_error({}, "this machine cannot be joined with others",
                       "its file has no [scale_out] with the link of "
                       "an NPU to other boxes",
                       "add it to a copy of the file, or write the whole as a shape");
  auto joined = parse_shape(fmt::format("{}_SW({})", to_string(machine.shape), boxes));
  if (!joined) return joined.errors();
  ShapedNetwork network{*std::move(joined), machine.links, machine.forwarding};
  if (count_shape(machine.shape).switches == 0) network.forwarding = Forwarding::virtual_cut_through;
  const std::size_t dimensions = machine.shape.dimensions();
  network.links.alpha.resize(dimensions, machine.links.alpha.front());
  network.links.bandwidth.resize(dimensions, machine.links.bandwidth.front());
  network.links.alpha.push_back(machine.scale_out->alpha);
  network.links.bandwidth.push_back(machine.scale_out->bandwidth);
  network.protocols = machine.protocols;
  for (LinkProtocol& each : network.protocols) {
    each.alpha.resize(dimensions, each.alpha.front());
    each.alpha.push_back(each.scale_out_alpha.value_or(machine.scale_out->alpha));
    each.scale_out_alpha.reset();
  }
  return network;
}

Topology topology_of(const Machine& machine) {
  if (!machine.shaped) return machine.topology;
  Topology topology = build_topology(machine.shaped->shape, machine.shaped->links).value();
  return machine.shaped->forwarding == Forwarding::store_and_forward
             ? topology
             : topology.with_switches(SwitchProperties{.forwarding = machine.shaped->forwarding});
}

Result<Machine> read_machine_file(const std::filesystem::path& path) {
  const auto bytes = read_file(path);
  if (!bytes) return bytes.errors();
  return parse_machine(text_of(*bytes), path.string());
}

std::optional<std::string_view> find_builtin(const std::vector<BuiltinFile>& files, std::string_view name) {
  const auto found = std::find_if(files.begin(), files.end(), [name](const auto& file) { return file.name == name; });
  if (found == files.end()) return std::nullopt;
  return found->content;
}

}  // namespace tenex
