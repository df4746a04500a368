// InfraGraph (Keysight, schema of 2.4.0) to a machine.
//
// Components become vertices: an xpu is an NPU, everything else passes on. Devices are laid out once per instance.
// Edges join what their slices name. Vertices on no way between NPUs are left out, so links that only they have need no
// numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "exchange/decimal_text.hpp"
#include "exchange/formats.hpp"
#include "exchange/machine_draft.hpp"
#include "exchange/rate_choice.hpp"
#include "tenex/base/decimal.hpp"

namespace tenex::exchange {
namespace {

constexpr std::size_t kMostVertices = std::size_t{1} << 18;
constexpr std::size_t kMostEdges = std::size_t{1} << 20;
constexpr std::size_t kDeepestDevice = 16;

/// A device laid out: the vertices of its components, and the devices that it embeds.
struct InstanceLayout {
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> vertices;
  std::map<std::string, std::vector<InstanceLayout>, std::less<>> devices;
};

/// A link's numbers as the file states them.
struct LinkFacts {
  std::optional<Sourced<Bandwidth>> bandwidth;
  std::optional<Sourced<SimTime>> latency;
};
using LinkTable = std::map<std::string, LinkFacts, std::less<>>;

/// "name[a:b:c]" apart.
struct NameRange {
  std::string name;
  std::string_view range;  ///< without brackets
  bool has_range = false;
};

class InfraGraphReader {
 public:
  InfraGraphReader(const TreeValue& file, const SourceText& source, const ImportOptions& options)
      : file_(file), rates_(options, source.file) {
    machine_.name = name_of(source, options);
    machine_.source = source_of(source, "InfraGraph");
  }

  Result<ImportedMachine> read() {
    const bool infrastructure = file_.find("instances") != nullptr;
    if (infrastructure)
      read_infrastructure();
    else
      read_device_alone();
    if (!errors_.empty()) return errors_;
    if (machine_.npus() == 0)
      return input_error(file_.place, "no component is an xpu", "an xpu becomes an NPU",
                         "import an infrastructure or a device that has some");
    add_edges();
    auto errors = rates_.errors();
    if (!errors.empty()) return errors;
    if (machine_.edges() == 0)
      return input_error(file_.place, "the machine has no link", "no edge is on a way between xpus");
    if (!machine_.connected())
      return input_error(file_.place, "the edges do not join all xpus", "an NPU that nothing reaches takes no part");
    machine_.npus_origin = fmt::format("{} components of the choice xpu, instance by instance", machine_.npus());
    return ImportedMachine{"InfraGraph", machine_.text(), {}};
  }

 private:
  /// An edge between vertices, before its link has numbers.
  struct Edge {
    std::uint32_t a = 0;
    std::uint32_t b = 0;
    const LinkFacts* facts = nullptr;
    std::string_view link;
    bool operator<(const Edge& other) const { return std::tie(a, b, link) < std::tie(other.a, other.b, other.link); }
  };

  void fail(const Place& place, std::string problem, std::string why, std::string suggestion = {}) {
    if (errors_.size() < 20)
      errors_.push_back(input_error(place, std::move(problem), std::move(why), std::move(suggestion)));
  }

  /// A number of components or instances; an absent one is 1.
  std::size_t count_of(const TreeValue& value) {
    const auto* const count = value.find("count");
    if (count == nullptr) return 1;
    const auto number = read_number<std::uint32_t>(count->text);
    if (number && *number >= 1 && *number <= kMostVertices) return *number;
    fail(count->place, fmt::format("count \"{}\"", plain(count->text)),
         fmt::format("it is a whole number from 1 to {}", kMostVertices));
    return 1;
  }

  LinkTable& links_of(const TreeValue& owner) {
    const auto [known, is_new] = tables_.try_emplace(&owner);
    if (!is_new) return known->second;
    for (const auto& link : owner.list_of("links")) {
      LinkFacts facts;
      if (const auto* physical = link.find("physical")) {
        facts.bandwidth = bandwidth_of(*physical);
        facts.latency = latency_of(*physical);
      }
      known->second.try_emplace(std::string(link.text_of("name")), facts);
    }
    return known->second;
  }

  std::optional<Sourced<Bandwidth>> bandwidth_of(const TreeValue& physical) {
    const auto* const bandwidth = physical.find("bandwidth");
    if (bandwidth == nullptr) return std::nullopt;
    for (const auto& [key, value] : bandwidth->entries) {
      const std::int64_t scale = key == "gigabits_per_second"    ? 125'000'000
                                 : key == "gigabytes_per_second" ? 1'000'000'000
                                                                 : 0;
      if (scale == 0) continue;  // transfers: how many bytes they are is not in the file
      const auto rate = scaled(value.text, scale);
      if (rate && *rate > 0)
        return Sourced<Bandwidth>{bytes_per_second(*rate),
                                  fmt::format("{} {}, line {} of the file", value.text, key, value.place.line)};
      fail(value.place, fmt::format("{} \"{}\"", key, plain(value.text)), "it is a number above 0");
    }
    return std::nullopt;
  }

  std::optional<Sourced<SimTime>> latency_of(const TreeValue& physical) {
    const auto* const latency = physical.find("latency");
    if (latency == nullptr) return std::nullopt;
    for (const auto& [key, value] : latency->entries) {
      const std::int64_t scale = key == "ns" ? 1'000 : key == "us" ? 1'000'000 : key == "ms" ? 1'000'000'000 : 0;
      if (scale == 0) continue;
      if (const auto time = scaled(value.text, scale))
        return Sourced<SimTime>{picoseconds(*time),
                                fmt::format("{} {}, line {} of the file", value.text, key, value.place.line)};
      fail(value.place, fmt::format("{} \"{}\"", key, plain(value.text)), "it is a number from 0");
    }
    return std::nullopt;
  }

  void read_infrastructure() {
    for (const auto& device : file_.list_of("devices"))
      if (!devices_.emplace(std::string(device.text_of("name")), &device).second)
        fail(device.place, fmt::format("the device \"{}\" is given twice", plain(device.text_of("name"))), {});
    std::map<std::string, std::vector<InstanceLayout>, std::less<>> instances;
    for (const auto& instance : file_.list_of("instances")) {
      const auto device = devices_.find(instance.text_of("device"));
      if (device == devices_.end()) {
        fail(instance.place, fmt::format("no device \"{}\"", plain(instance.text_of("device"))),
             "`devices` has those that instances name");
        continue;
      }
      auto& layouts = instances[std::string(instance.text_of("name"))];
      const auto count = count_of(instance);
      for (std::size_t i = 0; i < count && errors_.empty(); ++i) layouts.push_back(lay_out(*device->second, 0));
    }
    for (const auto& edge : file_.list_of("edges")) {
      const auto ends = [&](std::string_view key) {
        const auto* const end = edge.find(key);
        if (end == nullptr) return missing_end(edge, key);
        std::vector<std::uint32_t> all;
        const auto slice = slice_of(*end, "instance");
        const auto found = instances.find(slice.name);
        if (found == instances.end()) {
          fail(end->place, fmt::format("no instance \"{}\"", plain(slice.name)),
               "`instances` has those that edges name");
          return all;
        }
        for (const auto index : indices(*end, slice, found->second.size()))
          append_components(*end, found->second[index], all);
        return all;
      };
      const auto first = ends("ep1");
      connect(edge, first, ends("ep2"), file_);
    }
  }

  void read_device_alone() {
    if (file_.find("name") != nullptr) devices_.emplace(std::string(file_.text_of("name")), &file_);
    (void)lay_out(file_, 0);
  }

  std::vector<std::uint32_t> missing_end(const TreeValue& edge, std::string_view key) {
    fail(edge.place, fmt::format("an edge has no {}", key), "it joins ep1 and ep2");
    return {};
  }

  /// The device's vertices and its own edges.
  InstanceLayout lay_out(const TreeValue& device, std::size_t depth) {
    InstanceLayout layout;
    if (depth == kDeepestDevice) {
      fail(device.place, "devices embed each other too deep",
           fmt::format("at most {} levels are read", kDeepestDevice));
      return layout;
    }
    for (const auto& component : device.list_of("components")) add_component(component, depth, layout);
    for (const auto& edge : device.list_of("edges")) {
      if (!errors_.empty()) return layout;
      const auto ends = [&](std::string_view key) {
        const auto* const end = edge.find(key);
        if (end == nullptr) return missing_end(edge, key);
        std::vector<std::uint32_t> all;
        if (end->find("device") == nullptr) {
          append_components(*end, layout, all);
          return all;
        }
        const auto slice = slice_of(*end, "device");
        const auto found = layout.devices.find(slice.name);
        if (found == layout.devices.end()) {
          fail(end->place, fmt::format("no embedded device \"{}\"", plain(slice.name)),
               "a component of the choice device embeds it");
          return all;
        }
        for (const auto index : indices(*end, slice, found->second.size()))
          append_components(*end, found->second[index], all);
        return all;
      };
      const auto first = ends("ep1");
      connect(edge, first, ends("ep2"), device);
    }
    return layout;
  }

  void add_component(const TreeValue& component, std::size_t depth, InstanceLayout& layout) {
    const auto name = std::string(component.text_of("name"));
    const auto choice = component.text_of("choice");
    const auto count = count_of(component);
    if (choice == "npu") {
      fail(component.place, "the choice npu", "InfraGraph 2.0 to 2.3 wrote it, and 2.4 writes xpu",
           "convert the file to the schema of 2.4");
      return;
    }
    if (choice.empty()) {
      fail(component.place, fmt::format("component \"{}\" has no choice", plain(name)),
           "it is one of custom, device, cpu, xpu, nic, memory, port and switch");
      return;
    }
    for (std::size_t i = 0; i < count && errors_.empty(); ++i) {
      if (machine_.vertices() + embedded_ >= kMostVertices) {
        fail(component.place, "too many components", fmt::format("at most {} are laid out", kMostVertices));
        return;
      }
      if (choice != "device") {
        layout.vertices[name].push_back(choice == "xpu" ? machine_.add_npu()
                                                        : machine_.add_switch(fmt::format("{} ({})", name, choice)));
        continue;
      }
      const auto device = devices_.find(name);
      if (device == devices_.end()) {
        fail(component.place, fmt::format("no device \"{}\" to embed", plain(name)),
             "`devices` has those of components");
        return;
      }
      ++embedded_;
      layout.devices[name].push_back(lay_out(*device->second, depth + 1));
    }
  }

  NameRange slice_of(const TreeValue& end, std::string_view key) {
    const auto text = end.text_of(key);
    const auto open = text.find('[');
    if (open == std::string_view::npos) return {std::string(text), {}, false};
    if (!text.ends_with(']')) fail(end.place, fmt::format("{} \"{}\"", key, plain(text)), "a slice ends with ]");
    return {std::string(text.substr(0, open)), text.substr(open + 1, text.size() - open - 2), true};
  }

  /// What a slice of Python names among `size` items: "3", "0:4", "::2"; all without one.
  std::vector<std::size_t> indices(const TreeValue& end, const NameRange& slice, std::size_t size) {
    std::vector<std::size_t> all;
    std::size_t numbers[3] = {0, size, 1};
    std::size_t part = 0;
    auto rest = slice.range;
    const bool single = slice.has_range && rest.find(':') == std::string_view::npos;
    for (bool more = slice.has_range; more && part < 3; ++part) {
      const auto colon = rest.find(':');
      const auto text = rest.substr(0, colon);
      more = colon != std::string_view::npos;
      if (more) rest.remove_prefix(colon + 1);
      if (text.empty() && !single) continue;
      const auto number = read_number<std::uint32_t>(text);
      if (!number || (part == 2 && (*number == 0 || more)) || (single && *number >= size)) {
        fail(end.place, fmt::format("the slice [{}] of {} with {} items", plain(slice.range), plain(slice.name), size),
             "it is a number below that, or begin:end or begin:end:step of whole numbers");
        return all;
      }
      numbers[part] = *number;
    }
    if (single) return {numbers[0]};
    for (auto i = numbers[0]; i < std::min(numbers[1], size); i += numbers[2]) all.push_back(i);
    return all;
  }

  void append_components(const TreeValue& end, const InstanceLayout& layout, std::vector<std::uint32_t>& into) {
    const auto slice = slice_of(end, "component");
    const auto found = layout.vertices.find(slice.name);
    if (found == layout.vertices.end()) {
      fail(end.place, fmt::format("no component \"{}\"", plain(slice.name)), "the device's `components` has it");
      return;
    }
    for (const auto index : indices(end, slice, found->second.size())) into.push_back(found->second[index]);
  }

  void connect(const TreeValue& edge, const std::vector<std::uint32_t>& first, const std::vector<std::uint32_t>& second,
               const TreeValue& owner) {
    const auto scheme = edge.text_of("scheme");
    const auto link = edge.text_of("link");
    auto& links = links_of(owner);
    const auto facts = links.find(link);
    if (facts == links.end()) {
      fail(edge.place, fmt::format("no link \"{}\"", plain(link)), "`links` beside the edges has it");
      return;
    }
    const auto add = [&](std::uint32_t a, std::uint32_t b) {
      if (a != b) edges_.insert({std::min(a, b), std::max(a, b), &facts->second, facts->first});
    };
    if (scheme == "one2one") {
      for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) add(first[i], second[i]);
    } else if (scheme == "many2many") {
      if (first.size() * second.size() + edges_.size() > kMostEdges) {
        fail(edge.place, "too many links", fmt::format("at most {} are written", kMostEdges));
        return;
      }
      for (const auto a : first)
        for (const auto b : second) add(a, b);
    } else {
      fail(
          edge.place, fmt::format("scheme \"{}\"", plain(scheme)),
          scheme == "ring" ? "InfraGraph's own service does not know what a ring joins" : "it is one2one or many2many");
    }
    if (edges_.size() > kMostEdges)
      fail(edge.place, "too many links", fmt::format("at most {} are written", kMostEdges));
  }

  /// Gives the edges their numbers; those on no way between NPUs go first, so that nobody is asked for them.
  void add_edges() {
    const std::vector<Edge> edges(edges_.begin(), edges_.end());
    MachineDraft shadow = machine_;  // the links by their number in place of a rate
    std::vector<std::pair<const LinkFacts*, std::string_view>> kinds;
    std::map<const LinkFacts*, std::uint32_t> number;
    for (const auto& edge : edges) {
      const auto [known, is_new] = number.try_emplace(edge.facts, static_cast<std::uint32_t>(kinds.size()));
      if (is_new) {
        kinds.emplace_back(edge.facts, edge.link);
        (void)shadow.add_rate({fmt::format("{}#{}", edge.link, kinds.size()), {}, {}});
      }
      shadow.join(edge.a, edge.b, known->second);
    }
    shadow.remove_dead_ends();
    shadow.replace_rates([&](std::uint32_t kind) {
      const auto& [facts, link] = kinds[kind];
      return LinkRate{std::string(link),
                      rates_.bandwidth(link, facts->bandwidth, "the file names the link without its bandwidth"),
                      rates_.alpha(link, facts->latency, "the file names the link without its latency")};
    });
    machine_ = std::move(shadow);
  }

  const TreeValue& file_;
  RateChoice rates_;
  MachineDraft machine_;
  std::map<std::string, const TreeValue*, std::less<>> devices_;
  std::map<const TreeValue*, LinkTable> tables_;
  std::set<Edge> edges_;
  std::size_t embedded_ = 0;
  Diagnostics errors_;
};

}  // namespace

Result<ImportedMachine> import_infragraph(const TreeValue& file, const SourceText& source,
                                          const ImportOptions& options) {
  auto errors = refuse_options(options, {}, "an InfraGraph");
  if (!errors.empty()) return errors;
  return InfraGraphReader(file, source, options).read();
}

}  // namespace tenex::exchange
