// The keys of the network: its topology, its links, and its faults.
#include <algorithm>
#include <array>
#include <span>

#include <fmt/core.h>

#include "design/settings/entry.hpp"
#include "tenex/files/input_files.hpp"
#include "tenex/spec/table_reader.hpp"
#include "tenex/topology/block.hpp"

namespace tenex {
namespace {

using namespace entry;  // NOLINT: this file is entries

constexpr auto alpha = [](auto& point) -> auto& { return point.point.topology.links.alpha; };
constexpr auto bandwidth = [](auto& point) -> auto& { return point.point.topology.links.bandwidth; };
constexpr auto unwind = [](auto& point) -> auto& { return point.point.topology.unwind; };
constexpr auto without = [](auto& point) -> auto& { return point.point.topology.without; };
constexpr auto faults = [](auto& point) -> auto& { return point.point.topology.faults; };
constexpr auto overhead = [](auto& point) -> auto& { return point.point.topology.overhead; };
constexpr auto protocol = [](auto& point) -> auto& { return point.point.topology.protocol; };
constexpr auto stragglers = [](auto& point) -> auto& { return point.collective.stragglers; };

Result<SettingValue> parse_one_time(const Setting&, std::string_view name, const Node& node, ValueContext&) {
  const auto time = as_time(node, name);
  if (!time) return time.errors();
  SettingValue value = value_at(node);
  value.data = *time;
  value.expression = *time;
  return value;
}

/// Links are what the protocol makes of the machine's; a row whose machine does not know it is refused by its checks.
void set_protocol(const PointDraft& draft, const SettingValue& value) {
  TopologyChoice& topology = draft.point.topology;
  protocol(draft) = value.as<std::string>();
  const auto* known = find_protocol(topology, protocol(draft));
  if (known != nullptr) topology.links = links_under(*known, topology.links);
}

/// For a text that is no shape, no path, and no name of a built-in machine.
Diagnostic unknown_network(const Node& node, const std::vector<BuiltinFile>& machines) {
  std::vector<std::string_view> names;
  for (const BuiltinFile& machine : machines) names.push_back(machine.name);
  for (const BlockRule* block : block_rules())
    if (node.text() == block->name || node.text() == block->long_name)
      return input_error(node.text_place(), fmt::format("\"{}\" is a block without a size", node.text()),
                         "a block says how many NPUs it joins", fmt::format("write for instance {}(8)", node.text()));
  std::string near = did_you_mean(node.text(), names);
  if (near.empty()) near = "write a shape such as \"torus(8,8)\", or the path of a machine file (.toml)";
  return input_error(node.text_place(), fmt::format("unknown topology \"{}\"", shortened(node.text())),
                     "it is no shape, which has brackets, and no built-in machine (`tenex list machines`)",
                     std::move(near));
}

/// Errors that have no place of their own, at a place.
Diagnostics placed(Diagnostics errors, const Place& place) {
  for (Diagnostic& error : errors)
    if (error.place == Place{}) error.place = place;
  return errors;
}

/// A machine file, or another tool's topology: FileReader tells them apart by their content.
bool names_machine_file(std::string_view text) {
  constexpr std::string_view endings[] = {".toml", ".xml", ".yml", ".yaml", ".json"};
  return std::ranges::any_of(endings, [text](std::string_view ending) { return text.ends_with(ending); });
}

Result<SettingValue> parse_topology(const Setting&, std::string_view, const Node& node, ValueContext& context) {
  TopologyValue value;
  const auto& builtin = context.vocabulary.machines;
  const BoxesName name = split_boxes(node.text());
  const bool is_file = names_machine_file(name.machine);
  const bool is_name = node.text().find('(') == std::string::npos && !is_file;
  if (is_name && !find_builtin(builtin, name.machine)) return unknown_network(node, builtin);
  if (is_name || is_file) {
    Result<TopologyValue> machine = context.files.read_machine(std::string(name.machine), node.place());
    if (machine && name.boxes) machine = join_boxes(*std::move(machine), *name.boxes);
    if (!machine) return placed(machine.errors(), node.text_place());
    value = *std::move(machine);
  } else {
    Result<Shape> shape = parse_shape(node.text(), node.text_place());
    if (!shape) return shape.errors();
    const ShapeCounts counts = count_shape(*shape);
    if (counts.links >= static_cast<std::uint64_t>(kMost32)) {
      return input_error(node.place(), fmt::format("\"{}\" has {} links", shortened(node.text()), counts.links),
                         fmt::format("at most {} are addressed", kMost32 - 1));
    }
    value.npus = shape->npus();
    value.switches = counts.switches;
    value.joins_switches = joins_switches(*shape);
    value.choice.shape = *std::move(shape);
  }
  value.choice.text = node.text();
  SettingValue parsed = value_at(node);
  parsed.data = std::move(value);
  return parsed;
}

Result<SettingValue> parse_pairs(const Setting&, std::string_view name, const Node& node, ValueContext&) {
  const auto rule = [&](const Place& place, std::string problem) {
    return input_error(place, std::move(problem), "it lists pairs of vertices whose links are removed",
                       "write for instance without = [[3, 4]]");
  };
  const Result<std::span<const Node>> items = as_array(node, name);
  if (!items) return rule(node.place(), fmt::format("\"{}\" is {}", name, describe(node.kind())));
  LinkPairs pairs;
  Diagnostics errors;
  for (const Node& item : *items) {
    const bool is_pair = item.is(NodeKind::array) && item.items().size() == 2 &&
                         item.items()[0].is(NodeKind::integer) && item.items()[1].is(NodeKind::integer);
    if (!is_pair) {
      errors.push_back(rule(item.place(), fmt::format("an item of \"{}\" is no pair of integers", name)));
      continue;
    }
    const std::int64_t a = item.items()[0].integer();
    const std::int64_t b = item.items()[1].integer();
    if (a < 0 || b < 0 || a >= kMost32 || b >= kMost32) {
      errors.push_back(rule(item.place(), fmt::format("there is no vertex {}", a < 0 || a >= kMost32 ? a : b)));
    } else if (a == b) {
      errors.push_back(rule(item.place(), fmt::format("the pair [{}, {}] joins a vertex with itself", a, b)));
    } else {
      pairs.emplace_back(std::min(a, b), std::max(a, b));
    }
  }
  if (!errors.empty()) return errors;
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  SettingValue value = value_at(node);
  value.text = text_of_pairs(pairs);
  value.expression = value.text;
  value.data = std::move(pairs);
  return value;
}

Result<SettingValue> parse_straggler_list(const Setting&, std::string_view, const Node& node, ValueContext&) {
  auto list = parse_stragglers(node.text(), node.text_place());
  if (!list) return list.errors();
  SettingValue value = value_at(node);
  value.expression = to_string(*list);
  value.data = *std::move(list);
  return value;
}

SettingValue fault_value(const Node& node, ParsedFaults parsed) {
  SettingValue value = value_at(node);
  value.text = parsed.each ? fmt::format("each {}", to_string(*parsed.each)) : to_string(parsed.faults);
  value.expression = value.text;
  value.data = std::move(parsed);
  return value;
}

/// In a study `each` may stand outside an axis: the sweep makes one of it.
Result<SettingValue> parse_fault_list(const Setting&, std::string_view, const Node& node, ValueContext& context) {
  if (context.in_study) {
    auto values = parse_fault_values(node.text(), node.text_place());
    if (values && values->size() == 1 && values->front().each) return fault_value(node, std::move(values->front()));
  }
  auto parsed = parse_faults(node.text(), node.text_place());
  if (!parsed) return parsed.errors();
  return fault_value(node, *std::move(parsed));
}

/// One value for each draw of a range.
Result<std::vector<SettingValue>> parse_fault_item(const Node& node) {
  auto parsed = parse_fault_values(node.text(), node.text_place());
  if (!parsed) return parsed.errors();
  std::vector<SettingValue> values;
  for (ParsedFaults& each : *parsed) values.push_back(fault_value(node, std::move(each)));
  return values;
}

/// Whether the point states the bandwidths itself.
bool states_bandwidth(const PointView& view) {
  return !view.trains || (!view.training.scheme && view.training.split.empty());
}

template <bool per_npu>
void set_bandwidth(const PointDraft& draft, const SettingValue& value) {
  set<bandwidth>(draft, value);
  draft.point.topology.links.per_npu = per_npu;
}
void reset_bandwidth(const PointDraft& draft) {
  bandwidth(draft).clear();
  draft.point.topology.links.per_npu = false;
}
template <bool per_npu>
std::string bandwidth_where(const PointView& view) {
  return view.point.topology.links.per_npu == per_npu ? comma_list(bandwidth(view)) : std::string();
}

template <bool per_npu>
std::vector<std::int64_t> bandwidths_where(const PointView& view) {
  if (view.point.topology.links.per_npu != per_npu) return {};
  return per_dimension(view, bandwidth(view));
}

std::string topology_text(const PointView& view) {
  const TopologyChoice& choice = view.point.topology;
  if (choice.machine_file.empty()) return to_string(choice.shape);
  return "machine:" + to_string(choice.machine_content.digest());
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
std::vector<Setting> network_settings() {
  return {
      {.key = Key::topology,
       .name = "topology",
       .help = "a shape such as mesh(10,10) or RI(4)_FC(8)_SW(8), a built-in machine such as dgx1 (`tenex list "
               "machines`), or the path of a machine file (.toml), relative to the study's folder, else to the working "
               "directory; `dgx_h100 x 4` joins four machines by the links that their file states for that",
       .example = "\"RI(4)_FC(8)_SW(32)\"",
       .absent = "required",
       .column = text_column(),
       .changes = Changes::network,
       .parse = parse_topology,
       .set = [](const PointDraft& draft,
                 const SettingValue& value) { draft.point.topology = value.as<TopologyValue>().choice; },
       .canonical = topology_text,
       .text = [](const PointView& view) { return view.point.topology.text; }},
      {.key = Key::alpha,
       .name = "alpha",
       .help = "latency of a link, with unit; a comma list gives one per dimension or level",
       .example = "\"0.5us\"",
       .counts = Counts::time,
       .absent = "required for shapes",
       .column = list_column("ps"),
       .changes = Changes::latency,
       .parse = parse_times,
       .set = set<alpha>,
       .reset = [](const PointDraft& draft) { alpha(draft).clear(); },
       .matters = uses_links,
       .canonical = always<alpha>,
       .text = always<alpha>,
       .list = [](const PointView& view) { return per_dimension(view, alpha(view)); }},
      {.key = Key::bandwidth,
       .name = "bandwidth",
       .help = "bandwidth of each link, with unit; a comma list gives one per dimension or level",
       .example = "\"50GB/s\"",
       .counts = Counts::bandwidth,
       .absent = "for shapes, this, `npu_bandwidth` or `total_bandwidth`",
       .column = list_column("B/s"),
       .changes = Changes::bandwidth,
       .parse = parse_bandwidths,
       .set = set_bandwidth<false>,
       .reset = reset_bandwidth,
       .matters = states_bandwidth,
       .canonical = bandwidth_where<false>,
       .text = bandwidth_where<false>,
       .list = bandwidths_where<false>},
      {.key = Key::npu_bandwidth,
       .name = "npu_bandwidth",
       .help = "bandwidth of each NPU per dimension, divided over its out-links there: RI(k>2) and LI by 2, FC(k) by "
               "k-1, SW by 1, a level of a family by the most links that an NPU has there, those between switches by 1",
       .example = "\"400GB/s\"",
       .counts = Counts::bandwidth,
       .absent = "for shapes, this, `bandwidth` or `total_bandwidth`",
       .column = list_column("B/s"),
       .changes = Changes::bandwidth,
       .parse = parse_bandwidths,
       .set = set_bandwidth<true>,
       .reset = reset_bandwidth,
       .matters = states_bandwidth,
       .canonical = bandwidth_where<true>,
       .text = bandwidth_where<true>,
       .list = bandwidths_where<true>},
      {.key = Key::overhead,
       .name = "overhead",
       .help =
           "time that an NPU takes for each message before the message's bytes leave (LogGP's o): each step takes it "
           "beside alpha, and the link is taken for it",
       .example = "\"1us\"",
       .counts = Counts::time,
       .fallback = "0us",
       .read_by = ReadBy::collectives,
       .reason = "a message of a training step takes alpha and its bytes",
       .column = integer_column("ps"),
       .changes = Changes::network,
       .parse = parse_one_time,
       .set = set<overhead>,
       .reset = reset<overhead>,
       .canonical = unless_default<overhead>,
       .integer = integer_if<overhead, runs_collective>},
      {.key = Key::link_protocol,
       .name = "link_protocol",
       .help = "how data and flags travel, as the machine's file says under [protocols]: each has a share of the "
               "bandwidth and a latency of its own (NVIDIA's machines: ll, ll128, simple), which the columns alpha and "
               "bandwidth then have; none: the links as they are",
       .example = "\"ll128\"",
       .fallback = "none",
       .read_by = ReadBy::collectives,
       .reason = "a message of a training step takes the links as they are",
       .column = text_column(),
       .changes = Changes::latency | Changes::bandwidth,
       .parse = parse_text,
       .set = set_protocol,
       .reset = reset<protocol>,
       .canonical = [](const PointView&) { return std::string(); },  // alpha and bandwidth say all
       .text = text_if<protocol, runs_collective>},
      {.key = Key::unwind,
       .name = "unwind",
       .help = "degree to which switches are replaced by direct links, which makes another network; 0 leaves them: a "
               "synthesizer that needs direct links then makes a schedule for degree 1, which is played on the "
               "switches",
       .example = "2",
       .written = Written::integer,
       .counts = Counts::numbers,
       .least = 0,
       .most = kMost32,
       .fallback = "0",
       .column = integer_column(),
       .changes = Changes::network,
       .parse = parse_number,
       .set = set<unwind, std::int64_t>,
       .reset = reset<unwind>,
       .matters = synthesizes,
       .canonical = unless_default<unwind>,
       .integer = integer_if<unwind, synthesizes>},
      {.key = Key::without,
       .name = "without",
       .help = "pairs of vertices whose links, both ways, are removed; NPUs are numbered from 0, dimension 1 fastest, "
               "switches follow",
       .example = "[[0, 1], [5, 6]]",
       .written = Written::pairs,
       .fallback = "none",
       .read_by = ReadBy::collectives,
       .reason = "a parallelization is laid over the dimensions of a whole shape",
       .column = text_column(),
       .changes = Changes::network,
       .parse = parse_pairs,
       .set = set<without>,
       .reset = reset<without>,
       .canonical = unless_default<without>,
       .text = text_if<without, runs_collective>},
      {.key = Key::stragglers,
       .name = "stragglers",
       .help =
           "slow links and NPUs, NPUs that start late: `npu N xF`, `link A-B xF`, `link A->B xF` (bytes), `npu N "
           "alpha xF`, `link A-B alpha xF`, `link A->B alpha xF` (latency), `npu N delay T`, joined by `;`; `loses P%` "
           "or `loses P% resending N` in place of xF is the factor of lost packets; te_ccl: "
           "`link A-B xF from T to T`, likewise for the others of bytes, is slow in that time alone",
       .example = "\"npu 3 x2; link 0-1 alpha x1.5; npu 7 delay 5us\"",
       .fallback = "none",
       .read_by = ReadBy::collectives,
       .reason = "a parallelization is laid over the dimensions of a whole shape",
       .column = text_column(),
       .changes = Changes::network,
       .parse = parse_straggler_list,
       .set = set<stragglers>,
       .reset = reset<stragglers>,
       .canonical = unless_default<stragglers>,
       .text = text_if<stragglers, runs_collective>},
      {.key = Key::faults,
       .name = "faults",
       .help =
           "links, NPUs and switches that have failed: `link A-B`, `link A->B`, `npu N`, `nic N`, `leaf N`, `spine N`, "
           "`plane N`, `switch V`, `links P%` or `links N`, `switch_links P%` (between switches only) and `npus P%` or "
           "`npus N` with `draw D`, joined by `;`; on an axis `draw 1..20` is 20 values, and `each nic` (npu, leaf, "
           "spine, plane, link) one for every one in the network",
       .example = "\"links 1% draw 2; npu 7\"",
       .fallback = "none",
       .read_by = ReadBy::collectives,
       .reason = "a parallelization is laid over the dimensions of a whole shape",
       .column = text_column(),
       .changes = Changes::network,
       .parse = parse_fault_list,
       .parse_item = parse_fault_item,
       .set = [](const PointDraft& draft,
                 const SettingValue& value) { faults(draft) = value.as<ParsedFaults>().faults; },
       .reset = reset<faults>,
       .canonical = unless_default<faults>,
       .text = text_if<faults, runs_collective>},
  };
}

}  // namespace tenex
