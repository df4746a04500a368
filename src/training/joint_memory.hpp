// The memory that concurrent communications need, known before any of them is synthesized.
//
// The count of sends has two uses. A plan takes the expected sends. The refusal of a point before any work takes the
// fewest sends that any schedule has, and refuses only if the streams share a link for any schedules; so it refuses no
// point that would fit. The bytes follow from the sends by the formulas by which the replay itself refuses
// (spread_bytes(), joint_replay_bytes()).
//
// Fewest sends. In each pass every chunk reaches each of the m-1 other members of its group, by a separate send if the
// algorithm's messages carry one chunk. With messages of several chunks, each member is reached by at least one
// message.
//
// A certain shared link. Let the spans of two collectives have one common dimension. Each schedule is the same in all
// copies of its dimensions. So the two share a link if they use the same link of any line of that dimension, whatever
// the other coordinates are. On a switch, every member uses its link to the switch. On a line or ring, take the groups
// whose members are closer together and which are no longer than half of a ring. They use all links between their
// neighbours both ways, since messages keep to shortest paths. A message of the other collective leaves the block of
// such a group and crosses two successive links, one of which lies inside a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/workload/training.hpp"
#include "training/collective_models.hpp"
#include "training/iteration_traffic.hpp"

namespace tenex {

/// Two streams that a loop runs concurrently.
struct JointPair {
  std::vector<Communication> first;
  std::vector<Communication> second;
  SimTime offset;
  bool operator==(const JointPair&) const = default;
};
/// The distinct pairs of an iteration whose collectives have a common dimension. O(layers * pairs).
[[nodiscard]] std::vector<JointPair> joint_pairs(const Iteration& iteration, TrainingLoop loop);

enum class SendCount : std::uint8_t { fewest, expected };

/// The memory and sends of a pair.
struct JointNeed {
  std::size_t spread_bytes = 0;  ///< of the larger stream; may take a quarter of the limit
  std::size_t replay_bytes = 0;  ///< may take half of the limit
  std::size_t held_bytes = 0;    ///< of the spread sends that both streams hold
  double sends = 0;              ///< of both streams in all copies
  /// The least limit under which the pair is not refused; saturates.
  [[nodiscard]] std::size_t limit() const;
};
/// Counts the memory and sends of a pair. O(communications * dimensions * largest extent).
[[nodiscard]] JointNeed joint_need(const TrainingNetwork& network, const Mapping& mapping, const JointPair& pair,
                                   SendCount count);
/// Whether the streams may share a link: in some common dimension, a link serves several pairs of NPUs.
[[nodiscard]] bool may_share(const Mapping& mapping, const JointPair& pair);
/// Whether the streams share a link for any schedules.
[[nodiscard]] bool surely_share(const TrainingNetwork& network, const Mapping& mapping, const JointPair& pair);

/// Errors (resource): some pair cannot fit under the limit of the network's options, for any schedules.
[[nodiscard]] Status check_joint_memory(const TrainingNetwork& network, const Iteration& iteration, TrainingLoop loop);

}  // namespace tenex
