// The time-expanded model of whole chunks (TE-CCL, section III, appendices A, C and F), and its answer.
//
// A variable for every send that could help: chunk, link and epoch, where the chunk can be at the link's source by
// then, is not yet at its target, and can still reach a destination from there by the horizon. Other sends are useless
// (TE-CCL, section III). An NPU receives a chunk at most once; a switch that copies, too; another switch sends on what
// it received, each arrival once. What a vertex holds is the sum of earlier arrivals:
//   holds[c,v,k] = holds[c,v,k-1] + arrivals of c at v in epoch k,
//   sends of c from v over a link up to epoch k <= holds[c,v,k].
// To a switch that does not copy, a vertex that copies sends as often as the switch shall send on: there each send is
// no more than holds[c,v,k], times the most that fit into an epoch.
// A switch with a limited buffer (appendix B) keeps a chunk from the epoch of its arrival until its last send from
// there starts. Where an arrival is within an epoch, the chunk counts from the start of this epoch, so that plans at
// the starts of their epochs keep the limit in picoseconds, too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synthesis/solvers/plan_player.hpp"
#include "synthesis/solvers/program.hpp"
#include "synthesis/te_ccl/epochs.hpp"
#include "tenex/schedule/send.hpp"

namespace tenex::te_ccl {

/// Epochs of a path between vertices that cannot be reached.
inline constexpr int kNoEpoch = 1 << 28;

/// What is there before the first epoch of a model, and what is wanted of it.
struct EpochState {
  /// By chunk and vertex (chunk * vertices + vertex): the epoch from which the vertex holds the chunk; kNoEpoch.
  std::vector<int> held_from;
  /// The same shape: whether the vertex shall receive the chunk.
  std::vector<bool> wanted;
  std::vector<PlannedSend> under_way;  ///< sends of epochs before 0 (negative) that may still take their links
};
[[nodiscard]] EpochState first_state(const Instance& instance);

/// Least epochs from every vertex to every other one (row: from), outside all windows. O(vertices * links log
/// vertices).
[[nodiscard]] std::vector<std::vector<int>> epoch_distances(const Topology& topology, const EpochGrid& grid);
/// The least horizon that distances allow.
[[nodiscard]] int least_horizon(const Instance& instance, const EpochGrid& grid, const EpochState& state);

/// A model and the sends that its first columns stand for.
struct EpochModel {
  LinearProgram program;
  std::vector<PlannedSend> sends;  ///< column i is send i
};

/// How a model treats what is wanted.
struct Wish {
  int horizon = 0;      ///< every arrival is by the start of this epoch ...
  bool all = true;      ///< ... of all that is wanted; otherwise sends start before it and as much as possible is won
  bool early = false;   ///< all: arrivals win the more the sooner (the objective of TE-CCL, section III)
  bool limits = false;  ///< buffers of switches are limited; otherwise the model has more plans than there are
  bool waits = true;    ///< NPUs may pass on later what they received; otherwise at once or never (TE-CCL, Fig. 11)
  double reward = 0.5;  ///< not all: what a chunk on its way wins at most (gamma of TE-CCL, appendix D)
  /// all: by process group: the least sum of weight * finish epoch, the epoch at whose start the last chunk of the
  /// group has arrived (TE-CCL, section 5, priorities), and of such plans one with few and early sends; empty: no
  /// groups are weighed
  std::span<const std::int64_t> weights = {};
};

/// Models with more columns of sends, or more terms in their rows, are not built: they are then empty. Sums over the
/// epochs so far have a term for each of them, so terms grow with the square of the horizon where links take long.
inline constexpr std::size_t kMostColumns = 60'000;
inline constexpr std::size_t kMostTerms = 1'000'000;

[[nodiscard]] EpochModel build_model(const Instance& instance, const EpochGrid& grid, const EpochState& state,
                                     const Wish& wish);
/// The sends of a solution, in order of epoch, link and chunk; several that are alike follow each other.
[[nodiscard]] std::vector<PlannedSend> sends_of(const EpochModel& model, const std::vector<double>& values);
/// The sends at their times: those that share an epoch and a link follow each other. In order of epoch.
[[nodiscard]] std::vector<Send> timed(const Instance& instance, const EpochGrid& grid, std::vector<PlannedSend> sends);

}  // namespace tenex::te_ccl
