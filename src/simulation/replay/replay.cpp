// Replay of a schedule, driven by dependencies: every send starts once all it waits for has happened, and tells those
// that wait for it.
//
// A send waits for its link's previous send in the given order; a later hop of a message also for the hop before it;
// any other send for its chunk at its source: a copy for the first delivery of the final value that the given schedule
// had before it (where there is none, for the sum's deliveries), a partial sum for every partial sum delivered by then.
// Where the sends had nothing in time, the send waits for the first delivery after it. A timed replay moreover waits
// for the planned start.
//
// All waits of a valid schedule point back in planned time, and by induction nothing is later than planned: a timed
// replay equals the given schedule, one as soon as possible is never later. Sums are not followed (the verifier does
// that): the replay tells times alone.
//
// Where links are wires (topology/wires.hpp), a send waits on each physical link of its path for the previous send
// there, in the order of planned starts. All waits still point back in planned time. As soon as possible that is a
// valid replay. A timed one equals the given schedule unless sends take a link in another order than they start, or are
// one signal; it is refused then.
//
// Encoding: waits are counted per send. "Delivery i and all before it of its kind" is an event of its own (a prefix),
// so a send that waits for many deliveries waits for one event, and all waits together are O(sends).
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "simulation/record.hpp"
#include "simulation/replay/listed_replay.hpp"
#include "simulation/replay/plain_replays.hpp"
#include "simulation/simulation_contract.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/base/units.hpp"
#include "tenex/simulation/simulator.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

using Index = std::uint32_t;  ///< of a send in planned order
constexpr Index nobody = std::numeric_limits<Index>::max();

/// Lists of sends that wait for events; each send waits in at most one list. O(events + sends) memory.
class WaitingLists {
 public:
  WaitingLists(std::size_t events, std::size_t sends) : first_(events, nobody), next_(sends, nobody) {}
  void add(std::size_t event, Index send) { next_[send] = std::exchange(first_[event], send); }
  [[nodiscard]] Index first(std::size_t event) const { return first_[event]; }
  [[nodiscard]] Index next(Index send) const { return next_[send]; }

 private:
  std::vector<Index> first_;
  std::vector<Index> next_;
};

class Replayer {
 public:
  Replayer(const Topology& topology, const Collective& collective, PlannedSends planned, Replay mode,
           const SimulationOptions& options)
      : topology_(topology),
        collective_(collective),
        wires_(topology.wires()),
        timed_(mode == Replay::timed),
        options_(options),
        hop_times_(topology, collective.chunk_sizes(), options.occupancy),
        sends_(std::move(planned.sends)),
        arrivals_(std::move(planned.arrivals)),
        start_(sends_.size()),
        waits_for_(sends_.size(), 0),
        next_delivery_(sends_.size(), nobody),
        prefix_waits_for_(sends_.size(), 0),
        prefix_time_(sends_.size()),
        waiting_(2 * sends_.size(), sends_.size()) {
    if (timed_)
      for (Index i = 0; i < sends_.size(); ++i) start_[i] = sends_[i].start;
    if (wires_ != nullptr) number_slots();
    next_on_link_.assign(wires_ == nullptr ? sends_.size() : first_slot_.back(), nobody);
  }

  Result<Simulation> run() {
    if (wires_ == nullptr)
      chain_links();
    else if (auto chained = chain_paths(); !chained)
      return chained.errors();
    group_deliveries();
    if (auto done = find_supplies(); !done) return done.errors();
    start_all();
    if (started_ < sends_.size()) return stuck_error();
    return finish();
  }

 private:
  // Two events per send: its arrival, and the prefix of deliveries that ends with it.
  static std::size_t arrival_of(Index send) { return 2 * std::size_t{send}; }
  static std::size_t prefix_of(Index send) { return 2 * std::size_t{send} + 1; }

  [[nodiscard]] const HopTime& hop(Index i) const {
    return hop_times_.at(topology_.class_of(sends_[i].link), collective_.size_class(sends_[i].chunk));
  }
  [[nodiscard]] VertexId source(Index i) const { return topology_.source(sends_[i].link); }
  [[nodiscard]] VertexId target(Index i) const { return topology_.target(sends_[i].link); }
  [[nodiscard]] SimTime planned_arrival(Index i) const {
    return arrivals_.empty() ? sends_[i].start + hop(i).latency : arrivals_[i];
  }
  /// Unpacked at the end of its link: not a hop in the middle of a message.
  [[nodiscard]] bool delivers(Index i) const {
    return !sends_[i].message.exists() || target(i) == vertex_of(sends_[i].destination);
  }

  void chain_links() {
    std::vector<Index> last(topology_.links(), nobody);
    for (Index i = 0; i < sends_.size(); ++i) {
      const auto previous = std::exchange(last[sends_[i].link.index()], i);
      if (previous == nobody) continue;
      next_on_link_[previous] = i;
      ++waits_for_[i];
    }
  }

  // On wires. A slot is a physical link of a send's path; next_on_link_ has the next send there.

  void number_slots() {
    first_slot_.reserve(sends_.size() + 1);
    first_slot_.push_back(0);
    for (const auto& send : sends_) first_slot_.push_back(first_slot_.back() + wires_->spans(send.link).size());
  }
  /// When the link of a span is free again after a send that starts at `start`.
  [[nodiscard]] SimTime free_after(Index i, const WireSpan& span, SimTime start) const {
    const auto serialization = hop(i).latency - topology_.alpha(sends_[i].link);
    const bool transfer = options_.occupancy == Occupancy::transfer;
    return start + span.offset + serialization + (transfer ? wires_->network().alpha(span.link) : SimTime::zero());
  }
  /// After which time a send reaches a physical link of its path.
  [[nodiscard]] SimTime offset_of(Index i, LinkId link) const {
    for (const auto& span : wires_->spans(sends_[i].link))
      if (span.link == link) return span.offset;
    ensure(false, "a send follows another one on a link that is not on its path");
    return SimTime::zero();
  }

  Status chain_paths() {
    struct Last {
      std::size_t slot = 0;
      Index send = nobody;
      SimTime free;
    };
    std::vector<Last> last(wires_->network().links());
    for (Index i = 0; i < sends_.size(); ++i) {
      auto slot = first_slot_[i];
      for (const auto& span : wires_->spans(sends_[i].link)) {
        const auto free = free_after(i, span, sends_[i].start);
        const auto previous = std::exchange(last[span.link.index()], Last{slot++, i, free});
        if (previous.send == nobody) continue;
        if (timed_ && previous.free > sends_[i].start + span.offset) return passing_error(i);
        next_on_link_[previous.slot] = i;
        ++waits_for_[i];
      }
    }
    return success();
  }
  void free_path(Index i) {
    auto slot = first_slot_[i];
    for (const auto& span : wires_->spans(sends_[i].link)) {
      const auto next = next_on_link_[slot++];
      if (next != nobody) release(next, free_after(i, span, start_[i]) - offset_of(next, span.link));
    }
  }

  using Kind = std::tuple<VertexId, ChunkId, Stage>;
  [[nodiscard]] Kind delivered_kind(Index i) const { return {target(i), sends_[i].chunk, sends_[i].stage}; }

  /// Sorts deliveries by what they deliver where, then by planned arrival, and chains the prefixes.
  void group_deliveries() {
    for (Index i = 0; i < sends_.size(); ++i)
      if (delivers(i)) deliveries_.push_back(i);
    std::sort(deliveries_.begin(), deliveries_.end(), [&](Index a, Index b) {
      return std::tuple(delivered_kind(a), planned_arrival(a), a) <
             std::tuple(delivered_kind(b), planned_arrival(b), b);
    });
    for (std::size_t d = 0; d < deliveries_.size(); ++d) {
      prefix_waits_for_[deliveries_[d]] = 1;
      if (d == 0 || delivered_kind(deliveries_[d - 1]) != delivered_kind(deliveries_[d])) continue;
      next_delivery_[deliveries_[d - 1]] = deliveries_[d];
      prefix_waits_for_[deliveries_[d]] = 2;
    }
  }

  /// Deliveries of one kind: the first planned, and the last that the given schedule had by `time`.
  struct Supply {
    Index first = nobody;
    Index last_in_time = nobody;
  };
  [[nodiscard]] Supply supply(VertexId vertex, ChunkId chunk, Stage stage, SimTime time) const {
    const Kind kind{vertex, chunk, stage};
    const auto begin =
        std::partition_point(deliveries_.begin(), deliveries_.end(), [&](Index d) { return delivered_kind(d) < kind; });
    if (begin == deliveries_.end() || delivered_kind(*begin) != kind) return {};
    const auto end = std::partition_point(
        begin, deliveries_.end(), [&](Index d) { return delivered_kind(d) == kind && planned_arrival(d) <= time; });
    return {*begin, end == begin ? nobody : *(end - 1)};
  }

  void wait(Index send, std::size_t event) {
    waiting_.add(event, send);
    ++waits_for_[send];
  }

  /// Finds for each send what brings its chunk to its source.
  Status find_supplies() {
    std::vector<Index> hops;
    for (Index i = 0; i < sends_.size(); ++i) {
      if (sends_[i].message.exists())
        hops.push_back(i);
      else if (!wait_for_chunk(i))
        return never_comes_error(i, "its source neither holds it at first nor receives it");
    }
    std::sort(hops.begin(), hops.end(),
              [&](Index a, Index b) { return std::tuple(sends_[a].message, a) < std::tuple(sends_[b].message, b); });
    std::size_t first = 0;
    for (std::size_t h = 0; h < hops.size(); ++h) {
      if (sends_[hops[h]].message != sends_[hops[first]].message) first = h;
      if (h == first) {
        if (!wait_for_chunk(hops[h]))
          return never_comes_error(hops[h], "its source neither holds it at first nor receives it");
        continue;
      }
      auto previous = h;
      while (previous > first && target(hops[previous - 1]) != source(hops[h])) --previous;
      if (previous == first)
        return never_comes_error(
            hops[h], fmt::format("no earlier hop of message {} ends at its source", sends_[hops[h]].message.value()));
      wait(hops[h], arrival_of(hops[previous - 1]));
    }
    return success();
  }

  /// Lets a send that is no later hop wait for its chunk; false when that never comes.
  bool wait_for_chunk(Index i) {
    const auto& send = sends_[i];
    const auto from = source(i);
    const bool at_npu = topology_.is_npu(from);
    const auto sums = supply(from, send.chunk, Stage::reduce, send.start);
    if (send.stage == Stage::reduce) {
      const bool contributes = at_npu && collective_.contributes(npu_of(from), send.chunk);
      return wait_for_prefix(i, sums, contributes);
    }
    if (at_npu && collective_.holds_at_start(npu_of(from), send.chunk)) return true;
    const auto copies = supply(from, send.chunk, Stage::copy, send.start);
    if (at_npu && copies.last_in_time != nobody) return wait(i, arrival_of(copies.first)), true;
    if (copies.last_in_time != nobody || sums.first == nobody) return wait_for_prefix(i, copies, false);
    return wait_for_prefix(i, sums, false);
  }

  /// Waits for all deliveries that the given schedule had in time; where there was none and the source has nothing, for
  /// the first.
  bool wait_for_prefix(Index i, const Supply& supply, bool source_has_it) {
    if (supply.last_in_time != nobody)
      wait(i, prefix_of(supply.last_in_time));
    else if (!source_has_it && supply.first != nobody)
      wait(i, prefix_of(supply.first));
    else
      return source_has_it;
    return true;
  }

  void start_all() {
    for (Index i = 0; i < sends_.size(); ++i)
      if (waits_for_[i] == 0) ready_.push_back(i);
    while (!ready_.empty()) {
      const auto i = ready_.back();
      ready_.pop_back();
      ++started_;
      const auto arrival = start_[i] + hop(i).latency;
      if (wires_ != nullptr)
        free_path(i);
      else if (next_on_link_[i] != nobody)
        release(next_on_link_[i], start_[i] + hop(i).busy);
      release_all(arrival_of(i), arrival);
      if (delivers(i)) complete_prefixes(i, arrival);
    }
  }

  void release(Index send, SimTime time) {
    start_[send] = std::max(start_[send], time);
    if (--waits_for_[send] == 0) ready_.push_back(send);
  }
  void release_all(std::size_t event, SimTime time) {
    for (auto send = waiting_.first(event); send != nobody; send = waiting_.next(send)) release(send, time);
  }
  /// Delivery i has come: its prefix is complete once the one before it is, and so on.
  void complete_prefixes(Index i, SimTime time) {
    while (i != nobody) {
      prefix_time_[i] = time = std::max(prefix_time_[i], time);
      if (--prefix_waits_for_[i] > 0) return;
      release_all(prefix_of(i), time);
      i = next_delivery_[i];
    }
  }

  [[nodiscard]] std::string describe(Index i) const {
    const auto& send = sends_[i];
    return fmt::format("the send of chunk {} from vertex {} to {} planned at {}", send.chunk.value(), source(i).value(),
                       target(i).value(), to_string(send.start));
  }
  [[nodiscard]] Diagnostic never_comes_error(Index i, std::string why) const {
    return input_error({}, describe(i) + " waits for a chunk that never comes", std::move(why),
                       "verify the schedule to see what is wrong with it");
  }
  [[nodiscard]] Diagnostic passing_error(Index i) const {
    return unsupported_error({}, describe(i) + " cannot be replayed at its planned time",
                             "on a link of its path it overlaps with a send that started before it, or is one signal "
                             "with it",
                             "replay the schedule as_soon_as_possible");
  }
  [[nodiscard]] Diagnostic stuck_error() const {
    Index i = 0;
    while (waits_for_[i] == 0) ++i;
    return never_comes_error(i, "it waits for sends that wait for it");
  }

  void note_arrival(Index i, SimTime arrival, Simulation& result) const {
    const auto npu = npu_of(target(i));
    if (options_.record_npu_finish) result.npu_finish[npu.index()] = std::max(result.npu_finish[npu.index()], arrival);
    if (options_.record_arrivals) result.arrivals.push_back({arrival, npu, sends_[i].chunk});
  }

  Simulation finish() {
    Simulation result;
    result.hops = sends_.size();
    if (options_.record_links) result.links.assign(topology_.links(), LinkLoad{});
    if (options_.record_npu_finish) result.npu_finish.assign(topology_.npus(), SimTime::zero());
    for (Index i = 0; i < sends_.size(); ++i) {
      if (delivers(i)) {
        ++result.messages;
        const auto arrival = start_[i] + hop(i).latency;
        result.finish = std::max(result.finish, arrival);
        if (topology_.is_npu(target(i))) note_arrival(i, arrival, result);
      }
      if (!options_.record_links) continue;
      auto& load = result.links[sends_[i].link.index()];
      load.bytes += collective_.chunk_bytes(sends_[i].chunk);
      load.busy += hop(i).busy;
    }
    std::stable_sort(result.arrivals.begin(), result.arrivals.end(), [](const Delivery& a, const Delivery& b) {
      return std::tie(a.time, a.npu) < std::tie(b.time, b.npu);
    });
    if (options_.utilization_bins > 0) {
      UtilizationBins bins(result.finish, options_.utilization_bins);
      for (Index i = 0; i < sends_.size(); ++i) bins.add(start_[i], hop(i).busy);
      result.utilization = bins.result();
    }
    if (options_.record_sends) {
      for (Index i = 0; i < sends_.size(); ++i) sends_[i].start = start_[i];
      result.sends = make_list_schedule(std::move(sends_));
    }
    return result;
  }

  const Topology& topology_;
  const Collective& collective_;
  const Wires* wires_;
  bool timed_;
  const SimulationOptions& options_;
  HopTimes hop_times_;
  std::vector<Send> sends_;              ///< in planned order
  std::vector<SimTime> arrivals_;        ///< planned; empty: they follow from the starts
  std::vector<SimTime> start_;           ///< the latest of what is known of each send so far
  std::vector<std::uint8_t> waits_for_;  ///< events that a send still waits for, at most one and one for each link
  std::vector<Index> next_on_link_;      ///< by send; on wires by slot
  std::vector<std::size_t> first_slot_;  ///< by send, on wires: the slots of its links
  std::vector<Index> deliveries_;        ///< by kind, then planned arrival
  std::vector<Index> next_delivery_;     ///< of the same kind
  std::vector<std::uint8_t> prefix_waits_for_;
  std::vector<SimTime> prefix_time_;
  WaitingLists waiting_;
  std::vector<Index> ready_;
  std::size_t started_ = 0;
};

/// What a schedule must keep to before it can be followed at all.
Status check_sends(const Topology& topology, const Collective& collective, const std::vector<Send>& sends) {
  for (const auto& send : sends) {
    if (send.link.index() >= topology.links())
      return input_error({}, fmt::format("a send uses link {}", send.link.value()),
                         fmt::format("the topology has {} links", topology.links()),
                         "replay the schedule on the topology that it was made for");
    if (send.chunk.index() >= collective.chunks())
      return input_error({}, fmt::format("a send carries chunk {}", send.chunk.value()),
                         fmt::format("the collective has {} chunks", collective.chunks()),
                         "replay the schedule with the collective that it was made for");
    if (send.start < SimTime::zero())
      return input_error({}, fmt::format("a send of chunk {} is planned before time zero", send.chunk.value()),
                         "nothing can start earlier");
  }
  return success();
}

}  // namespace

Result<Simulation> replay_listed(const Topology& topology, const Collective& collective, PlannedSends planned,
                                 Replay mode, const SimulationOptions& options) {
  if (auto fit = check_sends(topology, collective, planned.sends); !fit) return fit.errors();
  return Replayer(topology, collective, std::move(planned), mode, options).run();
}

namespace {

Result<Simulation> replay_if_possible(const Topology& topology, const Collective& collective, const Schedule& schedule,
                                      Replay mode, const SimulationOptions& options) {
  if (options.backend != Backend::congestion_aware)
    return unsupported_error({}, "the congestion-unaware backend cannot replay a schedule",
                             "its messages overlap on links", "use the congestion-aware backend");
  if (auto constant = check_constant(topology); !constant) return constant.errors();
  if (auto timely = check_no_late_starts(options); !timely) return timely.errors();
  if (schedule.payloads() != nullptr)
    return unsupported_error({}, "cannot replay sends that carry several chunks", "a replay follows chunk by chunk",
                             "replay a schedule whose sends carry one chunk each");
  if (mode == Replay::as_soon_as_possible)
    if (auto unlimited = check_buffers(topology); !unlimited) return unlimited.errors();
  if (auto result = replay_in_place(topology, collective, schedule, mode, options)) return std::move(*result);
  if (auto result = replay_in_order(topology, collective, schedule, mode, options)) return std::move(*result);
  if (schedule.sends() > kMostListedSends)
    return resource_error(fmt::format("cannot replay {} sends one by one", schedule.sends()),
                          fmt::format("they take about {} bytes", schedule.sends() * kListedSendBytes),
                          "replay it under the occupancy that it was made for, or a smaller schedule");
  return replay_listed(topology, collective, {list_sends(schedule), {}}, mode, options);
}

}  // namespace

Result<Simulation> replay(const Topology& topology, const Collective& collective, const Schedule& schedule, Replay mode,
                          const SimulationOptions& options) {
  TENEX_EXPECTS(collective.npus() == topology.npus(), "a collective of the topology's NPUs");
  TENEX_EXPECTS(options.threads >= 1, "at least one thread");
  auto replayed = replay_if_possible(topology, collective, schedule, mode, options);
  if (!replayed) return replayed;
  TENEX_ENSURES(has_what_is_asked(*replayed, topology, options), "what the options ask for");
  TENEX_ENSURES(
      mode != Replay::timed || replayed->finish >= last_arrival({topology, collective, options.occupancy}, schedule),
      "a timed replay that ends no sooner than the schedule");
  return replayed;
}

}  // namespace tenex
