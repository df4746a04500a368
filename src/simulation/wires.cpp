// The wires engine: messages on paths over cut-through switches, which share physical links.
//
// A message waits in the queue of its path's first physical link. At the head of the queue, and with that link free, it
// becomes ready: it reserves all links of the path, from the least time t at which each link is free at t + the alphas
// before it, for beta*m (`transfer`: and the link's own alpha). Messages reserve in the order in which they become
// ready, those of one instant in the order of their first links, after all arrivals of that instant. Nothing is stored
// on the way, so a message that waits for a link further on keeps its first link from others. No message goes through a
// gap that an earlier one left.
//
// Paths end at holders, so a link begins all its paths or none. Hence each link has at most one message that is ready
// or becomes ready next, and a path's last link delivers in the order of reservations. Time is cut into windows of at
// most the least beta*m. What is reserved in a window neither arrives in it nor frees a first link in it. So the engine
// takes all arrivals of a window first, vertex by vertex, then all its reservations, in their order. A calendar holds
// the links that have either.
//
// Encoding: the calendar's ports are those over which vertices are reached (wire_ports.hpp), then all physical links.
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "simulation/backends.hpp"
#include "simulation/message_sizes.hpp"
#include "simulation/next_links.hpp"
#include "simulation/pieces.hpp"
#include "simulation/port_ranks.hpp"
#include "simulation/record.hpp"
#include "simulation/window_calendar.hpp"
#include "simulation/wire_messages.hpp"
#include "simulation/wire_ports.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

/// The bits of the greatest window of at most the least beta*m of any message.
int window_bits_of(const Topology& topology, const MessageSizes& sizes) {
  auto least = SimTime::max();
  for (std::size_t each = 0; each < topology.classes().size(); ++each)
    for (std::uint32_t size = 0; size < sizes.size(); ++size)
      least =
          std::min(least, sizes.hop(static_cast<std::uint16_t>(each), size).latency - topology.classes()[each].alpha);
  ensure(least > SimTime::zero(), "a message takes no time");
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(least.count()))) - 1;
}

class WiresEngine {
 public:
  WiresEngine(const Topology& topology, const Collective& collective, const Program& program,
              const SimulationOptions& options, std::optional<UtilizationBins> bins)
      : topology_(topology),
        wires_(*topology.wires()),
        collective_(collective),
        program_(program),
        options_(options),
        elides_(program.open_loop() && !options.record_sends && !options.record_arrivals && !bins),
        shape_(ShapeRoutes::of(topology)),
        cuts_(cuts_messages(options.routes, shape_.has_value())),
        sizes_(topology, collective, program, options.occupancy, cuts_),
        next_links_(topology, shape_, options.routes),
        state_(program.begin()),
        ports_(topology, options.start_delays),
        coming_(ports_.vertex_of.size()),
        links_(wires_.network().links()),
        window_bits_(window_bits_of(topology, sizes_)),
        calendar_(0, coming_.size() + links_.size(), 4 * (sizes_.greatest_latency().count() >> window_bits_) + 2),
        held_(options.start_delays.empty() ? 0 : topology.npus()),
        pieces_(cuts_ ? topology.npus() : 0),
        utilization_(std::move(bins)) {
    result_.engine = SimulationEngine::wires;
    if (options.occupancy == Occupancy::transfer)
      for (std::size_t l = 0; l < links_.size(); ++l) links_[l].alpha = wires_.network().alpha(LinkId::at(l));
    if (options.record_npu_finish) result_.npu_finish.assign(topology.npus(), SimTime::zero());
    if (options.record_links) result_.links.assign(topology.links(), LinkLoad{});
  }

  Result<Simulation> run() {
    start_all();
    for (auto window = calendar_.next(); window != no_window && !failure_; window = calendar_.next()) {
      calendar_.take(window, taken_);
      const auto reserving = std::lower_bound(taken_.begin(), taken_.end(), first_link_port());
      for (auto port = reserving; port != taken_.end(); ++port) {
        const auto link = *port - first_link_port();
        ready_.push_back({links_[link].ready, link});
      }
      take_arrivals({taken_.begin(), reserving}, SimTime::of((window + 1) << window_bits_));
      reserve_all();
    }
    if (failure_) return *failure_;
    return finish();
  }

 private:
  static constexpr std::int64_t no_window = INT64_MAX;
  static constexpr std::size_t far_ahead = 16;
  static constexpr std::size_t near_ahead = 8;

  /// One cache line.
  struct PhysicalLink {
    SimTime free;
    SimTime alpha;      ///< for which it stays busy after beta*m
    SimTime ready;      ///< when the first of `waiting` becomes ready
    WireQueue waiting;  ///< messages whose paths begin here
  };
  struct Ready {
    SimTime time;
    std::uint32_t link = 0;
    bool operator<(const Ready& other) const { return time != other.time ? time < other.time : link < other.link; }
  };

  [[nodiscard]] std::uint32_t first_link_port() const { return static_cast<std::uint32_t>(coming_.size()); }
  [[nodiscard]] std::int64_t window_of(SimTime time) const { return time.count() >> window_bits_; }
  [[nodiscard]] Message message_of(const WireMessage& message) const {
    return {message.source, message.destination, message.chunk, message.stage(), sizes_.chunks(message.size_class())};
  }
  [[nodiscard]] bool sleeps(VertexId vertex) const {
    return !ports_.start_of.empty() && topology_.is_npu(vertex) && asleep_[vertex.index()];
  }

  void start_all() {
    if (!ports_.start_of.empty()) asleep_.assign(topology_.npus(), false);
    for (const auto& delay : options_.start_delays) {
      if (delay.time == SimTime::zero()) continue;
      asleep_[delay.npu.index()] = true;
      WireMessage start;
      start.time = delay.time;
      start.destination = delay.npu;
      push_arrival(ports_.start_of[delay.npu.index()], start);
    }
    for (std::uint32_t npu = 0; npu < topology_.npus(); ++npu)
      if (!sleeps(VertexId(npu))) start(NpuId(npu), SimTime::zero());
  }

  void start(NpuId npu, SimTime now) {
    triggered_.clear();
    state_->start(npu, triggered_);
    inject_all(now);
  }

  void wake(NpuId npu, SimTime now) {
    asleep_[npu.index()] = false;
    start(npu, now);
    for (const auto& message : std::exchange(held_[npu.index()], {})) go_on(vertex_of(npu), message, now);
  }

  /// A message at a vertex that has started: it queues for its next wire, or triggers messages.
  void go_on(VertexId at, const WireMessage& message, SimTime now) {
    if (at != vertex_of(message.destination)) return enqueue(at, message, now);
    triggered_.clear();
    state_->arrive(message_of(message), triggered_);
    inject_all(now);
  }

  void inject_all(SimTime now) {
    for (const auto& message : triggered_) {
      ensure(message.source != message.destination, "a program sends a message from an NPU to itself");
      WireMessage entering;
      entering.id = MessageId(static_cast<std::uint32_t>(result_.messages++));
      entering.source = message.source;
      entering.destination = message.destination;
      entering.chunk = message.chunk;
      entering.set(message.stage, sizes_.of(message));
      if (options_.record_sends) injections_.push_back({now, message});
      if (cuts_)
        enqueue_pieces(message, entering, now);
      else
        enqueue(vertex_of(message.source), entering, now);
    }
  }

  void enqueue_pieces(const Message& message, WireMessage entering, SimTime now) {
    const auto whole = entering.size_class();
    const Cut cut(message, sizes_.bytes(whole), next_links_);
    const auto mark = pieces_.mark(message.source);
    for (std::uint32_t piece = 0; piece < cut.pieces(); ++piece) {
      entering.set(message.stage, sizes_.of_piece(whole, cut.pieces(), piece));
      entering.id = PieceId(cut.way(piece), mark).as_id();
      enqueue(vertex_of(message.source), entering, now);
    }
  }

  void enqueue(VertexId at, WireMessage message, SimTime now) {
    if (cuts_) {
      const PieceId piece(message.id);
      auto way = piece.way();
      message.wire = next_links_(at, message.source, message.destination, way);
      message.id = PieceId(way, piece.mark()).as_id();
    } else {
      message.wire = next_links_(at, message.source, message.destination);
    }
    if (!message.wire.exists()) {
      if (!failure_) failure_ = unreachable_error(message_of(message), at);
      return;
    }
    const auto first = wires_.spans(message.wire).front().link.value();
    auto& link = links_[first];
    const bool heads = link.waiting.empty();
    link.waiting.push(message);
    if (heads) announce(first, std::max(now, link.free));
  }

  /// The head of a link's queue becomes ready at `time`.
  void announce(std::uint32_t link, SimTime time) {
    links_[link].ready = time;
    const auto window = window_of(time);
    if (window == calendar_.window())
      ready_.push_back({time, link});
    else
      calendar_.insert(window, first_link_port() + link);
  }

  void push_arrival(std::uint32_t port, const WireMessage& message) {
    if (coming_[port].empty()) calendar_.insert(window_of(message.time), port);
    coming_[port].push(message);
  }

  /// Takes the arrivals before `end`, vertex by vertex, each vertex's in their order.
  void take_arrivals(std::span<const std::uint32_t> ports, SimTime end) {
    for (std::size_t next = 0; next < ports.size();) {
      const auto vertex = ports_.vertex_of[ports[next]];
      arrived_.clear();
      for (; next < ports.size() && ports_.vertex_of[ports[next]] == vertex; ++next) collect(ports[next], end);
      const auto before = [this](const WireMessage& a, const WireMessage& b) { return comes_before(a, b); };
      if (arrived_.size() > 1) std::sort(arrived_.begin(), arrived_.end(), before);
      for (const auto& message : arrived_) arrive(vertex, message);
    }
  }

  /// The order at one vertex: by time, an NPU's own start first, then by port.
  [[nodiscard]] bool comes_before(const WireMessage& a, const WireMessage& b) const {
    if (a.time != b.time) return a.time < b.time;
    if (!a.wire.exists() || !b.wire.exists()) return !a.wire.exists() && b.wire.exists();
    return std::pair(port_order(topology_, a.wire), a.wire) < std::pair(port_order(topology_, b.wire), b.wire);
  }

  void collect(std::uint32_t port, SimTime end) {
    auto& queue = coming_[port];
    do {
      arrived_.push_back(queue.front());
      queue.pop();
    } while (!queue.empty() && queue.front().time < end);
    if (!queue.empty()) calendar_.insert(window_of(queue.front().time), port);
  }

  void arrive(VertexId vertex, const WireMessage& message) {
    const auto now = message.time;
    if (!message.wire.exists()) return wake(message.destination, now);
    if (vertex == vertex_of(message.destination)) {
      note_finish(message.destination, now);
      if (cuts_ && !pieces_.completes(message_of(message), message.id, sizes_.pieces(message.size_class()))) return;
      if (options_.record_arrivals) delivered_.push_back({now, message_of(message)});
    }
    if (sleeps(vertex))
      held_[vertex.index()].push_back(message);
    else
      go_on(vertex, message, now);
  }

  void reserve_all() {
    if (!std::is_sorted(ready_.begin(), ready_.end())) std::sort(ready_.begin(), ready_.end());
    for (std::size_t i = 0; i < ready_.size(); ++i) {
      if (i + far_ahead < ready_.size()) links_[ready_[i + far_ahead].link].waiting.prefetch();
      if (i + near_ahead < ready_.size())
        __builtin_prefetch(wires_.spans(links_[ready_[i + near_ahead].link].waiting.front().wire).data());
      reserve(ready_[i]);
    }
    ready_.clear();
  }

  void reserve(const Ready& ready) {
    auto& first = links_[ready.link];
    auto message = first.waiting.front();
    first.waiting.pop();
    const auto link_class = topology_.class_of(message.wire);
    const auto& hop = sizes_.hop(link_class, message.size_class());
    const auto serialization = hop.latency - topology_.classes()[link_class].alpha;
    const auto spans = wires_.spans(message.wire);
    auto start = ready.time;
    for (const auto& span : spans) start = std::max(start, links_[span.link.index()].free - span.offset);
    for (const auto& span : spans) {
      auto& link = links_[span.link.index()];
      link.free = start + span.offset + serialization + link.alpha;
    }
    if (!first.waiting.empty()) announce(ready.link, first.free);
    write_down(message, start, hop.busy);
    message.time = start + hop.latency;
    if (elides_ && topology_.target(message.wire) == vertex_of(message.destination))
      return note_finish(message.destination, message.time);
    push_arrival(ports_.last_of[spans.back().link.index()], message);
  }

  void note_finish(NpuId npu, SimTime time) {
    result_.finish = std::max(result_.finish, time);
    if (!result_.npu_finish.empty()) result_.npu_finish[npu.index()] = std::max(result_.npu_finish[npu.index()], time);
  }

  void write_down(const WireMessage& message, SimTime start, SimTime busy) {
    ++result_.hops;
    if (options_.record_sends)
      sends_.push_back({start, message.wire, message.chunk, message.stage(), message.id, message.destination});
    if (!result_.links.empty()) {
      auto& load = result_.links[message.wire.index()];
      load.bytes += sizes_.bytes(message.size_class());
      load.busy += busy;
    }
    if (utilization_) utilization_->add(start, busy);
  }

  Result<Simulation> finish() {
    if (utilization_) result_.utilization = utilization_->result();
    if (options_.record_arrivals) result_.arrivals = make_arrivals(std::move(delivered_), program_);
    if (options_.record_sends) {
      auto sends = make_record(std::move(sends_), injections_, collective_, program_);
      if (!sends) return sends.errors();
      result_.sends = *std::move(sends);
    }
    return std::move(result_);
  }

  const Topology& topology_;
  const Wires& wires_;
  const Collective& collective_;
  const Program& program_;
  const SimulationOptions& options_;
  bool elides_;  ///< deliveries trigger nothing and are not recorded, so they are known when the last hop starts
  std::optional<ShapeRoutes> shape_;
  bool cuts_;  ///< messages may be cut into pieces
  MessageSizes sizes_;
  NextLinks next_links_;
  std::unique_ptr<ProgramState> state_;
  WirePorts ports_;
  std::vector<WireQueue> coming_;    ///< by port: messages on the way
  std::vector<PhysicalLink> links_;  ///< by physical link
  int window_bits_;                  ///< a window is 2^this picoseconds
  WindowCalendar calendar_;
  std::vector<bool> asleep_;                    ///< by NPU; empty if none starts late
  std::vector<std::vector<WireMessage>> held_;  ///< by NPU: messages that arrived before its start
  PieceCounter pieces_;
  std::vector<Message> triggered_;
  std::vector<std::uint32_t> taken_;
  std::vector<WireMessage> arrived_;  ///< at one vertex, in this window
  std::vector<Ready> ready_;          ///< in this window
  std::optional<Diagnostic> failure_;
  std::vector<DeliveredMessage> delivered_;
  std::vector<Send> sends_;
  std::vector<Injection> injections_;
  std::optional<UtilizationBins> utilization_;
  Simulation result_;
};

}  // namespace

std::optional<Result<Simulation>> simulate_over_wires(const Topology& topology, const Collective& collective,
                                                      const Program& program, const SimulationOptions& options) {
  if (topology.wires() == nullptr) return std::nullopt;
  if (topology.links() == 0 && program.messages() == 0) return Simulation{};
  if (options.utilization_bins == 0) return WiresEngine(topology, collective, program, options, std::nullopt).run();
  // The width of the bins is only known from the finish.
  auto first = options;
  first.utilization_bins = 0;
  first.record_sends = first.record_arrivals = first.record_links = first.record_npu_finish = false;
  const auto rehearsal = WiresEngine(topology, collective, program, first, std::nullopt).run();
  if (!rehearsal) return rehearsal.errors();
  return WiresEngine(topology, collective, program, options,
                     UtilizationBins(rehearsal->finish, options.utilization_bins))
      .run();
}

}  // namespace tenex
