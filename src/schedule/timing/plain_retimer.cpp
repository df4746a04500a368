// The rules are those of retime.cpp; here nothing is hashed and nothing but the result is sorted.
//
// Encoding: sends as columns. What has happened to a chunk at an NPU is an entry of a dense table. Sends of one stage
// that take equally long arrive in the order of their planned starts, so the planned arrivals are a few queues, and the
// events of the given schedule come from merging these with the list of starts.
#include "schedule/timing/retimers.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "schedule/timing/holding.hpp"
#include "tenex/base/diagnostic.hpp"

namespace tenex {
namespace {

using Time = Holding::Time;
constexpr Time kNever = Holding::kNever;
constexpr std::size_t kTableEntriesPerSend = 4;  ///< a larger table would dwarf the schedule
constexpr std::size_t kManySends = 100'000;      ///< from here on, sorting by wide digits pays

/// Sends of one latency and stage, in order of start.
struct Lane {
  Time latency = 0;
  Stage stage = Stage::copy;
  std::vector<std::uint32_t> sends;
  std::size_t head = 0;
};

class PlainRetimer {
 public:
  PlainRetimer(const Instance& instance, const Schedule& schedule)
      : topology_(instance.topology),
        collective_(instance.collective),
        times_(instance.topology, instance.collective.chunk_sizes(), instance.occupancy) {
    read(schedule);
    now_.assign(link_.size(), 0);
  }

  std::vector<Send> retime() {
    while (!pass()) {
    }
    return sorted();
  }

 private:
  void read(const Schedule& schedule) {
    for (auto* column : {&planned_, &now_}) column->reserve(schedule.sends());
    link_.reserve(schedule.sends());
    chunk_.reserve(schedule.sends());
    stage_.reserve(schedule.sends());
    SendBuffer buffer;
    for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
      schedule.read(segment, buffer);
      const auto& batch = buffer.batch;
      link_.insert(link_.end(), batch.link.begin(), batch.link.end());
      chunk_.insert(chunk_.end(), batch.chunk.begin(), batch.chunk.end());
      for (std::size_t i = 0; i < batch.size(); ++i) {
        planned_.push_back(batch.start_of(i).count());
        stage_.push_back(batch.stage_of(i));
      }
    }
    for (std::uint32_t i = 0; i < link_.size(); ++i) lane_of(hop(i).latency.count(), stage_[i]).sends.push_back(i);
  }

  Lane& lane_of(Time latency, Stage stage) {
    for (Lane& lane : lanes_)
      if (lane.latency == latency && lane.stage == stage) return lane;
    return lanes_.emplace_back(Lane{latency, stage, {}, 0});
  }

  const HopTime& hop(std::size_t i) const {
    return times_.at(topology_.class_of(link_[i]), collective_.size_class(chunk_[i]));
  }
  Holding& at(VertexId vertex, ChunkId chunk) { return table_[vertex.index() * collective_.chunks() + chunk.index()]; }

  /// One replay of the given schedule with the present lower bounds; false when it had to raise one.
  bool pass() {
    table_.assign(topology_.npus() * collective_.chunks(), {});
    for (std::size_t c = 0; c < collective_.chunks(); ++c)
      if (const NpuId owner = collective_.source(ChunkId::at(c)); collective_.holds_at_start(owner, ChunkId::at(c)))
        at(vertex_of(owner), ChunkId::at(c)).copied = 0;
    link_free_.assign(topology_.links(), 0);
    for (Lane& lane : lanes_) lane.head = 0;
    bool settled = true;
    for (std::size_t i = 0; i < link_.size(); ++i) {
      settled = arrive_until(planned_[i]) && settled;
      start(i);
    }
    return arrive_until(kNever) && settled;
  }

  /// Delivers all that was planned to arrive by `time`: by planned arrival, partial sums first, then in the order of
  /// sends.
  bool arrive_until(Time time) {
    bool settled = true;
    for (;;) {
      Lane* next = nullptr;
      Time earliest = 0;
      for (Lane& lane : lanes_) {
        if (lane.head == lane.sends.size()) continue;
        const auto send = lane.sends[lane.head];
        const Time arrival = planned_[send] + lane.latency;
        if (arrival > time) continue;
        const bool first =
            next == nullptr || arrival < earliest ||
            (arrival == earliest && std::pair(lane.stage, send) < std::pair(next->stage, next->sends[next->head]));
        if (first) std::tie(next, earliest) = std::pair(&lane, arrival);
      }
      if (next == nullptr) return settled;
      settled = arrive(next->sends[next->head++], next->latency) && settled;
    }
  }

  void start(std::size_t i) {
    auto& free = link_free_[link_[i].index()];
    auto& holding = at(topology_.source(link_[i]), chunk_[i]);
    Time time = free;
    if (!lower_.empty()) time = std::max(time, lower_[i]);
    time = std::max(time, holding.ready(stage_[i]));
    if (stage_[i] == Stage::reduce) holding.send_sum(time);
    now_[i] = time;
    free = time + hop(i).busy.count();
  }

  /// Delivers send i; false when it comes sooner than the given order of events allows.
  bool arrive(std::size_t i, Time latency) {
    auto& holding = at(topology_.target(link_[i]), chunk_[i]);
    const Time time = now_[i] + latency;
    const Time earliest = holding.deliver(stage_[i], time);
    if (time >= earliest) return true;
    if (lower_.empty()) lower_.assign(link_.size(), 0);
    lower_[i] = earliest - latency;
    ensure(lower_[i] <= planned_[i], "retime: the schedule is not valid");
    return false;
  }

  /// By (start, link), with a stable counting sort by digits: starts and links have few.
  std::vector<Send> sorted() {
    std::vector<std::uint32_t> order(link_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::vector<std::uint32_t> scratch(order.size());
    const unsigned digit_bits = order.size() > kManySends ? 16 : 8;
    const auto by = [&](std::uint64_t largest, auto&& key) {
      for (unsigned shift = 0; shift < 64 && (largest >> shift) != 0; shift += digit_bits)
        sort_by_digit(order, scratch, digit_bits,
                      [&](std::uint32_t i) { return (key(i) >> shift) & ((std::uint64_t{1} << digit_bits) - 1); });
    };
    by(topology_.links(), [&](std::uint32_t i) { return std::uint64_t{link_[i].value()}; });
    const Time latest = now_.empty() ? 0 : *std::ranges::max_element(now_);
    by(static_cast<std::uint64_t>(latest), [&](std::uint32_t i) { return static_cast<std::uint64_t>(now_[i]); });
    std::vector<Send> sends;
    sends.reserve(order.size());
    for (const auto i : order) sends.push_back({SimTime::of(now_[i]), link_[i], chunk_[i], stage_[i]});
    return sends;
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

  const Topology& topology_;
  const Collective& collective_;
  HopTimes times_;
  std::vector<Time> planned_;
  std::vector<LinkId> link_;
  std::vector<ChunkId> chunk_;
  std::vector<Stage> stage_;
  std::vector<Lane> lanes_;
  std::vector<Holding> table_;  ///< NPU by NPU, chunk by chunk
  std::vector<Time> link_free_;
  std::vector<Time> lower_;  ///< empty while there are no bounds
  std::vector<Time> now_;    ///< new times
};

}  // namespace

std::optional<std::vector<Send>> retime_plain(const Instance& instance, const Schedule& schedule) {
  const bool fits =
      instance.topology.npus() * instance.collective.chunks() <= kTableEntriesPerSend * schedule.sends() &&
      schedule.sends() < std::numeric_limits<std::uint32_t>::max();
  if (!instance.topology.direct() || schedule.may_carry_messages() || !fits) return std::nullopt;
  return PlainRetimer(instance, schedule).retime();
}

}  // namespace tenex
