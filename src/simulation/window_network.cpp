#include "simulation/window_network.hpp"

#include <algorithm>
#include <bit>
#include <thread>

#include "simulation/pieces.hpp"
#include "simulation/port_ranks.hpp"

namespace tenex {
namespace {

/// With fewer ports per thread, another thread is not worth it.
constexpr std::size_t least_ports_per_thread = 2048;
constexpr int spins_before_yield = 2000;

/// Whether each NPU hangs on one switch alone, over one link each way: then it forwards nothing, and all that it sends
/// enters one link.
bool hangs_by_one_link(const Topology& topology) {
  for (std::size_t v = 0; v < topology.npus(); ++v) {
    const auto out = topology.out_links(VertexId::at(v));
    const auto in = topology.in_links(VertexId::at(v));
    if (out.size() != 1 || in.size() != 1) return false;
    if (topology.is_npu(topology.target(out[0])) || topology.target(out[0]) != topology.source(in[0])) return false;
  }
  return true;
}

std::optional<HandOvers> hand_overs(const Topology& topology, const std::vector<Bytes>& sizes) {
  return any_passes_on_early(topology) ? std::optional<HandOvers>(std::in_place, topology, sizes) : std::nullopt;
}

/// The least time from a vertex to the next. A message may leave a switch that passes it on early as soon as its first
/// byte is there.
SimTime least_step(const Topology& topology, SimTime least_latency) {
  SimTime least = least_latency;
  for (std::size_t link = 0; link < topology.links(); ++link)
    if (passes_on_early(topology, topology.target(LinkId::at(link))))
      least = std::min(least, topology.alpha(LinkId::at(link)));
  return std::max(least, picoseconds(1));
}

bool keeps_deliveries(const SimulationOptions& options) {
  return options.record_sends || options.record_arrivals || options.utilization_bins > 0;
}

}  // namespace

WindowNetwork::WindowNetwork(const Topology& topology, const Collective& collective, const Program& program,
                             const SimulationOptions& options)
    : topology(topology),
      collective(collective),
      program(program),
      options(options),
      shape_routes(ShapeRoutes::of(topology)),
      cuts(cuts_messages(options.routes, shape_routes.has_value())),
      sizes(topology, collective, program, options.occupancy, cuts),
      early(hand_overs(topology, sizes.all())),
      window_bits(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(
                      (early ? least_step(topology, sizes.least_latency()) : sizes.least_latency()).count()))) -
                  1),
      reach((sizes.greatest_latency().count() >> window_bits) + 2),
      elides(program.open_loop() && !keeps_deliveries(options)) {
  if (!options.start_delays.empty()) start_of_npu.assign(topology.npus(), SimTime::zero());
  for (const auto& delay : options.start_delays) start_of_npu[delay.npu.index()] = delay.time;
  // Messages of an open loop are generated as their link becomes free, so that they need not all wait in memory.
  if (elides && options.start_delays.empty() && hangs_by_one_link(topology)) entered.assign(topology.npus(), 0);
  number_ports();
  if (shape_routes) shape_ports = shape_routes->renamed(port_of);
  const auto affordable = static_cast<int>(ports.size() / least_ports_per_thread) + 1;
  split(keeps_deliveries(options) ? 1 : std::clamp(options.threads, 1, affordable));
}

void WindowNetwork::number_ports() {
  const auto links = links_by_port(topology);
  port_of.resize(links.size());
  vertex_of_port.reserve(links.size());
  link_of_port.reserve(links.size());
  std::size_t next = 0;
  for (std::uint32_t v = 0; v < topology.vertices(); ++v) {
    if (v < topology.npus() && delayed(NpuId(v))) {
      vertex_of_port.emplace_back(v);
      link_of_port.push_back(LinkId::none());
    }
    for (const auto end = next + topology.in_links(VertexId(v)).size(); next < end; ++next) {
      port_of[links[next].index()] = static_cast<std::uint32_t>(link_of_port.size());
      vertex_of_port.emplace_back(v);
      link_of_port.push_back(links[next]);
    }
  }
  ports = LargeVector<Port>(link_of_port.size());
  for (std::size_t port = 0; port < ports.size(); ++port) {
    ports[port].vertex = vertex_of_port[port];
    if (link_of_port[port].exists()) ports[port].link_class = topology.class_of(link_of_port[port]);
  }
}

void WindowNetwork::split(int threads) {
  first_port = {0};
  first_vertex = {0};
  for (int t = 1; t < threads; ++t) {
    auto port = ports.size() * static_cast<std::size_t>(t) / static_cast<std::size_t>(threads);
    while (port > 0 && port < ports.size() && vertex_of_port[port] == vertex_of_port[port - 1]) ++port;
    first_port.push_back(static_cast<std::uint32_t>(port));
    first_vertex.push_back(port < ports.size() ? vertex_of_port[port].value()
                                               : static_cast<std::uint32_t>(topology.vertices()));
  }
  first_port.push_back(static_cast<std::uint32_t>(ports.size()));
  first_vertex.push_back(static_cast<std::uint32_t>(topology.vertices()));
}

std::int64_t WindowBarrier::meet(std::int64_t window) {
  if (threads_ == 1) return window;
  const auto round = round_.load(std::memory_order_acquire);
  auto& earliest = earliest_[round % 2];
  for (auto known = earliest.load(); window < known && !earliest.compare_exchange_weak(known, window);) {
  }
  if (arrived_.fetch_add(1) + 1 == threads_) {
    arrived_.store(0);
    earliest_[(round + 1) % 2].store(no_window);
    round_.store(round + 1, std::memory_order_release);
  } else {
    for (int spins = 0; round_.load(std::memory_order_acquire) == round; ++spins)
      if (spins > spins_before_yield) std::this_thread::yield();
  }
  return earliest.load();
}

}  // namespace tenex
