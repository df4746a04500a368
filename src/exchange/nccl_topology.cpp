#include "exchange/nccl_topology.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "exchange/machine_draft.hpp"
#include "tenex/base/decimal.hpp"

namespace tenex::exchange {
namespace {

constexpr std::int64_t kMostLanes = 64;
constexpr std::int64_t kMostLinks = 1024;  // of one nvlink element
constexpr std::int64_t kMostMegabits = 1'000'000'000'000;
constexpr std::size_t kMostDevices = 1024;  // GPUs, ports and CPUs each; NCCL's graph has 640 nodes of a type

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool is_gpu_class(std::string_view pci_class) { return pci_class.starts_with("0x03") || pci_class.starts_with("0x12"); }
bool is_nic_class(std::string_view pci_class) { return pci_class.starts_with("0x02"); }

class NcclReader {
 public:
  NcclReader(const XmlDocument& document, const std::vector<std::string>& gpu_busids) : document_(document) {
    for (const auto& busid : gpu_busids) named_.insert(lower(busid));
  }

  Result<NcclTopology> read() {
    const auto& root = document_.root;
    topology_.version = number(root, "version", 1, 2).value_or(0);
    if (root.find("version") == nullptr)
      errors_.push_back(input_error(root.place, "<system> has no version", "NCCL writes 1, RCCL 2"));
    for (const auto& child : root.children)
      if (child.name == "cpu") read_cpu(child);
    topology_.hosts = std::max<std::size_t>(1, hosts_.size());
    find_devices();
    const auto cpus = static_cast<std::size_t>(std::ranges::count(topology_.nodes, true, &NcclNode::is_cpu));
    if (std::max({topology_.gpus.size(), topology_.ports.size(), cpus}) > kMostDevices)
      errors_.push_back(input_error(
          root.place, fmt::format("{} GPUs, {} ports and {} CPUs", topology_.gpus.size(), topology_.ports.size(), cpus),
          fmt::format("at most {} of each are read", kMostDevices)));
    if (!errors_.empty()) return errors_;
    sort_gpus();
    add_remarks();
    return std::move(topology_);
  }

 private:
  /// An attribute as a whole number in a range; nothing where it is absent, empty or wrong.
  std::optional<std::int64_t> number(const XmlElement& element, std::string_view name, std::int64_t least,
                                     std::int64_t most) {
    const auto* const attribute = element.find(name);
    if (attribute == nullptr || attribute->value.empty()) return std::nullopt;
    const auto value = read_number<std::int64_t>(attribute->value);
    if (value && *value >= least && *value <= most) return value;
    errors_.push_back(input_error(attribute->place, fmt::format("{}=\"{}\"", name, plain(attribute->value)),
                                  fmt::format("it is a whole number from {} to {}", least, most)));
    return std::nullopt;
  }

  void read_cpu(const XmlElement& element) {
    NcclNode node;
    node.is_cpu = true;
    const auto hash = std::string(element.text("host_hash"));
    node.host = hosts_.try_emplace(hash, static_cast<std::uint32_t>(hosts_.size())).first->second;
    node.arch = element.text("arch");
    node.vendor = element.text("vendor");
    node.family = number(element, "familyid", -1, 1 << 20).value_or(-1);
    node.model = number(element, "modelid", -1, 1 << 20).value_or(-1);
    node.place = element.place;
    const auto id = add(std::move(node));
    std::vector<std::pair<const XmlElement*, std::uint32_t>> open;
    push_children(element, id, open);
    while (!open.empty()) {
      const auto [child, parent] = open.back();
      open.pop_back();
      if (child->name == "pci") push_children(*child, read_pci(*child, parent), open);
      if (child->name == "gpu") read_gpu(*child, parent);
      if (child->name == "nic") read_nic(*child, parent);
      if (child->name == "pcilink") topology_.nodes[parent].peer = lower(child->text("target"));
    }
  }

  static void push_children(const XmlElement& element, std::uint32_t node,
                            std::vector<std::pair<const XmlElement*, std::uint32_t>>& open) {
    for (auto child = element.children.rbegin(); child != element.children.rend(); ++child)
      open.emplace_back(&*child, node);
  }

  std::uint32_t add(NcclNode node) {
    topology_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(topology_.nodes.size() - 1);
  }

  std::uint32_t read_pci(const XmlElement& element, std::uint32_t parent) {
    NcclNode node;
    node.parent = parent;
    node.host = topology_.nodes[parent].host;
    node.busid = lower(element.text("busid"));
    node.pci_class = element.text("class");
    node.speed = element.text("link_speed");
    node.lanes = number(element, "link_width", 0, kMostLanes).value_or(0);
    node.place = element.place;
    if (node.busid.empty()) {
      errors_.push_back(input_error(element.place, "<pci> has no busid", "it names the device"));
    } else if (!seen_.insert({node.host, node.busid}).second) {
      errors_.push_back(input_error(element.place, fmt::format("the bus id {} is given twice", plain(node.busid)),
                                    "devices of a host have different ones, so bridges would form a circle"));
    }
    return add(std::move(node));
  }

  void read_gpu(const XmlElement& element, std::uint32_t parent) {
    NcclGpu gpu;
    gpu.node = parent;
    gpu.sm = number(element, "sm", 0, 100'000);
    gpu.gcn = element.text("gcn");
    gpu.rank = number(element, "rank", 0, 1 << 30);
    gpu.dev = number(element, "dev", 0, 1 << 30).value_or(0);
    gpu.place = element.place;
    for (const auto& child : element.children) {
      if (child.name == "nvlink" || child.name == "xgmi") {
        gpu.links.push_back({lower(child.text("target")), number(child, "count", 1, kMostLinks).value_or(1),
                             std::string(child.text("tclass")), child.name == "xgmi", child.place});
        if (gpu.links.back().target.empty())
          errors_.push_back(input_error(child.place, fmt::format("<{}> has no target", child.name)));
      }
      if (child.name == "c2c") {
        gpu.c2c_megabytes +=
            number(child, "bw", 0, 100'000'000).value_or(0) * number(child, "count", 1, kMostLinks).value_or(1);
        gpu.c2c_place = child.place;
      }
    }
    topology_.gpus.push_back(std::move(gpu));
  }

  void read_nic(const XmlElement& element, std::uint32_t parent) {
    for (const auto& net : element.children) {
      if (net.name != "net") continue;
      if (net.find("dev") == nullptr) {
        topology_.warnings.push_back(
            fmt::format("line {}: a net without dev is left out, as NCCL does", net.place.line));
        continue;
      }
      NcclPort port{parent, std::string(net.text("name")), std::string(net.text("guid")), {}, 0, net.place};
      port.megabits = number(net, "speed", -1, kMostMegabits).value_or(0);
      const auto* const latency = net.find("latency");
      if (latency != nullptr && !latency->value.empty()) {
        const auto value = read_decimal(latency->value);
        const auto ps = value ? value->times(1'000'000) : std::nullopt;
        if (!ps || *ps > 1'000'000'000'000)
          errors_.push_back(input_error(latency->place, fmt::format("latency=\"{}\"", plain(latency->value)),
                                        "it is a number of microseconds, at most a second"));
        port.latency_ps = ps.value_or(0);
      }
      topology_.ports.push_back(std::move(port));
    }
  }

  /// GPUs and NICs that the file has as PCI devices alone.
  void find_devices() {
    std::set<std::uint32_t> used;
    for (const auto& gpu : topology_.gpus) used.insert(gpu.node);
    for (const auto& port : topology_.ports) used.insert(port.node);
    const bool no_gpu = topology_.gpus.empty();
    const bool no_port = topology_.ports.empty();
    if (!no_gpu && !named_.empty())
      errors_.push_back(input_error({"--gpus", 0, 0}, "the file has <gpu> elements", "they say which devices are GPUs",
                                    "remove the option"));
    for (std::uint32_t id = 0; id < topology_.nodes.size(); ++id) {
      const auto& node = topology_.nodes[id];
      const bool named = named_.erase(node.busid) > 0;
      if (node.is_cpu || used.contains(id)) continue;
      if (named || (no_gpu && is_gpu_class(node.pci_class))) {
        NcclGpu gpu;
        gpu.node = id;
        gpu.dev = static_cast<std::int64_t>(topology_.gpus.size());
        gpu.place = node.place;
        topology_.gpus.push_back(std::move(gpu));
        topology_.gpus_from_class = true;
      } else if (no_port && is_nic_class(node.pci_class)) {
        topology_.ports.push_back({id, node.busid, node.busid, {}, 0, node.place});
      }
    }
    for (const auto& busid : named_)
      if (!busid.empty())
        errors_.push_back(input_error({"--gpus", 0, 0}, fmt::format("no device {}", plain(busid)),
                                      "it is the busid of a <pci> without a <gpu>"));
  }

  void sort_gpus() {
    auto& gpus = topology_.gpus;
    const bool ranked = std::ranges::all_of(gpus, [](const NcclGpu& gpu) { return gpu.rank.has_value(); });
    std::ranges::stable_sort(gpus, {}, [&](const NcclGpu& gpu) {
      return std::tuple(ranked ? *gpu.rank : 0, topology_.nodes[gpu.node].host, gpu.dev);
    });
  }

  void add_remarks() {
    if (document_.stray.empty()) return;
    topology_.warnings.push_back(
        fmt::format("{} pieces of text between elements, the first in line {}: NCCL's own "
                    "parser refuses this file",
                    document_.stray.size(), document_.stray.front().line));
  }

  const XmlDocument& document_;
  NcclTopology topology_;
  Diagnostics errors_;
  std::set<std::string> named_;
  std::map<std::string, std::uint32_t> hosts_;
  std::set<std::pair<std::uint32_t, std::string>> seen_;
};

}  // namespace

Result<NcclTopology> read_nccl_topology(const XmlDocument& document, const std::vector<std::string>& gpu_busids) {
  return NcclReader(document, gpu_busids).read();
}

}  // namespace tenex::exchange
