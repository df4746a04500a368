// The reference simulator: every message carries its whole route; one priority queue orders all arrivals by
// (time, vertex, in-port rank at the vertex). Two messages never arrive over one link at one time, so that is a total
// order.
#include <algorithm>
#include <cstdint>
#include <map>
#include <queue>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "tenex/simulation/reference.hpp"
#include "tenex/topology/routes.hpp"

namespace tenex {
namespace {

struct RoutedMessage {
  Message message;
  MessageId id;
  std::vector<LinkId> route;
  std::size_t hop = 0;  ///< of the route that it is on
};

struct Event {
  SimTime time;
  VertexId vertex;
  std::size_t port;
  std::size_t message;  ///< index of all messages
  [[nodiscard]] auto key() const { return std::tuple(time, vertex, port); }
  bool operator>(const Event& other) const { return key() > other.key(); }
};

class ReferenceSimulator {
 public:
  ReferenceSimulator(const Topology& topology, const Collective& collective, const SimulationOptions& options)
      : topology_(topology), collective_(collective), options_(options), router_(topology) {}

  Result<Simulation> run(const Program& program) {
    const auto state = program.begin();
    for (std::uint32_t npu = 0; npu < topology_.npus(); ++npu) {
      std::vector<Message> first;
      state->start(NpuId(npu), first);
      inject(first, SimTime::zero());
    }
    while (unreachable_.empty() && !events_.empty()) {
      const auto event = events_.top();
      events_.pop();
      auto& arrived = messages_[event.message];
      if (++arrived.hop < arrived.route.size()) {
        enter_link(event.message, event.time);
        continue;
      }
      result_.finish = event.time;
      std::vector<Message> triggered;
      state->arrive(Message(arrived.message), triggered);
      inject(triggered, event.time);
    }
    if (!unreachable_.empty()) return unreachable_;
    return finish();
  }

 private:
  void inject(const std::vector<Message>& messages, SimTime now) {
    for (const auto& message : messages) {
      auto route = router_.route(message.source, message.destination);
      if (route.empty()) {
        unreachable_ = {input_error(
            {}, fmt::format("NPU {} cannot reach NPU {}", message.source.value(), message.destination.value()))};
        return;
      }
      messages_.push_back({message, MessageId::at(messages_.size()), std::move(route), 0});
      enter_link(messages_.size() - 1, now);
    }
  }

  void enter_link(std::size_t index, SimTime now) {
    const auto& entering = messages_[index];
    const auto id = entering.route[entering.hop];
    const auto link = topology_.link(id);
    const auto size = collective_.chunk_bytes(entering.message.chunk);
    const auto serialization = serialization_time(size, link.bandwidth);
    const auto busy = options_.occupancy == Occupancy::serialization ? serialization : link.alpha + serialization;
    const auto start = std::max(now, free_[id]);
    free_[id] = start + busy;
    bytes_[id] += size;
    busy_[id] += busy;
    const auto ports = topology_.in_links(link.target);
    const auto port = static_cast<std::size_t>(std::find(ports.begin(), ports.end(), id) - ports.begin());
    events_.push({start + link.alpha + serialization, link.target, port, index});
    sends_.push_back(
        {start, id, entering.message.chunk, entering.message.stage, entering.id, entering.message.destination});
  }

  Simulation finish() {
    result_.messages = messages_.size();
    result_.hops = sends_.size();
    if (options_.record_links)
      for (std::uint32_t l = 0; l < topology_.links(); ++l)
        result_.links.push_back({bytes_[LinkId(l)], busy_[LinkId(l)]});
    if (sends_.size() == messages_.size())
      for (auto& send : sends_) send.message = MessageId::none(), send.destination = NpuId::none();
    if (options_.record_sends) result_.sends = make_list_schedule(sends_);
    return result_;
  }

  const Topology& topology_;
  const Collective& collective_;
  const SimulationOptions& options_;
  Router router_;
  std::vector<RoutedMessage> messages_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::map<LinkId, SimTime> free_;
  std::map<LinkId, Bytes> bytes_;
  std::map<LinkId, SimTime> busy_;
  std::vector<Send> sends_;
  Diagnostics unreachable_;
  Simulation result_;
};

}  // namespace

Result<Simulation> simulate_by_reference(const Topology& topology, const Collective& collective, const Program& program,
                                         const SimulationOptions& options) {
  return ReferenceSimulator(topology, collective, options).run(program);
}

}  // namespace tenex
