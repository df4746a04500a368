// A schedule with scaled times, as a view.
//
// Encoding of the ratio: a start is k * from with an unknown k, and k * to is wanted. Write from = odd * 2^shift. Then
// start >> shift is k * odd, and multiplied by the inverse of odd modulo 2^64 it is k. The inverse times `to` is stored
// as one factor (Granlund and Montgomery, PLDI 1994, section 9). Exact wherever k * to fits.
//
// Times keep their order, so segments, tiles and the order of sends in them do not change.
#include "tenex/schedule/views/scaled.hpp"

#include <bit>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "schedule/segments.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"
#include "tenex/schedule/storage/symmetric_schedule.hpp"

namespace tenex {
namespace {

/// Newton's iteration doubles the number of correct bits: an odd number is its own inverse in the lowest three.
std::uint64_t inverse_of(std::uint64_t odd) {
  std::uint64_t inverse = odd;
  for (int bits = 3; bits < 64; bits *= 2) inverse *= 2 - odd * inverse;
  return inverse;
}

class ScaledStorage final : public ScheduleStorage {
 public:
  ScaledStorage(Schedule base, SimTime from, TimeScale scale) : base_(std::move(base)), scale_(scale) {
    if (base_.row_time() % from == SimTime::zero()) row_time_ = scale_(base_.row_time());
  }

  std::size_t segments() const override { return base_.segments(); }
  std::size_t tiles() const override { return base_.tiles(); }
  bool offers_chunks() const override { return base_.offers_chunks(); }
  std::uint64_t sends() const override { return base_.sends(); }
  std::string_view kind() const override { return "scaled"; }
  StorageParts parts() const override { return {}; }
  bool may_carry_messages() const override { return base_.may_carry_messages(); }
  const Payloads* payloads() const override { return base_.payloads(); }
  std::size_t memory_bytes() const override { return sizeof(*this) + base_.memory_bytes(); }

  SimTime row_time() const override { return row_time_; }
  void read_rows(LinkId link, RowBuffer& buffer) const override { base_.read_rows(link, buffer); }
  std::span<const ChunkId> places() const override { return base_.places(); }

  void read(std::size_t segment, SendBuffer& buffer) const override {
    base_.read(segment, buffer);
    scale_times(buffer);
  }

  void read_link(std::size_t tile, LinkId link, SendBuffer& buffer) const override {
    base_.read_link(tile, link, buffer);
    scale_times(buffer);
  }

  void read_chunks(ChunkId first, ChunkId last, SendBuffer& buffer) const override {
    base_.read_chunks(first, last, buffer);
    scale_times(buffer);
  }

 private:
  void scale_times(SendBuffer& buffer) const {
    auto& batch = buffer.batch;
    if (batch.start.empty()) {
      batch.at = scale_(batch.at);
      return;
    }
    const auto starts = own_column(batch.start, buffer.start);
    for (SimTime& start : starts) start = scale_(start);
    batch.start = starts;
  }

  Schedule base_;
  TimeScale scale_;
  SimTime row_time_;  ///< zero where the base has no rows of scaled times
};

}  // namespace

TimeScale::TimeScale(SimTime from, SimTime to) {
  ensure(from > SimTime::zero() && to > SimTime::zero(), "a scale of times needs positive times");
  const auto divisor = static_cast<std::uint64_t>(from.count());
  shift_ = std::countr_zero(divisor);
  factor_ = inverse_of(divisor >> shift_) * static_cast<std::uint64_t>(to.count());
}

Schedule scaled(const Schedule& schedule, SimTime from, SimTime to) {
  if (from == to || schedule.sends() == 0) return schedule;
  const TimeScale scale(from, to);
  TENEX_EXPECTS(*last_start(schedule) % from == SimTime::zero(), "starts that are multiples of `from`");
  const auto* symmetric = symmetric_storage(schedule);
  if (symmetric == nullptr) return Schedule(std::make_shared<const ScaledStorage>(schedule, from, scale));
  // The result stays symmetric for the code that knows symmetric schedules, above all the orbit check.
  std::vector<OrbitSend> orbits(symmetric->orbits().begin(), symmetric->orbits().end());
  for (OrbitSend& orbit : orbits) orbit.start = scale(orbit.start);
  return make_symmetric_schedule(symmetric->group(), symmetric->chunks(), std::move(orbits));
}

}  // namespace tenex
