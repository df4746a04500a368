// What communications side by side need, before any of them is synthesized.
//
// Two uses of one count. A plan takes the sends that are expected. A row that is to be refused before any work takes
// those that no schedule can do without, and refuses only where the streams share a link whatever their schedules are;
// so it refuses no point that would fit. The bytes follow from the sends by the formulas that the replay itself
// refuses by (spread_bytes(), joint_replay_bytes()).
//
// Fewest sends. Every chunk reaches each of the m-1 other members of its group once in each pass, by a send of its own
// where the algorithm's messages carry one chunk; by a message of several chunks each member is reached once at least.
//
// A shared link for certain. Let the spans of two collectives have one dimension in common. Each schedule is the same
// in all copies of its own dimensions, so the two share a link as soon as they use the same link of one line of that
// dimension, whatever the other coordinates. Of a switch every member uses its link up. On a line or ring the groups
// that lie closer, no longer than half of a ring, use all links between their neighbours both ways, since messages keep
// to shortest paths; and who leaves such a group's block crosses two links in succession, one of which is inside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/workload/training.hpp"
#include "training/collective_models.hpp"
#include "training/iteration_plan.hpp"

namespace tenex {

/// Two streams that a loop lets run side by side.
struct JointPair {
  std::vector<Communication> first;
  std::vector<Communication> second;
  SimTime offset;
  bool operator==(const JointPair&) const = default;
};
/// Those of an iteration whose collectives have a dimension in common, distinct ones. O(layers * pairs).
[[nodiscard]] std::vector<JointPair> joint_pairs(const Iteration& iteration, TrainingLoop loop);

enum class SendCount : std::uint8_t { fewest, expected };

/// What a pair needs.
struct JointNeed {
  std::size_t spread_bytes = 0;  ///< of the larger stream, which gets a quarter of the limit
  std::size_t replay_bytes = 0;  ///< which gets half of it
  std::size_t held_bytes = 0;    ///< sends that are held meanwhile, of both streams
  double sends = 0;              ///< of both streams in all copies
  /// The least limit under which it is not refused; saturates.
  [[nodiscard]] std::size_t limit() const;
};
/// O(communications * dimensions * largest extent).
[[nodiscard]] JointNeed joint_need(const TrainingNetwork& network, const Mapping& mapping, const JointPair& pair,
                                   SendCount count);
/// Whether they may share a link: some dimension in common gives NPUs links that serve several pairs.
[[nodiscard]] bool may_share(const Mapping& mapping, const JointPair& pair);
/// Whether the streams share a link whatever their schedules are.
[[nodiscard]] bool surely_share(const TrainingNetwork& network, const Mapping& mapping, const JointPair& pair);

/// Errors (resource): some pair will not fit under the limit of the network's options, whatever its schedules are.
[[nodiscard]] Status check_joint_memory(const TrainingNetwork& network, const Iteration& iteration, TrainingLoop loop);

}  // namespace tenex
