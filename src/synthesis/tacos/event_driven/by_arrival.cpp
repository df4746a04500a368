// Best chunks of links, and what a delivery changes of them.
#include "synthesis/tacos/event_driven/event_driven.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "tenex/bound/bound.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {
namespace {

constexpr std::int64_t kNotYet = std::numeric_limits<std::int64_t>::max();
constexpr std::uint32_t kNoChunk = std::numeric_limits<std::uint32_t>::max();
// Measured at -O3: 0.75 us a delivery on amd_1ch with 8 chunks, 0.93 us on torus(4,4,4) with one.
constexpr double kBytesPerPair = 12;              // of an NPU and a chunk
constexpr double kBytesPerPlannedSend = 16 + 24;  // while they are made, and as they are kept

/// One attempt.
class ArrivalOrder {
 public:
  ArrivalOrder(const SynthesisProblem& problem, Random random, bool slow_first)
      : topology_(problem.topology),
        chunks_(problem.collective.chunks()),
        slow_first_(slow_first),
        arrived_(topology_.npus() * chunks_, kNotYet),
        lot_(arrived_.size()),
        holders_(chunks_, 1),
        free_(topology_.links(), 0),
        best_(topology_.links()) {
    const HopTimes hops(topology_, problem.collective.chunk_sizes(), problem.occupancy);
    for (std::size_t l = 0; l < topology_.links(); ++l) hop_.push_back(hops.at(topology_.class_of(LinkId::at(l)), 0));
    for (std::size_t c = 0; c < chunks_; ++c) arrived_[at(problem.collective.source(ChunkId::at(c)).index(), c)] = 0;
    for (auto& each : lot_) each = random();
    for (std::uint32_t l = 0; l < best_.size(); ++l) find_best(l);
  }

  /// Makes all deliveries. False where some cannot be made.
  bool run() {
    for (std::size_t left = (topology_.npus() - 1) * chunks_; left > 0; --left) {
      const auto next = std::min_element(best_.begin(), best_.end());
      if (next->chunk == kNoChunk) return false;
      deliver(static_cast<std::uint32_t>(next - best_.begin()));
    }
    return true;
  }

  [[nodiscard]] SimTime time() const { return picoseconds(last_); }
  [[nodiscard]] std::vector<Send> take_sends() { return std::move(sends_); }

 private:
  /// A delivery over a link. Less is better.
  struct Delivery {
    std::int64_t arrival = kNotYet;
    std::int64_t speed = 0;     ///< of slow links first: less for slower ones
    std::uint32_t holders = 0;  ///< of the chunk
    std::uint32_t lot = 0;
    std::uint32_t chunk = kNoChunk;

    [[nodiscard]] auto key() const { return std::tuple(arrival, speed, holders, lot, chunk); }
    bool operator<(const Delivery& other) const { return key() < other.key(); }
  };

  [[nodiscard]] std::size_t at(std::size_t npu, std::size_t chunk) const { return npu * chunks_ + chunk; }
  [[nodiscard]] std::size_t source(std::uint32_t link) const { return topology_.source(LinkId(link)).index(); }
  [[nodiscard]] std::size_t target(std::uint32_t link) const { return topology_.target(LinkId(link)).index(); }

  /// The link's delivery of a chunk that its target lacks; none if its source lacks it, too.
  [[nodiscard]] Delivery delivery(std::uint32_t link, std::uint32_t chunk) const {
    const std::int64_t held = arrived_[at(source(link), chunk)];
    const auto lacks = at(target(link), chunk);
    if (held == kNotYet || arrived_[lacks] != kNotYet) return {};
    const HopTime& hop = hop_[link];
    return {std::max(free_[link], held) + hop.latency.count(), slow_first_ ? -hop.busy.count() : 0, holders_[chunk],
            lot_[lacks], chunk};
  }

  void find_best(std::uint32_t link) {
    const std::int64_t* const held = &arrived_[at(source(link), 0)];
    const std::int64_t* const there = &arrived_[at(target(link), 0)];
    const std::int64_t latency = hop_[link].latency.count();
    Delivery best;
    for (std::uint32_t c = 0; c < chunks_; ++c) {  // most chunks are not even looked at
      if (there[c] != kNotYet || held[c] == kNotYet || std::max(free_[link], held[c]) + latency > best.arrival)
        continue;
      best = std::min(best, delivery(link, c));
    }
    best_[link] = best;
  }

  void deliver(std::uint32_t link) {
    const auto [arrival, speed, holders, lot, chunk] = best_[link];
    const std::int64_t start = arrival - hop_[link].latency.count();
    const std::size_t npu = target(link);
    sends_.push_back({.start = picoseconds(start), .link = LinkId(link), .chunk = ChunkId(chunk)});
    last_ = std::max(last_, arrival);
    arrived_[at(npu, chunk)] = arrival;
    free_[link] = start + hop_[link].busy.count();
    ++holders_[chunk];
    for (std::uint32_t l = 0; l < best_.size(); ++l)  // the chunk is less rare, and its receiver lacks it no longer
      if (l == link || best_[l].chunk == chunk) find_best(l);
    for (const LinkId out : topology_.out_links(VertexId::at(npu)))
      best_[out.index()] = std::min(best_[out.index()], delivery(out.value(), chunk));
  }

  const Topology& topology_;
  std::size_t chunks_;
  bool slow_first_;
  std::vector<std::int64_t> arrived_;   ///< by NPU and chunk; kNotYet
  std::vector<std::uint32_t> lot_;      ///< the same: who goes first among equals
  std::vector<std::uint32_t> holders_;  ///< by chunk
  std::vector<std::int64_t> free_;      ///< by link: when its next send may start
  std::vector<HopTime> hop_;            ///< by link
  std::vector<Delivery> best_;          ///< by link
  std::vector<Send> sends_;
  std::int64_t last_ = 0;
};

}  // namespace

std::string by_arrival_unsuitable(const SynthesisProblem& problem) {
  const Collective& collective = problem.collective;
  if (problem.topology.homogeneous()) return "deliveries over links that are alike arrive in the order of their starts";
  if (collective.kind() != CollectiveKind::all_gather || collective.chunk_sizes().size() != 1)
    return "it makes All-Gathers of chunks of one size";
  if (collective.groups().size() != 1 || collective.groups().front().members.size() != problem.topology.npus())
    return "every NPU takes part";
  return problem.topology.direct() ? std::string() : "it sends over direct links";
}

Result<Gathered> gather_by_arrival(const SynthesisProblem& problem) {
  const SimTime bound = best_cheap_bound({problem, true}).time;
  const Digest key = synthesis_key(problem);
  Gathered best;
  best.time = SimTime::max();
  std::vector<Send> sends;
  for (std::uint32_t attempt = 0; attempt < std::max(1U, problem.attempts) && best.time > bound; ++attempt) {
    ArrivalOrder order(problem, attempt_stream(problem.seed, key, attempt), attempt % 2 == 1);
    if (!order.run())
      return unsupported_error({}, "an NPU that no path of links reaches", "", "put it into another process group");
    if (order.time() >= best.time) continue;
    best.time = order.time();
    best.best_attempt = attempt;
    sends = order.take_sends();
  }
  best.schedule = make_list_schedule(std::move(sends));
  return best;
}

std::size_t by_arrival_bytes(const SynthesisProblem& problem) {
  const auto pairs = static_cast<double>(problem.topology.npus() * problem.collective.chunks());
  return static_cast<std::size_t>(pairs * kBytesPerPair + sends_of_one_pass(problem.collective) * kBytesPerPlannedSend +
                                  64.0 * static_cast<double>(problem.topology.links()));
}

Work by_arrival_work(const SynthesisProblem& problem) {
  const double passes = problem.collective.kind() == CollectiveKind::all_reduce ? 2 : 1;
  const double deliveries = passes * std::max(1U, problem.attempts) * sends_of_one_pass(problem.collective);
  return Work(WorkUnit::arrival_link, deliveries * static_cast<double>(problem.topology.links())) +
         Work(WorkUnit::arrival_chunk, deliveries * static_cast<double>(problem.collective.chunks()));
}

}  // namespace tenex
