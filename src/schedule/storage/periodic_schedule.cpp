#include "tenex/schedule/storage/periodic_schedule.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "schedule/storage/periodic_link.hpp"
#include "tenex/base/csr.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"
#include "tenex/topology/time_range.hpp"

namespace tenex {
namespace {

/// The last period that has a chunk for a tree; the tree has one.
std::int64_t last_period(const PeriodicSchedule& data, std::uint32_t tree) {
  return static_cast<std::int64_t>((data.chunks - 1 - tree) / data.trees);
}

LinkUse use_of(const Send& send, SimTime period) {
  const std::int64_t row = send.start / period;
  return {send.start - period * row, row, send.chunk.value(), send.stage};
}

class PeriodicStorage final : public ScheduleStorage {
 public:
  PeriodicStorage(PeriodicSchedule data, std::size_t links)
      : data_(std::move(data)), frame_{data_.period, data_.trees, data_.chunks} {
    std::ranges::sort(data_.sends, {},
                      [&](const Send& send) { return std::pair(send.link, use_of(send, data_.period).residue); });
    uses_ = Csr<LinkUse>::group(
        links, data_.sends.size(), [&](std::size_t i) { return data_.sends[i].link.index(); },
        [&](std::size_t i) { return use_of(data_.sends[i], data_.period); });
    std::size_t busiest = 1;
    for (std::size_t link = 0; link < links; ++link) busiest = std::max(busiest, uses_.row(link).size());
    for (const Send& send : data_.sends)
      if (send.chunk.value() < data_.chunks)
        sends_ += static_cast<std::uint64_t>(last_period(data_, send.chunk.value())) + 1;
    const SimTime end = periodic_last_start(data_) + SimTime::of(1);
    const double per_time = static_cast<double>(data_.sends.size()) / static_cast<double>(data_.period.count());
    width_ = SimTime::of(
        std::clamp<std::int64_t>(static_cast<std::int64_t>(double{kSegmentSends} / per_time), 1, kLongestTime.count()));
    segments_ = static_cast<std::size_t>(ceil_div(end.count(), width_.count()));
    const auto periods = static_cast<std::int64_t>(double{kSegmentSends} / static_cast<double>(busiest));
    tile_ = data_.period * std::clamp<std::int64_t>(periods, 1, std::max<std::int64_t>(1, end / data_.period + 1));
    tiles_ = static_cast<std::size_t>(ceil_div(end.count(), tile_.count()));
  }

  std::size_t segments() const override { return segments_; }
  std::uint64_t sends() const override { return sends_; }
  std::size_t tiles() const override { return tiles_; }
  bool may_carry_messages() const override { return false; }
  std::string_view kind() const override { return "periodic"; }
  StorageParts parts() const override { return {&data_}; }
  std::size_t memory_bytes() const override {
    return sizeof(*this) + data_.sends.capacity() * sizeof(Send) + data_.sends.size() * sizeof(LinkUse) +
           uses_.rows() * sizeof(std::size_t);
  }

  void read(std::size_t segment, SendBuffer& buffer) const override {
    const SimTime begin = width_ * static_cast<std::int64_t>(segment);
    std::vector<Send> sends;
    for (std::size_t link = 0; link < uses_.rows(); ++link)
      visit_link(uses_.row(link), frame_, begin, begin + width_, [&](SimTime start, std::uint32_t chunk, Stage stage) {
        sends.push_back({start, LinkId::at(link), ChunkId(chunk), stage});
      });
    show_sends(sends, buffer);
  }

  void read_link(std::size_t tile, LinkId link, SendBuffer& buffer) const override {
    const SimTime begin = tile_ * static_cast<std::int64_t>(tile);
    read_period_link(uses_.row(link.index()), frame_, begin, begin + tile_, link, buffer);
  }

  const PeriodFrame* period_frame() const override { return &frame_; }
  void read_uses(LinkId link, std::vector<LinkUse>& uses) const override {
    const auto own = uses_.row(link.index());
    uses.assign(own.begin(), own.end());
  }

 private:
  PeriodicSchedule data_;
  PeriodFrame frame_;
  Csr<LinkUse> uses_;  ///< per link, by residue
  std::uint64_t sends_ = 0;
  SimTime width_;  ///< of a segment
  SimTime tile_;
  std::size_t segments_ = 0;
  std::size_t tiles_ = 0;
};

}  // namespace

SimTime periodic_last_start(const PeriodicSchedule& data) {
  SimTime last;
  for (const Send& send : data.sends)
    if (send.chunk.value() < data.chunks)
      last = std::max(last, send.start + data.period * last_period(data, send.chunk.value()));
  return last;
}

std::string periodic_problem(const PeriodicSchedule& data, std::size_t links) {
  if (data.period <= SimTime::zero() || data.trees == 0 || data.chunks == 0) return "a time or a number is unfit";
  if (data.sends.empty() || data.chunks > std::numeric_limits<std::uint32_t>::max()) return "it has no sends";
  const double periods = static_cast<double>(data.chunks) / data.trees + 1;
  if (!fits_time_range(data.period, 2 * periods)) return "it takes too long";
  std::vector<std::pair<LinkId, SimTime>> taken;
  for (const Send& send : data.sends) {
    if (send.link.index() >= links) return "a link does not exist";
    if (send.chunk.value() >= data.trees) return "a tree does not exist";
    if (send.start < SimTime::zero() || send.start > kLongestTime / 2) return "a start is unfit";
    if (send.message.exists()) return "it has messages";
    taken.emplace_back(send.link, use_of(send, data.period).residue);
  }
  std::ranges::sort(taken);
  if (std::ranges::adjacent_find(taken) != taken.end()) return "a link has two sends at once";
  return {};
}

Schedule make_periodic_schedule(PeriodicSchedule data, std::size_t links) {
  const std::string problem = periodic_problem(data, links);
  ensure(problem.empty(), problem.c_str());
  return Schedule(std::make_shared<const PeriodicStorage>(std::move(data), links));
}

}  // namespace tenex
