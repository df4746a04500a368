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

  /// A send of one chunk to such a switch has started. O(1).
  void add(const Arrival& arrival) {
    const Send& send = arrival.send;
    things_[key_of(context_.target(send), send.chunk, send.stage)].passing.push_back({arrival, false});
  }

  /// A send of `chunk` starts, before it takes what its source has. Calls unpack(arrival) for each that it may take
  /// along and that was not unpacked before. Returns the time from which the send could start where it is too early for
  /// what the switch keeps. O(arrivals of the chunk there that are not whole).
  template <class Unpack>
  [[nodiscard]] std::optional<SimTime> hand_over(const Send& send, ChunkId chunk, Unpack&& unpack) {
    const VertexId at = context_.source(send);
    if (!context_.passes_on_early(at)) return std::nullopt;
    const Topology& topology = context_.topology();
    const bool copy = send.stage == Stage::copy;
    // A final value may be a sum that is complete here.
    const SumRole role = sum_role(topology, at);
    auto early = copy && role == SumRole::queues
                     ? std::nullopt
                     : take(send, chunk, Stage::reduce, role == SumRole::keeps, role == SumRole::queues, unpack);
    if (!copy) return early;
    const bool stays = keeps_copies(topology, at);
    const auto value = take(send, chunk, Stage::copy, stays, !stays, unpack);
    return early && value ? std::max(early, value) : early ? early : value;
  }

  /// When the first of what is on its way to the send's source may leave with it; nullopt where nothing is. O(arrivals
  /// of the chunk there that are not whole).
  [[nodiscard]] std::optional<SimTime> next_for(const Send& send, ChunkId chunk) const {
    std::optional<SimTime> next;
    const auto found = things_.find(key_of(context_.source(send), chunk, send.stage));
    if (found == things_.end()) return next;
    for (const Passing& each : found->second.passing)
      if (const SimTime ready = context_.ready(each.arrival.send, send); !next || ready < *next) next = ready;
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
    Arrival arrival;
    bool unpacked = false;  ///< for a slower link
  };
  /// The arrivals of a chunk at a switch, in one stage.
  struct Thing {
    std::vector<Passing> passing;
    bool stays = false;  ///< one was there whole, and has stayed
  };

  static std::uint64_t key_of(VertexId vertex, ChunkId chunk, Stage stage) {
    return holding_key(vertex, chunk) << 1U | static_cast<std::uint64_t>(stage);
  }

  /// `stays`: what arrives is kept, and more than one send may take it; `single`: a send takes one arrival.
  template <class Unpack>
  std::optional<SimTime> take(const Send& send, ChunkId chunk, Stage stage, bool stays, bool single, Unpack& unpack) {
    const auto found = things_.find(key_of(context_.source(send), chunk, stage));
    if (found == things_.end()) return std::nullopt;
    Thing& thing = found->second;
    const auto ready = [&](const Passing& each) { return context_.ready(each.arrival.send, send); };
    if (single) {
      auto chosen = thing.passing.end();
      for (auto each = thing.passing.begin(); each != thing.passing.end(); ++each) {
        if (ready(*each) > send.start) continue;
        const bool first = context_.taken_along() == TakenAlong::first;
        const auto sooner = [&](const Passing& one, const Passing& other) {
          return one.arrival.time < other.arrival.time;
        };
        if (chosen == thing.passing.end() || (first ? sooner(*each, *chosen) : sooner(*chosen, *each))) chosen = each;
      }
      if (chosen == thing.passing.end()) return std::nullopt;
      unpack(chosen->arrival);
      thing.passing.erase(chosen);
      return std::nullopt;
    }
    std::optional<SimTime> early;
    bool any = false;
    std::vector<Passing> rest;
    for (Passing& each : thing.passing) {
      const SimTime from = ready(each);
      if (from > send.start) {
        if (each.unpacked) early = early ? std::max(*early, from) : from;
        rest.push_back(each);
        continue;
      }
      any = true;
      if (!std::exchange(each.unpacked, true)) unpack(each.arrival);
      if (!stays) continue;
      if (each.arrival.time > send.start)
        rest.push_back(each);
      else
        thing.stays = true;
    }
    thing.passing = std::move(rest);
    // A copy needs one arrival, a sum all that it has taken along so far.
    return stage == Stage::copy && (any || thing.stays) ? std::nullopt : early;
  }

  const Context& context_;
  std::unordered_map<std::uint64_t, Thing> things_;
};

}  // namespace tenex::verifier
