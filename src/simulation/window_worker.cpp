#include "simulation/window_worker.hpp"

#include <algorithm>
#include <utility>

#include "simulation/backends.hpp"

namespace tenex {
namespace {
/// How many ports ahead memory is prefetched.
constexpr std::size_t far_ahead = 20;
constexpr std::size_t near_ahead = 10;
/// How many arrivals are taken before the messages that they trigger enter links.
constexpr std::size_t arrivals_at_once = 16;

template <class Cargo>
inline void fill(Flight& slot, const Cargo& cargo, MessageId id, std::uint32_t size_class, SimTime arrival) {
  slot.arrival = arrival;
  slot.id = id;
  slot.source = cargo.source;
  slot.destination = cargo.destination;
  slot.chunk = cargo.chunk;
  slot.size_class = size_class;
  slot.stage = cargo.stage;
}

}  // namespace

WindowWorker::WindowWorker(WindowNetwork& network, ProgramState& state, int thread, std::optional<UtilizationBins> bins)
    : utilization(std::move(bins)),
      network_(network),
      state_(state),
      thread_(thread),
      next_links_(network.topology, network.shape_routes, network.options.routes),
      calendar_(network.first_port[static_cast<std::size_t>(thread)],
                network.first_port[static_cast<std::size_t>(thread) + 1] -
                    network.first_port[static_cast<std::size_t>(thread)],
                network.reach),
      first_port_(network.first_port[static_cast<std::size_t>(thread)]),
      ports_(network.first_port[static_cast<std::size_t>(thread) + 1] - first_port_),
      writes_down_(network.options.record_sends || network.options.record_links || utilization.has_value()),
      pieces_(network.cuts ? network.topology.npus() : 0) {
  expectant_ = dynamic_cast<const ExpectantState*>(&state);
  plain_ = !network.options.record_arrivals && network.start_of_npu.empty();
  elides_ = network.elides;
  records_ = network.options.record_sends;
  cuts_ = network.cuts;
  feeds_ = !network.entered.empty();
  early_ = network.early.has_value();
  uniform_ = network.sizes.uniform();
  if (uniform_) uniform_hop_ = network.sizes.hop(0, 0);
  window_bits_ = network.window_bits;
  all_ports_ = network.ports.data();
  if (network.shape_ports) shape_ports_ = &*network.shape_ports;
  for (auto& boxes : outbox_) boxes.resize(static_cast<std::size_t>(network.threads()));
  if (network.options.record_npu_finish) npu_finish.assign(network.topology.npus(), SimTime::zero());
  if (network.options.record_links) links.assign(network.topology.links(), LinkLoad{});
  if (!network.start_of_npu.empty()) {
    held_.resize(network.topology.npus());
    awake_.assign(network.topology.npus(), false);
  }
}

std::int64_t WindowWorker::begin() {
  const auto end = std::min<std::uint32_t>(network_.first_vertex[static_cast<std::size_t>(thread_) + 1],
                                           static_cast<std::uint32_t>(network_.topology.npus()));
  if (feeds_) {
    for (auto port = first_port_; port < first_port_ + ports_; ++port) {
      feed(port);
      if (!all_ports_[port].empty()) calendar_.insert(window_of(all_ports_[port].front().arrival), port);
    }
    return calendar_.next();
  }
  for (auto npu = network_.first_vertex[static_cast<std::size_t>(thread_)]; npu < end; ++npu) start_npu(NpuId(npu));
  enter_announced();
  return std::min(calendar_.next(), earliest_sent_);
}

void WindowWorker::start_npu(NpuId npu) {
  if (network_.delayed(npu)) {
    // Its start arrives over the port before its first in-link.
    const auto in = network_.topology.in_links(vertex_of(npu));
    auto port = network_.ports.size() - 1;
    for (const auto link : in) port = std::min<std::size_t>(port, network_.port_of[link.index()] - 1U);
    while (network_.link_of_port[port].exists() || network_.vertex_of_port[port] != vertex_of(npu)) --port;
    Flight start;
    start.arrival = network_.start_of_npu[npu.index()];
    start.destination = npu;
    return push(static_cast<std::uint32_t>(port), start);
  }
  if (!awake_.empty()) awake_[npu.index()] = true;
  triggered_.clear();
  state_.start(npu, triggered_);
  for (const auto& message : triggered_) inject(message, SimTime::zero());
}

void WindowWorker::wake(NpuId npu, SimTime now) {
  awake_[npu.index()] = true;
  triggered_.clear();
  state_.start(npu, triggered_);
  for (const auto& message : triggered_) inject(message, now);
  for (const auto& flight : std::exchange(held_[npu.index()], {}))
    if (flight.destination == npu)
      react(message_of(flight), now);
    else
      announce(vertex_of(npu), flight, flight.id, flight.size_class, now);
}

std::int64_t WindowWorker::step(std::vector<WindowWorker*>& all, std::int64_t window) {
  take_inbox(all);
  earliest_sent_ = WindowBarrier::no_window;
  parity_ ^= 1;
  if (calendar_.next() == window) {
    calendar_.take(window, taken_);
    handle(taken_);
  }
  return std::min(calendar_.next(), earliest_sent_);
}

/// The others wrote with this thread's parity, because all threads take their steps together.
void WindowWorker::take_inbox(std::vector<WindowWorker*>& all) {
  for (auto* other : all) {
    if (other == this) continue;
    auto& box = other->outbox_[parity_][static_cast<std::size_t>(thread_)];
    for (std::size_t i = 0; i < box.size(); ++i) {
      if (i + far_ahead < box.size()) all_ports_[box[i + far_ahead].port].prefetch();
      if (i + near_ahead < box.size()) all_ports_[box[i + near_ahead].port].prefetch_back();
      push(box[i].port, box[i].flight);
    }
    box.clear();
  }
}

inline Message WindowWorker::message_of(const Flight& flight) const {
  return {flight.source, flight.destination, flight.chunk, flight.stage, network_.sizes.chunks(flight.size_class)};
}

WindowWorker::Step WindowWorker::step_on_way(VertexId at, NpuId source, NpuId destination, MessageId way) {
  const PieceId piece(way);
  auto rest = piece.way();
  const auto link = next_links_(at, source, destination, rest);
  return {port_of(link), PieceId(rest, piece.mark()).as_id()};
}

/// `Cargo` is a Message, or a Flight that is forwarded.
template <class Cargo>
inline void WindowWorker::announce(VertexId at, const Cargo& cargo, MessageId id, std::uint32_t size_class,
                                   SimTime now) {
  const auto [port, rest] = cuts_ ? step_on_way(at, cargo.source, cargo.destination, id)
                                  : Step{next_port(at, cargo.source, cargo.destination), id};
  if (port == no_port) {
    if (!failure) failure = unreachable_error({cargo.source, cargo.destination, cargo.chunk, cargo.stage}, at);
    return;
  }
  all_ports_[port].prefetch();
  auto& planned = announced_[announced_count_++];
  planned.port = port;
  fill(planned.flight, cargo, rest, size_class, now);
  if (announced_count_ == announcements) enter_announced();
}

/// Enters the announced messages in the order of announcement. Nothing has read the ports since then: messages that
/// enter them arrive after the window, or in the next round of a window that takes several (window.cpp).
void WindowWorker::enter_announced() {
  const std::span<const Outgoing> planned(announced_.data(), announced_count_);
  for (std::size_t i = 0; i < std::min(near_ahead, planned.size()); ++i) all_ports_[planned[i].port].prefetch_back();
  for (std::size_t i = 0; i < planned.size(); ++i) {
    if (i + near_ahead < planned.size()) all_ports_[planned[i + near_ahead].port].prefetch_back();
    enter(planned[i]);
  }
  announced_count_ = 0;
}

/// How long before its whole arrival over a port a message may leave the port's vertex.
SimTime WindowWorker::lead(std::uint32_t port, const Flight& cargo) {
  const VertexId at = all_ports_[port].vertex;
  if (!passes_on_early(network_.topology, at)) return SimTime::zero();
  const auto next = cuts_ ? step_on_way(at, cargo.source, cargo.destination, cargo.id).port
                          : next_port(at, cargo.source, cargo.destination);
  if (next == no_port) return SimTime::zero();  // reported when it gets there
  return network_.early->lead(network_.link_of_port[port], network_.link_of_port[next], cargo.size_class);
}

/// Gives a link to a message, or makes it wait; returns when it may go on from the link's end. Its `arrival` is the
/// time from which on it may take the link.
inline SimTime WindowWorker::take_link(std::uint32_t number, const Flight& cargo) {
  auto& port = all_ports_[number];
  const auto hop = uniform_ ? uniform_hop_ : network_.sizes.hop(port.link_class, cargo.size_class);
  const auto start = std::max(cargo.arrival, port.free);
  port.free = start + hop.busy;
  ++hops;
  if (writes_down_) write_down(number, cargo, start, hop.busy);
  return start + hop.latency - (early_ ? lead(number, cargo) : SimTime::zero());
}

/// Lets the next message of an open loop enter the only link of its NPU, where no other waits on it. All its messages
/// have been there since time zero, so they take the link one after another in any case. The thread of the port has
/// this NPU's messages; nobody else writes this port.
void WindowWorker::feed(std::uint32_t port) {
  if (!network_.is_fed(port) || !all_ports_[port].empty()) return;
  const auto npu = npu_of(network_.topology.source(network_.link_of_port[port]));
  auto& entered = network_.entered[npu.index()];
  if (entered == network_.program.messages_from(npu)) return;
  const auto message = network_.program.message_of(npu, entered++);
  ensure(message.source != message.destination, "a program sends a message from an NPU to itself");
  ++messages;
  const auto whole = network_.sizes.of(message);
  if (!cuts_) return extend(port, message, MessageId(), whole);
  const Cut cut(message, network_.sizes.bytes(whole), next_links_);
  const auto mark = pieces_.mark(npu);
  for (std::uint32_t piece = 0; piece < cut.pieces(); ++piece)
    extend(port, message, PieceId(cut.way(piece), mark).as_id(), network_.sizes.of_piece(whole, cut.pieces(), piece));
}

/// Lets a message, or a piece, that has been at the only link of its NPU since time zero enter it.
void WindowWorker::extend(std::uint32_t port, const Message& message, MessageId id, std::uint32_t size_class) {
  const auto at = vertex_of(message.source);
  const auto [next, rest] = cuts_ ? step_on_way(at, message.source, message.destination, id)
                                  : Step{next_port(at, message.source, message.destination), id};
  if (next == no_port) {
    if (!failure) failure = unreachable_error(message, at);
    return;
  }
  Flight flight;
  fill(flight, message, rest, size_class, SimTime::zero());
  const auto arrival = take_link(port, flight);
  fill(all_ports_[port].extend(rings_), flight, rest, size_class, arrival);
}

inline void WindowWorker::enter(const Outgoing& planned) {
  const auto& cargo = planned.flight;
  auto& port = all_ports_[planned.port];
  const auto arrival = take_link(planned.port, cargo);
  if (elides_ && port.vertex == vertex_of(cargo.destination)) return note_finish(cargo.destination, arrival);
  const bool mine = planned.port - first_port_ < ports_;
  if (mine && port.empty()) calendar_.insert(window_of(arrival), planned.port);
  auto& slot = mine ? port.extend(rings_) : extend_outbox(planned.port, arrival);
  fill(slot, cargo, cargo.id, cargo.size_class, arrival);
}

Flight& WindowWorker::extend_outbox(std::uint32_t port, SimTime arrival) {
  earliest_sent_ = std::min(earliest_sent_, window_of(arrival));
  const auto owner = std::upper_bound(network_.first_port.begin(), network_.first_port.end(), port) - 1;
  auto& box = outbox_[parity_][static_cast<std::size_t>(owner - network_.first_port.begin())];
  box.push_back({{}, port});
  return box.back().flight;
}

inline void WindowWorker::inject(const Message& message, SimTime now) {
  ensure(message.source != message.destination, "a program sends a message from an NPU to itself");
  const MessageId id(static_cast<std::uint32_t>(messages++));
  if (records_) injections.push_back({now, message});
  if (cuts_) return inject_pieces(message, now);
  announce(vertex_of(message.source), message, id, network_.sizes.of(message), now);
}

/// The pieces enter one after another.
void WindowWorker::inject_pieces(const Message& message, SimTime now) {
  const auto whole = network_.sizes.of(message);
  const Cut cut(message, network_.sizes.bytes(whole), next_links_);
  const auto mark = pieces_.mark(message.source);
  for (std::uint32_t piece = 0; piece < cut.pieces(); ++piece)
    announce(vertex_of(message.source), message, PieceId(cut.way(piece), mark).as_id(),
             network_.sizes.of_piece(whole, cut.pieces(), piece), now);
}

inline void WindowWorker::react(const Message& message, SimTime now) {
  triggered_.clear();
  state_.arrive(message, triggered_);
  for (const auto& triggered : triggered_) inject(triggered, now);
}

/// Handles some vertices at a time: takes their arrivals, in order; lets these trigger messages; and last enters the
/// messages into the next links, whose memory is prefetched meanwhile.
void WindowWorker::handle(std::span<const std::uint32_t> ports) {
  const auto end = SimTime::of((calendar_.window() + 1) << window_bits_);
  for (std::size_t i = 0; i < std::min(far_ahead, ports.size()); ++i) all_ports_[ports[i]].prefetch();
  for (std::size_t i = 0; i < std::min(near_ahead, ports.size()); ++i) all_ports_[ports[i]].prefetch_front();
  for (std::size_t next = 0; next < ports.size();) {
    const auto vertex = all_ports_[ports[next]].vertex;
    const auto first = arrived_.size();
    do {
      if (next + far_ahead < ports.size()) all_ports_[ports[next + far_ahead]].prefetch();
      if (next + near_ahead < ports.size()) all_ports_[ports[next + near_ahead]].prefetch_front();
      collect(vertex, ports[next++], end);
    } while (next < ports.size() && all_ports_[ports[next]].vertex == vertex);
    const auto begin = arrived_.begin() + static_cast<std::ptrdiff_t>(first);
    const auto before = [](const auto& a, const auto& b) { return a.before(b); };
    if (arrived_.size() - first > 1 && !std::is_sorted(begin, arrived_.end(), before))
      std::sort(begin, arrived_.end(), before);
    if (arrived_.size() >= arrivals_at_once) settle_all();
  }
  settle_all();
}

/// Prefetches what settling the flight will read. An NPU's own start, which arrives over a port without a link, is no
/// message: the NPU may be a bystander, for which the program has no state.
inline void WindowWorker::foresee(VertexId vertex, const Flight& flight, std::uint32_t port) const {
  if (vertex != vertex_of(flight.destination)) {
    if (shape_ports_ != nullptr) shape_ports_->prefetch(vertex, flight.destination);
  } else if (expectant_ != nullptr && (plain_ || network_.link_of_port[port].exists())) {
    expectant_->expect(message_of(flight));
  }
}

/// Takes the port's arrivals before `end`, and registers its next one.
inline void WindowWorker::collect(VertexId vertex, std::uint32_t port, SimTime end) {
  auto& queue = all_ports_[port];
  do {
    arrived_.push_back({queue.front(), port, vertex});
    foresee(vertex, arrived_.back().flight, port);
    queue.pop();
    if (!queue.empty()) continue;
    if (!feeds_) return;
    feed(port);
    if (queue.empty()) return;
  } while (queue.front().arrival < end);
  calendar_.insert(window_of(queue.front().arrival), port);
}

inline void WindowWorker::settle(VertexId vertex, const Flight& flight, std::uint32_t port) {
  const auto now = flight.arrival;
  if (vertex != vertex_of(flight.destination)) {
    if (sleeps(vertex)) return held_[vertex.index()].push_back(flight);
    return announce(vertex, flight, flight.id, flight.size_class, now);
  }
  if (plain_) {
    note_finish(flight.destination, now);
    if (cuts_ && !completes(flight)) return;
    return react(message_of(flight), now);
  }
  if (!network_.link_of_port[port].exists()) return wake(flight.destination, now);
  deliver(flight);
}

void WindowWorker::settle_all() {
  for (const auto& [flight, port, vertex] : arrived_) settle(vertex, flight, port);
  arrived_.clear();
  enter_announced();
}

/// Whether the message of an arriving piece is whole now.
bool WindowWorker::completes(const Flight& flight) {
  return pieces_.completes(message_of(flight), flight.id, network_.sizes.pieces(flight.size_class));
}

/// A delivery of which more than the finish is recorded, or that may come before its NPU's start.
void WindowWorker::deliver(const Flight& flight) {
  const auto now = flight.arrival;
  note_finish(flight.destination, now);
  if (cuts_ && !completes(flight)) return;
  if (network_.options.record_arrivals) delivered.push_back({now, message_of(flight)});
  if (sleeps(vertex_of(flight.destination)))
    held_[flight.destination.index()].push_back(flight);
  else
    react(message_of(flight), now);
}

void WindowWorker::push(std::uint32_t port, const Flight& flight) {
  auto& queue = all_ports_[port];
  if (queue.empty()) calendar_.insert(window_of(flight.arrival), port);
  fill(queue.extend(rings_), flight, flight.id, flight.size_class, flight.arrival);
}

void WindowWorker::note_finish(NpuId npu, SimTime time) {
  finish = std::max(finish, time);
  if (!npu_finish.empty()) npu_finish[npu.index()] = std::max(npu_finish[npu.index()], time);
}

void WindowWorker::write_down(std::uint32_t port, const Flight& flight, SimTime start, SimTime busy) {
  const auto link = network_.link_of_port[port];
  if (records_) sends.push_back({start, link, flight.chunk, flight.stage, flight.id, flight.destination});
  if (!links.empty()) {
    links[link.index()].bytes += network_.sizes.bytes(flight.size_class);
    links[link.index()].busy += busy;
  }
  if (utilization) utilization->add(start, busy);
}

}  // namespace tenex
