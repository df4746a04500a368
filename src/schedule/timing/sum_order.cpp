#include "schedule/timing/sum_order.hpp"

#include <tuple>

#include "schedule/vertex_roles.hpp"

namespace tenex {

SumOrder::SumOrder(const Topology& topology, const std::vector<Send>& sends, const std::vector<SimTime>& arrivals,
                   const std::vector<bool>& takes) {
  if (std::ranges::none_of(sends, [](const Send& send) { return send.stage == Stage::reduce; })) return;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const Send& send = sends[i];
    const bool sum = send.stage == Stage::reduce;
    const auto add = [&](VertexId vertex, EventKind kind, SimTime planned) {
      const bool queued = sum && sum_role(topology, vertex) == SumRole::queues;
      events_.push_back({holding_key(vertex, send.chunk), planned, static_cast<std::uint32_t>(i), kind, queued});
    };
    if (sum && takes[i]) add(topology.source(send.link), EventKind::sum_leaves, send.start);
    if (unpacks(topology, send))
      add(topology.target(send.link), sum ? EventKind::sum_comes : EventKind::value_comes, arrivals[i]);
  }
  std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
    return std::tuple(a.place, a.planned, a.kind, a.send) < std::tuple(b.place, b.planned, b.kind, b.send);
  });
}

}  // namespace tenex
