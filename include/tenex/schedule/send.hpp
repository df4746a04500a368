// Sends, and the segments in which schedules are read.
//
// A send puts one chunk on one link at one time. Its duration follows from the topology and the occupancy alone
// (topology/timing.hpp), so a schedule cannot misstate it. Structure of arrays, one virtual call per segment of about
// 16,000 sends, none per send; columns that would be constant are left empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"

namespace tenex {

/// What the receiver does with a send.
enum class Stage : std::uint8_t {
  reduce,  ///< the source's partial sum so far; the receiver adds it to its own
  copy,    ///< the final value; the receiver stores it
};

/// One send by value, for lists and tests.
struct Send {
  SimTime start;
  LinkId link;
  ChunkId chunk;
  Stage stage = Stage::copy;
  /// Only for traffic that passes vertices without being unpacked there (simulated programs, switches): the message
  /// that this send is a hop of, and the NPU that unpacks it. none() in both: the send is unpacked at the link's
  /// target.
  MessageId message = MessageId::none();
  NpuId destination = NpuId::none();
  bool operator==(const Send&) const = default;
};

/// A view of consecutive sends, sorted by (start, link). Empty optional columns mean the uniform value.
struct SendBatch {
  std::span<const LinkId> link;
  std::span<const ChunkId> chunk;
  std::span<const SimTime> start;      ///< empty: all start at `at`
  std::span<const Stage> stage;        ///< empty: all are `uniform_stage`
  std::span<const MessageId> message;  ///< empty: every send is unpacked at its link's target
  std::span<const NpuId> destination;  ///< empty exactly when `message` is
  SimTime at;
  Stage uniform_stage = Stage::copy;

  [[nodiscard]] std::size_t size() const { return link.size(); }
  [[nodiscard]] SimTime start_of(std::size_t i) const { return start.empty() ? at : start[i]; }
  [[nodiscard]] Stage stage_of(std::size_t i) const { return stage.empty() ? uniform_stage : stage[i]; }
  [[nodiscard]] Send operator[](std::size_t i) const {
    return {start_of(i),
            link[i],
            chunk[i],
            stage_of(i),
            message.empty() ? MessageId::none() : message[i],
            destination.empty() ? NpuId::none() : destination[i]};
  }
};

/// The memory that a segment is read into, reused from segment to segment. A storage may also point `batch` into
/// itself.
struct SendBuffer {
  SendBatch batch;
  std::vector<LinkId> link;
  std::vector<ChunkId> chunk;
  std::vector<SimTime> start;
  std::vector<Stage> stage;
  std::vector<MessageId> message;
  std::vector<NpuId> destination;
};

/// Rows of storages that are read by rows are below this, so that sums of two of them fit.
constexpr std::int64_t kMostSendRows = std::int64_t{1} << 30U;

/// Sends of one link at equal distances, for readers by rows (ScheduleStorage::read_rows). Send i starts in row `row` +
/// i * `step` and carries the chunk at place `first` + i; or, where the run is listed, at place `first` + i of the
/// buffer's list.
struct RowRun {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::int32_t row = 0;
  std::int32_t step = 1;
  Stage stage = Stage::copy;
  bool listed = false;
};

/// The memory that a link's runs are appended to, reused from link to link.
struct RowBuffer {
  std::vector<RowRun> runs;
  std::vector<ChunkId> list;  ///< the places of listed runs, each run's own part; may be longer than `listed`
  std::uint32_t listed = 0;   ///< entries of `list` in use

  void clear() {
    runs.clear();
    listed = 0;
  }
  /// Makes room for `count` entries behind those in use, and returns the first of them.
  [[nodiscard]] ChunkId* room(std::size_t count) {
    if (list.size() < listed + count) list.resize(2 * (listed + count));
    return list.data() + listed;
  }
};

}  // namespace tenex
