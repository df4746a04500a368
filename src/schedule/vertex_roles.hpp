// How a vertex treats the chunks that are unpacked there: the physics of NPUs and switches in one place.
//
// An NPU keeps what it receives. A switch does so as far as its properties allow: without `copy` it forwards each
// arrival at most once, without `reduce` it passes partial sums on one by one, in order of arrival.
#pragma once

#include <cstdint>

#include "tenex/collective/collective.hpp"
#include "tenex/schedule/send.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// How partial sums of one chunk are kept at a vertex.
enum class SumRole : std::uint8_t {
  keeps,   ///< one sum that stays when it is sent: NPUs, and switches that copy and reduce
  drains,  ///< one sum that is gone when it is sent: switches that reduce only
  queues,  ///< separate sums, each sent once, first in first out: switches that do not reduce
};

/// Whether a final value stays after it is sent; otherwise each arrival can be sent only once.
[[nodiscard]] inline bool keeps_copies(const Topology& topology, VertexId vertex) {
  return topology.is_npu(vertex) || topology.switch_properties(vertex).copy;
}

[[nodiscard]] inline SumRole sum_role(const Topology& topology, VertexId vertex) {
  if (topology.is_npu(vertex)) return SumRole::keeps;
  const auto& properties = topology.switch_properties(vertex);
  if (!properties.reduce) return SumRole::queues;
  return properties.copy ? SumRole::keeps : SumRole::drains;
}

/// Collective::contributes for any vertex.
[[nodiscard]] inline bool contributes(const Topology& topology, const Collective& collective, VertexId vertex,
                                      ChunkId chunk) {
  return topology.is_npu(vertex) && collective.contributes(npu_of(vertex), chunk);
}

/// Collective::must_hold for any vertex.
[[nodiscard]] inline bool must_hold(const Topology& topology, const Collective& collective, VertexId vertex,
                                    ChunkId chunk) {
  return topology.is_npu(vertex) && collective.must_hold(npu_of(vertex), chunk);
}

/// Whether the receiver unpacks the send: it belongs to no message, or is the last hop of one.
[[nodiscard]] inline bool unpacks(const Topology& topology, const Send& send) {
  return !send.message.exists() || topology.target(send.link) == vertex_of(send.destination);
}

/// A (vertex, chunk) pair as one number, for hash maps.
[[nodiscard]] inline std::uint64_t holding_key(VertexId vertex, ChunkId chunk) {
  return (std::uint64_t{vertex.value()} << 32) | chunk.value();
}

}  // namespace tenex
