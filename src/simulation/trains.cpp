// The trains engine: open loops on one-dimensional shapes, where the order on each link is known in advance.
//
// All messages are injected at time zero and trigger nothing, so no event needs to wait for another. In a fully
// connected block, a link carries only its source's messages, in their order. On a ring or a line, trains of messages
// pass from link to link (line_trains.hpp). On a switch, the i-th messages of all NPUs reach it at the same time and
// enter its out-links in the order of its ports, with virtual cut-through as early as an out-link lets them
// (hand_over.hpp). Messages are generated as they are needed, in O(1).
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "simulation/backends.hpp"
#include "simulation/line_trains.hpp"
#include "simulation/message_sizes.hpp"
#include "simulation/port_ranks.hpp"
#include "simulation/shape_routes.hpp"
#include "tenex/topology/hand_over.hpp"

namespace tenex {
namespace {

/// The only block of more than one NPU.
std::optional<Block> only_block(const Topology& topology) {
  if (!topology.shape() || !topology.shape()->is_product()) return std::nullopt;
  std::optional<Block> only;
  for (const auto& block : topology.shape()->blocks) {
    if (block.size == 1) continue;
    if (only) return std::nullopt;
    only = block;
  }
  return only;
}

class TrainsEngine {
 public:
  TrainsEngine(const Topology& topology, const Collective& collective, const Program& program,
               const SimulationOptions& options, WayAlong way)
      : topology_(topology),
        program_(program),
        options_(options),
        way_(way),
        sizes_(topology, collective, program, options.occupancy) {
    result_.engine = SimulationEngine::trains;
    if (options.record_npu_finish) result_.npu_finish.assign(topology.npus(), SimTime::zero());
    if (options.record_links) result_.links.assign(topology.links(), LinkLoad{});
  }

  /// nullopt: messages of several sizes where only one size is allowed.
  std::optional<Result<Simulation>> run() {
    bool done = false;
    if (way_ == WayAlong::direct)
      done = neighbours();
    else if (way_ == WayAlong::over_switch)
      done = through_switch();
    else
      done = both_ways();
    if (!done) return std::nullopt;
    return Result<Simulation>(std::move(result_));
  }

 private:
  [[nodiscard]] std::uint32_t npus() const { return static_cast<std::uint32_t>(topology_.npus()); }

  void arrive(NpuId npu, SimTime time) {
    result_.finish = std::max(result_.finish, time);
    if (options_.record_npu_finish) result_.npu_finish[npu.index()] = std::max(result_.npu_finish[npu.index()], time);
  }
  void load(LinkId link, std::uint32_t size, std::uint64_t messages) {
    if (!options_.record_links) return;
    const auto count = static_cast<std::int64_t>(messages);
    result_.links[link.index()].bytes += sizes_.bytes(size) * count;
    result_.links[link.index()].busy += sizes_.hop(topology_.class_of(link), size).busy * count;
  }
  /// Whether a message has the same size class as those before.
  bool same_size(const Message& message) {
    const auto size = sizes_.of(message);
    if (!size_) size_ = size;
    return *size_ == size;
  }

  /// Every message is one hop, so each NPU's out-links are simulated by themselves. They are in the order of their
  /// targets.
  bool neighbours() {
    std::vector<SimTime> free(npus());
    for (std::uint32_t npu = 0; npu < npus(); ++npu) {
      std::fill(free.begin(), free.end(), SimTime::zero());
      const auto links = topology_.out_links(VertexId(npu));
      const auto messages = program_.messages_from(NpuId(npu));
      result_.messages += messages;
      for (std::uint64_t i = 0; i < messages; ++i) {
        const auto message = program_.message_of(NpuId(npu), i);
        const auto to = message.destination.index();
        const auto link = links[to > npu ? to - 1 : to];
        const auto size = sizes_.of(message);
        const auto& hop = sizes_.hop(topology_.class_of(link), size);
        arrive(message.destination, free[to] + hop.latency);
        free[to] += hop.busy;
        load(link, size, 1);
      }
    }
    result_.hops = result_.messages;
    return true;
  }

  /// Rings and lines: the two directions do not touch each other.
  bool both_ways() {
    std::vector<std::vector<std::uint32_t>> distances(std::size_t{2} * npus());
    for (std::uint32_t npu = 0; npu < npus(); ++npu) {
      const auto messages = program_.messages_from(NpuId(npu));
      result_.messages += messages;
      for (std::uint64_t i = 0; i < messages; ++i) {
        const auto message = program_.message_of(NpuId(npu), i);
        if (!same_size(message)) return false;
        const auto to = message.destination.value();
        const auto upward = to > npu ? to - npu : to + npus() - npu;
        const bool up = way_ == WayAlong::straight ? to > npu : upward <= npus() - upward;
        const auto hops = up ? upward : npus() - upward;
        distances[2 * npu + (up ? 0 : 1)].push_back(hops);
        result_.hops += hops;
      }
    }
    if (!size_) return true;
    for (const bool up : {true, false}) one_way(up, distances);
    return true;
  }

  void one_way(bool up, std::vector<std::vector<std::uint32_t>>& distances) {
    const bool closed = way_ == WayAlong::round;
    const auto routes = ShapeRoutes::of(topology_);
    ensure(routes.has_value(), "an intact shape has no routes");
    std::vector<LineTrains::Entry> entries;
    for (std::uint32_t i = 0; i < npus(); ++i) {
      const auto npu = up ? i : npus() - 1 - i;
      if (!closed && i + 1 == npus()) break;
      const auto target = NpuId(up ? (npu + 1) % npus() : (npu + npus() - 1) % npus());
      if (closed && !up && npus() == 2) return;
      const auto link = (*routes)(VertexId(npu), target);
      entries.push_back(
          {link, target, sizes_.hop(topology_.class_of(link), *size_), std::move(distances[2 * npu + (up ? 0 : 1)])});
    }
    LineTrains trains(std::move(entries), closed);
    trains.run();
    for (std::size_t e = 0; e < trains.entries().size(); ++e) {
      const auto& entry = trains.entries()[e];
      if (trains.finish(e) > SimTime::zero()) arrive(entry.target, trains.finish(e));
      load(entry.link, *size_, trains.messages(e));
    }
  }

  /// The i-th messages reach the switch together if links and sizes are alike.
  bool through_switch() {
    const VertexId hub(npus());
    std::vector<NpuId> sources;  // by port
    std::vector<std::uint64_t> messages;
    for (const auto link : topology_.in_links(hub)) {
      sources.push_back(npu_of(topology_.source(link)));
      messages.push_back(program_.messages_from(sources.back()));
      result_.messages += messages.back();
      if (topology_.class_of(link) != topology_.class_of(topology_.in_links(hub)[0])) return false;
    }
    result_.hops = 2 * result_.messages;
    const auto rounds = *std::max_element(messages.begin(), messages.end());
    std::vector<LinkId> down(npus());
    for (const auto link : topology_.out_links(hub)) down[topology_.target(link).index()] = link;
    std::vector<SimTime> free(npus());
    std::vector<std::uint64_t> received(npus(), 0);
    const LinkId first_up = topology_.in_links(hub)[0];
    const HandOvers early(topology_, sizes_.all());
    for (std::uint64_t i = 0; i < rounds; ++i)
      for (std::size_t port = 0; port < sources.size(); ++port) {
        if (i >= messages[port]) continue;
        const auto message = program_.message_of(sources[port], i);
        if (!same_size(message)) return false;
        const auto& up = sizes_.hop(topology_.class_of(first_up), *size_);
        const auto to = message.destination.index();
        SimTime now = static_cast<std::int64_t>(i) * up.busy + up.latency;
        now -= early.lead(first_up, down[to], *size_);
        free[to] = std::max(free[to], now) + sizes_.hop(topology_.class_of(down[to]), *size_).busy;
        ++received[to];
      }
    for (std::uint32_t npu = 0; npu < npus(); ++npu) {
      if (received[npu] == 0) continue;
      const auto& hop = sizes_.hop(topology_.class_of(down[npu]), *size_);
      arrive(NpuId(npu), free[npu] - hop.busy + hop.latency);
      load(down[npu], *size_, received[npu]);
    }
    for (std::size_t port = 0; port < sources.size(); ++port)
      if (messages[port] > 0) load(topology_.in_links(hub)[port], *size_, messages[port]);
    return true;
  }

  const Topology& topology_;
  const Program& program_;
  const SimulationOptions& options_;
  WayAlong way_;
  MessageSizes sizes_;
  std::optional<std::uint32_t> size_;  ///< of all messages
  Simulation result_;
};

}  // namespace

std::optional<Result<Simulation>> simulate_in_trains(const Topology& topology, const Collective& collective,
                                                     const Program& program, const SimulationOptions& options) {
  if (options.record_sends || options.record_arrivals || options.utilization_bins > 0 ||
      !options.start_delays.empty() || !program.open_loop() || topology.wires() != nullptr)
    return std::nullopt;
  const auto block = only_block(topology);
  if (!block) return std::nullopt;
  const auto way = way_along(*block);
  if (way == WayAlong::one_link || way == WayAlong::unknown) return std::nullopt;
  return TrainsEngine(topology, collective, program, options, way).run();
}

}  // namespace tenex
