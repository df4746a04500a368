// Time reversal: an All-Gather on the reversed topology becomes a Reduce-Scatter on the topology itself (TACOS, IV-E).
//
// A send that occupies a link during [start, start + busy) and arrives at start + latency turns into one over the
// opposite link that starts at T - (start + latency). Two sends of a link keep their distance: with busy_a <= start_b -
// start_a the reversed ones start (start_b + latency_b) - (start_a + latency_a) apart, at least busy_b, since latency -
// busy is the same for both. A send that left a vertex after its chunk had arrived there now arrives there before the
// sum leaves.
//
// If all sends take equally long, T - latency is the last start, and the order of starts is reversed. The view then
// reads the segments (and tiles) from the last to the first and reverses each of them, keeping links in order within a
// start.
#include <algorithm>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "schedule/segments.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"
#include "tenex/schedule/views/views.hpp"

namespace tenex {
namespace {

class ReversedStorage final : public ScheduleStorage {
 public:
  ReversedStorage(Schedule base, SimTime last_start) : base_(std::move(base)), last_start_(last_start) {}

  StorageParts parts() const override { return {ReversedParts{base_, last_start_}}; }

  std::size_t segments() const override { return base_.segments(); }
  std::size_t tiles() const override { return base_.tiles(); }
  std::uint64_t sends() const override { return base_.sends(); }
  std::size_t memory_bytes() const override { return sizeof(*this) + base_.memory_bytes(); }
  std::string_view kind() const override { return "reversed"; }
  bool may_carry_messages() const override { return false; }
  /// The last start must be a row itself.
  SimTime row_time() const override {
    const SimTime time = base_.row_time();
    const bool fits =
        time > SimTime::zero() && last_start_ % time == SimTime::zero() && last_start_ / time < kMostSendRows;
    return fits ? time : SimTime::zero();
  }
  std::span<const ChunkId> places() const override { return base_.places(); }

  void read_rows(LinkId link, RowBuffer& buffer) const override {
    const auto before = buffer.runs.size();
    base_.read_rows(link, buffer);
    const auto runs = std::span(buffer.runs).subspan(before);
    std::ranges::reverse(runs);
    const auto last_row = static_cast<std::int32_t>(last_start_ / base_.row_time());
    for (RowRun& run : runs) {
      run.row = last_row - run.row;
      run.step = -run.step;
      run.stage = Stage::reduce;
    }
  }

  void read(std::size_t segment, SendBuffer& buffer) const override {
    base_.read(segments() - 1 - segment, buffer);
    const auto starts = turn_times(buffer);
    if (starts.empty()) return;
    const auto links = own_column(buffer.batch.link, buffer.link);
    const auto chunks = own_column(buffer.batch.chunk, buffer.chunk);
    std::ranges::reverse(links);
    std::ranges::reverse(chunks);
    for (std::size_t first = 0; first < starts.size();) {  // the links within a start are back in order
      auto last = first + 1;
      while (last < starts.size() && starts[last] == starts[first]) ++last;
      std::ranges::reverse(links.subspan(first, last - first));
      std::ranges::reverse(chunks.subspan(first, last - first));
      first = last;
    }
    buffer.batch.link = links;
    buffer.batch.chunk = chunks;
  }

  void read_link(std::size_t tile, LinkId link, SendBuffer& buffer) const override {
    base_.read_link(tiles() - 1 - tile, link, buffer);
    if (turn_times(buffer).empty()) return;
    const auto chunks = own_column(buffer.batch.chunk, buffer.chunk);
    std::ranges::reverse(chunks);
    buffer.batch.chunk = chunks;
  }

 private:
  /// Reverses the batch's start times and makes its sends reductions. Returns the column of starts, empty for a single
  /// start.
  std::span<const SimTime> turn_times(SendBuffer& buffer) const {
    auto& batch = buffer.batch;
    batch.at = last_start_ - batch.at;
    batch.stage = {};
    batch.uniform_stage = Stage::reduce;
    if (batch.start.empty()) return {};
    const auto starts = own_column(batch.start, buffer.start);
    std::ranges::reverse(starts);
    for (SimTime& start : starts) start = last_start_ - start;
    batch.start = starts;
    return starts;
  }

  Schedule base_;
  SimTime last_start_;
};

/// The NPU where each message starts, which is where its reversal ends. `sends` are in time order on the reversed
/// topology, where a link's source is its target here.
std::unordered_map<MessageId, NpuId> message_sources(const Topology& topology, const std::vector<Send>& sends) {
  std::unordered_map<MessageId, NpuId> sources;
  for (const auto& send : sends)
    if (send.message.exists()) sources.emplace(send.message, npu_of(topology.target(send.link)));
  return sources;
}

Schedule reversed_list(const Instance& instance, const Schedule& schedule) {
  const SimTime end = last_arrival(instance, schedule);
  const HopTimes times(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  auto sends = list_sends(schedule);
  const auto sources = message_sources(instance.topology, sends);
  for (auto& send : sends) {
    const SimTime latency =
        times.at(instance.topology.class_of(send.link), instance.collective.size_class(send.chunk)).latency;
    send.start = end - (send.start + latency);
    send.stage = Stage::reduce;
    if (send.message.exists()) send.destination = sources.at(send.message);
  }
  return make_list_schedule(std::move(sends));
}

}  // namespace

bool reverses_as_view(const Instance& instance) { return uniform_latency(instance).has_value(); }

Schedule reversed(const Instance& instance, const Schedule& schedule) {
  TENEX_EXPECTS(!instance.topology.varies(), "no bandwidth that varies");
  const bool as_list = schedule.may_carry_messages() || !reverses_as_view(instance);
  const auto start = as_list ? std::nullopt : last_start(schedule);
  if (!as_list && !start) return schedule;
  Schedule turned =
      as_list ? reversed_list(instance, schedule) : Schedule(std::make_shared<const ReversedStorage>(schedule, *start));
  TENEX_ENSURES(turned.sends() == schedule.sends(), "as many sends");
  TENEX_ENSURES(last_arrival(instance, turned) <= last_arrival(instance, schedule), "no later an end");
  return turned;
}

Schedule make_reversed_view(ReversedParts parts) {
  TENEX_EXPECTS(!parts.base.may_carry_messages(), "a base without messages");
  return Schedule(std::make_shared<const ReversedStorage>(std::move(parts.base), parts.last_start));
}

}  // namespace tenex
