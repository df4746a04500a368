// Time reversal: an All-Gather on the reversed topology becomes a Reduce-Scatter on the topology itself (001, IV-E).
//
// A send that occupies a link during [start, start + busy) and arrives at start + latency turns into one over the
// opposite link that starts at T - (start + latency). Two sends of a link keep their distance: with busy_a <= start_b -
// start_a the reversed ones start (start_b + latency_b) - (start_a + latency_a) apart, at least busy_b, since latency -
// busy is the same for both. What left a vertex after a chunk had arrived now arrives there before the sum leaves.
#include <unordered_map>
#include <vector>

#include "tenex/schedule/views.hpp"

namespace tenex {
namespace {

/// The NPU that each message starts at, which is where its reversal ends. `sends` in time order, on the reversed
/// topology, where a link starts at what is its target here.
std::unordered_map<MessageId, NpuId> message_sources(const Topology& topology, const std::vector<Send>& sends) {
  std::unordered_map<MessageId, NpuId> sources;
  for (const auto& send : sends)
    if (send.message.exists()) sources.emplace(send.message, npu_of(topology.target(send.link)));
  return sources;
}

}  // namespace

Schedule reversed(const Topology& topology, const Collective& collective, Occupancy occupancy,
                  const Schedule& schedule) {
  const SimTime end = last_arrival(topology, collective, occupancy, schedule);
  const HopTimes times(topology, collective.chunk_sizes(), occupancy);
  auto sends = list_sends(schedule);
  const auto sources = message_sources(topology, sends);
  for (auto& send : sends) {
    const SimTime latency = times.at(topology.class_of(send.link), collective.size_class(send.chunk)).latency;
    send.start = end - (send.start + latency);
    send.stage = Stage::reduce;
    if (send.message.exists()) send.destination = sources.at(send.message);
  }
  return make_list_schedule(std::move(sends));
}

}  // namespace tenex
