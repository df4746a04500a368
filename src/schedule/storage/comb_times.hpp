// The slots and waits of a comb timetable (comb_schedule.hpp).
//
// A period has P slots in each dimension and direction. Stage 1 of the trees with teeth along the dimension takes a
// slot per meeting point and round, farthest first, so that all sums of a round meet at the same time. The stages after
// it take the slots right after the time at which the sums of their round have met, if all goes well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tenex/base/quantity.hpp"
#include "tenex/schedule/storage/comb_schedule.hpp"

namespace tenex {

/// What a slot of a dimension carries.
struct CombSlot {
  static constexpr std::uint32_t kIdle = std::numeric_limits<std::uint32_t>::max();
  std::uint32_t stage = kIdle;  ///< 0 is that of the teeth
  std::uint32_t type = 0;       ///< the dimension of the tree's teeth
  std::uint32_t round = 0;      ///< of stages 0 and 1; a later stage's round follows from the line
  std::uint32_t rank = 0;       ///< of stage 0: the meeting point, counted in the order of slots
};

/// A wave along a line: periods from the start of a tree's period to the start of the wave, in its two parts.
struct CombWave {
  std::uint32_t sum_periods = 0;
  std::uint32_t copy_periods = 0;
};

/// A stage of a tree.
struct CombStage {
  std::uint32_t meeting = 0;  ///< coordinate at which its waves meet
  CombWave up;                ///< from coordinate 0
  CombWave down;
};

/// The timetable's tables, computed from its data. Expects: data without a problem.
class CombTimes {
 public:
  explicit CombTimes(const CombSchedule& data);

  [[nodiscard]] std::size_t dimensions() const { return sizes_.size(); }
  [[nodiscard]] std::uint32_t slots() const { return slots_; }  ///< of a period
  [[nodiscard]] SimTime period() const { return slot_ * std::int64_t{slots_}; }
  [[nodiscard]] std::uint32_t trees() const { return trees_; }  ///< of a period; chunk q * trees() + t has tree t
  [[nodiscard]] std::span<const CombSlot> slots_of(std::size_t dimension) const { return layout_[dimension]; }
  /// How much later the waves down a dimension start than those up.
  [[nodiscard]] SimTime delay_down(std::size_t dimension) const {
    return sizes_[dimension] % 2 == 0 ? lag_ : SimTime::zero();
  }
  /// The tree with teeth along `type` whose first meeting point is `meeting`.
  [[nodiscard]] std::uint32_t tree(std::uint32_t type, std::uint32_t round, std::uint32_t meeting) const {
    return first_tree_[type][round] + (dimensions() > 1 ? meeting : 0);
  }
  [[nodiscard]] const CombStage& stage(std::uint32_t tree, std::uint32_t stage) const {
    return stages_[tree * dimensions() + stage];
  }
  /// The last arrival of a tree's chunk, counted from the start of its period.
  [[nodiscard]] SimTime end_of(std::uint32_t tree) const { return end_[tree]; }

 private:
  void lay_out(const std::vector<std::uint32_t>& rounds);
  void number(const std::vector<std::uint32_t>& rounds);
  void time_tree(std::uint32_t type, std::uint32_t round, std::uint32_t meeting);
  [[nodiscard]] std::uint32_t slot_of(std::size_t dimension, const CombSlot& wanted) const;
  [[nodiscard]] std::uint32_t periods_until(SimTime ready, SimTime wave) const;

  std::vector<std::uint32_t> sizes_;
  SimTime slot_;
  SimTime lag_;
  std::uint32_t slots_ = 0;
  std::uint32_t trees_ = 0;
  std::vector<std::vector<CombSlot>> layout_;           ///< per dimension
  std::vector<std::vector<std::uint32_t>> place_;       ///< per dimension: slots by stage, round and rank
  std::vector<std::vector<std::uint32_t>> first_tree_;  ///< per type and round
  std::vector<CombStage> stages_;                       ///< per tree and stage
  std::vector<SimTime> end_;                            ///< per tree
};

}  // namespace tenex
