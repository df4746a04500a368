// Congestion-unaware simulation: a message takes alpha per hop plus its size over the least bandwidth on its route,
// whatever else is under way (000, section 3.4.2).
//
// Only arrivals at destinations are events; a heap orders them by (time, destination, injection). Link loads are those
// that the routes imply: a link may be busy for longer than the collective takes, which tells what the model leaves
// out.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "simulation/backends.hpp"
#include "simulation/next_links.hpp"

namespace tenex {
namespace {

struct Delivery {
  SimTime time;
  std::uint64_t order;  ///< of injection
  Message message;
};

struct LaterDelivery {
  bool operator()(const Delivery& a, const Delivery& b) const {
    if (a.time != b.time) return a.time > b.time;
    if (a.message.destination != b.message.destination) return a.message.destination > b.message.destination;
    return a.order > b.order;
  }
};

class FormulaEngine {
 public:
  FormulaEngine(const Topology& topology, const Collective& collective, const SimulationOptions& options)
      : topology_(topology), collective_(collective), options_(options), next_links_(topology) {
    if (options.record_links) result_.links.assign(topology.links(), LinkLoad{});
  }

  Result<Simulation> run(const Program& program) {
    const auto state = program.begin();
    std::vector<Message> triggered;
    for (std::uint32_t npu = 0; npu < topology_.npus(); ++npu) {
      triggered.clear();
      state->start(NpuId(npu), triggered);
      for (const auto& message : triggered) inject(message, SimTime::zero());
    }
    while (!failure_ && !deliveries_.empty()) {
      const auto delivery = deliveries_.top();
      deliveries_.pop();
      result_.finish = delivery.time;
      triggered.clear();
      state->arrive(delivery.message, triggered);
      for (const auto& message : triggered) inject(message, delivery.time);
    }
    if (failure_) return *failure_;
    return std::move(result_);
  }

 private:
  void inject(const Message& message, SimTime now) {
    ensure(message.source != message.destination, "a program sends a message from an NPU to itself");
    const auto size = collective_.chunk_bytes(message.chunk);
    SimTime alphas;
    auto least = Bandwidth::max();
    for (auto at = vertex_of(message.source); at != vertex_of(message.destination);) {
      const auto link = next_links_(at, message.destination);
      if (!link.exists()) {
        if (!failure_) failure_ = unreachable_error(message, at);
        return;
      }
      alphas += topology_.alpha(link);
      least = std::min(least, topology_.bandwidth(link));
      ++result_.hops;
      if (options_.record_links) load(link, size);
      at = topology_.target(link);
    }
    deliveries_.push({now + alphas + serialization_time(size, least), result_.messages++, message});
  }

  void load(LinkId link, Bytes size) {
    auto& load = result_.links[link.index()];
    load.bytes += size;
    load.busy += hop_time({topology_.alpha(link), topology_.bandwidth(link)}, size, options_.occupancy).busy;
  }

  const Topology& topology_;
  const Collective& collective_;
  const SimulationOptions& options_;
  NextLinks next_links_;
  std::priority_queue<Delivery, std::vector<Delivery>, LaterDelivery> deliveries_;
  std::optional<Diagnostic> failure_;
  Simulation result_;
};

}  // namespace

Result<Simulation> simulate_congestion_unaware(const Topology& topology, const Collective& collective,
                                               const Program& program, const SimulationOptions& options) {
  return FormulaEngine(topology, collective, options).run(program);
}

}  // namespace tenex
