// Schedule files: chooses the form, and makes the checks that all forms share.
#include "tenex/files/schedule_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include <fmt/core.h>

#include "files/schedule_data.hpp"
#include "tenex/base/units.hpp"
#include "tenex/topology/plan.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/topology/time_range.hpp"
#include "tenex/topology/transform.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

Result<Occupancy> parse_occupancy(const std::string& text) {
  for (const auto occupancy : {Occupancy::serialization, Occupancy::transfer})
    if (text == to_string(occupancy)) return occupancy;
  return input_error({}, fmt::format("unknown occupancy \"{}\"", text), "it is serialization or transfer");
}

Diagnostic not_of_shape(const std::string& shape) {
  return input_error({}, fmt::format("the links are not those of the shape \"{}\"", shape), "the file is damaged");
}

/// Whether the file has these links, in their order.
bool has_links_of(const ScheduleData& data, const Topology& topology) {
  if (topology.links() != data.source.size()) return false;
  for (std::size_t i = 0; i < topology.links(); ++i)
    if (topology.source(LinkId::at(i)).value() != data.source[i] ||
        topology.target(LinkId::at(i)).value() != data.target[i])
      return false;
  return true;
}

/// The shape without times, large enough to be unwound.
Result<Topology> plain_topology(const Shape& shape) {
  return build_topology(shape, {{SimTime::zero()}, {bytes_per_second(std::int64_t{1} << 32)}, false});
}

/// Declares the shape that the file claims if it has exactly the shape's links.
Status restore_shape(const ScheduleData& data, TopologyBuilder& builder) {
  if (data.shape.empty()) return success();
  auto shape = parse_shape(data.shape);
  if (!shape) return shape.errors();
  // Checked before building: a small file must not claim a huge shape.
  if (shape->npus() != static_cast<std::size_t>(data.npus) ||
      count_shape(*shape) != ShapeCounts{data.source.size(), data.switch_copy.size()})
    return not_of_shape(data.shape);
  const auto plain = plain_topology(*shape);
  if (!plain || !has_links_of(data, *plain)) return not_of_shape(data.shape);
  builder.declare_shape(std::move(shape).value());
  return success();
}

/// The same for a shape whose switches were unwound.
Status restore_unwound_shape(const ScheduleData& data, TopologyBuilder& builder) {
  if (data.unwound_shape.empty()) return success();
  auto shape = parse_shape(data.unwound_shape);
  if (!shape) return shape.errors();
  const auto degree = data.unwound_degree;
  if (degree < 1 || degree > std::numeric_limits<std::uint32_t>::max() || !shape->is_product() ||
      shape->npus() != static_cast<std::size_t>(data.npus) ||
      sizes_of(*shape, static_cast<std::uint32_t>(degree)).links != data.source.size())
    return not_of_shape(data.unwound_shape);
  const auto plain = plain_topology(*shape);
  if (!plain) return not_of_shape(data.unwound_shape);
  const auto unwound = unwind_switches(*plain, static_cast<std::uint32_t>(degree));
  if (!unwound || !has_links_of(data, *unwound)) return not_of_shape(data.unwound_shape);
  builder.declare_unwound_shape({std::move(shape).value(), static_cast<std::uint32_t>(degree)});
  return success();
}

/// What the column `switch_cut_through` says: 0 for store_and_forward, 1 for cut_through, 2 for virtual_cut_through.
constexpr std::int8_t number_of(Forwarding forwarding) { return static_cast<std::int8_t>(forwarding); }
bool is_forwarding(std::int8_t number) { return number >= 0 && std::cmp_less(number, kForwardings.size()); }

SwitchProperties restore_switch(const ScheduleData& data, std::size_t i) {
  SwitchProperties properties{data.switch_copy[i] != 0, data.switch_reduce[i] != 0};
  if (data.switch_buffer.empty()) return properties;
  properties.forwarding = kForwardings[static_cast<std::size_t>(data.switch_cut_through[i])];
  if (data.switch_buffer[i] >= 0 && data.switch_buffer[i] < std::int64_t{kUnlimitedBuffer})
    properties.buffer = static_cast<std::uint32_t>(data.switch_buffer[i]);
  return properties;
}

/// Makes the wires of the network. They must be the file's, because its sends refer to them.
Result<Topology> restore_wires(const ScheduleData& data, const Topology& network) {
  auto wired = wires_of(network);
  if (!wired) return wired.errors();
  std::vector<std::uint32_t> links;
  std::size_t wires = 0;
  bool same = true;
  if (wired->wires() != nullptr) {
    wires = wired->wires()->size();
    same = data.wire_links.size() == wires;
    for (std::size_t wire = 0; same && wire < wires; ++wire) {
      const auto spans = wired->wires()->spans(LinkId::at(wire));
      same = data.wire_links[wire] == spans.size();
      for (const WireSpan& span : spans) links.push_back(span.link.value());
    }
  }
  if (same && data.wire_links.size() == wires && links == data.wire_link) return wired;
  return input_error({}, "the wires are not those of the network",
                     "they are the paths with the fewest links over its cut-through switches",
                     "make the file again with this version");
}

/// The network with the windows of its links' classes.
Result<Topology> restore_windows(const ScheduleData& data, Topology network) {
  const auto windows = data.window_class.size();
  if (windows == 0) return network;
  if (data.window_from_ps.size() != windows || data.window_until_ps.size() != windows ||
      data.window_slowdown.size() != windows)
    return input_error({}, "the columns of windows differ in length");
  if (std::ranges::find(data.switch_cut_through, number_of(Forwarding::cut_through)) != data.switch_cut_through.end())
    return input_error({}, "windows of links around switches that cut through",
                       "bandwidth varies on plain links alone");
  std::map<std::uint32_t, SlowWindows> of_class;
  for (std::size_t i = 0; i < windows; ++i) {
    SlowWindows& list = of_class[data.window_class[i]];
    const SlowWindow window{SimTime::of(data.window_from_ps[i]), SimTime::of(data.window_until_ps[i]),
                            data.window_slowdown[i]};
    const SimTime least = list.empty() ? SimTime::zero() : list.back().until;
    if (window.from < least || window.until <= window.from || window.thousandths <= kNoSlowdown)
      return input_error({}, fmt::format("window {} of the topology is not one", i),
                         "windows of a class are in order, do not overlap, and make links slower");
    list.push_back(window);
  }
  if (of_class.size() > std::numeric_limits<std::uint16_t>::max())
    return input_error({}, "more classes of links with windows than there may be classes");
  std::vector<SlowWindows> lists;
  std::map<std::uint32_t, std::uint16_t> number;
  for (auto& [link_class, list] : of_class) {
    if (link_class >= data.class_alpha_ps.size())
      return input_error({}, fmt::format("windows are of the unknown class {}", link_class));
    lists.push_back(std::move(list));
    number[link_class] = static_cast<std::uint16_t>(lists.size());
  }
  std::vector<std::uint16_t> list_of_link;
  for (const auto link_class : data.link_class) {
    const auto found = number.find(link_class);
    list_of_link.push_back(found == number.end() ? std::uint16_t{0} : found->second);
  }
  return network.with_windows(list_of_link, std::move(lists));
}

Result<Topology> restore_topology(const ScheduleData& data) {
  constexpr std::int64_t kUnlinkedNpus =
      std::int64_t{1} << 26;  // a larger number needs links, so that a damaged one cannot fill the memory
  const auto links = static_cast<std::int64_t>(data.source.size());
  if (data.npus < 1 || data.npus > std::max(kUnlinkedNpus, 2 * links) ||
      data.npus >= std::numeric_limits<std::uint32_t>::max())
    return input_error({}, fmt::format("a topology of {} NPUs", data.npus), fmt::format("it has {} links", links));
  if (data.target.size() != data.source.size() || data.link_class.size() != data.source.size() ||
      data.switch_reduce.size() != data.switch_copy.size() ||
      data.switch_buffer.size() != data.switch_cut_through.size() ||
      (!data.switch_buffer.empty() && data.switch_buffer.size() != data.switch_copy.size()) ||
      data.class_bandwidth.size() != data.class_alpha_ps.size() ||
      (!data.class_overhead_ps.empty() && data.class_overhead_ps.size() != data.class_alpha_ps.size()) ||
      (!data.class_slowdown.empty() && data.class_slowdown.size() != data.class_alpha_ps.size()))
    return input_error({}, "the columns of the topology differ in length");
  if (!std::ranges::all_of(data.switch_cut_through, is_forwarding))
    return input_error({}, "switch_cut_through has another number than 0, 1 and 2",
                       "they mean store_and_forward, cut_through and virtual_cut_through");
  TopologyBuilder builder(static_cast<std::size_t>(data.npus));
  for (std::size_t i = 0; i < data.switch_copy.size(); ++i) builder.add_switch(restore_switch(data, i));
  for (std::size_t i = 0; i < data.source.size(); ++i) {
    const auto link_class = data.link_class[i];
    if (link_class >= data.class_alpha_ps.size())
      return input_error({}, fmt::format("link {} is of the unknown class {}", i, link_class));
    builder.add_link({VertexId(data.source[i]), VertexId(data.target[i]), SimTime::of(data.class_alpha_ps[link_class]),
                      Bandwidth::of(data.class_bandwidth[link_class]),
                      data.class_slowdown.empty() ? kNoSlowdown : data.class_slowdown[link_class],
                      SimTime::of(data.class_overhead_ps.empty() ? 0 : data.class_overhead_ps[link_class])});
  }
  if (auto status = restore_shape(data, builder); !status) return status.errors();
  if (auto status = restore_unwound_shape(data, builder); !status) return status.errors();
  auto network = std::move(builder).build();
  if (network) network = restore_windows(data, *std::move(network));
  return network ? restore_wires(data, *network) : std::move(network);
}

/// Reads what each group has of its own.
Status restore_own(const ScheduleData& data, std::vector<ProcessGroup>& groups) {
  const auto count = groups.size();
  const auto wrong = [] { return input_error({}, "what the process groups have of their own is not complete"); };
  if (data.group_kind.size() != count || data.group_size_bytes.size() != count || data.group_chunks.size() != count ||
      data.group_root.size() != count || data.group_conditions.size() != count ||
      data.condition_bytes.size() != data.condition_source.size() ||
      data.condition_destinations.size() != data.condition_source.size())
    return wrong();
  std::size_t next = 0;
  std::size_t rank = 0;
  for (std::size_t g = 0; g < count; ++g) {
    constexpr auto kKinds = static_cast<std::int64_t>(CollectiveKind::mixed);
    if (data.group_kind[g] < 0 || data.group_kind[g] >= kKinds || data.group_root[g] < 0 ||
        data.group_root[g] > std::numeric_limits<std::uint32_t>::max() || data.group_conditions[g] < 0 ||
        static_cast<std::size_t>(data.group_conditions[g]) > data.condition_source.size() - next)
      return wrong();
    groups[g].kind = static_cast<CollectiveKind>(data.group_kind[g]);
    groups[g].size = Bytes::of(data.group_size_bytes[g]);
    groups[g].chunks = data.group_chunks[g];
    groups[g].root = static_cast<std::uint32_t>(data.group_root[g]);
    std::vector<Condition> conditions;
    for (const auto last = next + static_cast<std::size_t>(data.group_conditions[g]); next < last; ++next) {
      const auto destinations = data.condition_destinations[next];
      if (destinations < 0 || static_cast<std::size_t>(destinations) > data.destination.size() - rank) return wrong();
      const auto first = data.destination.begin() + static_cast<std::ptrdiff_t>(rank);
      conditions.push_back(
          {data.condition_source[next], {first, first + destinations}, Bytes::of(data.condition_bytes[next])});
      rank += static_cast<std::size_t>(destinations);
    }
    if (!conditions.empty())
      groups[g].conditions = std::make_shared<const std::vector<Condition>>(std::move(conditions));
  }
  return next == data.condition_source.size() && rank == data.destination.size() ? success() : Status(wrong());
}

Result<Collective> restore_collective(const ScheduleData& data) {
  const auto kind = parse_collective_kind(data.collective);
  if (!kind) return kind.errors();
  if (data.root < 0 || data.root > std::numeric_limits<std::uint32_t>::max())
    return input_error({}, fmt::format("root = {}", data.root), "a root is a rank of its group");
  CollectiveRequest request{*kind,       static_cast<std::size_t>(data.npus), {},
                            data.chunks, Bytes::of(data.size_bytes),          static_cast<std::uint32_t>(data.root)};
  std::size_t next = 0;
  for (const auto size : data.group_size) {
    if (size < 0 || static_cast<std::size_t>(size) > data.member.size() - next)
      return input_error({}, "the process groups and their members differ in length");
    ProcessGroup group;
    for (std::int64_t i = 0; i < size; ++i) group.members.emplace_back(data.member[next++]);
    request.groups.push_back(std::move(group));
  }
  if (next != data.member.size() || data.group_size.empty())
    return input_error({}, "the process groups and their members differ in length");
  if (!data.group_kind.empty())
    if (auto status = restore_own(data, request.groups); !status) return status.errors();
  return Collective::make(std::move(request));
}

/// Errors without a place get the file as their place.
Diagnostics at_file(Diagnostics errors, const std::string& name) {
  for (auto& error : errors)
    if (error.place.file.empty()) error.place.file = name;
  return errors;
}

}  // namespace

Result<ScheduleForm> schedule_form_of(const std::filesystem::path& path) {
  const auto extension = path.extension().string();
  if (extension == ".h5") return ScheduleForm::hdf5;
  if (extension == ".json") return ScheduleForm::json;
  return input_error({path.string(), 0, 0}, fmt::format("a schedule file does not end in \"{}\"", extension),
                     "its form follows from its name", "use .h5 (any size) or .json (small ones)");
}

Diagnostic too_large_for_json(const std::filesystem::path& path, const std::string& sends) {
  return input_error({path.string(), 0, 0}, fmt::format("a schedule of {} sends is too large for JSON", sends),
                     fmt::format("JSON takes up to {}", kMostJsonSends), "write HDF5: use a name that ends in .h5");
}

static void describe_own(const Collective& collective, ScheduleData& data) {
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto group = GroupId::at(g);
    const auto conditions = collective.conditions(group);
    data.group_kind.push_back(static_cast<std::int64_t>(collective.kind(group)));
    data.group_size_bytes.push_back(collective.size(group).count());
    data.group_chunks.push_back(collective.chunks_per_npu(group));
    data.group_root.push_back(collective.root(group));
    data.group_conditions.push_back(static_cast<std::int64_t>(conditions.size()));
    for (const Condition& condition : conditions) {
      data.condition_source.push_back(condition.source);
      data.condition_bytes.push_back(condition.size.count());
      data.condition_destinations.push_back(static_cast<std::int64_t>(condition.destinations.size()));
      data.destination.insert(data.destination.end(), condition.destinations.begin(), condition.destinations.end());
    }
  }
}

ScheduleData describe_schedule(const ScheduleFile& file, const SendChoice& choice, bool with_links) {
  ScheduleData data;
  data.occupancy = to_string(file.occupancy);
  data.algorithm = file.algorithm;
  data.canonical = file.canonical;
  const auto chosen = choice.text();
  data.part = file.part + (file.part.empty() || chosen.empty() ? "" : "; ") + chosen;
  const auto& topology = physical_network(file.topology);
  data.npus = static_cast<std::int64_t>(topology.npus());
  if (topology.shape()) data.shape = to_string(*topology.shape());
  if (const auto& unwound = topology.unwound_shape()) {
    data.unwound_shape = to_string(unwound->shape);
    data.unwound_degree = unwound->degree;
  }
  for (std::size_t i = 0; i < topology.switches(); ++i) {
    const auto& properties = topology.switch_properties(VertexId::at(topology.npus() + i));
    data.switch_copy.push_back(properties.copy ? 1 : 0);
    data.switch_reduce.push_back(properties.reduce ? 1 : 0);
    data.switch_cut_through.push_back(number_of(properties.forwarding));
    data.switch_buffer.push_back(properties.buffer == kUnlimitedBuffer ? -1 : std::int64_t{properties.buffer});
  }
  if (std::ranges::all_of(data.switch_cut_through, [](auto flag) { return flag == 0; }) &&
      std::ranges::all_of(data.switch_buffer, [](auto chunks) { return chunks == -1; })) {
    data.switch_cut_through.clear();
    data.switch_buffer.clear();
  }
  for (std::size_t wire = 0; file.topology.wires() != nullptr && wire < file.topology.links(); ++wire) {
    const auto spans = file.topology.wires()->spans(LinkId::at(wire));
    data.wire_links.push_back(static_cast<std::uint32_t>(spans.size()));
    for (const WireSpan& span : spans) data.wire_link.push_back(span.link.value());
  }
  for (const auto& link_class : topology.classes()) {
    data.class_alpha_ps.push_back(link_class.alpha.count());
    data.class_bandwidth.push_back(link_class.bandwidth.count());
  }
  const auto has_overhead = [](const LinkClass& link_class) { return link_class.overhead > SimTime::zero(); };
  if (std::ranges::any_of(topology.classes(), has_overhead))
    for (const auto& link_class : topology.classes()) data.class_overhead_ps.push_back(link_class.overhead.count());
  const auto is_slow = [](const LinkClass& link_class) { return link_class.slowdown != kNoSlowdown; };
  if (std::ranges::any_of(topology.classes(), is_slow))
    for (const auto& link_class : topology.classes()) data.class_slowdown.push_back(link_class.slowdown);
  for (std::uint16_t c = 0; c < topology.classes().size(); ++c)
    for (const auto& [from, until, thousandths] : topology.windows(c)) {
      data.window_class.push_back(c);
      data.window_from_ps.push_back(from.count());
      data.window_until_ps.push_back(until.count());
      data.window_slowdown.push_back(thousandths);
    }
  for (std::size_t i = 0; with_links && i < topology.links(); ++i) {
    const auto link = LinkId::at(i);
    data.source.push_back(topology.source(link).value());
    data.target.push_back(topology.target(link).value());
    data.link_class.push_back(topology.class_of(link));
  }
  const auto& collective = file.collective;
  data.collective = to_string(collective.kind());
  data.size_bytes = collective.size().count();
  data.chunks = collective.chunks_per_npu();
  data.root = collective.root();
  data.total_chunks = static_cast<std::int64_t>(collective.chunks());
  for (const auto& group : collective.groups()) {
    data.group_size.push_back(static_cast<std::int64_t>(group.members.size()));
    for (const auto npu : group.members) data.member.push_back(npu.value());
  }
  if (collective.kind() == CollectiveKind::mixed || stores_conditions(collective.kind()))
    describe_own(collective, data);
  for (const auto& [npu, time] : file.start_delays) {
    data.delayed_npu.push_back(npu.value());
    data.delay_ps.push_back(time.count());
  }
  return data;
}

Status check_times(const ScheduleFile& frame, const Payloads& payloads, std::uint64_t sends_of_busiest,
                   const std::string& name) {
  std::uint64_t most_chunks = 1;
  for (std::size_t i = 0; i < payloads.size(); ++i)
    most_chunks = std::max<std::uint64_t>(most_chunks, payloads.of(i).size());
  const auto sizes = frame.collective.chunk_sizes();
  const auto hop = slowest_hop(frame.topology, sizes);
  const double hops = (static_cast<double>(sends_of_busiest) + static_cast<double>(frame.topology.vertices())) *
                      static_cast<double>(most_chunks);
  if (fits_time_range(hop, hops)) return success();
  return input_error(
      {name, 0, 0},
      fmt::format("chunks of up to {} and links with alphas and bandwidths such that a hop takes {}",
                  to_string(std::ranges::max(sizes)), to_rounded(hop)),
      fmt::format("{:.0f} of them may follow one another, and times of up to 26 days (2^61 ps) are computed", hops));
}

namespace {

/// Errors (input): columns of different lengths, an NPU that does not exist or is named twice, a delay out of range.
Result<std::vector<StartDelay>> restore_delays(const ScheduleData& data) {
  std::vector<StartDelay> delays;
  if (data.delayed_npu.size() != data.delay_ps.size())
    return input_error({}, "columns of start delays differ in length", "a late NPU has one delay");
  std::set<std::uint32_t> named;
  for (std::size_t i = 0; i < data.delayed_npu.size(); ++i) {
    const auto npu = data.delayed_npu[i];
    const SimTime delay = SimTime::of(data.delay_ps[i]);
    if (npu >= data.npus || !named.insert(npu).second)
      return input_error({}, fmt::format("a start delay of NPU {}", npu), "it does not exist, or has another delay");
    if (delay < SimTime::zero() || delay > kLongestTime)
      return input_error({}, fmt::format("NPU {} starts at {} ps", npu, delay.count()),
                         "times of up to 26 days (2^61 ps) are computed");
    delays.push_back({NpuId(npu), delay});
  }
  return delays;
}

}  // namespace

Result<ScheduleFile> restore_frame(ScheduleData data, const std::string& name) {
  const auto occupancy = parse_occupancy(data.occupancy);
  if (!occupancy) return at_file(occupancy.errors(), name);
  auto topology = restore_topology(data);
  if (!topology) return at_file(topology.errors(), name);
  auto collective = restore_collective(data);
  if (!collective) return at_file(collective.errors(), name);
  auto delays = restore_delays(data);
  if (!delays) return at_file(delays.errors(), name);
  return ScheduleFile{
      std::move(topology).value(), std::move(collective).value(), *occupancy,         {},
      std::move(data.algorithm),   std::move(data.canonical),     *std::move(delays), std::move(data.part)};
}

Diagnostic too_old(const std::string& name, std::int64_t schema, const std::string& stored) {
  return input_error(
      {name, 0, 0}, fmt::format("schema {} of schedules is no longer read: its sends are stored {}", schema, stored),
      fmt::format("this version reads schema {}: lists with arrivals, and recipes", kScheduleSchema),
      "make the schedule again with this version (`canonical` in the file says of which point it is), or "
      "verify it with the version that wrote it");
}

Diagnostic unknown_content(const std::string& name, const std::string& content) {
  return input_error({name, 0, 0}, fmt::format("a schedule's content is \"{}\"", content),
                     fmt::format("it is {} or {}", kListContent, kRecipeContent));
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

Result<ScheduleContent> complete_recipe(ScheduleRecipe recipe, const RecipeNumbers& numbers, const std::string& name) {
  const auto& [hash, sends, time] = numbers;
  const char* end = hash.data() + hash.size();
  const auto read = std::from_chars(hash.data(), end, recipe.hash, 16);
  if (hash.size() != 16 || read.ec != std::errc() || read.ptr != end || sends < 0 || time < 0 ||
      recipe.canonical.empty())
    return input_error({name, 0, 0}, "this is no sound recipe",
                       "it has a text, a hash of 16 hexadecimal digits, and numbers from 0 on");
  recipe.sends = static_cast<std::uint64_t>(sends);
  recipe.time = SimTime::of(time);
  return ScheduleContent(std::move(recipe));
}

Status write_schedule_file(const std::filesystem::path& path, const ScheduleFile& file, const WriteOptions& options) {
  const auto form = schedule_form_of(path);
  if (!form) return form.errors();
  return *form == ScheduleForm::hdf5 ? write_schedule_hdf5(path, file, options)
                                     : write_schedule_json(path, file, options.choice);
}

Status write_recipe_file(const std::filesystem::path& path, const ScheduleRecipe& recipe) {
  const auto form = schedule_form_of(path);
  if (!form) return form.errors();
  return *form == ScheduleForm::hdf5 ? write_recipe_hdf5(path, recipe) : write_recipe_json(path, recipe);
}

Result<ScheduleContent> read_schedule(const std::filesystem::path& path, const ReadOptions& options) {
  const auto form = schedule_form_of(path);
  if (!form) return form.errors();
  return *form == ScheduleForm::hdf5 ? read_schedule_hdf5(path, options) : read_schedule_json(path);
}

Result<ScheduleFile> read_schedule_file(const std::filesystem::path& path, const ReadOptions& options) {
  auto content = read_schedule(path, options);
  if (!content) return content.errors();
  if (auto* file = std::get_if<ScheduleFile>(&*content)) return std::move(*file);
  return input_error({path.string(), 0, 0}, "this is a recipe, which says how to make its sends",
                     fmt::format("it has {} sends", std::get<ScheduleRecipe>(*content).sends),
                     "`tenex export` makes them");
}

}  // namespace tenex
