#include "synthesis/sccl/stepped.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

namespace tenex::sccl {
namespace {

constexpr std::uint32_t kUnreached = std::numeric_limits<std::uint32_t>::max();

std::vector<std::uint32_t> distances(const Topology& topology) {
  const std::size_t npus = topology.npus();
  std::vector<std::uint32_t> all(npus * npus, kUnreached);
  for (std::size_t from = 0; from < npus; ++from) {
    auto* const row = all.data() + from * npus;
    std::queue<VertexId> open;
    row[from] = 0;
    open.push(VertexId::at(from));
    for (; !open.empty(); open.pop())
      for (const LinkId link : topology.out_links(open.front())) {
        const VertexId next = topology.target(link);
        if (row[next.index()] != kUnreached) continue;
        row[next.index()] = row[open.front().index()] + 1;
        open.push(next);
      }
  }
  return all;
}

Diagnostic not_homogeneous(std::string what) {
  return unsupported_error({}, "sccl takes machines whose links are alike: " + std::move(what),
                           "in a round each link carries a whole number of chunks, and a step ends everywhere at once",
                           "choose another algorithm");
}

/// What keeps the problem from having rounds, or nothing.
std::optional<Diagnostic> stepped_refusal(const SynthesisProblem& problem) {
  const Topology& topology = problem.topology;
  if (!topology.direct())
    return input_error({}, "the topology has switches", "sccl sends only over direct links between NPUs",
                       "unwind the switches to a degree, for example 1");
  if (problem.collective.chunk_sizes().size() != 1)
    return unsupported_error({}, "sccl takes chunks of one size", "a round is the time of a chunk",
                             "choose another algorithm");
  const auto classes = topology.classes();
  const auto least = std::ranges::min(classes, {}, &LinkClass::effective_bandwidth).effective_bandwidth().count();
  for (const LinkClass& link : classes) {
    if (link.alpha != classes.front().alpha) return not_homogeneous("their latencies differ");
    if (link.effective_bandwidth().count() % least != 0)
      return not_homogeneous("a bandwidth is no multiple of the least");
    if (link.effective_bandwidth().count() != least && problem.occupancy == Occupancy::transfer &&
        link.alpha != SimTime::zero())
      return not_homogeneous("their bandwidths differ, and each is taken for its latency, too");
  }
  return std::nullopt;
}

}  // namespace

Result<SteppedProblem> SteppedProblem::of(const SynthesisProblem& problem) {
  if (auto refused = stepped_refusal(problem)) return *std::move(refused);
  SteppedProblem stepped;
  stepped.topology_ = &problem.topology;
  stepped.collective_ = &problem.collective;
  const auto classes = problem.topology.classes();
  const Bytes size = problem.collective.chunk_sizes().front();
  for (std::size_t i = 0; i < classes.size(); ++i) {
    stepped.hops_.push_back(hop_time(classes[i], size, problem.occupancy));
    if (classes[i].effective_bandwidth() < classes[stepped.slowest_].effective_bandwidth()) stepped.slowest_ = i;
  }
  const auto least = classes[stepped.slowest_].effective_bandwidth().count();
  for (const LinkClass& link : classes)
    stepped.per_round_.push_back(static_cast<std::uint32_t>(link.effective_bandwidth().count() / least));
  stepped.distance_ = distances(problem.topology);
  stepped.takers_.resize(problem.collective.chunks());
  for (std::size_t c = 0; c < problem.collective.chunks(); ++c)
    for (std::size_t n = 0; n < problem.topology.npus(); ++n) {
      const auto chunk = ChunkId::at(c);
      const auto npu = NpuId::at(n);
      if (!problem.collective.must_hold(npu, chunk) || problem.collective.holds_at_start(npu, chunk)) continue;
      const NpuId source = problem.collective.source(chunk);
      if (stepped.distance(source, npu) == kUnreached)
        return input_error({}, fmt::format("NPU {} cannot be reached from NPU {}", npu.value(), source.value()),
                           "no path of links leads there, and the collective needs one",
                           "add links, or put the NPUs into different process groups");
      stepped.takers_[c].push_back(npu);
    }
  return stepped;
}

std::uint32_t SteppedProblem::distance_to_taker(NpuId npu, ChunkId chunk) const {
  std::uint32_t least = kUnreached;
  for (const NpuId taker : takers(chunk)) least = std::min(least, distance(npu, taker));
  return least;
}

std::uint32_t SteppedProblem::least_steps() const {
  std::uint32_t most = 1;
  for (std::size_t c = 0; c < takers_.size(); ++c)
    for (const NpuId taker : takers_[c]) most = std::max(most, distance(collective().source(ChunkId::at(c)), taker));
  return most;
}

std::uint32_t SteppedProblem::least_rounds() const {
  std::vector<std::uint32_t> takes(topology().npus()), gives(topology().npus());
  for (std::size_t c = 0; c < takers_.size(); ++c) {
    for (const NpuId taker : takers_[c]) ++takes[taker.index()];
    if (!takers_[c].empty()) ++gives[collective().source(ChunkId::at(c)).index()];
  }
  std::uint32_t least = 1;
  const auto consider = [&](std::uint32_t chunks, std::span<const LinkId> links) {
    std::uint32_t together = 0;
    for (const LinkId link : links) together += per_round(link);
    if (together > 0) least = std::max(least, (chunks + together - 1) / together);
  };
  for (std::size_t n = 0; n < topology().npus(); ++n) {
    consider(takes[n], topology().in_links(VertexId::at(n)));
    consider(gives[n], topology().out_links(VertexId::at(n)));
  }
  return least;
}

SimTime SteppedProblem::duration(std::uint32_t rounds) const {
  SimTime longest;
  for (std::size_t i = 0; i < hops_.size(); ++i)
    longest = std::max(longest, hops_[i].latency + hops_[i].busy * (std::int64_t{rounds} * per_round_[i] - 1));
  return longest;
}

SimTime SteppedProblem::cost(std::uint32_t steps, std::uint32_t rounds) const {
  const HopTime& hop = hops_[slowest_];
  return (hop.latency - hop.busy) * std::int64_t{steps} + hop.busy * std::int64_t{rounds};
}

Schedule SteppedProblem::schedule(const SteppedPlan& plan) const {
  std::vector<SimTime> starts{SimTime::zero()};
  for (const auto rounds : plan.rounds) starts.push_back(starts.back() + duration(rounds));
  auto order = plan.sends;
  std::ranges::sort(order, {}, [](const SteppedSend& send) { return std::tuple(send.step, send.link, send.chunk); });
  std::vector<Send> sends;
  std::int64_t earlier = 0;  // sends of the same step and link
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool follows = i > 0 && order[i].step == order[i - 1].step && order[i].link == order[i - 1].link;
    earlier = follows ? earlier + 1 : 0;
    const SimTime start = starts[order[i].step] + hops_[topology().class_of(order[i].link)].busy * earlier;
    sends.push_back({.start = start, .link = order[i].link, .chunk = order[i].chunk});
  }
  return make_list_schedule(std::move(sends));
}

namespace {

/// The state of greedy_plan().
class Greedy {
 public:
  explicit Greedy(const SteppedProblem& problem)
      : problem_(problem),
        npus_(problem.topology().npus()),
        arrival_(npus_ * problem.collective().chunks(), kUnreached),
        holders_(problem.collective().chunks(), 1) {
    for (std::size_t c = 0; c < problem.collective().chunks(); ++c)
      arrival(problem.collective().source(ChunkId::at(c)), ChunkId::at(c)) = 0;
  }

  SteppedPlan run() {
    SteppedPlan plan;
    for (std::uint32_t step = 0; lacking(); ++step) {
      plan.rounds.push_back(1);
      for (std::size_t l = 0; l < problem_.topology().links(); ++l) {
        const auto link = LinkId::at(l);
        for (std::uint32_t i = 0; i < problem_.per_round(link); ++i)
          if (const auto chunk = choose(link, step)) {
            arrival(NpuId(problem_.topology().target(link).value()), *chunk) = step + 1;
            ++holders_[chunk->index()];
            plan.sends.push_back({.step = step, .link = link, .chunk = *chunk});
          }
      }
    }
    return plan;
  }

 private:
  std::uint32_t& arrival(NpuId npu, ChunkId chunk) { return arrival_[chunk.index() * npus_ + npu.index()]; }
  bool lacking() {
    for (std::size_t c = 0; c < holders_.size(); ++c)
      for (const NpuId taker : problem_.takers(ChunkId::at(c)))
        if (arrival(taker, ChunkId::at(c)) == kUnreached) return true;
    return false;
  }
  /// Whether the chunk at the NPU would be nearer to a taker that lacks it than it is now.
  bool helps(NpuId npu, ChunkId chunk) {
    for (const NpuId taker : problem_.takers(chunk)) {
      if (arrival(taker, chunk) != kUnreached) continue;
      std::uint32_t now = kUnreached;
      for (std::size_t n = 0; n < npus_; ++n)
        if (arrival(NpuId::at(n), chunk) != kUnreached) now = std::min(now, problem_.distance(NpuId::at(n), taker));
      if (problem_.distance(npu, taker) < now) return true;
    }
    return false;
  }
  std::optional<ChunkId> choose(LinkId link, std::uint32_t step) {
    const NpuId from(problem_.topology().source(link).value());
    const NpuId to(problem_.topology().target(link).value());
    std::optional<ChunkId> rarest;
    for (std::size_t c = 0; c < holders_.size(); ++c) {
      const auto chunk = ChunkId::at(c);
      if (arrival(from, chunk) > step || arrival(to, chunk) != kUnreached || !helps(to, chunk)) continue;
      if (!rarest || holders_[c] < holders_[rarest->index()]) rarest = chunk;
    }
    return rarest;
  }

  const SteppedProblem& problem_;
  std::size_t npus_;
  std::vector<std::uint32_t> arrival_;  ///< the step from which an NPU may send a chunk; kFar: it does not get it yet
  std::vector<std::uint32_t> holders_;  ///< by chunk
};

}  // namespace

SteppedPlan greedy_plan(const SteppedProblem& problem) { return Greedy(problem).run(); }

}  // namespace tenex::sccl
