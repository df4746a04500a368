// NCCL and RCCL topology files to machines.
//
// NVLinks and xGMI links become links between GPUs, or between a GPU and the one vertex that stands for all NVLink
// switches, as in NCCL's own graph. The PCI tree with its CPUs joins the GPUs where those links do not, or on request.
// A NIC serves the GPUs that are nearest to it in the PCI tree; boxes are joined over the NICs that serve a GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exchange/box_fabric.hpp"
#include "exchange/constants.hpp"
#include "exchange/formats.hpp"
#include "exchange/machine_draft.hpp"
#include "exchange/nccl_topology.hpp"
#include "exchange/rate_choice.hpp"

namespace tenex::exchange {
namespace {

constexpr std::int64_t kFastestNic = 1'600'000;  // Mb/s
constexpr std::int64_t kSlowestNic = 10'000;

/// The ports of a network adapter.
struct Adapter {
  std::uint32_t node = 0;
  std::vector<const NcclPort*> ports;
  std::vector<std::uint32_t> gpus;  ///< that it serves
};

class NcclMachineBuilder {
 public:
  NcclMachineBuilder(NcclTopology topology, const SourceText& source, const ImportOptions& options)
      : topology_(std::move(topology)), options_(options), file_(source.file), rates_(options, source.file) {
    machine_.name = name_of(source, options);
    machine_.source = source_of(source, fmt::format("NCCL topology XML, system version {}", topology_.version));
  }

  Result<ImportedMachine> build() {
    add_gpus();
    add_fast_links();
    const bool reached = machine_.connected();
    const bool pcie = options_.pcie || !reached;
    if (pcie) add_host_tree();
    if (!pcie) machine_.remarks.emplace_back("the PCI tree and the CPUs are left out: faster links join all GPUs");
    if (options_.nodes == 1 && !topology_.gpus.empty() && !machine_.connected())
      return input_error({file_, 0, 0}, "nothing in the file joins all GPUs",
                         fmt::format("it has {} hosts without a common NVLink switch", topology_.hosts),
                         "import the file of one host with --nodes and --fabric");
    auto joined = join(pcie);
    if (!joined) {
      Diagnostics errors = rates_.errors();
      append(errors, joined.errors());
      return errors;
    }
    if (auto errors = rates_.errors(); !errors.empty()) return errors;
    joined->remove_dead_ends();
    if (joined->edges() == 0)
      return input_error({file_, 0, 0}, "the machine has no link", "it is a single GPU", "give --nodes and --fabric");
    return ImportedMachine{"NCCL topology", joined->text(), std::move(topology_.warnings)};
  }

 private:
  void add_gpus() {
    if (topology_.gpus.empty()) {
      topology_.gpus_from_class = true;
      rates_.ask("the file marks no device as a GPU", "it has neither <gpu> nor a <pci> with a class 0x03 or 0x12",
                 fmt::format("name them by --gpus BUSID,..: {}", devices()));
    }
    for (std::size_t i = 0; i < topology_.gpus.size(); ++i) {
      (void)machine_.add_npu();
      ++gpus_at_[topology_.gpus[i].node];
      const auto& node = topology_.nodes[topology_.gpus[i].node];
      gpu_of_.try_emplace({node.host, node.busid}, static_cast<std::uint32_t>(i));
    }
    machine_.npus_origin =
        topology_.gpus_from_class
            ? fmt::format("{} devices by their class or --gpus, in the order of the file", topology_.gpus.size())
            : fmt::format("{} <gpu> elements in the order of their ranks", topology_.gpus.size());
  }

  /// The bus ids of PCI devices, for a message.
  [[nodiscard]] std::string devices() const {
    std::string list;
    for (const auto& node : topology_.nodes)
      if (!node.is_cpu && list.size() < 200) list += (list.empty() ? "" : ", ") + plain(node.busid);
    return list;
  }

  Sourced<Bandwidth> times(Sourced<Bandwidth> one, std::int64_t count) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(one.value.count(), count, &product))
      rates_.ask(fmt::format("{} links of {}", count, one.origin), "their sum is out of range", "correct the number");
    return {bytes_per_second(product), fmt::format("count {} in the file x {}", count, one.origin)};
  }

  /// One link of a GPU: NVLink or xGMI.
  Sourced<Bandwidth> one_link(const NcclGpu& gpu, bool xgmi) {
    if (xgmi)
      return rates_.bandwidth("xgmi", gpu.gcn.empty() ? std::nullopt : std::optional(xgmi_bandwidth(gpu.gcn)),
                              "the file does not say the GPU's gcn");
    return rates_.bandwidth("nvlink", gpu.sm ? std::optional(nvlink_bandwidth(*gpu.sm)) : std::nullopt,
                            "the file does not say the GPU's sm");
  }

  void add_fast_links() {
    if (topology_.gpus_from_class) {
      add_links_of_option();
      return;
    }
    if (!options_.gpu_links.empty())
      rates_.ask("--gpu-links beside <gpu> elements", "the file says what joins them", "remove the option");
    struct Sum {
      std::int64_t count = 0;
      bool xgmi = false;
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, Sum> direct;  // ordered, so that the output is
    std::map<std::uint32_t, std::int64_t> to_switch;
    std::size_t to_itself = 0;
    for (std::uint32_t i = 0; i < topology_.gpus.size(); ++i)
      for (const auto& link : topology_.gpus[i].links) {
        if (link.target_class.starts_with("0x068000") || link.target.starts_with("fffffff")) {
          to_switch[i] += link.count;
          continue;
        }
        const auto peer = peer_of(topology_.nodes[topology_.gpus[i].node].host, link);
        if (!peer) continue;
        if (*peer == i) {
          ++to_itself;
          continue;
        }
        auto& sum = direct[{i, *peer}];
        sum.count += link.count;
        sum.xgmi = link.xgmi;
      }
    for (const auto& [ends, sum] : direct) {
      const auto opposite = direct.find({ends.second, ends.first});
      const bool alike = opposite != direct.end() && opposite->second.count == sum.count &&
                         one_link(topology_.gpus[ends.first], sum.xgmi) ==
                             one_link(topology_.gpus[ends.second], opposite->second.xgmi);
      if (alike && ends.first > ends.second) continue;
      const std::string kind = sum.xgmi ? "xgmi" : "nvlink";
      const auto rate = machine_.add_rate({kind, times(one_link(topology_.gpus[ends.first], sum.xgmi), sum.count),
                                           rates_.alpha(kind, direct_alpha(), {})});
      if (alike)
        machine_.join(ends.first, ends.second, rate);
      else
        machine_.point(ends.first, ends.second, rate);
    }
    if (to_itself > 0)
      topology_.warnings.push_back(
          fmt::format("{} GPUs have an NVLink whose target is the GPU itself: left out, the file does not say to which "
                      "GPU it goes",
                      to_itself));
    if (!to_switch.empty()) add_switch_links(to_switch);
  }

  void add_switch_links(const std::map<std::uint32_t, std::int64_t>& to_switch) {
    const auto nvswitch = machine_.add_switch("all NVLink switches, one vertex as in NCCL's graph");
    machine_.remarks.emplace_back(
        "whether NVLink switches multicast and reduce (NVLS) is not in such a file: copy and "
        "reduce are false");
    for (const auto& [gpu, count] : to_switch)
      machine_.join(gpu, nvswitch,
                    machine_.add_rate({"nvlink", times(one_link(topology_.gpus[gpu], false), count),
                                       rates_.alpha("nvlink", nvswitch_alpha(), {})}));
  }

  /// The GPU at a link's other end; nothing where it is a CPU, or after recording that there is none.
  std::optional<std::uint32_t> peer_of(std::uint32_t host, const NcclLink& link) {
    if (link.target_class.starts_with("0x068001")) return std::nullopt;
    if (const auto found = gpu_of_.find({host, link.target}); found != gpu_of_.end()) return found->second;
    for (std::uint32_t other = 0; other < topology_.hosts; ++other)
      if (const auto found = gpu_of_.find({other, link.target}); found != gpu_of_.end()) return found->second;
    rates_.ask(fmt::format("line {}: a link to {}, which is no GPU of the file", link.place.line, plain(link.target)),
               "links go to GPUs, to CPUs (tclass 0x068001) or to NVLink switches (tclass 0x068000)",
               "correct the target");
    return std::nullopt;
  }

  /// Links between GPUs that the file has as PCI devices alone.
  void add_links_of_option() {
    const auto& words = options_.gpu_links;
    const std::string_view why = "the file has GPUs as PCI devices alone, and NCCL finds their links when it runs";
    if (words != "switch" && words != "all" && words != "pcie") {
      rates_.ask(
          "the links between GPUs are missing", std::string(why),
          "give --gpu-links pcie (no others), or switch (NVLinks to a switch) or all (a link between every two) with "
          "--bandwidth nvlink=RATE");
      return;
    }
    if (words == "pcie") return;
    const bool all = words == "all";
    const LinkRate rate{"nvlink", rates_.bandwidth("nvlink", std::nullopt, why),
                        rates_.alpha("nvlink", all ? direct_alpha() : nvswitch_alpha(), {})};
    const auto gpus = static_cast<std::uint32_t>(topology_.gpus.size());
    const auto id = machine_.add_rate(rate);
    const auto nvswitch = all ? 0 : machine_.add_switch("NVLink switches (option --gpu-links switch)");
    for (std::uint32_t a = 0; a < gpus; ++a) {
      if (!all) machine_.join(a, nvswitch, id);
      for (std::uint32_t b = a + 1; all && b < gpus; ++b) machine_.join(a, b, id);
    }
    machine_.remarks.push_back(fmt::format("links between GPUs: option --gpu-links {}", words));
  }

  /// CPUs and PCI devices as vertices, with the links between them.
  void add_host_tree() {
    machine_.remarks.emplace_back("PCI devices and CPUs are vertices that pass on");
    vertex_of_.assign(topology_.nodes.size(), 0);
    for (std::uint32_t id = 0; id < topology_.nodes.size(); ++id)
      node_at_.try_emplace({topology_.nodes[id].host, topology_.nodes[id].busid}, id);
    for (const bool cpus : {true, false})
      for (std::uint32_t id = 0; id < topology_.nodes.size(); ++id)
        if (topology_.nodes[id].is_cpu == cpus)
          vertex_of_[id] = gpus_at_[id] == 1 && !cpus
                               ? gpu_in(id)
                               : machine_.add_switch(cpus ? "CPUs" : "PCI switches, bridges and devices");
    for (std::uint32_t i = 0; i < topology_.gpus.size(); ++i) {
      const auto& gpu = topology_.gpus[i];
      if (vertex_of_[gpu.node] != i)  // it shares its device with another GPU
        machine_.join(i, vertex_of_[gpu.node],
                      machine_.add_rate({"pcie", local_bandwidth(), rates_.alpha("pcie", pci_end_alpha(), {})}));
      if (gpu.c2c_megabytes > 0)
        machine_.join(
            i, vertex_of_[cpu_of(gpu.node)],
            machine_.add_rate({"c2c",
                               rates_.bandwidth("c2c",
                                                Sourced<Bandwidth>{bytes_per_second(gpu.c2c_megabytes * 1'000'000),
                                                                   std::string("bw x count of <c2c> in the file")},
                                                {}),
                               rates_.alpha("c2c", pci_end_alpha(), {})}));
    }
    for (std::uint32_t id = 0; id < topology_.nodes.size(); ++id) add_links_up(id);
    add_cpu_links();
  }

  void add_links_up(std::uint32_t id) {
    const auto& node = topology_.nodes[id];
    if (node.is_cpu) return;
    const bool is_gpu = gpus_at_[id] == 1;
    machine_.join(vertex_of_[id], vertex_of_[node.parent],
                  machine_.add_rate({"pcie", rates_.bandwidth("pcie", pci_bandwidth(node.speed, node.lanes), {}),
                                     rates_.alpha("pcie", is_gpu ? pci_end_alpha() : pci_inner_alpha(), {})}));
    if (node.peer.empty()) return;
    const auto peer = node_at_.find({node.host, node.peer});
    if (peer != node_at_.end() && peer->second != id && vertex_of_[peer->second] != vertex_of_[id])
      machine_.point(vertex_of_[id], vertex_of_[peer->second],
                     machine_.add_rate({"pcie", local_bandwidth(), rates_.alpha("pcie", pci_inner_alpha(), {})}));
  }

  void add_cpu_links() {
    std::vector<std::uint32_t> cpus;
    for (std::uint32_t id = 0; id < topology_.nodes.size(); ++id)
      if (topology_.nodes[id].is_cpu) cpus.push_back(id);
    for (std::size_t a = 0; a < cpus.size(); ++a)
      for (std::size_t b = a + 1; b < cpus.size(); ++b) {
        const auto& cpu = topology_.nodes[cpus[a]];
        if (cpu.host != topology_.nodes[cpus[b]].host) continue;
        const auto known = cpu_bandwidth({cpu.arch, cpu.vendor, cpu.family, cpu.model});
        constexpr std::string_view why = "the file does not say the CPU's arch, vendor, familyid and modelid";
        machine_.join(vertex_of_[cpus[a]], vertex_of_[cpus[b]],
                      machine_.add_rate(
                          {"cpu", rates_.bandwidth("cpu", known, why), rates_.alpha("cpu", pci_inner_alpha(), {})}));
      }
  }

  [[nodiscard]] std::uint32_t gpu_in(std::uint32_t node) const {
    const auto found = std::ranges::find(topology_.gpus, node, &NcclGpu::node);
    return static_cast<std::uint32_t>(found - topology_.gpus.begin());
  }
  [[nodiscard]] std::uint32_t cpu_of(std::uint32_t node) const {
    while (!topology_.nodes[node].is_cpu) node = topology_.nodes[node].parent;
    return node;
  }

  // NICs and what joins boxes.

  /// Calls `pass` with each device on the way between two of the tree whose link up is taken. False: another host.
  template <class Pass>
  bool walk(std::uint32_t a, std::uint32_t b, Pass pass) const {
    if (topology_.nodes[a].host != topology_.nodes[b].host) return false;
    std::vector<std::uint32_t> above{a};
    while (!topology_.nodes[above.back()].is_cpu) above.push_back(topology_.nodes[above.back()].parent);
    auto meeting = std::ranges::find(above, b);
    while (meeting == above.end() && !topology_.nodes[b].is_cpu) {
      pass(b);
      b = topology_.nodes[b].parent;
      meeting = std::ranges::find(above, b);
    }
    if (meeting == above.end()) {  // another CPU of the host
      pass(b);
      --meeting;
    }
    std::for_each(above.begin(), meeting, pass);
    return true;
  }
  /// NCCL's classes of a way: one bridge (PIX), several (PXB), a CPU (PHB), two CPUs (SYS); none to another host.
  enum class Nearness : std::uint8_t { pix, pxb, phb, sys, none };
  [[nodiscard]] Nearness nearness(std::uint32_t a, std::uint32_t b) const {
    std::size_t links = 0;
    auto found = Nearness::pix;
    const bool same_host = walk(a, b, [&](std::uint32_t id) {
      const auto& node = topology_.nodes[id];
      const auto through = node.is_cpu                           ? Nearness::sys
                           : topology_.nodes[node.parent].is_cpu ? Nearness::phb
                           : ++links > 2                         ? Nearness::pxb
                                                                 : Nearness::pix;
      found = std::max(found, through);
    });
    return same_host ? found : Nearness::none;
  }
  /// The slowest PCI link between two devices; nothing where there is none.
  std::optional<Sourced<Bandwidth>> narrowest(std::uint32_t a, std::uint32_t b) {
    std::optional<Sourced<Bandwidth>> found;
    walk(a, b, [&](std::uint32_t id) {
      const auto& node = topology_.nodes[id];
      if (node.is_cpu) return;
      auto link = rates_.bandwidth("pcie", pci_bandwidth(node.speed, node.lanes), {});
      if (!found || link.value < found->value) found = std::move(link);
    });
    return found;
  }

  /// The PCI link of a device; nothing of a NIC that hangs on a CPU.
  std::optional<Sourced<Bandwidth>> own_link(std::uint32_t id) {
    const auto& node = topology_.nodes[id];
    return node.is_cpu ? std::nullopt : narrowest(id, node.parent);
  }

  std::vector<Adapter> adapters() {
    std::vector<Adapter> all;
    std::map<std::pair<std::uint32_t, std::string>, std::size_t> by_guid;
    for (const auto& port : topology_.ports) {
      const bool has_guid = port.guid.find_first_not_of("0x") != std::string::npos && port.megabits.has_value();
      const auto key = std::pair(topology_.nodes[port.node].host, port.guid);
      const auto [known, is_new] = has_guid ? by_guid.try_emplace(key, all.size()) : std::pair(by_guid.end(), true);
      if (is_new)
        all.push_back({port.node, {&port}, {}});
      else
        all[known->second].ports.push_back(&port);
    }
    return all;
  }

  /// Gives each GPU its nearest NICs, by NCCL's classes. Where several GPUs have the same nearest ones, these are dealt
  /// out.
  void serve(std::vector<Adapter>& nics) {
    std::map<std::vector<std::size_t>, std::vector<std::uint32_t>> groups;
    for (std::uint32_t gpu = 0; gpu < topology_.gpus.size(); ++gpu) {
      std::vector<std::size_t> nearest;
      auto least = Nearness::none;
      for (std::size_t nic = 0; nic < nics.size(); ++nic) {
        const auto distance = nearness(topology_.gpus[gpu].node, nics[nic].node);
        if (distance == Nearness::none || distance > least) continue;
        if (distance < least) nearest.clear();
        least = distance;
        nearest.push_back(nic);
      }
      if (!nearest.empty()) groups[nearest].push_back(gpu);
    }
    for (const auto& [shared, gpus] : groups)
      for (std::size_t i = 0; i < std::max(shared.size(), gpus.size()); ++i) {
        auto& served = nics[shared[i % shared.size()]].gpus;
        const auto gpu = gpus[i % gpus.size()];
        if (std::ranges::find(served, gpu) == served.end()) served.push_back(gpu);
      }
  }

  void warn_of_speeds() {
    for (const auto& port : topology_.ports) {
      if (!port.megabits || (*port.megabits >= kSlowestNic && *port.megabits <= kFastestNic)) continue;
      topology_.warnings.push_back(fmt::format(
          "line {}: NIC {} has {} Mb/s, {}: check the file, or give --bandwidth nic=RATE", port.place.line,
          plain(port.name), *port.megabits, *port.megabits > kFastestNic ? "above 1.6 Tb/s" : "below 10 Gb/s"));
    }
  }

  LinkRate rate_of(const NcclPort& port) {
    std::optional<Sourced<Bandwidth>> known;
    if (port.megabits && *port.megabits > 0)
      known = {bytes_per_second(*port.megabits * 125'000), fmt::format("speed {} Mb/s in the file", *port.megabits)};
    else if (port.megabits)
      known = {bytes_per_second(1'250'000'000),
               "constant 10,000 Mb/s where the speed is not positive (NCCL 2.30.7 "
               "src/graph/topo.cc)"};
    std::optional<Sourced<SimTime>> latency = fabric_alpha();
    if (port.latency_ps > 0) latency = {picoseconds(port.latency_ps), "latency in the file"};
    return {"nic", rates_.bandwidth("nic", known, "the file has NICs as PCI devices alone"),
            rates_.alpha("nic", latency, {})};
  }

  /// The NIC's links into the network; no faster together than the PCI link behind them.
  std::vector<std::uint32_t> uplinks(const Adapter& nic, const std::optional<Sourced<Bandwidth>>& before) {
    std::vector<LinkRate> ports;
    std::int64_t sum = 0;
    for (const auto* port : nic.ports) {
      ports.push_back(rate_of(*port));
      if (__builtin_add_overflow(sum, ports.back().bandwidth.value.count(), &sum)) sum = INT64_MAX;
    }
    if (before && sum > before->value.count()) {
      auto& one = ports.front();
      one.bandwidth = {before->value, "PCI before the NIC, which is slower: " + before->origin};
      ports.resize(1);
    }
    std::vector<std::uint32_t> rates;
    for (const auto& port : ports) rates.push_back(machine_.add_rate(port));
    return rates;
  }

  Uplink uplink_of(const Adapter& nic, bool pcie) {
    if (pcie) return {vertex_of_[nic.node], uplinks(nic, std::nullopt)};
    if (nic.gpus.size() == 1)
      return {nic.gpus.front(), uplinks(nic, narrowest(topology_.gpus[nic.gpus.front()].node, nic.node))};
    const auto vertex = machine_.add_switch("NICs that several GPUs share");
    for (const auto gpu : nic.gpus) {
      auto before = narrowest(topology_.gpus[gpu].node, nic.node);
      machine_.join(gpu, vertex,
                    machine_.add_rate({"pcie", before ? *std::move(before) : local_bandwidth(),
                                       rates_.alpha("pcie", pci_inner_alpha(), {})}));
    }
    return {vertex, uplinks(nic, own_link(nic.node))};
  }

  Result<MachineDraft> join(bool pcie) {
    warn_of_speeds();
    if (options_.nodes == 1) {
      if (!options_.fabric.empty())
        rates_.ask("--fabric without --nodes", "it joins several boxes like that of the file", "give --nodes");
      if (!topology_.ports.empty()) machine_.remarks.emplace_back("NICs are left out: a single box");
      return machine_;
    }
    if (options_.fabric.empty()) {
      rates_.ask("what joins the boxes is missing", "a topology file has one box",
                 "give --fabric switch, rails (a switch per NIC of a box) or a shape such as leaf_spine(16,8,4)");
      return machine_;
    }
    auto nics = adapters();
    serve(nics);
    std::vector<Uplink> all;
    for (const auto& nic : nics)
      if (!nic.gpus.empty()) all.push_back(uplink_of(nic, pcie));
    if (all.size() < nics.size())
      machine_.remarks.push_back(
          fmt::format("{} NICs are left out: others are nearer to every GPU", nics.size() - all.size()));
    if (!pcie && !all.empty())
      machine_.remarks.emplace_back("a NIC that serves one GPU is a part of the link between the GPU and the network");
    return join_boxes(machine_, all, options_, rates_);
  }

  NcclTopology topology_;
  const ImportOptions& options_;
  std::string file_;
  RateChoice rates_;
  MachineDraft machine_;
  std::map<std::uint32_t, int> gpus_at_;                                    ///< GPUs of a node
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> gpu_of_;   ///< by host and bus id
  std::vector<std::uint32_t> vertex_of_;                                    ///< of each node, with the PCI tree
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> node_at_;  ///< by host and bus id, likewise
};

}  // namespace

Result<ImportedMachine> import_nccl(const XmlDocument& document, const SourceText& source,
                                    const ImportOptions& options) {
  auto errors = refuse_options(options, {"--gpus", "--gpu-links", "--pcie", "--nodes", "--fabric"}, "an NCCL topology");
  if (!errors.empty()) return errors;
  auto topology = read_nccl_topology(document, options.gpus);
  if (!topology) return topology.errors();
  return NcclMachineBuilder(*std::move(topology), source, options).build();
}

}  // namespace tenex::exchange
