// A list of sends that also offers access by rows, for tests; and the sends that a storage's runs stand for.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"

namespace tenex::test {

/// Slow and obvious: each read looks at all sends. Runs are as long as possible; of listed ones, those of equal steps.
class RowStorage final : public ScheduleStorage {
 public:
  /// `places`: the chunk at each place, or empty: runs are listed.
  RowStorage(const std::vector<Send>& sends, std::vector<ChunkId> places)
      : list_(make_list_schedule(sends)), sends_(list_sends(list_)), places_(std::move(places)) {
    std::int64_t common = 0;
    std::int64_t last = 0;
    for (const Send& send : sends_) {
      common = std::gcd(common, send.start.count());
      last = std::max(last, std::abs(send.start.count()));
      messages_ = messages_ || send.message.exists() || send.destination.exists();
    }
    row_ = SimTime::of(std::max<std::int64_t>(1, common));
    if (messages_ || last / row_.count() >= kMostSendRows) row_ = SimTime::zero();
  }

  std::size_t segments() const override { return list_.segments(); }
  std::uint64_t sends() const override { return list_.sends(); }
  void read(std::size_t segment, SendBuffer& buffer) const override {
    ++other_reads_;
    list_.read(segment, buffer);
  }
  std::size_t tiles() const override { return 1; }
  void read_link(std::size_t /*tile*/, LinkId link, SendBuffer& buffer) const override {
    ++other_reads_;
    buffer = {};
    for (const Send& send : sends_of(link)) {
      buffer.link.push_back(send.link);
      buffer.chunk.push_back(send.chunk);
      buffer.start.push_back(send.start);
      buffer.stage.push_back(send.stage);
      buffer.message.push_back(send.message);
      buffer.destination.push_back(send.destination);
    }
    buffer.batch = {buffer.link, buffer.chunk, buffer.start, buffer.stage, {}, {}, SimTime::zero(), Stage::copy};
    if (!messages_) return;
    buffer.batch.message = buffer.message;
    buffer.batch.destination = buffer.destination;
  }
  SimTime row_time() const override { return row_; }
  std::span<const ChunkId> places() const override { return places_; }
  void read_rows(LinkId link, RowBuffer& buffer) const override {
    bool begins = true;
    std::uint32_t last_place = 0;
    for (const Send& send : sends_of(link)) {
      const std::uint32_t place = place_of(send.chunk);
      const auto row = static_cast<std::int32_t>(send.start / row_);
      if (begins || !extend(buffer, send.stage, place, last_place, row))
        buffer.runs.push_back({places_.empty() ? buffer.listed : place, 1, row, 1, send.stage, places_.empty()});
      if (places_.empty()) {
        *buffer.room(1) = send.chunk;
        ++buffer.listed;
      }
      begins = false;
      last_place = place;
    }
  }
  std::size_t memory_bytes() const override { return list_.memory_bytes(); }
  std::string_view kind() const override { return "rows"; }
  StorageParts parts() const override { return {}; }
  /// How often anything but rows was read.
  std::atomic<std::size_t>& other_reads() const { return other_reads_; }

 private:
  std::vector<Send> sends_of(LinkId link) const {
    std::vector<Send> own;
    for (const Send& send : sends_)
      if (send.link == link) own.push_back(send);
    return own;
  }
  std::uint32_t place_of(ChunkId chunk) const {
    const auto found = std::ranges::find(places_, chunk);
    return found == places_.end() ? chunk.value() : static_cast<std::uint32_t>(found - places_.begin());
  }
  /// Adds a send to the last run if it goes on there.
  bool extend(RowBuffer& buffer, Stage stage, std::uint32_t place, std::uint32_t last_place, std::int32_t row) const {
    RowRun& run = buffer.runs.back();
    const std::int32_t step = row - (run.row + static_cast<std::int32_t>(run.count - 1) * run.step);
    if (run.stage != stage || (run.count > 1 && step != run.step) || step < -1'000'000 || step > 1'000'000)
      return false;
    if (!run.listed && place != last_place + 1) {
      // Places that fall: the run is told from its other end, as a reversal does.
      if (place + 1 != last_place || (run.count > 1)) return false;
      run = {place, 2, row, run.row - row, stage, false};
      return true;
    }
    run.step = step;
    ++run.count;
    return true;
  }

  Schedule list_;
  std::vector<Send> sends_;
  std::vector<ChunkId> places_;
  SimTime row_;
  bool messages_ = false;
  mutable std::atomic<std::size_t> other_reads_ = 0;
};

/// All sends that a storage's runs stand for, by (start, link).
inline std::vector<Send> sends_by_rows(const Schedule& schedule, std::size_t links) {
  std::vector<Send> sends;
  RowBuffer buffer;
  for (std::size_t link = 0; link < links; ++link) {
    buffer.clear();
    schedule.read_rows(LinkId::at(link), buffer);
    for (const RowRun& run : buffer.runs)
      for (std::uint32_t i = 0; i < run.count; ++i) {
        const ChunkId place = run.listed ? buffer.list[run.first + i] : ChunkId(run.first + i);
        const std::int64_t row = run.row + std::int64_t{run.step} * i;
        const bool named = !run.listed && !schedule.places().empty();
        sends.push_back(
            {schedule.row_time() * row, LinkId::at(link), named ? schedule.places()[place.index()] : place, run.stage});
      }
  }
  return list_sends(make_list_schedule(std::move(sends)));
}

}  // namespace tenex::test
