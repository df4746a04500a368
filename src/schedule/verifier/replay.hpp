// Replaying a schedule: starts and arrivals as one stream of events in time order.
//
// At equal times arrivals come before starts (what arrives at an instant can be sent at it), and among arrivals partial
// sums before copies, then in the order of the stream. Pending arrivals wait in lanes of equal latency and stage. Each
// lane is a first-in-first-out queue because starts never decrease. A heap holds one entry per busy lane, so a
// homogeneous topology pays O(1) per event. Memory is that of the sends under way.
//
// What is sent to a switch that passes chunks on early is entered there when its send starts (passing.hpp): when it may
// leave depends on the next link. Where that may be the same instant, the sends of an instant come in the order of
// causes (schedule/instant_order.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/instant_order.hpp"
#include "schedule/verifier/context.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex::verifier {

/// A delivery under way. The visitor that starts and receives it gives `payload` its meaning.
struct Arrival {
  SimTime time;
  std::uint64_t sequence = 0;
  Send send;
  std::uint32_t payload = 0;
};

/// The deliveries under way, earliest first.
class Arrivals {
 public:
  explicit Arrivals(std::size_t lanes) : lanes_(lanes) {}

  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] SimTime next_time() const { return lanes_[heap_.front()].head().time; }
  /// `arrival` must not be earlier than any pushed to its lane before. O(log lanes).
  void push(std::size_t lane, const Arrival& arrival);
  /// O(log lanes).
  Arrival pop();
  /// The earliest copy of `chunk` under way to `vertex`, if any: for messages. O(size).
  [[nodiscard]] std::optional<SimTime> find_copy(const Context& context, VertexId vertex, ChunkId chunk) const;

 private:
  /// A queue in a vector: popped entries are erased when they are half of it.
  struct Lane {
    std::vector<Arrival> items;
    std::size_t popped = 0;
    [[nodiscard]] bool empty() const { return popped == items.size(); }
    [[nodiscard]] const Arrival& head() const { return items[popped]; }
    void drop_head();
  };
  [[nodiscard]] bool later(std::uint32_t a, std::uint32_t b) const;

  std::vector<Lane> lanes_;
  std::vector<std::uint32_t> heap_;  ///< lanes that are not empty
  std::size_t size_ = 0;
};

/// Calls visitor.start(send) for every send, and for each send whose start returned a payload visitor.arrive(arrival),
/// in the order of events, or at once visitor.pass(arrival) where the target passes chunks on early. `arrivals` is
/// empty before and after; the visitor may look into it.
template <class Visitor>
void replay(const Context& context, const Schedule& schedule, Arrivals& arrivals, Visitor& visitor) {
  SendBuffer buffer;
  std::uint64_t sequence = 0;
  std::optional<SimTime> previous;
  std::vector<Send> instant;  // not started yet
  const auto begin = [&](const Send& send) {
    if (const std::optional<std::uint32_t> payload = visitor.start(send)) {
      const Arrival arrival{context.arrival(send), sequence, send, *payload};
      if (context.passes_on_early(context.target(send)))
        visitor.pass(arrival);
      else
        arrivals.push(context.lane(send), arrival);
    }
    ++sequence;
  };
  const auto begin_instant = [&] {
    order_by_cause(context.topology(), instant);
    for (const Send& send : instant) begin(send);
    instant.clear();
  };
  for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
    schedule.read(segment, buffer);
    for (std::size_t i = 0; i < buffer.batch.size(); ++i) {
      const Send send = buffer.batch[i];
      ensure(!previous || *previous <= send.start, "a schedule's storage must yield its sends in time order");
      if (previous && *previous < send.start) begin_instant();
      previous = send.start;
      while (!arrivals.empty() && arrivals.next_time() <= send.start) visitor.arrive(arrivals.pop());
      if (context.passes_on_at_once())
        instant.push_back(send);
      else
        begin(send);
    }
  }
  begin_instant();
  while (!arrivals.empty()) visitor.arrive(arrivals.pop());
}

}  // namespace tenex::verifier
