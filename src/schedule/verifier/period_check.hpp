// One NPU's part of the verification by periods: as npu_check.hpp, for schedules that repeat their trees in every
// period with new chunks (schedule/storage/periodic_link.hpp).
//
// Idea: a use of a link stands for one send per chunk of its tree: chunk q * trees + t starts q periods after chunk t.
// So all sends of the chunks of a tree are those of its last chunk, shifted by whole periods, and what holds for that
// chunk (its source has it in time, sums leave once, everyone gets it) holds for each. Sends of a link differ by whole
// periods from two of its uses, so no two overlap if the uses do not within a period and over its end. Nothing else is
// taken from the schedule: the uses are the sends, and every number of the verdict follows from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "schedule/storage/periodic_link.hpp"
#include "schedule/verifier/context.hpp"
#include "schedule/verifier/npu_ledger.hpp"
#include "tenex/base/csr.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex::verifier {

/// The trees of a periodic schedule, each of which stands for its chunks.
class TreeClasses {
 public:
  using Time = SimTime::Rep;

  /// nullopt where the schedule has no periods, or a tree's chunks differ in size, group or owner (an All-Reduce has no
  /// owners). O(chunks).
  [[nodiscard]] static std::optional<TreeClasses> of(const Context& context, const Schedule& schedule);

  [[nodiscard]] std::size_t trees() const { return trees_; }                 ///< that have chunks
  [[nodiscard]] std::uint32_t period_trees() const { return frame_.trees; }  ///< with those that have none
  [[nodiscard]] Time period() const { return frame_.period.count(); }
  [[nodiscard]] std::int64_t chunks_of(std::uint32_t tree) const {
    return static_cast<std::int64_t>((frame_.chunks - 1 - tree) / frame_.trees) + 1;
  }
  /// Which trees' chunks each NPU owns.
  [[nodiscard]] const Csr<ChunkId>& owned() const { return owned_; }

 private:
  PeriodFrame frame_;
  std::size_t trees_ = 0;
  Csr<ChunkId> owned_;
};

/// Checks NPUs one at a time. Each thread has its own. The topology must have no switches.
class PeriodCheck {
 public:
  using Time = TreeClasses::Time;
  /// Sends are those of all chunks, waste and roots those of one chunk per tree, and times those of all chunks.
  using Tally = LedgerTally<Time>;

  PeriodCheck(const Context& context, const Schedule& schedule, const TreeClasses& classes);

  /// Whether all deliveries at `npu` and all its sends obey the rules. If so, they are added to `tally`.
  [[nodiscard]] bool check(NpuId npu, Tally& tally);

 private:
  [[nodiscard]] bool read(LinkId link);
  [[nodiscard]] bool exclusive(Time busy) const;
  [[nodiscard]] bool receive(LinkId link, Tally& own);
  [[nodiscard]] bool send(LinkId link);
  [[nodiscard]] Time last_start(const LinkUse& use) const;

  const Context& context_;
  const Schedule& schedule_;
  const TreeClasses& classes_;
  std::vector<LinkUse> uses_;
  NpuLedger<Time> ledger_;
  std::uint64_t arrived_ = 0;  ///< trees' last chunks
  std::uint64_t copies_arrived_ = 0;
  Time last_sum_ = 0;
};

}  // namespace tenex::verifier
