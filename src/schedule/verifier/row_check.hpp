// One NPU's part of the verification by rows: as npu_check.hpp, for schedules that list a link's sends as runs.
//
// Idea: where all sends start at multiples of one time (the row), times are compared as 32-bit numbers of rows. A send
// that starts in row r and takes `latency` has arrived at row r + ceil(latency / row) and not before: rows are
// integers, so the comparison is exact. A run's chunks are consecutive places of a list of all chunks, so that the
// tables, which are kept by place, are read and written in order, several sends at once. Every send of a run is
// compared on its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "schedule/verifier/context.hpp"
#include "schedule/verifier/npu_ledger.hpp"
#include "tenex/base/csr.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex::verifier {

/// What all NPUs share: hops in rows, and the places of chunks.
class RowFrame {
 public:
  using Row = std::int32_t;
  /// A hop in rows, rounded up.
  struct Hop {
    Row busy = 0;
    Row latency = 0;
  };

  /// nullopt where the schedule offers no rows, its places are not all chunks once, or hops differ in what rounding
  /// adds to their latency. O(chunks + classes).
  [[nodiscard]] static std::optional<RowFrame> of(const Context& context, const Schedule& schedule);

  [[nodiscard]] const Hop& hop(std::uint16_t link_class) const { return hops_[link_class]; }
  /// The place of each NPU's chunks.
  [[nodiscard]] const Csr<ChunkId>& owned() const { return owned_; }
  /// The time of an arrival that was computed as `row`; zero for no arrival.
  [[nodiscard]] SimTime arrival(Row row) const {
    return row == 0 ? SimTime::zero() : time_ * std::int64_t{row} - excess_;
  }

 private:
  RowFrame() = default;
  [[nodiscard]] bool set_hops(const Context& context);
  [[nodiscard]] bool set_places(const Collective& collective, std::size_t npus, std::span<const ChunkId> places);

  SimTime time_;    ///< of a row
  SimTime excess_;  ///< what rounding adds to a latency
  std::vector<Hop> hops_;
  Csr<ChunkId> owned_;
};

/// Checks NPUs one at a time. Each thread has its own. The topology must have no switches, all chunks have one size,
/// and all belong to one group.
class RowCheck {
 public:
  using Row = RowFrame::Row;
  using Tally = LedgerTally<Row>;

  RowCheck(const Context& context, const Schedule& schedule, const RowFrame& frame);

  /// Whether all deliveries at `npu` and all its sends obey the rules. If so, they are added to `tally`.
  [[nodiscard]] bool check(NpuId npu, Tally& tally);

 private:
  /// The rows of a run's first and last send in time.
  struct Extent {
    Row first = 0;
    Row last = 0;
  };

  [[nodiscard]] std::optional<Extent> extent(const RowRun& run) const;
  [[nodiscard]] bool receive(LinkId link);
  [[nodiscard]] bool send(LinkId link);
  void enter(const RowRun& run, const Extent& extent, Row latency);
  [[nodiscard]] bool leave(const RowRun& run);
  /// Calls visit(place, row) for every send of the run.
  template <class Visit>
  void each(const RowRun& run, Visit&& visit) const;

  const Context& context_;
  const Schedule& schedule_;
  const RowFrame& frame_;
  RowBuffer buffer_;
  NpuLedger<Row> ledger_;
  std::uint64_t arrived_ = 0;
  std::uint64_t copies_arrived_ = 0;
  Row last_sum_ = 0;
};

}  // namespace tenex::verifier
