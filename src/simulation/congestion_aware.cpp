// Congestion-aware simulation: one event per hop, store-and-forward, one FIFO per directed link.
//
// A message that enters a link at t starts at max(t, free), holds the link for its busy time and arrives at start +
// alpha + beta*m (000, section 3.4.2). Arrivals at a vertex are handled in the order (time, in-port rank, FIFO); what
// happens at a vertex touches its out-links alone, so vertices are independent until the least hop time has passed.
//
// The window engine uses that: time is cut into windows of 2^k <= the least hop time, so nothing handled in a window
// can arrive in it. Each link's FIFO is in order of arrival already; a calendar holds the heads. Taking a window, the
// engine goes through its vertices and merges the arrivals at each. Ids are given at injection and renumbered
// at the end in the order (time of injection, NPU, order there), which does not depend on the windows.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "simulation/backends.hpp"
#include "simulation/link_queue.hpp"
#include "simulation/next_links.hpp"
#include "simulation/window_calendar.hpp"

namespace tenex {
namespace {

/// A directed link at work.
struct Port {
  LinkQueue queue;
  SimTime free;  ///< when the last message that entered leaves it
  std::uint16_t link_class = 0;
};

struct Arrival {
  Flight flight;
  std::uint32_t port;
  [[nodiscard]] bool before(const Arrival& other) const {
    return flight.arrival != other.flight.arrival ? flight.arrival < other.flight.arrival : port < other.port;
  }
};

/// The least and the greatest hop time of any chunk over any link.
struct HopRange {
  SimTime least = SimTime::max();
  SimTime greatest;
};

HopRange hop_range(const Topology& topology, const Collective& collective, Occupancy occupancy) {
  HopRange range;
  for (const auto& link_class : topology.classes())
    for (const auto size : collective.chunk_sizes()) {
      const auto latency = hop_time(link_class, size, occupancy).latency;
      range.least = std::min(range.least, latency);
      range.greatest = std::max(range.greatest, latency);
    }
  return range;
}

class WindowEngine {
 public:
  WindowEngine(const Topology& topology, const Collective& collective, const Program& program,
               const SimulationOptions& options)
      : topology_(topology),
        collective_(collective),
        options_(options),
        state_(program.begin()),
        next_links_(topology),
        hop_times_(topology, collective.chunk_sizes(), options.occupancy),
        range_(hop_range(topology, collective, options.occupancy)),
        window_bits_(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(range_.least.count()))) - 1),
        calendar_(topology.links(), (range_.greatest.count() >> window_bits_) + 2) {
    number_ports();
    if (options.record_links) result_.links.assign(topology.links(), LinkLoad{});
  }

  Result<Simulation> run() {
    for (std::uint32_t npu = 0; npu < topology_.npus(); ++npu) {
      triggered_.clear();
      state_->start(NpuId(npu), triggered_);
      for (const auto& message : triggered_) inject(message, SimTime::zero());
    }
    std::vector<std::uint32_t> ports;
    while (!failure_ && calendar_.take_next(ports)) handle_window(ports);
    if (failure_) return *failure_;
    if (options_.record_sends) result_.sends = make_list_schedule(finish_record());
    return std::move(result_);
  }

 private:
  /// Ports are numbered by (vertex, in-port rank): the order in which simultaneous arrivals are handled.
  void number_ports() {
    ports_.resize(topology_.links());
    port_of_.resize(topology_.links());
    vertex_of_port_.resize(topology_.links());
    std::uint32_t port = 0;
    for (std::uint32_t v = 0; v < topology_.vertices(); ++v)
      for (const auto link : topology_.in_links(VertexId(v))) {
        port_of_[link.index()] = port;
        vertex_of_port_[port] = VertexId(v);
        ports_[port].link_class = topology_.class_of(link);
        ++port;
      }
  }

  void handle_window(std::span<const std::uint32_t> ports) {
    const auto end = SimTime::of((calendar_.window() + 1) << window_bits_);
    for (std::size_t first = 0; first < ports.size();) {
      const auto vertex = vertex_of_port_[ports[first]];
      arrivals_.clear();
      bool ordered = true;
      for (; first < ports.size() && vertex_of_port_[ports[first]] == vertex; ++first)
        ordered = collect(ports[first], end) && ordered;
      if (!ordered)
        std::sort(arrivals_.begin(), arrivals_.end(), [](const auto& a, const auto& b) { return a.before(b); });
      for (const auto& arrival : arrivals_) settle(vertex, arrival.flight);
    }
  }

  /// Takes the port's arrivals before `end`, and registers what it delivers next. True while all of them are in order.
  bool collect(std::uint32_t port, SimTime end) {
    auto& queue = ports_[port].queue;
    bool ordered = true;
    do {
      arrivals_.push_back({queue.front(), port});
      queue.pop();
      if (arrivals_.size() > 1) ordered = ordered && arrivals_[arrivals_.size() - 2].before(arrivals_.back());
    } while (!queue.empty() && queue.front().arrival < end);
    if (!queue.empty()) calendar_.insert(queue.front().arrival.count() >> window_bits_, port);
    return ordered;
  }

  void settle(VertexId vertex, const Flight& flight) {
    const auto now = flight.arrival;
    if (vertex != vertex_of(flight.destination)) return enter_next(vertex, flight, now);
    result_.finish = std::max(result_.finish, now);
    triggered_.clear();
    state_->arrive(flight.message(), triggered_);
    for (const auto& message : triggered_) inject(message, now);
  }

  void inject(const Message& message, SimTime now) {
    ensure(message.source != message.destination, "a program sends a message from an NPU to itself");
    Flight flight;
    flight.id = MessageId(static_cast<std::uint32_t>(result_.messages++));
    flight.source = message.source;
    flight.destination = message.destination;
    flight.chunk = message.chunk;
    flight.stage = message.stage;
    flight.size_class = static_cast<std::uint16_t>(collective_.size_class(message.chunk));
    if (options_.record_sends) injections_.push_back({now, message.source});
    enter_next(vertex_of(message.source), flight, now);
  }

  void enter_next(VertexId at, Flight flight, SimTime now) {
    const auto link = next_links_(at, flight.destination);
    if (!link.exists()) {
      if (!failure_) failure_ = unreachable_error(flight.message(), at);
      return;
    }
    const auto port_id = port_of_[link.index()];
    auto& port = ports_[port_id];
    const auto& hop = hop_times_.at(port.link_class, flight.size_class);
    const auto start = std::max(now, port.free);
    port.free = start + hop.busy;
    flight.arrival = start + hop.latency;
    if (port.queue.empty()) calendar_.insert(flight.arrival.count() >> window_bits_, port_id);
    port.queue.push(flight);
    ++result_.hops;
    if (options_.record_sends)
      sends_.push_back({start, link, flight.chunk, flight.stage, flight.id, flight.destination});
    if (options_.record_links) {
      auto& load = result_.links[link.index()];
      load.bytes += collective_.chunk_sizes()[flight.size_class];
      load.busy += hop.busy;
    }
  }

  /// The recorded sends with final message ids, or with none where every message is a single hop.
  std::vector<Send> finish_record() {
    if (result_.hops == result_.messages) {
      for (auto& send : sends_) send.message = MessageId::none(), send.destination = NpuId::none();
      return std::move(sends_);
    }
    std::vector<std::uint32_t> order(injections_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return injections_[a] < injections_[b]; });
    std::vector<MessageId> number(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) number[order[i]] = MessageId::at(i);
    for (auto& send : sends_) send.message = number[send.message.index()];
    return std::move(sends_);
  }

  const Topology& topology_;
  const Collective& collective_;
  const SimulationOptions& options_;
  std::unique_ptr<ProgramState> state_;
  NextLinks next_links_;
  HopTimes hop_times_;
  HopRange range_;
  int window_bits_;  ///< a window is 2^this picoseconds, at most the least hop time
  WindowCalendar calendar_;

  std::vector<Port> ports_;
  std::vector<std::uint32_t> port_of_;    ///< by link
  std::vector<VertexId> vertex_of_port_;  ///< at which a port delivers

  std::vector<Arrival> arrivals_;   ///< at one vertex in one window
  std::vector<Message> triggered_;  ///< by one arrival
  std::vector<Send> sends_;
  std::vector<std::pair<SimTime, NpuId>> injections_;  ///< by id, where sends are recorded
  std::optional<Diagnostic> failure_;
  Simulation result_;
};

}  // namespace

Result<Simulation> simulate_congestion_aware(const Topology& topology, const Collective& collective,
                                             const Program& program, const SimulationOptions& options) {
  if (options.record_sends && program.messages() >= MessageId::none().value())
    return resource_error(fmt::format("cannot record {} messages", program.messages()), "a message id has 32 bits",
                          "simulate without recording the schedule");
  if (topology.links() == 0 && program.messages() == 0) return Simulation{};
  return WindowEngine(topology, collective, program, options).run();
}

}  // namespace tenex
