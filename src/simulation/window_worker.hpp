// One thread of the window engine: a contiguous range of vertices, and the ports that deliver there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simulation/next_links.hpp"
#include "simulation/pieces.hpp"
#include "simulation/record.hpp"
#include "simulation/window_calendar.hpp"
#include "simulation/window_network.hpp"
#include "tenex/schedule/program.hpp"

namespace tenex {

/// Takes windows one by one. Messages for the ports of other threads wait in outboxes until the window has ended for
/// all threads. Outboxes are double-buffered, so that one barrier per window suffices.
class alignas(64) WindowWorker {
 public:
  WindowWorker(WindowNetwork& network, ProgramState& state, int thread, std::optional<UtilizationBins> bins);

  /// Injects the messages that the worker's NPUs send at time zero. Returns the first window with an arrival of any of
  /// them.
  std::int64_t begin();
  /// Called after the barrier: takes the messages of the other threads from the last window, then handles `window`.
  /// Returns the earliest window that the thread knows of.
  std::int64_t step(std::vector<WindowWorker*>& all, std::int64_t window);

  // The results, which the engine merges.
  SimTime finish;
  std::uint64_t messages = 0;
  std::uint64_t hops = 0;
  std::vector<SimTime> npu_finish;
  std::vector<LinkLoad> links;
  std::vector<DeliveredMessage> delivered;  ///< only if arrivals are recorded
  std::vector<Send> sends;
  std::vector<Injection> injections;
  std::optional<UtilizationBins> utilization;
  std::optional<Diagnostic> failure;

 private:
  struct Arrival {
    Flight flight;
    std::uint32_t port = 0;
    VertexId vertex;
    [[nodiscard]] bool before(const Arrival& other) const {
      return flight.arrival != other.flight.arrival ? flight.arrival < other.flight.arrival : port < other.port;
    }
  };
  struct Outgoing {
    Flight flight;
    std::uint32_t port = 0;
  };
  // Starts.
  void start_npu(NpuId npu);
  void wake(NpuId npu, SimTime now);

  // Handling a window.
  void take_inbox(std::vector<WindowWorker*>& all);
  void handle(std::span<const std::uint32_t> ports);
  [[gnu::always_inline]] void collect(VertexId vertex, std::uint32_t port, SimTime end);
  void foresee(VertexId vertex, const Flight& flight, std::uint32_t port) const;
  void settle_all();
  [[gnu::always_inline]] void settle(VertexId vertex, const Flight& flight, std::uint32_t port);
  [[nodiscard]] bool completes(const Flight& flight);
  void deliver(const Flight& flight);
  [[gnu::always_inline]] void react(const Message& message, SimTime now);

  // Handling a message.
  [[nodiscard]] Message message_of(const Flight& flight) const;
  [[gnu::always_inline]] void inject(const Message& message, SimTime now);
  template <class Cargo>
  [[gnu::always_inline]] void announce(VertexId at, const Cargo& cargo, MessageId id, std::uint32_t size_class,
                                       SimTime now);
  void inject_pieces(const Message& message, SimTime now);
  [[gnu::noinline]] void feed(std::uint32_t port);
  void extend(std::uint32_t port, const Message& message, MessageId id, std::uint32_t size_class);
  void enter_announced();
  void enter(const Outgoing& planned);
  [[gnu::always_inline]] SimTime take_link(std::uint32_t port, const Flight& cargo);
  [[nodiscard, gnu::noinline]] SimTime lead(std::uint32_t port, const Flight& cargo);
  [[nodiscard]] Flight& extend_outbox(std::uint32_t port, SimTime arrival);
  void push(std::uint32_t port, const Flight& flight);
  void note_finish(NpuId npu, SimTime time);
  void write_down(std::uint32_t port, const Flight& flight, SimTime start, SimTime busy);
  [[nodiscard]] std::uint32_t next_port(VertexId at, NpuId source, NpuId destination) {
    if (shape_ports_ != nullptr) return (*shape_ports_)(at, destination).value();
    return port_of(next_links_(at, source, destination));
  }
  /// The next port of a piece, and what remains of its way.
  struct Step {
    std::uint32_t port;
    MessageId rest;
  };
  /// Kept apart, because whole messages are much more frequent.
  [[nodiscard, gnu::noinline]] Step step_on_way(VertexId at, NpuId source, NpuId destination, MessageId way);
  [[nodiscard]] std::uint32_t port_of(LinkId link) const {
    return link.exists() ? network_.port_of[link.index()] : no_port;
  }
  /// Whether an NPU has not started yet: arrivals there wait, to be handed over or forwarded.
  [[nodiscard]] bool sleeps(VertexId vertex) const {
    return !awake_.empty() && vertex.index() < awake_.size() && !awake_[vertex.index()];
  }
  [[nodiscard]] std::int64_t window_of(SimTime time) const { return time.count() >> window_bits_; }

  static constexpr std::uint32_t no_port = LinkId::none().value();
  static constexpr std::size_t announcements = 64;

  WindowNetwork& network_;
  ProgramState& state_;
  const ExpectantState* expectant_ = nullptr;  ///< the state, if it is an ExpectantState
  int thread_;
  NextLinks next_links_;
  WindowCalendar calendar_;
  std::uint32_t first_port_;
  std::uint32_t ports_;  ///< number of ports
  bool writes_down_;     ///< hops are recorded in some form
  bool plain_ = false;   ///< of deliveries only the last times are recorded, and all NPUs are awake
  bool elides_ = false;
  bool records_ = false;
  bool cuts_ = false;
  bool feeds_ = false;
  // Copies of the network's data, for speed.
  bool early_ = false;
  bool uniform_ = false;
  HopTime uniform_hop_;
  int window_bits_ = 0;
  Port* all_ports_ = nullptr;
  const ShapeRoutes* shape_ports_ = nullptr;
  std::vector<std::uint32_t> taken_;
  std::vector<Arrival> arrived_;                   ///< at the current vertices, in one window
  std::array<Outgoing, announcements> announced_;  ///< messages that enter links next, with their times
  std::size_t announced_count_ = 0;
  FlightRings rings_;
  PieceCounter pieces_;
  std::vector<Message> triggered_;                ///< messages triggered by one arrival
  std::vector<std::vector<Outgoing>> outbox_[2];  ///< by parity and thread
  int parity_ = 0;
  std::int64_t earliest_sent_ = WindowBarrier::no_window;
  std::vector<std::vector<Flight>> held_;  ///< by NPU: flights that arrived before its start; empty if no NPU is
                                           ///< delayed
  std::vector<bool> awake_;
};

}  // namespace tenex
