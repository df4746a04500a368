// A list of sends that also offers link-major access, for tests: time is cut into tiles of equally many distinct
// starts.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"

namespace tenex::test {

/// Slow and obvious: each read looks at all sends.
class LinkMajorStorage final : public ScheduleStorage {
 public:
  LinkMajorStorage(const std::vector<Send>& sends, std::size_t starts_per_tile)
      : list_(make_list_schedule(sends)), sends_(list_sends(list_)) {
    std::set<SimTime> starts;
    for (const auto& send : sends_) starts.insert(send.start);
    std::size_t i = 0;
    for (const SimTime start : starts)
      if (i++ % starts_per_tile == 0) tile_begin_.push_back(start);
  }

  std::size_t segments() const override { return list_.segments(); }
  std::uint64_t sends() const override { return list_.sends(); }
  void read(std::size_t segment, SendBuffer& buffer) const override {
    ++segments_read_;
    list_.read(segment, buffer);
  }
  std::size_t tiles() const override { return std::max<std::size_t>(1, tile_begin_.size()); }
  void read_link(std::size_t tile, LinkId link, SendBuffer& buffer) const override {
    buffer = {};
    bool messages = false;
    for (const auto& send : sends_) {
      if (send.link != link || tile_of(send.start) != tile) continue;
      buffer.link.push_back(send.link);
      buffer.chunk.push_back(send.chunk);
      buffer.start.push_back(send.start);
      buffer.stage.push_back(send.stage);
      buffer.message.push_back(send.message);
      buffer.destination.push_back(send.destination);
      messages = messages || send.message.exists() || send.destination.exists();
    }
    buffer.batch = {buffer.link, buffer.chunk, buffer.start, buffer.stage, {}, {}, SimTime::zero(), Stage::copy};
    if (!messages) return;
    buffer.batch.message = buffer.message;
    buffer.batch.destination = buffer.destination;
  }
  std::size_t memory_bytes() const override { return list_.memory_bytes(); }
  std::string_view kind() const override { return "link-major"; }
  StorageParts parts() const override { return {}; }
  /// How often read() was called. It tells whether a reader went by time or by link.
  std::atomic<std::size_t>& segments_read() const { return segments_read_; }

 private:
  std::size_t tile_of(SimTime start) const {
    const auto after = std::upper_bound(tile_begin_.begin(), tile_begin_.end(), start);
    return static_cast<std::size_t>(after - tile_begin_.begin()) - 1;
  }

  Schedule list_;
  std::vector<Send> sends_;
  std::vector<SimTime> tile_begin_;
  mutable std::atomic<std::size_t> segments_read_ = 0;
};

/// A schedule in such a storage, and the counts of its reads.
class LinkMajor {
 public:
  explicit LinkMajor(const std::vector<Send>& sends, std::size_t starts_per_tile = 3)
      : storage_(std::make_shared<const LinkMajorStorage>(sends, starts_per_tile)) {}
  Schedule schedule() const { return Schedule(storage_); }
  std::size_t segments_read() const { return storage_->segments_read(); }
  void forget_reads() const { storage_->segments_read() = 0; }

 private:
  std::shared_ptr<const LinkMajorStorage> storage_;
};

}  // namespace tenex::test
