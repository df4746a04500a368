// Shared by the threads of a window engine: the ports, their owners, and the barrier at which windows end.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "simulation/large_pages.hpp"
#include "simulation/message_sizes.hpp"
#include "simulation/port.hpp"
#include "simulation/shape_routes.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/hand_over.hpp"

namespace tenex {

/// Ports are numbered by (vertex, in-port rank): the order in which simultaneous arrivals are handled. An NPU with a
/// start delay has one more port, before the others, whose only arrival is the NPU's own start.
struct WindowNetwork {
  WindowNetwork(const Topology& topology, const Collective& collective, const Program& program,
                const SimulationOptions& options);

  const Topology& topology;
  const Collective& collective;
  const Program& program;
  const SimulationOptions& options;
  std::optional<ShapeRoutes> shape_routes;
  bool cuts;  ///< messages may be cut into pieces
  MessageSizes sizes;
  std::optional<HandOvers> early;  ///< only where some switch passes messages on before their whole arrival
  int window_bits;                 ///< a window is 2^this picoseconds, at most the least time from vertex to vertex;
                                   ///< 1 ps where that is none
  std::int64_t reach;              ///< windows that a hop spans at most
  bool elides = false;  ///< deliveries trigger nothing and are not recorded, so they are known when the last hop starts
  std::optional<ShapeRoutes> shape_ports;  ///< the same routes, with ports in place of links
  LargeVector<Port> ports;
  std::vector<VertexId> vertex_of_port;   ///< the vertex at which it delivers
  std::vector<LinkId> link_of_port;       ///< none() for the port of a start
  std::vector<std::uint32_t> port_of;     ///< by link
  std::vector<SimTime> start_of_npu;      ///< empty if no NPU is delayed
  std::vector<std::uint64_t> entered;     ///< by NPU: messages that have entered its only link; empty unless they do so
                                          ///< one by one
  std::vector<std::uint32_t> first_port;  ///< by thread, then the end: each thread has contiguous vertices
  std::vector<std::uint32_t> first_vertex;

  [[nodiscard]] int threads() const { return static_cast<int>(first_port.size()) - 1; }
  /// Whether the port is the only one that a NPU sends to, and its messages enter when the ones before have gone.
  [[nodiscard]] bool is_fed(std::uint32_t port) const {
    return !entered.empty() && topology.is_npu(topology.source(link_of_port[port]));
  }
  [[nodiscard]] bool delayed(NpuId npu) const {
    return !start_of_npu.empty() && start_of_npu[npu.index()] > SimTime::zero();
  }

 private:
  void number_ports();
  void split(int threads);
};

/// The barrier where threads meet after every window. Each passes the earliest window that it knows of, and all get the
/// earliest of all. It spins, then yields.
class WindowBarrier {
 public:
  explicit WindowBarrier(int threads) : threads_(threads) {}
  [[nodiscard]] std::int64_t meet(std::int64_t window);

 private:
  int threads_;
  std::atomic<int> arrived_{0};
  std::atomic<std::uint64_t> round_{0};
  // By parity: a thread may pass its next window while another still reads the last answer.
  std::atomic<std::int64_t> earliest_[2] = {no_window, no_window};

 public:
  static constexpr std::int64_t no_window = INT64_MAX;
};

}  // namespace tenex
