// Arrivals in switches that pass chunks on early (tenex/topology/hand_over.hpp): what a send may take along.
//
// A replay enters an arrival here when its send starts, and takes it out, to be unpacked, when a send starts for which
// it is ready. Whether it is depends on both links: what a slow link may take on already, a fast one may not. How much
// a send takes along is that of vertex_roles.hpp: an arrival that stays at the switch is unpacked for the first send
// that may take it, and remembered until it is there whole, as faster links may have to wait for it; of arrivals that
// leave once, a send takes one; a sum that is gone when it is sent takes along all that is ready.
//
// Of several arrivals that leave once, a send takes the one that is there whole last (TakenAlong::last). No other
// choice lets later sends have more. Proof. Let A be there whole no later than B (a <= b), and let both be ready for a
// send over a link that serializes the chunk in s. A came over a link that does so in f. A later send over a link of s'
// for which B is ready may take A as well: if min(s', f) >= min(s, f), A stays ready; else s' < f, and A is ready at a
// - s' <= b - s'. Where sums travel in trees, and for final values, it does not matter which one a send takes.
#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "schedule/verifier/context.hpp"
#include "schedule/verifier/replay.hpp"
#include "schedule/vertex_roles.hpp"

namespace tenex::verifier {

class PassingArrivals {
 public:
  explicit PassingArrivals(const Context& context) : context_(context) {}

  /// `sent` to such a switch has started; `arrival` is what it brings of one chunk. O(1).
  void add(const Arrival& arrival, const Send& sent) {
    things_[key_of(context_.target(sent), arrival.send.chunk, sent.stage)].passing.push_back({arrival, sent, false});
  }

  /// A send that carries `chunk` starts, before it takes what its source has. Calls unpack(arrival) for each that it
  /// may take along and that was not unpacked before. Returns when the send may start if it is too early. O(arrivals of
  /// the chunk there that are not whole).
  template <class Unpack>
  [[nodiscard]] std::optional<SimTime> hand_over(const Send& send, ChunkId chunk, Unpack&& unpack) {
    const VertexId at = context_.source(send);
    if (!context_.passes_on_early(at)) return std::nullopt;
    const Topology& topology = context_.topology();
    const bool copy = send.stage == Stage::copy;
    // A final value may be a sum that is complete here.
    const SumRole role = sum_role(topology, at);
    Taken sums;
    if (!copy || role != SumRole::queues)
      sums = take(send, chunk, Stage::reduce, role == SumRole::keeps, role == SumRole::queues, unpack);
    if (!copy) return sums.too_early;
    const bool stays = keeps_copies(topology, at);
    const Taken value = take(send, chunk, Stage::copy, stays, !stays, unpack);
    if (value.any || (sums.any && !sums.too_early)) return std::nullopt;
    return std::max(sums.too_early, value.too_early);  // nothing is less than any time
  }

  /// When the first of what is on its way to the send's source may leave with it; nullopt where nothing is. O(arrivals
  /// of the chunk there that are not whole).
  [[nodiscard]] std::optional<SimTime> next_for(const Send& send, ChunkId chunk) const {
    std::optional<SimTime> next;
    const auto found = things_.find(key_of(context_.source(send), chunk, send.stage));
    if (found == things_.end()) return next;
    for (const Passing& each : found->second.passing)
      if (const SimTime ready = ready_for(each, send); !next || ready < *next) next = ready;
    return next;
  }

  /// Calls unpack(arrival) for all that no send took along.
  template <class Unpack>
  void finish(Unpack&& unpack) {
    for (const auto& [key, thing] : things_)
      for (const Passing& each : thing.passing)
        if (!each.unpacked) unpack(each.arrival);
    things_.clear();
  }

 private:
  struct Passing {
    Arrival arrival;        ///< of one chunk
    Send sent;              ///< perhaps of several
    bool unpacked = false;  ///< for a slower link
  };
  /// The arrivals of a chunk at a switch, in one stage.
  struct Thing {
    std::vector<Passing> passing;
    bool stays = false;  ///< one was there whole, and has stayed
  };

  /// What a send takes along.
  struct Taken {
    bool any = false;                  ///< something is ready, or has stayed
    std::optional<SimTime> too_early;  ///< when the send may start
  };

  /// When an arrival may leave with a send: by the rule if the send carries all that came with it, else when all of
  /// that is there.
  [[nodiscard]] SimTime ready_for(const Passing& passing, const Send& send) const {
    return passing.sent.chunk == send.chunk ? context_.ready(passing.sent, send) : context_.arrival(passing.sent);
  }
  static std::uint64_t key_of(VertexId vertex, ChunkId chunk, Stage stage) {
    return holding_key(vertex, chunk) << 1U | static_cast<std::uint64_t>(stage);
  }

  /// `stays`: what arrives is kept, and more than one send may take it; `single`: a send takes one arrival.
  template <class Unpack>
  Taken take(const Send& send, ChunkId chunk, Stage stage, bool stays, bool single, Unpack& unpack) {
    const auto found = things_.find(key_of(context_.source(send), chunk, stage));
    if (found == things_.end()) return {};
    Thing& thing = found->second;
    return single ? take_one(thing, send, unpack) : take_all(thing, send, stage, stays, unpack);
  }

  template <class Unpack>
  Taken take_one(Thing& thing, const Send& send, Unpack& unpack) {
    const bool first = context_.taken_along() == TakenAlong::first;
    const auto sooner = [](const Passing& one, const Passing& other) { return one.arrival.time < other.arrival.time; };
    auto chosen = thing.passing.end();
    for (auto each = thing.passing.begin(); each != thing.passing.end(); ++each) {
      if (ready_for(*each, send) > send.start) continue;
      if (chosen == thing.passing.end() || (first ? sooner(*each, *chosen) : sooner(*chosen, *each))) chosen = each;
    }
    if (chosen == thing.passing.end()) return {};
    unpack(chosen->arrival);
    thing.passing.erase(chosen);
    return {true, std::nullopt};
  }

  template <class Unpack>
  Taken take_all(Thing& thing, const Send& send, Stage stage, bool stays, Unpack& unpack) {
    Taken taken{thing.stays, std::nullopt};
    std::vector<Passing> rest;
    for (Passing& each : thing.passing) {
      const SimTime from = ready_for(each, send);
      if (from > send.start) {
        if (each.unpacked) taken.too_early = taken.too_early ? std::max(*taken.too_early, from) : from;
        rest.push_back(each);
        continue;
      }
      taken.any = true;
      if (!std::exchange(each.unpacked, true)) unpack(each.arrival);
      if (!stays) continue;
      if (each.arrival.time > send.start)
        rest.push_back(each);
      else
        thing.stays = true;
    }
    thing.passing = std::move(rest);
    // A copy needs one arrival, a sum all that it has taken along so far.
    if (stage == Stage::copy && taken.any) taken.too_early.reset();
    return taken;
  }

  const Context& context_;
  std::unordered_map<std::uint64_t, Thing> things_;
};

}  // namespace tenex::verifier
