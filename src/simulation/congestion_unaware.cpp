// Congestion-unaware simulation: a message takes alpha per hop plus its serialization on the slowest link of its route,
// regardless of other messages (the ASTRA-sim2.0 thesis, section 3.4.2). If a route leads through an NPU that starts
// late, the message goes on from there only after that start. A message that is cut into pieces takes the latencies of
// its longest way, and on each link the serialization of all its pieces there.
//
// Only arrivals at destinations are events. A heap orders them by (time, destination, injection); an NPU's delayed
// start comes before arrivals at the same time. Link loads follow from the routes: a link may be busy for longer than
// the collective takes, which shows what the model leaves out.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "simulation/backends.hpp"
#include "simulation/message_sizes.hpp"
#include "simulation/next_links.hpp"
#include "simulation/pieces.hpp"
#include "simulation/record.hpp"
#include "tenex/base/graph/least_first.hpp"

namespace tenex {
namespace {

struct FormulaEvent {
  SimTime time;
  std::uint64_t order;  ///< order of injection, from 1; 0 is the start of the destination
  Message message;

  bool operator<(const FormulaEvent& other) const {
    if (time != other.time) return time < other.time;
    if (message.destination != other.message.destination) return message.destination < other.message.destination;
    return order < other.order;
  }
};

class FormulaEngine {
 public:
  FormulaEngine(const Topology& topology, const Collective& collective, const Program& program,
                const SimulationOptions& options)
      : topology_(topology),
        program_(program),
        options_(options),
        sizes_(topology, collective, program, options.occupancy),
        shape_(ShapeRoutes::of(topology)),
        next_links_(topology, shape_, options.routes),
        state_(program.begin()),
        awake_(topology.npus(), true),
        held_(options.start_delays.empty() ? 0 : topology.npus()) {
    result_.engine = SimulationEngine::automatic;
    if (options.record_links) result_.links.assign(topology.links(), LinkLoad{});
    if (options.record_npu_finish) result_.npu_finish.assign(topology.npus(), SimTime::zero());
  }

  Result<Simulation> run() {
    if (!options_.start_delays.empty()) start_of_.assign(topology_.npus(), SimTime::zero());
    for (const auto& delay : options_.start_delays) {
      if (delay.time == SimTime::zero()) continue;
      awake_[delay.npu.index()] = false;
      start_of_[delay.npu.index()] = delay.time;
      events_.push({delay.time, 0, {delay.npu, delay.npu, ChunkId()}});
    }
    for (std::uint32_t npu = 0; npu < topology_.npus(); ++npu)
      if (awake_[npu]) start(NpuId(npu), SimTime::zero());
    while (!failure_ && !events_.empty()) {
      const auto event = events_.pop();
      if (event.order == 0)
        wake(event.message.destination, event.time);
      else
        deliver(event.message, event.time);
    }
    if (failure_) return *failure_;
    result_.arrivals = make_arrivals(std::move(delivered_), program_);
    return std::move(result_);
  }

 private:
  void start(NpuId npu, SimTime now) {
    triggered_.clear();
    state_->start(npu, triggered_);
    for (const auto& message : triggered_) inject(message, now);
  }

  void wake(NpuId npu, SimTime now) {
    awake_[npu.index()] = true;
    start(npu, now);
    for (const auto& message : std::exchange(held_[npu.index()], {})) react(message, now);
  }

  void deliver(const Message& message, SimTime now) {
    result_.finish = std::max(result_.finish, now);
    const auto npu = message.destination;
    if (options_.record_npu_finish) result_.npu_finish[npu.index()] = now;
    if (options_.record_arrivals) delivered_.push_back({now, message});
    if (awake_[npu.index()])
      react(message, now);
    else
      held_[npu.index()].push_back(message);
  }

  void react(const Message& message, SimTime now) {
    triggered_.clear();
    state_->arrive(message, triggered_);
    for (const auto& triggered : triggered_) inject(triggered, now);
  }

  void inject(const Message& message, SimTime now) {
    ensure(message.source != message.destination, "a program sends a message from an NPU to itself");
    const auto size = sizes_.of(message);
    const Cut cut(message, sizes_.bytes(size), next_links_);
    SimTime last = now;
    carried_.clear();
    for (std::uint32_t piece = 0; piece < cut.pieces(); ++piece) {
      const auto arrival = carry(message, cut, piece, now);
      if (!arrival) return;
      last = std::max(last, *arrival);
    }
    SimTime slowest;
    for (const auto& [link, bytes] : carried_)
      slowest = std::max(slowest, serialization_time(bytes, topology_.classes()[topology_.class_of(link)]));
    events_.push({last + slowest, ++result_.messages, message});
  }

  /// Takes a piece along its way: counts its bytes in carried_, and returns when its first byte arrives. nullopt where
  /// the way ends.
  std::optional<SimTime> carry(const Message& message, const Cut& cut, std::uint32_t piece, SimTime now) {
    const Bytes size = cut.bytes(piece);
    RouteWay way = cut.way(piece);
    SimTime head = now;
    for (auto at = vertex_of(message.source); at != vertex_of(message.destination);) {
      const auto link = cut.has_ways() ? next_links_(at, message.source, message.destination, way)
                                       : next_links_(at, message.source, message.destination);
      if (!link.exists()) {
        if (!failure_) failure_ = unreachable_error(message, at);
        return std::nullopt;
      }
      if (topology_.is_npu(at)) head = std::max(head, start_of(npu_of(at)));
      head += topology_.alpha(link);
      const auto known = cut.pieces() == 1 ? carried_.end() : std::ranges::find(carried_, link, &Carried::link);
      if (known == carried_.end())
        carried_.push_back({link, size});
      else
        known->bytes += size;
      ++result_.hops;
      if (options_.record_links) load(link, size);
      at = topology_.target(link);
    }
    return head;
  }

  [[nodiscard]] SimTime start_of(NpuId npu) const {
    return start_of_.empty() ? SimTime::zero() : start_of_[npu.index()];
  }

  void load(LinkId link, Bytes size) {
    auto& load = result_.links[link.index()];
    load.bytes += size;
    load.busy += hop_time(topology_.classes()[topology_.class_of(link)], size, options_.occupancy).busy;
  }

  /// What the pieces of one message bring over a link.
  struct Carried {
    LinkId link;
    Bytes bytes;
  };

  const Topology& topology_;
  const Program& program_;
  const SimulationOptions& options_;
  MessageSizes sizes_;
  std::optional<ShapeRoutes> shape_;
  NextLinks next_links_;
  std::unique_ptr<ProgramState> state_;
  std::vector<SimTime> start_of_;           ///< by NPU; empty if no NPU is delayed
  std::vector<bool> awake_;                 ///< by NPU: whether it has started
  std::vector<std::vector<Message>> held_;  ///< by NPU: messages that arrived before its start
  std::vector<Carried> carried_;            ///< by the pieces of the message that is injected
  std::vector<Message> triggered_;
  LeastFirst<FormulaEvent> events_;
  std::optional<Diagnostic> failure_;
  std::vector<DeliveredMessage> delivered_;  ///< only if arrivals are recorded
  Simulation result_;
};

}  // namespace

Result<Simulation> simulate_congestion_unaware(const Topology& topology, const Collective& collective,
                                               const Program& program, const SimulationOptions& options) {
  return FormulaEngine(topology, collective, program, options).run();
}

}  // namespace tenex
