// The reference simulator: every message carries its whole route, and one priority queue orders all arrivals by (time,
// vertex, in-port rank at the vertex). An NPU's own delayed start is ordered as if it came over a port before all
// others. Two messages never arrive over one link at the same time, so this order is total.
//
// Over plain links a message takes each link when it is free for it, in the order of arrival. Over cut-through switches
// a message waits in the queue of the first physical link that it takes. When it is at the head and that link is free,
// it becomes ready: it reserves all links of its path for the earliest time at which each is free when the message
// reaches it. Messages reserve in the order in which they become ready, those of one instant in the order of their
// first links, after all arrivals of that instant. No message goes through a gap that an earlier one left.
//
// At a switch with virtual cut-through a message arrives as soon as it may take its next link: when neither its first
// nor its last byte would leave before it comes. That may be the instant at which it took the link before. What follows
// at one instant comes in a round of its own: first all arrivals that were known before, then those that follow from
// them, and so on. So a message says when it will take a link as soon as it comes there.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <queue>
#include <set>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "tenex/simulation/reference.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

/// A message, or a piece of one.
struct RoutedMessage {
  Message message;
  Bytes size;
  std::size_t first;  ///< index of the message's first piece, which counts those that have not arrived
  std::uint32_t missing;
  SimTime injected;
  std::vector<LinkId> route;
  std::size_t hop = 0;  ///< index of the next hop in its route
};

constexpr std::int64_t start_port = -1;
constexpr std::size_t no_message = SIZE_MAX;

struct Event {
  SimTime time;
  VertexId vertex;      ///< none, which comes after all others: the message is ready to reserve its path
  std::int64_t port;    ///< rank of the in-port; of a ready message its first physical link
  std::size_t message;  ///< index of the message; none: the vertex starts
  int round = 0;        ///< of its instant
  [[nodiscard]] auto key() const { return std::tuple(time, round, vertex, port); }
  bool operator>(const Event& other) const { return key() > other.key(); }
};

/// A send of the message with this index.
struct Hop {
  SimTime start;
  SimTime busy;
  LinkId link;
  std::size_t message;
};

class ReferenceSimulator {
 public:
  ReferenceSimulator(const Topology& topology, const Collective& collective, const Program& program,
                     const SimulationOptions& options)
      : topology_(topology),
        collective_(collective),
        program_(program),
        options_(options),
        router_(topology, options.routes),
        state_(program.begin()) {}

  Result<Simulation> run() {
    for (const auto& delay : options_.start_delays)
      if (delay.time > SimTime::zero()) {
        asleep_.insert(delay.npu);
        events_.push({delay.time, vertex_of(delay.npu), start_port, no_message});
      }
    for (std::uint32_t npu = 0; npu < topology_.npus(); ++npu)
      if (!asleep_.contains(NpuId(npu))) start(NpuId(npu), SimTime::zero());
    while (unreachable_.empty() && !events_.empty()) {
      const auto event = events_.top();
      events_.pop();
      now_ = event.time;
      round_ = event.round;
      if (!event.vertex.exists()) {
        take_path(event.message, event.time);
        continue;
      }
      if (event.message == no_message) {
        wake(npu_of(event.vertex), event.time);
        continue;
      }
      auto& piece = messages_[event.message];
      if (++piece.hop == piece.route.size()) {
        result_.finish = event.time;
        npu_finish_[piece.message.destination] = event.time;
        if (--messages_[piece.first].missing > 0) continue;
        note_delivery(piece.message, event.time);
      }
      if (topology_.is_npu(event.vertex) && asleep_.contains(npu_of(event.vertex)))
        held_[npu_of(event.vertex)].push_back(event.message);
      else
        go_on(event.message, event.time);
    }
    if (!unreachable_.empty()) return unreachable_;
    return finish();
  }

 private:
  void start(NpuId npu, SimTime now) {
    std::vector<Message> first;
    state_->start(npu, first);
    inject(first, now);
  }

  void wake(NpuId npu, SimTime now) {
    asleep_.erase(npu);
    start(npu, now);
    for (const auto index : held_[npu]) go_on(index, now);
  }

  /// A message at a vertex that has started: it takes its next link, or triggers messages.
  void go_on(std::size_t index, SimTime now) {
    if (messages_[index].hop < messages_[index].route.size())
      enter_link(index, now);
    else
      react(Message(messages_[index].message), now);
  }

  void note_delivery(const Message& message, SimTime now) {
    std::vector<ChunkId> carried;
    if (message.chunks == 1)
      carried.push_back(message.chunk);
    else
      program_.chunks_of(message, carried);
    for (const auto chunk : carried) result_.arrivals.push_back({now, message.destination, chunk});
  }

  void react(const Message& message, SimTime now) {
    std::vector<Message> triggered;
    state_->arrive(message, triggered);
    inject(triggered, now);
  }

  void inject(const std::vector<Message>& messages, SimTime now) {
    for (const auto& message : messages) {
      const auto routes = router_.equal_routes(message.source, message.destination);
      const auto size = size_of(message).count();
      const auto pieces = std::max<std::int64_t>(1, std::min<std::int64_t>({size, routes, kMostPieces}));
      const auto first = messages_.size();
      ++result_.messages;
      for (std::int64_t i = 0; i < pieces; ++i) {
        auto route = routes <= 1 ? router_.route(message.source, message.destination)
                                 : router_.route(message.source, message.destination,
                                                 static_cast<RouteWay>((message.destination.value() + i) % routes));
        if (route.empty()) {
          unreachable_ = {input_error(
              {}, fmt::format("NPU {} cannot reach NPU {}", message.source.value(), message.destination.value()))};
          return;
        }
        const auto share = bytes(size / pieces + (i < size % pieces ? 1 : 0));
        messages_.push_back({message, share, first, static_cast<std::uint32_t>(pieces), now, std::move(route), 0});
        enter_link(messages_.size() - 1, now);
      }
    }
  }

  /// A message of k > 1 chunks has k times the bytes of a chunk of its source's group.
  [[nodiscard]] Bytes size_of(const Message& message) const {
    if (message.chunks == 1) return collective_.chunk_bytes(message.chunk);
    const auto group = collective_.group_of(message.source);
    return collective_.chunk_bytes(collective_.first_chunk(group)) * std::int64_t{message.chunks};
  }

  /// The physical links of the next hop of a message.
  [[nodiscard]] std::vector<WireSpan> next_path(std::size_t index) const {
    const auto link = messages_[index].route[messages_[index].hop];
    if (topology_.wires() == nullptr) return {{link, SimTime::zero()}};
    const auto spans = topology_.wires()->spans(link);
    return {spans.begin(), spans.end()};
  }
  [[nodiscard]] SimTime alpha_of(const WireSpan& span) const {
    return topology_.wires() == nullptr ? topology_.alpha(span.link) : topology_.wires()->network().alpha(span.link);
  }

  void enter_link(std::size_t index, SimTime now) {
    if (topology_.wires() == nullptr) return take_path(index, std::max(now, free_[next_path(index).front().link]));
    const auto first = next_path(index).front().link;
    queues_[first].push_back(index);
    if (queues_[first].size() == 1) announce(first, now);
  }

  /// The head of a queue becomes ready as soon as the link is free.
  void announce(LinkId first, SimTime now) {
    const SimTime ready = std::max(now, free_[first]);
    events_.push({ready, VertexId::none(), first.value(), queues_[first].front()});
  }

  void take_path(std::size_t index, SimTime now) {
    const auto& ready = messages_[index];
    const auto id = ready.route[ready.hop];
    const auto link = topology_.link(id);
    const auto size = ready.size;
    const auto serialization = serialization_of(link, size);
    const bool transfer = options_.occupancy == Occupancy::transfer;
    const auto path = next_path(index);
    auto start = now;
    for (const auto& span : path) start = std::max(start, free_[span.link] - span.offset);
    for (const auto& span : path)
      free_[span.link] = start + span.offset + serialization + (transfer ? alpha_of(span) : link.overhead);
    const auto busy = serialization + (transfer ? link.alpha : link.overhead);
    bytes_[id] += size;
    busy_[id] += busy;
    const auto arrival = start + link.alpha + first_needed(ready, serialization);
    events_.push({arrival, link.target, port_rank(id), index, arrival == now_ ? round_ + 1 : 0});
    hops_.push_back({start, busy, id, index});
    if (topology_.wires() == nullptr) return;
    auto& queue = queues_[path.front().link];
    queue.pop_front();
    if (!queue.empty()) announce(path.front().link, now);
  }

  [[nodiscard]] static SimTime serialization_of(const Link& link, Bytes size) {
    const auto nominal = serialization_time(size, link.bandwidth).count();
    return picoseconds((nominal * link.slowdown + 999) / 1000);
  }
  /// How much of its serialization on the link that it takes must be over when a message goes on from there.
  [[nodiscard]] SimTime first_needed(const RoutedMessage& message, SimTime serialization) const {
    const auto end = topology_.target(message.route[message.hop]);
    if (topology_.is_npu(end)) return serialization;
    if (topology_.switch_properties(end).forwarding != Forwarding::virtual_cut_through) return serialization;
    const auto next = serialization_of(topology_.link(message.route[message.hop + 1]), message.size);
    return std::max(SimTime::zero(), serialization - next);
  }

  /// The rank of a link among the in-links of its target: on a product shape by dimension and step if it joins NPUs,
  /// then by id.
  [[nodiscard]] std::int64_t port_rank(LinkId link) const {
    std::int64_t rank = 0;
    for (const auto other : topology_.in_links(topology_.target(link)))
      if (std::tuple(step(other), other) < std::tuple(step(link), link)) ++rank;
    return rank;
  }
  [[nodiscard]] std::tuple<std::size_t, std::uint32_t> step(LinkId link) const {
    const auto source = topology_.source(link);
    const auto target = topology_.target(link);
    constexpr std::tuple<std::size_t, std::uint32_t> last{SIZE_MAX, 0};
    if (!topology_.shape() || !topology_.shape()->is_product()) return last;
    if (!topology_.is_npu(source) || !topology_.is_npu(target)) return last;
    std::size_t stride = 1;
    for (std::size_t d = 0; d < topology_.shape()->dimensions(); ++d) {
      const auto size = topology_.shape()->blocks[d].size;
      const auto from = static_cast<std::uint32_t>(source.index() / stride % size);
      const auto to = static_cast<std::uint32_t>(target.index() / stride % size);
      if (from != to) return {d, (to + size - from) % size};
      stride *= size;
    }
    return last;
  }

  Simulation finish() {
    result_.hops = hops_.size();
    if (options_.record_links)
      for (std::uint32_t l = 0; l < topology_.links(); ++l)
        result_.links.push_back({bytes_[LinkId(l)], busy_[LinkId(l)]});
    if (options_.record_npu_finish)
      for (std::uint32_t npu = 0; npu < topology_.npus(); ++npu) result_.npu_finish.push_back(npu_finish_[NpuId(npu)]);
    if (!options_.record_arrivals) result_.arrivals.clear();
    if (options_.record_sends) record_sends();
    if (options_.utilization_bins > 0) fill_bins();
    return result_;
  }

  /// Records sends with ids by (time of injection, NPU, order there) and payloads by their first message, each list of
  /// chunks once.
  void record_sends() {
    std::vector<std::size_t> order(messages_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(messages_[a].injected, messages_[a].message.source, a) <
             std::tuple(messages_[b].injected, messages_[b].message.source, b);
    });
    Payloads payloads;
    std::map<std::pair<std::vector<ChunkId>, std::vector<std::uint32_t>>, std::size_t> known;
    std::map<std::size_t, MessageId> ids;
    std::map<std::size_t, ChunkId> chunks;
    for (const auto index : order) {
      const auto& message = messages_[index].message;
      ids[index] = MessageId::at(ids.size());
      chunks[index] = message.chunk;
      const bool stated = message.stage == Stage::reduce && program_.states_contributors();
      if (message.chunks == 1 && !stated) continue;
      std::vector<ChunkId> carried;
      std::vector<std::uint32_t> contributors;
      program_.chunks_of(message, carried);
      if (stated) program_.contributors_of(message, contributors);
      const auto [payload, is_new] = known.emplace(std::pair(carried, contributors), known.size());
      if (is_new) payloads.add(carried, contributors);
      chunks[index] = ChunkId::at(collective_.chunks() + payload->second);
    }
    std::vector<Send> sends;
    for (const auto& hop : hops_) {
      const auto& message = messages_[hop.message].message;
      sends.push_back({hop.start, hop.link, chunks[hop.message], message.stage, ids[hop.message], message.destination});
      if (hops_.size() == messages_.size()) sends.back().message = MessageId::none();
      if (hops_.size() == messages_.size()) sends.back().destination = NpuId::none();
    }
    result_.sends = make_list_schedule(std::move(sends), std::move(payloads));
  }

  void fill_bins() {
    const std::int64_t bins = options_.utilization_bins;
    const auto width = std::max<std::int64_t>(1, ceil_div(result_.finish.count(), bins));
    result_.utilization.bin = picoseconds(width);
    for (std::int64_t bin = 0; bin < bins; ++bin) {
      std::int64_t busy = 0;
      for (const auto& hop : hops_) {
        const auto from = std::max(hop.start.count(), bin * width);
        const auto until = std::min((hop.start + hop.busy).count(), (bin + 1) * width);
        busy += std::max<std::int64_t>(0, until - from);
      }
      result_.utilization.busy_ps.push_back(static_cast<std::uint64_t>(busy));
    }
  }

  const Topology& topology_;
  const Collective& collective_;
  const Program& program_;
  const SimulationOptions& options_;
  Router router_;
  std::unique_ptr<ProgramState> state_;
  std::vector<RoutedMessage> messages_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::set<NpuId> asleep_;
  std::map<NpuId, std::vector<std::size_t>> held_;  ///< messages that arrived before the start
  std::map<NpuId, SimTime> npu_finish_;
  std::map<LinkId, std::deque<std::size_t>> queues_;  ///< by first physical link: messages that wait for it
  std::map<LinkId, SimTime> free_;                    ///< by physical link
  std::map<LinkId, Bytes> bytes_;
  std::map<LinkId, SimTime> busy_;
  std::vector<Hop> hops_;
  SimTime now_;    ///< of the present event
  int round_ = 0;  ///< of the present event
  Diagnostics unreachable_;
  Simulation result_;
};

}  // namespace

Result<Simulation> simulate_by_reference(const Topology& topology, const Collective& collective, const Program& program,
                                         const SimulationOptions& options) {
  return ReferenceSimulator(topology, collective, program, options).run();
}

}  // namespace tenex
