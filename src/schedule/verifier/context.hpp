// The inputs that every part of the verifier reads: the topology, the collective, the payloads and the physics of a
// hop.
//
// A send carries one chunk, or a payload: several chunks of one process group, by an id beyond the collective's chunks.
// Checks of links and paths see the send; checks of holdings and sums see its chunks one by one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/send.hpp"
#include "tenex/topology/hand_over.hpp"
#include "tenex/topology/slow_windows.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex::verifier {

/// What a send takes along from a switch that passes chunks on early. A schedule does not say it, and is valid if it is
/// by one of these.
enum class TakenAlong : std::uint8_t {
  last,   ///< of things that stay apart the one that is there whole last, which leaves the most to later sends
  first,  ///< of things that stay apart the one that is there whole first
  whole,  ///< only what has arrived whole, as if the switch stored and forwarded
};

/// No payload: the contributors of a sum are not stated.
constexpr std::uint32_t kNotStated = ~std::uint32_t{0};

/// Borrowed inputs of one verification and the table of hop times.
class Context {
 public:
  /// `payloads`: nullptr where every send carries one chunk.
  explicit Context(const Instance& instance, const Payloads* payloads = nullptr,
                   TakenAlong taken_along = TakenAlong::last);

  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] const Collective& collective() const { return collective_; }
  [[nodiscard]] Occupancy occupancy() const { return occupancy_; }

  [[nodiscard]] bool link_exists(const Send& send) const { return send.link.index() < topology_.links(); }
  /// Whether the chunk exists, or the payload is valid: chunks that exist, increasing, all of one group; contributors,
  /// increasing, of that group.
  [[nodiscard]] bool chunk_exists(const Send& send) const {
    return send.chunk.index() < collective_.chunks() ||
           (carries_payload(send) && payload_of(send) < size_of_payload_.size() &&
            size_of_payload_[payload_of(send)] != kUnfit);
  }
  [[nodiscard]] VertexId source(const Send& send) const { return topology_.source(send.link); }
  [[nodiscard]] VertexId target(const Send& send) const { return topology_.target(send.link); }

  [[nodiscard]] bool carries_payload(const Send& send) const { return send.chunk.index() >= collective_.chunks(); }
  /// The chunks that the send carries. `send` must outlive the span; its ids must exist.
  [[nodiscard]] std::span<const ChunkId> chunks(const Send& send) const {
    return carries_payload(send) ? payloads_->of(payload_of(send)) : std::span(&send.chunk, 1);
  }

  /// Whether some sums state their contributors.
  [[nodiscard]] bool states_contributors() const { return payloads_ != nullptr && payloads_->states_contributors(); }
  /// The payloads; nullptr if every send carries one chunk.
  [[nodiscard]] const Payloads* payloads() const { return payloads_; }
  /// The payload whose contributors the send states; kNotStated if it states none.
  [[nodiscard]] std::uint32_t stated_by(const Send& send) const {
    if (!states_contributors() || !carries_payload(send)) return kNotStated;
    const auto payload = payload_of(send);
    return payloads_->contributors_of(payload).empty() ? kNotStated : static_cast<std::uint32_t>(payload);
  }

  /// Both ids must exist.
  [[nodiscard]] HopTime hop(const Send& send) const {
    return times_.at(topology_.class_of(send.link), size_class(send), send.start);
  }
  /// Precondition: no bandwidth varies.
  [[nodiscard]] const HopTime& hop(std::uint16_t link_class, std::size_t size_class) const {
    return times_.outside(link_class, size_class);
  }
  /// Saturates, because a schedule may claim any start and must not overflow the check.
  [[nodiscard]] SimTime arrival(const Send& send) const { return saturating_sum(send.start, hop(send).latency); }

  /// Whether a vertex may pass on what has not arrived whole. O(1).
  [[nodiscard]] bool passes_on_early(VertexId vertex) const {
    return hand_overs_ && tenex::passes_on_early(topology_, vertex);
  }
  /// Whether some vertex does, and whether that may be at the instant at which a send to it starts.
  [[nodiscard]] bool any_passes_on_early() const { return hand_overs_.has_value(); }
  [[nodiscard]] bool passes_on_at_once() const { return passes_on_at_once_; }
  [[nodiscard]] TakenAlong taken_along() const { return taken_along_; }
  /// When what `in` brings may leave with `out`, which begins where `in` ends.
  [[nodiscard]] SimTime ready(const Send& in, const Send& out) const {
    const SimTime whole = arrival(in);
    return hand_overs_ ? whole - hand_overs_->lead(in.link, out.link, size_class(in)) : whole;
  }

  /// Sends of one lane have a class of links, a size and a stage, so they arrive in the order of their starts.
  [[nodiscard]] std::size_t lanes() const { return topology_.classes().size() * sizes_.size() * 2; }
  [[nodiscard]] std::size_t lane(const Send& send) const {
    return (topology_.class_of(send.link) * sizes_.size() + size_class(send)) * 2 +
           static_cast<std::size_t>(send.stage);
  }

 private:
  static constexpr std::uint32_t kUnfit = ~std::uint32_t{0};  ///< the size of an invalid payload

  [[nodiscard]] std::size_t payload_of(const Send& send) const { return send.chunk.index() - collective_.chunks(); }
  [[nodiscard]] std::size_t size_class(const Send& send) const {
    return carries_payload(send) ? size_of_payload_[payload_of(send)] : collective_.size_class(send.chunk);
  }
  [[nodiscard]] bool fits(std::span<const ChunkId> payload, std::span<const std::uint32_t> contributors) const;
  void add_payload(std::span<const ChunkId> payload, std::span<const std::uint32_t> contributors);

  const Topology& topology_;
  const Collective& collective_;
  Occupancy occupancy_;
  const Payloads* payloads_;
  std::vector<Bytes> sizes_;                    ///< sizes of chunks, then of payloads, each once
  std::vector<std::uint32_t> size_of_payload_;  ///< index into sizes_, or kUnfit
  StartedHops times_;
  TakenAlong taken_along_;
  std::optional<HandOvers> hand_overs_;  ///< only where some switch passes chunks on early
  bool passes_on_at_once_ = false;       ///< a link to such a switch has no alpha
};

}  // namespace tenex::verifier
