// Joint replay: two streams of communications on the same links at the same time.
//
// Idea. Every communication has a schedule of its own, verified. A joint replay keeps, for each link, the order that
// each schedule says, and lets the two streams take turns: no send starts before its schedule says (counted from the
// actual beginning of its communication), before what it carries is at its source, before the sends planned before it
// on its link, or while its link is taken. When a link is free it takes, of the two sends that could start, the one
// that could longest; the first stream's among equals. At one instant arrivals come before starts.
//
// What follows, by induction over the given schedule: no end is sooner than with the network alone, and where the two
// streams share no link every send starts as planned, so the ends are those of each stream alone. (The ends may be
// later than one stream after the other would be: a small message that waits behind a large one may hold up, a hop
// later, the next large one.)
//
// What a send waits for. A copy: the chunk at its source. A partial sum, or the first copy of a sum: every partial sum
// that the given schedule ever delivers there. That is exact where sums travel in trees, each NPU sending its own once,
// after all that it receives; other schedules are refused. A later hop of a message: the hop before it, but what a
// switch with virtual cut-through lets it start earlier (tenex/topology/hand_over.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// One communication of a stream. Without a collective it is a pause: a message that takes its time beside the links.
struct JointPart {
  std::shared_ptr<const Collective> collective;
  Schedule schedule;  ///< a valid one; sums in trees
  SimTime pause;      ///< of a pause
};

/// Communications one after the other: each begins when all sends of the one before it have arrived.
struct JointStream {
  SimTime begin;
  std::vector<JointPart> parts;
};

/// What became of one communication.
struct PlayedPart {
  SimTime begin;
  SimTime end;        ///< its last useful arrival
  Schedule schedule;  ///< actual starts, counted from `begin`; empty for a pause
};

/// What became of both streams.
struct JointReplay {
  std::array<SimTime, 2> ends;  ///< by stream: of its last communication; an empty stream ends when it begins
  std::vector<PlayedPart> first;
  std::vector<PlayedPart> second;
};

/// Bytes at the peak of replay_jointly(), its results included, what the schedules take already aside. A send takes 17
/// bytes, a hop of a message 25 (over virtual cut-through 41), a chunk at a member 4, a link about 150. O(parts).
[[nodiscard]] std::size_t joint_replay_bytes(const Topology& topology, const JointStream& first,
                                             const JointStream& second);

/// What the bytes of a joint replay follow from, of one communication.
struct JointPartSizes {
  std::size_t sends = 0;
  bool messages = false;        ///< some sends are hops of messages
  bool early = false;           ///< and some switch passes them on before their whole arrival
  std::size_t table_words = 0;  ///< members times chunks of all groups; of an All-to-All all chunks
  std::size_t other_words = 0;  ///< pairs of a relay and a chunk that it is brought, at most
};
/// The same from sizes alone, for plans. O(parts).
[[nodiscard]] std::size_t joint_replay_bytes(std::size_t links, std::span<const JointPartSizes> first,
                                             std::span<const JointPartSizes> second);

/// The joint replay. Errors: (unsupported) a schedule whose sums do not travel in trees, switches that cut through or
/// have a limited buffer; (resource) more than `memory_limit_bytes`, or ends beyond the range of time. Expects:
/// collectives of the topology's NPUs, and no time below zero. Ensures: each communication begins when the one before
/// it has ended. Deterministic.
/// O((sends + links) log time) time: 0.1 to 0.2 us per send (tests/benchmark/replay_benchmark.cpp).
[[nodiscard]] Result<JointReplay> replay_jointly(const Topology& topology, Occupancy occupancy,
                                                 const JointStream& first, const JointStream& second,
                                                 std::size_t memory_limit_bytes);

/// Two sends at once on a link, if there are any: over all parts, each counted from its beginning. Written from the
/// definition alone: it reads sends in order of their starts and knows nothing of the replay. O(sends log parts) time,
/// 8 bytes per link.
[[nodiscard]] std::optional<LinkId> find_shared_link(const Topology& topology, Occupancy occupancy,
                                                     std::span<const JointPart> parts,
                                                     std::span<const PlayedPart> played);

}  // namespace tenex
