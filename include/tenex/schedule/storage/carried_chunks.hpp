// The chunks that the sends of a schedule carry: one or several per send.
#pragma once

#include <span>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/topology/slow_windows.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Looks up the chunks of a schedule's sends. The schedule must outlive it.
class CarriedChunks {
 public:
  CarriedChunks(const Instance& instance, const Schedule& schedule) : CarriedChunks(instance, schedule.payloads()) {}
  /// For sends with these payloads (nullptr: none), which must outlive it.
  CarriedChunks(const Instance& instance, const Payloads* payloads)
      : topology_(instance.topology),
        collective_(instance.collective),
        occupancy_(instance.occupancy),
        payloads_(payloads),
        hops_(instance.topology, instance.collective.chunk_sizes(), instance.occupancy) {}

  /// The chunks of a send with chunk id `chunk`. The returned span may refer to `chunk`, which must outlive it.
  [[nodiscard]] std::span<const ChunkId> of(const ChunkId& chunk) const {
    if (!is_payload(chunk)) return {&chunk, 1};
    return payloads_->of(chunk.index() - collective_.chunks());
  }
  /// The bytes of all of them.
  [[nodiscard]] Bytes bytes(ChunkId chunk) const {
    const auto chunks = of(chunk);
    return collective_.chunk_bytes(chunks.front()) * static_cast<std::int64_t>(chunks.size());
  }
  /// How long the send from `start` on takes. Sends of several chunks: where no bandwidth varies.
  [[nodiscard]] HopTime hop(LinkId link, ChunkId chunk, SimTime start) const {
    if (!is_payload(chunk)) return hops_.at(topology_.class_of(link), collective_.size_class(chunk), start);
    return hop_time(topology_.classes()[topology_.class_of(link)], bytes(chunk), occupancy_);
  }

 private:
  [[nodiscard]] bool is_payload(ChunkId chunk) const {
    return payloads_ != nullptr && chunk.index() >= collective_.chunks();
  }

  const Topology& topology_;
  const Collective& collective_;
  Occupancy occupancy_;
  const Payloads* payloads_;
  StartedHops hops_;
};

}  // namespace tenex
