// The end of a plan in slots, and the plan as a schedule.

#include "synthesis/pccl/paths/slot_links.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <numeric>
#include <utility>

#include "tenex/schedule/storage/list_builder.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"

namespace tenex {
void SlotLinks::drop(const Bitset& chunks) {
  for (std::uint32_t link = 0; link < rows_.size(); ++link) {
    auto& row = rows_[link];
    for (Time start = 0; start < row.size(); ++start) {
      if (row[start] == kEmptySlot || !chunks.test(row[start])) continue;
      row[start] = kEmptySlot;
      taken_[link].reset(start);
    }
    while (!row.empty() && row.back() == kEmptySlot) row.pop_back();
  }
}

std::vector<PlannedHop<SlotLinks::Time>> SlotLinks::hops() const {
  std::size_t slots = 0;
  for (const auto& row : rows_) slots = std::max(slots, row.size());
  std::vector<std::size_t> next(slots + 1, 0);  // a counting sort by slot
  const auto for_each = [&](auto&& visit) {
    for (std::uint32_t link = 0; link < rows_.size(); ++link)
      for (Time start = 0; start < rows_[link].size(); ++start)
        if (rows_[link][start] != kEmptySlot) visit(link, start, rows_[link][start]);
  };
  for_each([&](std::uint32_t, Time start, std::uint32_t) { ++next[start + 1]; });
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<PlannedHop<Time>> all(next.back());
  for_each([&](std::uint32_t link, Time start, std::uint32_t chunk) { all[next[start]++] = {start, link, chunk}; });
  return all;
}

void SlotLinks::assign(const std::vector<PlannedHop<Time>>& hops) {
  for (auto& row : rows_) row.clear();
  for (auto& taken : taken_) taken = {};
  for (const auto& hop : hops) take(hop.link, hop.start, 0, hop.chunk);
}

SlotLinks::Time SlotLinks::end() const {
  std::size_t slots = 0;
  for (const auto& row : rows_) slots = std::max(slots, row.size());
  return slots == 0 ? 0 : static_cast<Time>(slots) - 1 + per_hop_;
}

Schedule SlotLinks::finish() && {
  taken_ = {};
  return make_slot_schedule(std::move(rows_), slot_);
}

// The storage behind make_slot_schedule().
//
// Encoding: one row per link. A segment is a range of slots; its sends are counted for each slot and then placed, so
// that a row's cache line is read once.

namespace {

using SlotRows = std::vector<std::vector<std::uint32_t>>;

constexpr std::size_t kSegmentSlots = 16;  ///< a cache line of a row
constexpr std::size_t kListBytesPerSend = 16;

class SlotStorage final : public ScheduleStorage {
 public:
  SlotStorage(SlotRows rows, SimTime slot, std::uint64_t sends) : rows_(std::move(rows)), slot_(slot), sends_(sends) {
    for (const auto& row : rows_) slots_ = std::max(slots_, row.size());
    const std::size_t wanted = 1 + std::min(slots_, slots_ * kSegmentSends / std::max<std::uint64_t>(1, sends));
    segment_slots_ = (wanted + kSegmentSlots - 1) / kSegmentSlots * kSegmentSlots;
  }

  std::size_t segments() const override { return (slots_ + segment_slots_ - 1) / segment_slots_; }
  std::uint64_t sends() const override { return sends_; }
  std::string_view kind() const override { return "slots"; }
  StorageParts parts() const override { return {}; }
  bool may_carry_messages() const override { return false; }

  void read(std::size_t segment, SendBuffer& buffer) const override {
    const std::size_t first = segment * segment_slots_;
    std::vector<std::size_t> next(segment_slots_ + 1, 0);
    for_each(first, [&](std::size_t slot, std::size_t /*link*/, std::uint32_t /*chunk*/) { ++next[slot + 1]; });
    std::partial_sum(next.begin(), next.end(), next.begin());
    const std::size_t count = next.back();
    buffer.link.resize(count);
    buffer.chunk.resize(count);
    buffer.start.resize(count);
    for_each(first, [&](std::size_t slot, std::size_t link, std::uint32_t chunk) {
      const std::size_t at = next[slot]++;
      buffer.link[at] = LinkId::at(link);
      buffer.chunk[at] = ChunkId(chunk);
      buffer.start[at] = static_cast<std::int64_t>(first + slot) * slot_;
    });
    buffer.batch = {};
    buffer.batch.link = buffer.link;
    buffer.batch.chunk = buffer.chunk;
    buffer.batch.start = buffer.start;
  }

  std::size_t memory_bytes() const override {
    std::size_t bytes = sizeof(*this);
    for (const auto& row : rows_) bytes += sizeof(row) + row.capacity() * sizeof(std::uint32_t);
    return bytes;
  }

 private:
  template <class Visit>
  void for_each(std::size_t first, Visit&& visit) const {
    for (std::size_t link = 0; link < rows_.size(); ++link) {
      const auto& row = rows_[link];
      const std::size_t end = std::min(row.size(), first + segment_slots_);
      for (std::size_t i = first; i < end; ++i)
        if (row[i] != kEmptySlot) visit(i - first, link, row[i]);
    }
  }

  SlotRows rows_;
  SimTime slot_;
  std::uint64_t sends_;
  std::size_t slots_ = 0;
  std::size_t segment_slots_ = 0;
};

/// In segments, so that the list is built in order.
Schedule as_list(const SlotStorage& storage) {
  ListBuilder list(storage.sends());
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < storage.segments(); ++segment) {
    storage.read(segment, buffer);
    list.append(buffer.batch);
  }
  return list.finish();
}

}  // namespace

Schedule make_slot_schedule(std::vector<std::vector<std::uint32_t>> rows, SimTime slot) {
  std::uint64_t sends = 0;
  std::size_t slots = 0;
  for (auto& row : rows) {
    sends += row.size() - static_cast<std::size_t>(std::count(row.begin(), row.end(), kEmptySlot));
    slots += row.size();
  }
  if (slots * sizeof(std::uint32_t) > sends * kListBytesPerSend)
    return as_list(SlotStorage(std::move(rows), slot, sends));
  for (auto& row : rows) row.shrink_to_fit();
  return Schedule(std::make_shared<const SlotStorage>(std::move(rows), slot, sends));
}

}  // namespace tenex
