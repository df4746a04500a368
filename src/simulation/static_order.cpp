// The static-order engine: programs of cycles, on routes that share no link and lead through no NPU that starts late.
// Where links are wires (topology/wires.hpp) the routes must share no physical link; a wire then serves its messages in
// order, like a link, and takes the next one when the physical link that is busy longest is free again.
//
// If no two routes of a program share a link, the messages of an NPU meet no messages of others: each link carries them
// in their order, and all times follow from recurrences over arrays, e.g. entry(u, s) = arrival(u-1, s - at_start) and,
// link by link, start = max(entry, free). These are only sums and maxima. So once a whole round (at_start steps) equals
// the round before it plus the same time everywhere, all later rounds do too: the state is an eigenvector of a max-plus
// linear map, and the rest of the program is one multiplication. On a homogeneous ring that happens after two rounds;
// elsewhere it may happen late or never, and the recurrences run to the end.
//
// Where sends are recorded, the recurrences run to the end too, and the program says step by step what each message
// carries. Messages of several hops, and payloads, are numbered. With several cycles the numbers depend on the order in
// which an NPU takes arrivals of one instant, so such programs are left to the window engine.
//
// Encoding: per cycle, arrivals of the last two rounds, (2 * at_start) x NPUs; when each link of the routes is free.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "simulation/backends.hpp"
#include "simulation/message_sizes.hpp"
#include "simulation/next_links.hpp"
#include "simulation/pieces.hpp"
#include "simulation/record.hpp"
#include "simulation/shape_routes.hpp"
#include "tenex/topology/hand_over.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

/// The time between the starts of two messages of one size, one right after the other.
SimTime least_gap(const Topology& topology, LinkId link, const HopTime& hop, Occupancy occupancy) {
  if (topology.wires() == nullptr || occupancy == Occupancy::serialization) return hop.busy;
  SimTime longest;
  for (const auto& span : topology.wires()->spans(link))
    longest = std::max(longest, topology.wires()->network().alpha(span.link));
  return hop.latency - topology.alpha(link) + longest;
}

constexpr std::size_t max_history = std::size_t{1} << 27;  ///< entries

/// One cycle and its routes.
class CycleRun {
 public:
  CycleRun(const Topology& topology, const MessageSizes& sizes, const Cycle& cycle, const SimulationOptions& options,
           std::vector<SimTime> delays)
      : cycle_(cycle), delays_(std::move(delays)) {
    for (std::uint32_t npu = 0; npu < cycle.next.size(); ++npu)
      if (cycle.next[npu].exists()) members_.push_back(npu);
    std::vector<std::uint32_t> seat(cycle.next.size(), 0);
    for (std::size_t i = 0; i < members_.size(); ++i) seat[members_[i]] = static_cast<std::uint32_t>(i);
    before_.assign(members_.size(), 0);
    for (std::size_t i = 0; i < members_.size(); ++i)
      before_[seat[cycle.next[members_[i]].index()]] = static_cast<std::uint32_t>(i);
    find_routes(topology, sizes, options.routes);
    for (std::size_t l = 0; l < links_.size(); ++l)
      gaps_.push_back(least_gap(topology, links_[l], hops_[l], options.occupancy));
    free_.assign(links_.size(), SimTime::zero());
  }

  /// Whether all destinations are reached, through NPUs that forward from the start.
  [[nodiscard]] bool passable() const { return passable_; }
  [[nodiscard]] std::size_t members() const { return members_.size(); }
  [[nodiscard]] const std::vector<LinkId>& links() const { return links_; }
  [[nodiscard]] bool affordable() const {
    return history_rows() <= max_history / std::max<std::size_t>(1, members_.size());
  }

  void run() {
    arrivals_.assign(history_rows() * members_.size(), SimTime::zero());
    auto links_before = free_;
    const auto round = cycle_.at_start;
    for (last_step_ = 0; last_step_ < cycle_.messages; ++last_step_) {
      take_step(last_step_);
      if ((last_step_ + 1) % round != 0 || last_step_ < round) continue;
      if (const auto shift = repeats_last_round(links_before)) return skip(*shift);
      links_before = free_;
    }
    --last_step_;
  }

  [[nodiscard]] std::uint64_t hops() const { return cycle_.messages * links_.size(); }
  /// Whether every message is one send.
  [[nodiscard]] bool single_hops() const { return links_.size() == members_.size(); }

  /// Runs to the end and keeps all sends. `started`: what each NPU injects at its start, of which this cycle's messages
  /// begin at `taken`, which is moved on.
  void record(ProgramState& state, const std::vector<std::vector<Message>>& started, std::vector<std::size_t>& taken,
              std::vector<Send>& sends, std::vector<Injection>& injections) {
    arrivals_.assign(history_rows() * members_.size(), SimTime::zero());
    std::vector<Message> carried(arrivals_.size());  // by step and member, as arrivals_
    std::vector<Message> triggered;
    for (last_step_ = 0; last_step_ < cycle_.messages; ++last_step_) {
      Message* const now = &carried[last_step_ % history_rows() * members_.size()];
      for (std::size_t i = 0; i < members_.size(); ++i) {
        triggered.clear();
        if (last_step_ < cycle_.at_start)
          triggered.push_back(started[members_[i]].at(taken[members_[i]]++));
        else
          state.arrive(carried[(last_step_ - cycle_.at_start) % history_rows() * members_.size() + before_[i]],
                       triggered);
        ensure(triggered.size() == 1 && triggered[0].destination == cycle_.next[members_[i]],
               "a cycle's messages trigger one message each, to the next NPU");
        now[i] = triggered[0];
      }
      take_step(last_step_, [&](std::size_t i, std::size_t l, SimTime entry, SimTime start) {
        if (l == first_[i]) injections.push_back({entry, now[i]});
        sends.push_back(
            {start, links_[l], now[i].chunk, now[i].stage, MessageId::at(injections.size() - 1), now[i].destination});
      });
    }
    --last_step_;
  }

  void report(const SimulationOptions& options, Simulation& result) const {
    if (cycle_.messages == 0) return;
    const auto* last = row(last_step_);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const auto arrival = last[i] + late_;
      result.finish = std::max(result.finish, arrival);
      if (!options.record_npu_finish) continue;
      auto& known = result.npu_finish[cycle_.next[members_[i]].index()];
      known = std::max(known, arrival);
    }
    result.messages += cycle_.messages * members_.size();
    result.hops += hops();
    if (!options.record_links) return;
    const auto messages = static_cast<std::int64_t>(cycle_.messages);
    for (std::size_t l = 0; l < links_.size(); ++l)
      result.links[links_[l].index()] = {bytes_[l] * messages, hops_[l].busy * messages};
  }

 private:
  [[nodiscard]] std::size_t history_rows() const {
    return static_cast<std::size_t>(
        std::min<std::uint64_t>(std::max<std::uint64_t>(1, 2 * cycle_.at_start), cycle_.messages));
  }
  [[nodiscard]] SimTime* row(std::uint64_t step) { return &arrivals_[step % history_rows() * members_.size()]; }
  [[nodiscard]] const SimTime* row(std::uint64_t step) const {
    return &arrivals_[step % history_rows() * members_.size()];
  }

  void find_routes(const Topology& topology, const MessageSizes& sizes, RouteChoice routes) {
    const auto shape = ShapeRoutes::of(topology);
    NextLinks next_links(topology, shape, routes);
    const HandOvers hand_overs(topology, sizes.all());
    first_.push_back(0);
    for (const auto npu : members_) {
      const auto size = sizes.of(NpuId(npu), cycle_.chunks);
      const auto destination = cycle_.next[npu];
      for (auto at = vertex_of(NpuId(npu)); at != vertex_of(destination);) {
        const auto link = next_links(at, NpuId(npu), destination);
        const bool relayed_late = at != vertex_of(NpuId(npu)) && topology.is_npu(at) && delays_[at.index()] > SimTime();
        passable_ = link.exists() && !relayed_late;
        if (!passable_) return;
        if (links_.size() > first_.back()) hops_.back().latency -= hand_overs.lead(links_.back(), link, size);
        links_.push_back(link);
        hops_.push_back(sizes.hop(topology.class_of(link), size));
        bytes_.push_back(sizes.bytes(size));
        at = topology.target(link);
      }
      first_.push_back(links_.size());
    }
  }

  void take_step(std::uint64_t step) {
    take_step(step, [](std::size_t, std::size_t, SimTime, SimTime) {});
  }

  /// Tells `sent` the member, the place of the link, the time at which the message comes to the link, and its start.
  template <class Sent>
  void take_step(std::uint64_t step, const Sent& sent) {
    const bool at_start = step < cycle_.at_start;
    const auto* brought = at_start ? nullptr : row(step - cycle_.at_start);
    auto* out = row(step);
    for (std::size_t i = 0; i < members_.size(); ++i) {
      auto time = at_start ? delays_[members_[i]] : std::max(delays_[members_[i]], brought[before_[i]]);
      for (auto l = first_[i]; l < first_[i + 1]; ++l) {
        const auto start = std::max(time, free_[l]);
        sent(i, l, time, start);
        free_[l] = start + gaps_[l];
        time = start + hops_[l].latency;
      }
      out[i] = time;
    }
  }

  /// How much later the last round is than the one before it, if that time is the same for all its arrivals and links
  /// and no delayed start matters any more.
  [[nodiscard]] std::optional<SimTime> repeats_last_round(const std::vector<SimTime>& links_before) const {
    const auto shift = row(last_step_)[0] - row(last_step_ - cycle_.at_start)[0];
    for (std::size_t l = 0; l < free_.size(); ++l)
      if (free_[l] - links_before[l] != shift) return std::nullopt;
    for (auto step = last_step_ + 1 - cycle_.at_start; step <= last_step_; ++step) {
      const auto* now = row(step);
      const auto* before = row(step - cycle_.at_start);
      for (std::size_t i = 0; i < members_.size(); ++i)
        if (now[i] - before[i] != shift || before[before_[i]] < delays_[members_[i]]) return std::nullopt;
    }
    return shift;
  }

  /// Skips all complete rounds to come, which are like the last one. The remaining steps are computed from the current
  /// state, and late_ is added when arrivals are read.
  void skip(SimTime shift) {
    const auto steps = cycle_.messages - 1 - last_step_;
    late_ = static_cast<std::int64_t>(steps / cycle_.at_start) * shift;
    for (auto rest = steps % cycle_.at_start; rest > 0; --rest) take_step(++last_step_);
  }

  const Cycle& cycle_;
  std::vector<std::uint32_t> members_;  ///< NPUs of the cycle
  std::vector<std::uint32_t> before_;   ///< by member: the member before it in the cycle
  std::vector<SimTime> delays_;         ///< by NPU
  // Routes, member after member.
  std::vector<std::size_t> first_;
  std::vector<LinkId> links_;
  std::vector<HopTime> hops_;  ///< the latency lasts until the message may take its next link
  std::vector<SimTime> gaps_;  ///< between two starts
  std::vector<Bytes> bytes_;
  std::vector<SimTime> free_;
  std::vector<SimTime> arrivals_;  ///< of the steps of two rounds, at the member after
  std::uint64_t last_step_ = 0;    ///< the last step that was computed
  SimTime late_;                   ///< added to all computed times
  bool passable_ = true;
};

/// Whether no physical link is on two routes, or twice on one.
bool share_no_link(const Topology& topology, const std::vector<CycleRun>& runs) {
  const auto* wires = topology.wires();
  std::vector<bool> taken(wires == nullptr ? topology.links() : wires->network().links(), false);
  const auto take = [&](LinkId link) {
    const bool is_free = !taken[link.index()];
    taken[link.index()] = true;
    return is_free;
  };
  for (const auto& run : runs)
    for (const auto link : run.links()) {
      if (wires == nullptr && !take(link)) return false;
      if (wires == nullptr) continue;
      for (const auto& span : wires->spans(link))
        if (!take(span.link)) return false;
    }
  return true;
}

/// Whether no numbers are given to messages or to what they carry.
bool unnumbered(const Program& program, const std::vector<CycleRun>& runs) {
  return program.message_sizes() == std::vector<std::uint32_t>{1} &&
         std::ranges::all_of(runs, [](const CycleRun& run) { return run.single_hops(); });
}

/// Runs the cycles and keeps their sends.
Result<Schedule> recorded_sends(const Topology& topology, const Collective& collective, const Program& program,
                                std::vector<CycleRun>& runs) {
  const auto state = program.begin();
  std::vector<std::vector<Message>> started(topology.npus());
  for (std::size_t npu = 0; npu < started.size(); ++npu) state->start(NpuId::at(npu), started[npu]);
  std::vector<std::size_t> taken(started.size(), 0);
  std::uint64_t hops = 0;
  for (const auto& run : runs) hops += run.hops();
  std::vector<Send> sends;
  sends.reserve(hops);
  std::vector<Injection> injections;
  injections.reserve(program.messages());
  for (auto& run : runs) run.record(*state, started, taken, sends, injections);
  return make_record(std::move(sends), injections, collective, program);
}

}  // namespace

std::optional<Result<Simulation>> simulate_in_static_order(const Topology& topology, const Collective& collective,
                                                           const Program& program, const SimulationOptions& options) {
  if (options.record_arrivals || options.utilization_bins > 0) return std::nullopt;
  if (options.record_sends && topology.wires() != nullptr) return std::nullopt;
  if (cuts_messages(options.routes, ShapeRoutes::of(topology).has_value())) return std::nullopt;
  const auto cycles = program.cycles();
  if (cycles.empty()) return std::nullopt;
  const MessageSizes sizes(topology, collective, program, options.occupancy);
  std::vector<SimTime> delays(topology.npus(), SimTime::zero());
  for (const auto& delay : options.start_delays) delays[delay.npu.index()] = delay.time;
  std::vector<CycleRun> runs;
  std::uint64_t messages = 0;
  for (const auto& cycle : cycles) {
    const auto& run = runs.emplace_back(topology, sizes, cycle, options, delays);
    if (cycle.at_start == 0 || !run.passable() || !run.affordable()) return std::nullopt;
    messages += cycle.messages * run.members();
  }
  ensure(messages == program.messages(), "a program's cycles have other messages than the program");
  if (!share_no_link(topology, runs)) return std::nullopt;
  if (options.record_sends && runs.size() > 1 && !unnumbered(program, runs)) return std::nullopt;
  Simulation result;
  result.engine = SimulationEngine::static_order;
  if (options.record_npu_finish) result.npu_finish.assign(topology.npus(), SimTime::zero());
  if (options.record_links) result.links.assign(topology.links(), LinkLoad{});
  if (options.record_sends) {
    auto sends = recorded_sends(topology, collective, program, runs);
    if (!sends) return Result<Simulation>(sends.errors());
    result.sends = *std::move(sends);
  }
  for (auto& run : runs) {
    if (!options.record_sends) run.run();
    run.report(options, result);
  }
  return Result<Simulation>(std::move(result));
}

}  // namespace tenex
