// The sends of a communication while a joint replay plays it, and the schedule that they become.
//
// Encoding: columns, link by link, each link's sends in order of start; the links in the order in which sends started.
// A segment of the schedule is a part of that order, and each link's place in its column at the beginning of the
// segment is found by the segment's time. So nothing is sorted, and a send takes 16 bytes (17 where reductions and
// copies mix).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// Sends at times from the beginning of their communication.
struct PlayedSends {
  std::vector<std::uint64_t> first;  ///< per link its first send, and the end
  std::vector<SimTime> start;        ///< until a send starts, its planned start
  std::vector<ChunkId> chunk;
  std::vector<Stage> stage;          ///< empty: all are `uniform_stage`
  std::vector<MessageId> message;    ///< empty: none is a hop of a message
  std::vector<NpuId> destination;    ///< likewise
  std::vector<LinkId> order;         ///< links, in the order in which sends started; as long as `chunk` at the end
  std::vector<std::size_t> segment;  ///< first send of each segment in `order`
  std::vector<SimTime> segment_start;
  SimTime last_start;
  std::size_t first_of_instant = 0;  ///< in `order`: of the sends that started at `last_start`
  Stage uniform_stage = Stage::copy;

  [[nodiscard]] std::size_t size() const { return chunk.size(); }
  [[nodiscard]] Stage stage_of(std::size_t position) const { return stage.empty() ? uniform_stage : stage[position]; }

  /// Makes the columns: each link's sends in planned order.
  void load(const Schedule& given, std::size_t links);
  /// The send at this position, the next one of its link, starts. Sends of one time come into the order of links.
  void note_start(std::size_t position, LinkId link, SimTime time);
};

/// Bytes of PlayedSends: per send at most, more where some are hops of messages, and per link.
constexpr std::size_t kPlayedBytes = sizeof(SimTime) + sizeof(ChunkId) + sizeof(Stage) + sizeof(LinkId);
constexpr std::size_t kPlayedBytesOfHop = sizeof(MessageId) + sizeof(NpuId);
constexpr std::size_t kPlayedBytesOfLink = sizeof(std::uint64_t);

/// The schedule, once all sends have started; `given` has its payloads. Reading a segment takes O(its sends + links)
/// time, and 8 bytes per link.
[[nodiscard]] Schedule make_played_schedule(PlayedSends sends, Schedule given);

}  // namespace tenex
