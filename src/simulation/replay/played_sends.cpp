// Columns of sends in planned order of each link, then as a schedule: segments are read along the order of starts.
#include "simulation/replay/played_sends.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "tenex/schedule/storage/storage_parts.hpp"

namespace tenex {
namespace {

class PlayedStorage final : public ScheduleStorage {
 public:
  PlayedStorage(PlayedSends sends, Schedule given) : sends_(std::move(sends)), given_(std::move(given)) {}

  std::size_t segments() const override { return sends_.segment.size(); }
  std::uint64_t sends() const override { return sends_.size(); }
  std::string_view kind() const override { return "played"; }
  StorageParts parts() const override { return {}; }
  bool may_carry_messages() const override { return !sends_.message.empty(); }
  const Payloads* payloads() const override { return given_.payloads(); }

  void read(std::size_t segment, SendBuffer& buffer) const override {
    constexpr auto unknown = std::numeric_limits<std::uint64_t>::max();
    const auto begin = sends_.segment[segment];
    const auto end = segment + 1 < segments() ? sends_.segment[segment + 1] : sends_.size();
    const auto links = std::span(sends_.order).subspan(begin, end - begin);
    std::vector<std::uint64_t> next(sends_.first.size() - 1, unknown);
    const bool mixed = !sends_.stage.empty();
    const bool messages = !sends_.message.empty();
    buffer.start.resize(links.size());
    buffer.chunk.resize(links.size());
    buffer.stage.resize(mixed ? links.size() : 0);
    buffer.message.resize(messages ? links.size() : 0);
    buffer.destination.resize(messages ? links.size() : 0);
    for (std::size_t i = 0; i < links.size(); ++i) {
      auto& at = next[links[i].index()];
      if (at == unknown) at = first_since(links[i], sends_.segment_start[segment]);
      buffer.start[i] = sends_.start[at];
      buffer.chunk[i] = sends_.chunk[at];
      if (mixed) buffer.stage[i] = sends_.stage[at];
      if (messages) buffer.message[i] = sends_.message[at];
      if (messages) buffer.destination[i] = sends_.destination[at];
      ++at;
    }
    buffer.batch = {links,          buffer.chunk,       buffer.start, buffer.stage,
                    buffer.message, buffer.destination, SimTime(),    sends_.uniform_stage};
  }

  std::size_t memory_bytes() const override {
    const auto bytes = [](const auto&... columns) { return (... + (columns.capacity() * sizeof(columns[0]))); };
    return sizeof(*this) + bytes(sends_.first, sends_.start, sends_.chunk, sends_.stage, sends_.message,
                                 sends_.destination, sends_.order, sends_.segment, sends_.segment_start);
  }

 private:
  /// The link's first send that starts at this time or later.
  [[nodiscard]] std::uint64_t first_since(LinkId link, SimTime time) const {
    const auto* const starts = sends_.start.data();
    return static_cast<std::uint64_t>(
        std::lower_bound(starts + sends_.first[link.index()], starts + sends_.first[link.index() + 1], time) - starts);
  }

  PlayedSends sends_;
  Schedule given_;
};

}  // namespace

void PlayedSends::load(const Schedule& given, std::size_t links) {
  first.assign(links + 1, 0);
  bool messages = false;
  bool mixed = false;
  SendBuffer buffer;
  for (std::size_t w = 0; w < given.segments(); ++w) {
    given.read(w, buffer);
    const auto& batch = buffer.batch;
    for (const auto link : batch.link) ++first[link.index() + 1];
    messages = messages || !batch.message.empty();
    mixed = mixed || !batch.stage.empty() || (w > 0 && batch.uniform_stage != uniform_stage);
    uniform_stage = batch.uniform_stage;
  }
  for (std::size_t link = 0; link < links; ++link) first[link + 1] += first[link];
  const auto sends = first.back();
  start.resize(sends);
  chunk.resize(sends);
  if (mixed) stage.resize(sends);
  if (messages) message.resize(sends);
  if (messages) destination.resize(sends);
  order.reserve(sends);
  std::vector<std::uint64_t> next(first.begin(), first.end() - 1);
  for (std::size_t w = 0; w < given.segments(); ++w) {
    given.read(w, buffer);
    const auto& batch = buffer.batch;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto position = next[batch.link[i].index()]++;
      start[position] = batch.start_of(i);
      chunk[position] = batch.chunk[i];
      if (mixed) stage[position] = batch.stage_of(i);
      if (!messages) continue;
      message[position] = batch.message.empty() ? MessageId::none() : batch.message[i];
      destination[position] = batch.message.empty() ? NpuId::none() : batch.destination[i];
    }
  }
}

void PlayedSends::note_start(std::size_t position, LinkId link, SimTime time) {
  start[position] = time;
  const auto least = std::max(kSegmentSends, first.size());
  if (segment.empty() || (order.size() - segment.back() >= least && time != last_start)) {
    segment.push_back(order.size());
    segment_start.push_back(time);
  }
  if (order.empty() || time != last_start) first_of_instant = order.size();
  last_start = time;
  if (order.size() == first_of_instant || order.back() < link)
    order.push_back(link);
  else  // a switch passes a chunk on at the instant at which it sets out there
    order.insert(std::upper_bound(order.begin() + static_cast<std::ptrdiff_t>(first_of_instant), order.end(), link),
                 link);
}

Schedule make_played_schedule(PlayedSends sends, Schedule given) {
  return Schedule(std::make_shared<const PlayedStorage>(std::move(sends), std::move(given)));
}

}  // namespace tenex
