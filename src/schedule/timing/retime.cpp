// Re-timing: in one pass where that does, otherwise by a list.

#include "tenex/schedule/timing/retime.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/segments.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/storage/list_builder.hpp"
#include "tenex/schedule/timing/list_player.hpp"
#include "tenex/schedule/timing/player.hpp"
#include "tenex/topology/hand_over.hpp"
#include "tenex/topology/slow_windows.hpp"

namespace tenex {
namespace {

// The case of re-timing that is fast: without switches and messages, sums that travel in trees.
//
// Re-timing by one pass of the player, in ticks of the common divisor of all hop times.
//
// Encoding: sends as columns in the order of planned starts. Their new starts are sorted by digits: starts and links
// have few.

constexpr std::size_t kTableEntriesPerSend = 4;  ///< a larger table would dwarf the schedule
constexpr std::size_t kManySends = 100'000;      ///< from here on, sorting by wide digits pays
constexpr std::size_t kSendsAtOnce = 4096;       ///< handed to the list

template <class Tick>
class OnePass {
 public:
  OnePass(const Instance& instance, const Schedule& schedule, std::int64_t unit)
      : links_(instance.topology.links()), unit_(unit) {
    SchedulePlayer<Tick> player(instance, unit);
    start_.reserve(schedule.sends());
    link_.reserve(schedule.sends());
    chunk_.reserve(schedule.sends());
    stage_.reserve(schedule.sends());
    SendBuffer buffer;
    for (std::size_t segment = 0; sound_ && segment < schedule.segments(); ++segment) {
      schedule.read(segment, buffer);
      const SendBatch& batch = buffer.batch;
      sound_ = player.play(batch, false, [&](std::size_t i, std::size_t, const auto& times) {
        start_.push_back(times.start);
        stage_.push_back(batch.stage_of(i));
      });
      link_.insert(link_.end(), batch.link.begin(), batch.link.end());
      chunk_.insert(chunk_.end(), batch.chunk.begin(), batch.chunk.end());
    }
  }

  [[nodiscard]] bool sound() const { return sound_; }

  /// The sends with their new starts.
  [[nodiscard]] Schedule list() const {
    const auto order = sorted();
    ListBuilder list(order.size());
    SendBuffer buffer;
    for (std::size_t first = 0; first < order.size(); first += kSendsAtOnce) {
      const auto some = std::span(order).subspan(first, std::min(kSendsAtOnce, order.size() - first));
      fill(some, buffer);
      list.append(buffer.batch);
    }
    return list.finish();
  }

 private:
  void fill(std::span<const std::uint32_t> order, SendBuffer& buffer) const {
    buffer.start.clear();
    buffer.link.clear();
    buffer.chunk.clear();
    buffer.stage.clear();
    for (const auto i : order) {
      buffer.start.push_back(SimTime::of(static_cast<std::int64_t>(start_[i]) * unit_));
      buffer.link.push_back(link_[i]);
      buffer.chunk.push_back(chunk_[i]);
      buffer.stage.push_back(stage_[i]);
    }
    buffer.batch = {};
    buffer.batch.start = buffer.start;
    buffer.batch.link = buffer.link;
    buffer.batch.chunk = buffer.chunk;
    buffer.batch.stage = buffer.stage;
  }

  /// The sends by (start, link).
  [[nodiscard]] std::vector<std::uint32_t> sorted() const {
    std::vector<std::uint32_t> order(link_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::vector<std::uint32_t> scratch(order.size());
    const unsigned digit_bits = order.size() > kManySends ? 16 : 8;
    const auto by = [&](std::uint64_t largest, auto&& key) {
      for (unsigned shift = 0; shift < 64 && (largest >> shift) != 0; shift += digit_bits)
        sort_by_digit(order, scratch, digit_bits,
                      [&](std::uint32_t i) { return (key(i) >> shift) & ((std::uint64_t{1} << digit_bits) - 1); });
    };
    by(links_, [&](std::uint32_t i) { return std::uint64_t{link_[i].value()}; });
    by(start_.empty() ? 0 : *std::ranges::max_element(start_),
       [&](std::uint32_t i) { return std::uint64_t{start_[i]}; });
    return order;
  }

  template <class Digit>
  static void sort_by_digit(std::vector<std::uint32_t>& order, std::vector<std::uint32_t>& scratch, unsigned bits,
                            Digit&& digit) {
    std::vector<std::uint32_t> begin((std::size_t{1} << bits) + 1, 0);
    for (const auto i : order) ++begin[digit(i) + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    for (const auto i : order) scratch[begin[digit(i)]++] = i;
    order.swap(scratch);
  }

  std::size_t links_;
  std::int64_t unit_;
  bool sound_ = true;
  std::vector<Tick> start_;
  std::vector<LinkId> link_;
  std::vector<ChunkId> chunk_;
  std::vector<Stage> stage_;
};

template <class Tick>
std::optional<Schedule> retime_in(const Instance& instance, const Schedule& schedule, std::int64_t unit) {
  const OnePass<Tick> pass(instance, schedule, unit);
  return pass.sound() ? std::optional(pass.list()) : std::nullopt;
}

/// Whether one pass may re-time so many sends without messages: not over switches or links whose bandwidth varies, nor
/// where a table of NPUs and chunks would be much larger than the schedule.
bool suits_one_pass(const Instance& instance, std::uint64_t sends) {
  return instance.topology.direct() && !instance.topology.varies() &&
         instance.topology.npus() * instance.collective.chunks() <= kTableEntriesPerSend * sends &&
         sends < std::numeric_limits<std::uint32_t>::max();
}

/// The re-timed schedule; nullopt where one pass does not do (tenex/schedule/timing/player.hpp). O(sends) time.
std::optional<Schedule> retime_in_one_pass(const Instance& instance, const Schedule& schedule) {
  if (!suits_one_pass(instance, schedule.sends()) || schedule.may_carry_messages()) return std::nullopt;
  const std::int64_t unit = time_unit(instance);
  if (auto retimed = retime_in<std::uint32_t>(instance, schedule, unit)) return retimed;
  return retime_in<std::uint64_t>(instance, schedule, unit);
}

Schedule retime_list(const Instance& instance, const Schedule& schedule) {
  PlannedSends planned{list_sends(schedule), {}};
  const auto played = play_list(instance, planned, {});
  ensure(played.ok() && played->in_order, "retime: the schedule is not valid");
  for (std::size_t i = 0; i < planned.sends.size(); ++i) planned.sends[i].start = played->start[i];
  return make_list_schedule(std::move(planned.sends));
}

/// Whether a link has two sends at once. O(sends).
bool any_overlap(const Instance& instance, const Schedule& schedule) {
  const StartedHops times(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  std::vector<SimTime> free(instance.topology.links());
  bool found = false;
  for_each_send(schedule, [&](const Send& send) {
    const auto size_class = instance.collective.size_class(send.chunk);
    SimTime& until = free[send.link.index()];
    found = found || send.start < until;
    until = send.start + times.at(instance.topology.class_of(send.link), size_class, send.start).busy;
  });
  return found;
}

}  // namespace

std::size_t retime_bytes(const Instance& instance, std::uint64_t sends) {
  constexpr std::size_t kOnce = std::size_t{1} << 20;                // segments, and the digits of the sort
  constexpr std::size_t kColumns = 8 + 4 + 4 + 1;                    // start, link, chunk, stage
  constexpr std::size_t kSorted = sizeof(std::uint32_t) + kColumns;  // the order, and the list that is made
  constexpr std::size_t kInLists = 160;
  const auto count = static_cast<std::size_t>(sends);
  if (!suits_one_pass(instance, sends)) return kOnce + count * kInLists;
  const std::size_t places = instance.topology.links() + instance.topology.npus() * instance.collective.chunks();
  return kOnce + count * kColumns + std::max(count * kSorted, places * sizeof(std::uint64_t));
}

namespace {

/// The last arrival of a partial sum.
SimTime end_of_sums(const Instance& instance, const std::vector<Send>& sends, const std::vector<SimTime>& start) {
  const StartedHops times(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  SimTime last;
  for (std::size_t i = 0; i < sends.size(); ++i)
    if (sends[i].stage == Stage::reduce)
      last = std::max(last, start[i] + times
                                           .at(instance.topology.class_of(sends[i].link),
                                               instance.collective.size_class(sends[i].chunk), start[i])
                                           .latency);
  return last;
}

}  // namespace

std::size_t retime_early_bytes(std::uint64_t sends) {
  constexpr std::size_t kBytesOfSend = 300;
  return static_cast<std::size_t>(sends) * kBytesOfSend;
}

Schedule retime_early(const Instance& instance, const Schedule& schedule, std::span<const StartDelay> start_delays,
                      bool overlap) {
  PlannedSends planned{list_sends(schedule), {}};
  PlayRules rules{.start_delays = start_delays};
  auto played = play_list(instance, planned, rules);
  if (!overlap && played && played->in_order) {
    rules.copies_from = end_of_sums(instance, planned.sends, played->start);
    played = play_list(instance, planned, rules);
  }
  if (!played || !played->in_order) return schedule;
  for (std::size_t i = 0; i < planned.sends.size(); ++i) planned.sends[i].start = played->start[i];
  Schedule retimed = make_list_schedule(std::move(planned.sends));
  TENEX_ENSURES(last_arrival(instance, retimed) <= last_arrival(instance, schedule), "no later an end");
  return retimed;
}

Schedule retime(const Instance& instance, const Schedule& schedule) {
  TENEX_EXPECTS(!(instance.topology.varies() && instance.collective.has_sums()), "no sums where bandwidth varies");
  if (any_passes_on_early(instance.topology)) return retime_early(instance, schedule, {}, true);
  auto in_one_pass = retime_in_one_pass(instance, schedule);
  Schedule retimed = in_one_pass ? *std::move(in_one_pass) : retime_list(instance, schedule);
  TENEX_ENSURES(retimed.sends() == schedule.sends(), "as many sends");
  TENEX_ENSURES(last_arrival(instance, retimed) <= last_arrival(instance, schedule) ||
                    instance.topology.wires() != nullptr || any_overlap(instance, schedule),
                "no later an end than that of a schedule whose links take one send at a time");
  return retimed;
}

}  // namespace tenex
