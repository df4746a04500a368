// All-Reduce as a view: a reduction's segments, then a gather's segments shifted by the reduction's time.
//
// The gather starts at T, the reduction's last arrival, which lies after every start of the reduction. So the segments
// of the two parts cover disjoint intervals as they are, and so do their tiles. Reading a segment of the gather copies
// at most its start column, and its message column if both parts number messages: the gather's numbers follow the
// reduction's.
#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "schedule/segments.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"
#include "tenex/schedule/views/views.hpp"

namespace tenex {
namespace {

class SequenceStorage final : public ScheduleStorage {
 public:
  SequenceStorage(Schedule first, Schedule second, SimTime shift, MessageId::Rep message_shift)
      : first_(std::move(first)), second_(std::move(second)), shift_(shift), message_shift_(message_shift) {}

  StorageParts parts() const override { return {SequenceParts{first_, second_, shift_, message_shift_}}; }

  std::size_t segments() const override { return first_.segments() + second_.segments(); }
  std::size_t tiles() const override {
    return first_.tiles() == 0 || second_.tiles() == 0 ? 0 : first_.tiles() + second_.tiles();
  }
  bool may_carry_messages() const override { return first_.may_carry_messages() || second_.may_carry_messages(); }
  std::uint64_t sends() const override { return first_.sends() + second_.sends(); }
  std::size_t memory_bytes() const override { return sizeof(*this) + first_.memory_bytes() + second_.memory_bytes(); }
  std::string_view kind() const override { return "sequence"; }

  /// Both parts must have the same rows, and the second part must be shifted by a number of them.
  SimTime row_time() const override {
    const SimTime time = first_.row_time();
    const bool fits = time > SimTime::zero() && time == second_.row_time() && shift_ % time == SimTime::zero() &&
                      shift_ / time < kMostSendRows;
    return fits ? time : SimTime::zero();
  }
  std::span<const ChunkId> places() const override {
    return same_places() ? first_.places() : std::span<const ChunkId>();
  }

  void read_rows(LinkId link, RowBuffer& buffer) const override {
    const auto before = buffer.runs.size();
    first_.read_rows(link, buffer);
    const auto between = buffer.runs.size();
    second_.read_rows(link, buffer);
    const auto shift = static_cast<std::int32_t>(shift_ / first_.row_time());
    for (auto i = between; i < buffer.runs.size(); ++i) buffer.runs[i].row += shift;
    if (same_places()) return;
    list_runs(first_.places(), before, between, buffer);
    list_runs(second_.places(), between, buffer.runs.size(), buffer);
  }

  void read(std::size_t segment, SendBuffer& buffer) const override {
    if (segment < first_.segments()) {
      first_.read(segment, buffer);
    } else {
      second_.read(segment - first_.segments(), buffer);
      shift_starts(buffer);
      if (message_shift_ != 0) shift_messages(buffer);
    }
  }

  void read_link(std::size_t tile, LinkId link, SendBuffer& buffer) const override {
    if (tile < first_.tiles()) {
      first_.read_link(tile, link, buffer);
    } else {
      second_.read_link(tile - first_.tiles(), link, buffer);
      shift_starts(buffer);
    }
  }

 private:
  [[nodiscard]] bool same_places() const {
    return first_.places().data() == second_.places().data() && first_.places().size() == second_.places().size();
  }

  /// Lists the chunks of the runs first .. last-1, which name them by `places`.
  static void list_runs(std::span<const ChunkId> places, std::size_t first, std::size_t last, RowBuffer& buffer) {
    if (places.empty()) return;
    for (auto i = first; i < last; ++i) {
      RowRun& run = buffer.runs[i];
      const auto chunks = places.subspan(run.first, run.count);
      std::ranges::copy(chunks, buffer.room(chunks.size()));
      run.first = buffer.listed;
      run.listed = true;
      buffer.listed += run.count;
    }
  }

  void shift_starts(SendBuffer& buffer) const {
    auto& batch = buffer.batch;
    batch.at += shift_;
    if (batch.start.empty()) return;
    const auto starts = own_column(batch.start, buffer.start);
    for (SimTime& start : starts) start += shift_;
    batch.start = starts;
  }

  void shift_messages(SendBuffer& buffer) const {
    auto& batch = buffer.batch;
    if (batch.message.empty()) return;
    const auto messages = own_column(batch.message, buffer.message);
    for (MessageId& message : messages)
      if (message.exists()) message = MessageId(message.value() + message_shift_);
    batch.message = messages;
  }

  Schedule first_;
  Schedule second_;
  SimTime shift_;
  MessageId::Rep message_shift_;
};

/// One more than the largest message id; 0 where no send belongs to a message.
std::uint64_t messages_in(const Schedule& schedule) {
  std::uint64_t count = 0;
  if (!schedule.may_carry_messages()) return count;
  for_each_send(schedule, [&](const Send& send) {
    if (send.message.exists()) count = std::max<std::uint64_t>(count, std::uint64_t{send.message.value()} + 1);
  });
  return count;
}

}  // namespace

Schedule then_gather(const Instance& instance, const Schedule& reduction, const Schedule& gather) {
  const SimTime shift = last_arrival(instance, reduction);
  const std::uint64_t messages = messages_in(reduction);
  ensure(messages + messages_in(gather) < MessageId::none().value(), "then_gather: more messages than ids");
  Schedule both(
      std::make_shared<const SequenceStorage>(reduction, gather, shift, static_cast<MessageId::Rep>(messages)));
  TENEX_ENSURES(both.sends() == reduction.sends() + gather.sends(), "the sends of both");
  TENEX_ENSURES(last_arrival(instance, both) == shift + last_arrival(instance, gather), "the time of both");
  return both;
}

Schedule make_sequence_view(SequenceParts parts) {
  return Schedule(std::make_shared<const SequenceStorage>(std::move(parts.first), std::move(parts.second), parts.shift,
                                                          parts.message_shift));
}

}  // namespace tenex
