// What every part of the verifier reads: the topology, the collective and the physics of a hop.
#pragma once

#include "tenex/collective/collective.hpp"
#include "tenex/schedule/send.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex::verifier {

/// Borrowed inputs of one verification and the table of hop times.
class Context {
 public:
  Context(const Topology& topology, const Collective& collective, Occupancy occupancy)
      : topology_(topology), collective_(collective), times_(topology, collective.chunk_sizes(), occupancy) {}

  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] const Collective& collective() const { return collective_; }

  [[nodiscard]] bool link_exists(const Send& send) const { return send.link.index() < topology_.links(); }
  [[nodiscard]] bool chunk_exists(const Send& send) const { return send.chunk.index() < collective_.chunks(); }
  [[nodiscard]] VertexId source(const Send& send) const { return topology_.source(send.link); }
  [[nodiscard]] VertexId target(const Send& send) const { return topology_.target(send.link); }

  /// Both ids must exist.
  [[nodiscard]] const HopTime& hop(const Send& send) const {
    return times_.at(topology_.class_of(send.link), collective_.size_class(send.chunk));
  }
  [[nodiscard]] const HopTime& hop(std::uint16_t link_class, std::size_t size_class) const {
    return times_.at(link_class, size_class);
  }
  /// Saturates: a schedule may claim any start, and must not overflow the check.
  [[nodiscard]] SimTime arrival(const Send& send) const { return saturating_sum(send.start, hop(send).latency); }

  /// Sends of one lane have the same latency and stage, so they arrive in the order of their starts.
  [[nodiscard]] std::size_t lanes() const { return topology_.classes().size() * collective_.chunk_sizes().size() * 2; }
  [[nodiscard]] std::size_t lane(const Send& send) const {
    const auto classes = topology_.class_of(send.link) * collective_.chunk_sizes().size();
    return (classes + collective_.size_class(send.chunk)) * 2 + static_cast<std::size_t>(send.stage);
  }

 private:
  const Topology& topology_;
  const Collective& collective_;
  HopTimes times_;
};

}  // namespace tenex::verifier
