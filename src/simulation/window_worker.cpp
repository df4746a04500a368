#include "simulation/window_worker.hpp"

#include <algorithm>
#include <utility>

#include "simulation/backends.hpp"

namespace tenex {
namespace {
/// How many ports ahead memory is asked for.
constexpr std::size_t far_ahead = 12;
constexpr std::size_t near_ahead = 5;

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
      next_links_(network.topology, network.shape_routes),
      calendar_(network.first_port[static_cast<std::size_t>(thread)],
                network.first_port[static_cast<std::size_t>(thread) + 1] -
                    network.first_port[static_cast<std::size_t>(thread)],
                network.reach),
      first_port_(network.first_port[static_cast<std::size_t>(thread)]),
      ports_(network.first_port[static_cast<std::size_t>(thread) + 1] - first_port_),
      writes_down_(network.options.record_sends || network.options.record_links || utilization.has_value()) {
  plain_ = !network.options.record_npu_finish && !network.options.record_arrivals && network.start_of_npu.empty();
  elides_ = network.elides;
  records_ = network.options.record_sends;
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
  for (auto npu = network_.first_vertex[static_cast<std::size_t>(thread_)]; npu < end; ++npu) start_npu(NpuId(npu));
  return std::min(calendar_.next(), earliest_sent_);
}

void WindowWorker::start_npu(NpuId npu) {
  if (network_.delayed(npu)) {
    // Its start comes over the port before its first in-link.
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
  for (const auto& message : std::exchange(held_[npu.index()], {})) react(message, now);
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

/// The others wrote with this thread's parity: all take their steps together.
void WindowWorker::take_inbox(std::vector<WindowWorker*>& all) {
  for (auto* other : all) {
    if (other == this) continue;
    auto& box = other->outbox_[parity_][static_cast<std::size_t>(thread_)];
    for (const auto& sent : box) push(sent.port, sent.flight);
    box.clear();
  }
}

inline Message WindowWorker::message_of(const Flight& flight) const {
  return {flight.source, flight.destination, flight.chunk, flight.stage, network_.sizes.chunks(flight.size_class)};
}

/// `Cargo` is a Message, or a Flight that goes on; its fields are written once, where they will be read.
template <class Cargo>
inline void WindowWorker::enter_next(VertexId at, const Cargo& cargo, MessageId id, std::uint32_t size_class,
                                     SimTime now) {
  const auto port_id = next_port(at, cargo.destination);
  if (port_id == no_port) {
    if (!failure) failure = unreachable_error({cargo.source, cargo.destination, cargo.chunk, cargo.stage}, at);
    return;
  }
  auto& port = all_ports_[port_id];
  const auto hop = uniform_ ? uniform_hop_ : network_.sizes.hop(port.link_class, size_class);
  const auto start = std::max(now, port.free);
  port.free = start + hop.busy;
  const auto arrival = start + hop.latency;
  ++hops;
  if (elides_ && network_.vertex_of_port[port_id] == vertex_of(cargo.destination)) {
    note_finish(cargo.destination, arrival);
    if (writes_down_) fill(elided_, cargo, id, size_class, arrival), write_down(port_id, elided_, start, hop.busy);
    return;
  }
  const bool mine = port_id - first_port_ < ports_;
  if (mine && port.empty()) calendar_.insert(window_of(arrival), port_id);
  auto& slot = mine ? port.extend() : extend_outbox(port_id, arrival);
  fill(slot, cargo, id, size_class, arrival);
  if (writes_down_) write_down(port_id, slot, start, hop.busy);
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
  enter_next(vertex_of(message.source), message, id, network_.sizes.of(message), now);
}

inline void WindowWorker::react(const Message& message, SimTime now) {
  triggered_.clear();
  state_.arrive(message, triggered_);
  for (const auto& triggered : triggered_) inject(triggered, now);
}

/// Asks for the memory of in-ports to come.
inline void WindowWorker::prefetch(std::span<const std::uint32_t> ports, std::size_t first) {
  const auto* all = all_ports_;
  if (first + far_ahead < ports.size()) all[ports[first + far_ahead]].prefetch();
  if (first + near_ahead < ports.size()) all[ports[first + near_ahead]].prefetch_front();
}

void WindowWorker::handle(std::span<const std::uint32_t> ports) {
  const auto end = SimTime::of((calendar_.window() + 1) << network_.window_bits);
  const auto* vertices = network_.vertex_of_port.data();
  for (std::size_t first = 0; first < ports.size();) {
    const auto vertex = vertices[ports[first]];
    prefetch(ports, first);
    if (first + 1 == ports.size() || vertices[ports[first + 1]] != vertex) {
      drain(vertex, ports[first++], end);
      continue;
    }
    at_vertex_.clear();
    bool ordered = true;
    for (const auto begin = first; first < ports.size() && vertices[ports[first]] == vertex; ++first) {
      if (first > begin) prefetch(ports, first);
      ordered = collect(ports[first], end) && ordered;
    }
    if (!ordered)
      std::sort(at_vertex_.begin(), at_vertex_.end(), [](const auto& a, const auto& b) { return a.before(b); });
    for (const auto& arrival : at_vertex_) settle(vertex, arrival.flight, arrival.port);
  }
}

/// The only port at its vertex in this window: its arrivals are in order.
void WindowWorker::drain(VertexId vertex, std::uint32_t port, SimTime end) {
  auto& queue = all_ports_[port];
  do {
    settle(vertex, queue.front(), port);
    queue.pop();  // only now: the flight stays where it is meanwhile, as nothing enters this port from its own vertex
  } while (!queue.empty() && queue.front().arrival < end);
  if (!queue.empty()) calendar_.insert(window_of(queue.front().arrival), port);
}

/// Takes the port's arrivals before `end`, and registers what it delivers next. True while all of them are in order.
bool WindowWorker::collect(std::uint32_t port, SimTime end) {
  auto& queue = all_ports_[port];
  bool ordered = true;
  do {
    at_vertex_.push_back({queue.front(), port});
    queue.pop();
    if (at_vertex_.size() > 1) ordered = ordered && at_vertex_[at_vertex_.size() - 2].before(at_vertex_.back());
  } while (!queue.empty() && queue.front().arrival < end);
  if (!queue.empty()) calendar_.insert(window_of(queue.front().arrival), port);
  return ordered;
}

void WindowWorker::settle(VertexId vertex, const Flight& flight, std::uint32_t port) {
  const auto now = flight.arrival;
  if (vertex != vertex_of(flight.destination)) return enter_next(vertex, flight, flight.id, flight.size_class, now);
  if (plain_) {
    finish = std::max(finish, now);
    return react(message_of(flight), now);
  }
  if (!network_.link_of_port[port].exists()) return wake(flight.destination, now);
  deliver(flight);
}

/// A delivery of which more is kept than the finish, or that may come before its NPU's start.
void WindowWorker::deliver(const Flight& flight) {
  const auto now = flight.arrival;
  note_finish(flight.destination, now);
  if (network_.options.record_arrivals) arrivals.push_back({now, flight.destination, flight.chunk});
  if (!awake_.empty() && !awake_[flight.destination.index()])
    held_[flight.destination.index()].push_back(message_of(flight));
  else
    react(message_of(flight), now);
}

void WindowWorker::push(std::uint32_t port, const Flight& flight) {
  auto& queue = all_ports_[port];
  if (queue.empty()) calendar_.insert(window_of(flight.arrival), port);
  fill(queue.extend(), flight, flight.id, flight.size_class, flight.arrival);
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
