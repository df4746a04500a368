// Schedule: timed sends on links, as a cheap value: shared immutable storage, read segment by segment.
//
// Segments cover disjoint, increasing intervals of start time (no start time is split over two segments), so threads
// can read them in any order and a streaming reader sees sends in time order. Storages are plain data with one virtual
// interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/send.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The contents of sends that carry several chunks at once, or sums whose contributors are stated (messages of
/// simulated programs). Payload i is the list of chunks [first[i], first[i+1]) of `chunks`, all of one process group. A
/// send whose chunk id is collective.chunks() + i carries payload i; it takes its link for the serialization time of
/// all its bytes together.
///
/// A payload may state its contributors: ranks of its group, in increasing order. A partial sum with this payload is
/// made of their contributions alone, which its source must hold as disjoint sums: its own contribution, and what has
/// arrived. So a vertex may send its own input after it has received others, or add up what has arrived in another
/// order than that of time. A payload without contributors is all that its source has summed when the send starts.
struct Payloads {
  std::vector<std::uint64_t> first = {0};  ///< one entry more than there are payloads
  std::vector<ChunkId> chunks;
  /// The contributors of payload i are [first_contributor[i], first_contributor[i+1]) of `contributors`. Both are empty
  /// where no payload states any.
  std::vector<std::uint64_t> first_contributor = {};
  std::vector<std::uint32_t> contributors = {};

  [[nodiscard]] std::size_t size() const { return first.size() - 1; }
  [[nodiscard]] std::span<const ChunkId> of(std::size_t payload) const {
    return std::span(chunks).subspan(first[payload], first[payload + 1] - first[payload]);
  }
  [[nodiscard]] bool states_contributors() const { return !contributors.empty(); }
  /// Empty: none are stated.
  [[nodiscard]] std::span<const std::uint32_t> contributors_of(std::size_t payload) const {
    if (first_contributor.empty()) return {};
    return std::span(contributors)
        .subspan(first_contributor[payload], first_contributor[payload + 1] - first_contributor[payload]);
  }
  /// Appends a payload. O(its length); O(payloads) where it is the first with contributors.
  void add(std::span<const ChunkId> carried, std::span<const std::uint32_t> stated = {});
};

struct StorageParts;  // storage/storage_parts.hpp
struct PeriodFrame;   // schedule/storage/periodic_link.hpp
struct LinkUse;

/// The storage of a schedule's sends. Implementations are immutable; all functions are thread-safe.
class ScheduleStorage {
 public:
  virtual ~ScheduleStorage() = default;
  [[nodiscard]] virtual std::size_t segments() const = 0;
  [[nodiscard]] virtual std::uint64_t sends() const = 0;
  /// Fills `buffer.batch` with the sends of one segment, sorted by (start, link).
  virtual void read(std::size_t segment, SendBuffer& buffer) const = 0;
  /// Link-major access, if the storage offers it: time is cut into tiles() disjoint, increasing intervals of start
  /// time, and read_link() fills `buffer.batch` with one link's sends of one tile, in order of start. A check of
  /// billions of sends can thus go NPU by NPU within its caches. 0 tiles: not offered.
  [[nodiscard]] virtual std::size_t tiles() const { return 0; }
  virtual void read_link(std::size_t /*tile*/, LinkId /*link*/, SendBuffer& buffer) const { buffer.batch = {}; }
  /// Chunk-major access, if the storage offers it: read_chunks() fills `buffer.batch` with all sends of the chunks
  /// [first, last), in order of chunk, then of start. Schedules that are computed rather than stored offer it, so that
  /// each chunk can be followed without a table of all chunks.
  [[nodiscard]] virtual bool offers_chunks() const { return false; }
  virtual void read_chunks(ChunkId /*first*/, ChunkId /*last*/, SendBuffer& buffer) const { buffer.batch = {}; }
  /// Whether sends may belong to messages. Sends of a storage that offers tiles never do.
  [[nodiscard]] virtual bool may_carry_messages() const { return tiles() == 0; }
  /// The payloads; nullptr if every send carries one chunk.
  [[nodiscard]] virtual const Payloads* payloads() const { return nullptr; }
  /// Bytes held.
  [[nodiscard]] virtual std::size_t memory_bytes() const = 0;
  /// The name of the storage for reports, such as "list".
  [[nodiscard]] virtual std::string_view kind() const = 0;
  /// What the storage is made of, for code that treats kinds of storages differently. O(1).
  [[nodiscard]] virtual StorageParts parts() const = 0;
  /// Access by rows, if the storage offers it: every send starts at a multiple of row_time(), its row, and read_rows()
  /// appends all sends of one link to `buffer` as runs, in order of start (overlapping runs in any order). They are the
  /// sends that read_link() yields, without the cost of writing out each. Zero: not offered.
  [[nodiscard]] virtual SimTime row_time() const { return SimTime::zero(); }
  virtual void read_rows(LinkId /*link*/, RowBuffer& /*buffer*/) const {}
  /// The chunk at each place that runs name; empty: a place is a chunk's id. A storage with places lists no run.
  [[nodiscard]] virtual std::span<const ChunkId> places() const { return {}; }
  /// Access by periods, if the storage offers it (schedule/storage/periodic_link.hpp): all sends are those of the trees
  /// of one period, repeated in each period with new chunks, and read_uses() lists what a link carries in every period,
  /// by residue. It yields the same sends as read_link(). nullptr: not offered.
  [[nodiscard]] virtual const PeriodFrame* period_frame() const { return nullptr; }
  virtual void read_uses(LinkId /*link*/, std::vector<LinkUse>& uses) const;
};

/// A value: copying shares the storage.
class Schedule {
 public:
  Schedule() = default;
  explicit Schedule(std::shared_ptr<const ScheduleStorage> storage) : storage_(std::move(storage)) {}

  [[nodiscard]] std::size_t segments() const { return storage_ ? storage_->segments() : 0; }
  [[nodiscard]] std::uint64_t sends() const { return storage_ ? storage_->sends() : 0; }
  void read(std::size_t segment, SendBuffer& buffer) const { storage_->read(segment, buffer); }
  [[nodiscard]] std::size_t tiles() const { return storage_ ? storage_->tiles() : 0; }
  void read_link(std::size_t tile, LinkId link, SendBuffer& buffer) const { storage_->read_link(tile, link, buffer); }
  [[nodiscard]] bool offers_chunks() const { return storage_ && storage_->offers_chunks(); }
  void read_chunks(ChunkId first, ChunkId last, SendBuffer& buffer) const {
    storage_->read_chunks(first, last, buffer);
  }
  [[nodiscard]] SimTime row_time() const { return storage_ ? storage_->row_time() : SimTime::zero(); }
  void read_rows(LinkId link, RowBuffer& buffer) const { storage_->read_rows(link, buffer); }
  [[nodiscard]] std::span<const ChunkId> places() const {
    return storage_ ? storage_->places() : std::span<const ChunkId>();
  }
  [[nodiscard]] const PeriodFrame* period_frame() const { return storage_ ? storage_->period_frame() : nullptr; }
  void read_uses(LinkId link, std::vector<LinkUse>& uses) const { storage_->read_uses(link, uses); }
  [[nodiscard]] bool may_carry_messages() const { return storage_ && storage_->may_carry_messages(); }
  [[nodiscard]] const Payloads* payloads() const { return storage_ ? storage_->payloads() : nullptr; }
  [[nodiscard]] const std::shared_ptr<const ScheduleStorage>& storage() const { return storage_; }
  [[nodiscard]] std::size_t memory_bytes() const { return storage_ ? storage_->memory_bytes() : 0; }
  [[nodiscard]] std::string_view storage_kind() const { return storage_ ? storage_->kind() : "empty"; }

 private:
  std::shared_ptr<const ScheduleStorage> storage_;
};

/// Makes a schedule that stores `sends` as lists, sorted here by (start, link), in segments of about 16,000. Optional
/// columns are dropped where they are uniform. `payloads` is for sends that carry several chunks. O(sends log sends),
/// or O(sends) if they are sorted already.
[[nodiscard]] Schedule make_list_schedule(std::vector<Send> sends, Payloads payloads = {});

/// All sends, in time order: for tests, files and small tools. O(sends) memory.
[[nodiscard]] std::vector<Send> list_sends(const Schedule& schedule);

/// The last arrival over all sends (useful or not); zero for an empty schedule. O(sends); only one segment is read if
/// all sends take equally long.
[[nodiscard]] SimTime last_arrival(const Instance& instance, const Schedule& schedule);

/// XXH3-64 over (start, link, chunk, stage, message, destination) in time order, independent of storage and segment
/// size. O(sends).
[[nodiscard]] std::uint64_t schedule_hash(const Schedule& schedule);

}  // namespace tenex
