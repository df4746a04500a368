// TACOS as printed in its paper (arXiv:2304.05301), sections IV-D and IV-E, Algorithms 1 and 2, with two repairs:
// holdings are frozen at the start of a step, so nothing is forwarded in the step in which it is received, and only
// links that are free are candidates.
//
// A "step" begins at every time at which a chunk arrives or a link becomes free. If all links are alike and busy for
// the whole transfer, each step is one time span of the paper's TEN; otherwise it is the TEN of section IV-F, with the
// cheapest candidate link chosen. Every step looks at every unsatisfied postcondition, and at every in-link of its NPU.
// If a group does not span the topology, all NPUs want its chunks, so that they can relay, and useless deliveries are
// pruned. This file shares nothing with the fast synthesizer but the composition of reductions.
#include "synthesis/synthesizers.hpp"

#include <fmt/core.h>
#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "synthesis/compose.hpp"
#include "tenex/base/random.hpp"

namespace tenex {

namespace {

struct PairWish {
  NpuId npu;
  ChunkId chunk;
};

/// A delivery under way.
struct Transfer {
  SimTime arrival;
  PairWish wish;
};

class ReferenceAttempt {
 public:
  ReferenceAttempt(const SynthesisProblem& problem, Random random)
      : topology_(problem.topology),
        collective_(problem.collective),
        occupancy_(problem.occupancy),
        random_(random),
        holds_(topology_.npus(), std::vector<bool>(collective_.chunks(), false)),
        free_at_(topology_.links()) {
    for (std::size_t npu = 0; npu < topology_.npus(); ++npu)
      for (std::size_t chunk = 0; chunk < collective_.chunks(); ++chunk)
        start_pair({NpuId::at(npu), ChunkId::at(chunk)});
  }

  /// Algorithm 2: steps until no member lacks a chunk that it must hold. nullopt if the steps run out first.
  std::optional<std::vector<Send>> run() {
    while (members_missing_ > 0) {
      if (times_.empty()) return std::nullopt;
      now_ = *times_.begin();
      times_.erase(times_.begin());
      receive();
      match();
    }
    return sends_;
  }

  [[nodiscard]] PairWish any_missing() const {
    for (const PairWish& wish : unsatisfied_)
      if (collective_.must_hold(wish.npu, wish.chunk)) return wish;
    return in_transit_.front().wish;
  }

 private:
  void start_pair(const PairWish& wish) {
    if (collective_.holds_at_start(wish.npu, wish.chunk)) {
      holds_[wish.npu.index()][wish.chunk.index()] = true;
    } else {
      unsatisfied_.push_back(wish);
      if (collective_.must_hold(wish.npu, wish.chunk)) ++members_missing_;
    }
  }

  void receive() {
    std::vector<Transfer> still_in_transit;
    for (const Transfer& transfer : in_transit_) {
      if (transfer.arrival > now_) {
        still_in_transit.push_back(transfer);
        continue;
      }
      holds_[transfer.wish.npu.index()][transfer.wish.chunk.index()] = true;
      if (collective_.must_hold(transfer.wish.npu, transfer.wish.chunk)) --members_missing_;
    }
    in_transit_ = std::move(still_in_transit);
  }

  /// Algorithm 1: every unsatisfied postcondition in random order.
  void match() {
    random_.shuffle(std::span(unsatisfied_));
    std::vector<PairWish> still_unsatisfied;
    for (const PairWish& wish : unsatisfied_) {
      const auto candidates = candidate_links(wish);
      if (candidates.empty())
        still_unsatisfied.push_back(wish);
      else
        send(candidates[random_.below(static_cast<std::uint32_t>(candidates.size()))], wish);
    }
    unsatisfied_ = std::move(still_unsatisfied);
  }

  /// The free in-links whose source holds the chunk, as far as they are the cheapest.
  std::vector<LinkId> candidate_links(const PairWish& wish) const {
    std::vector<LinkId> candidates;
    SimTime least = SimTime::max();
    for (const LinkId link : topology_.in_links(vertex_of(wish.npu))) {
      if (free_at_[link.index()] > now_ || !holds_[topology_.source(link).index()][wish.chunk.index()]) continue;
      const SimTime cost = hop(link, wish.chunk).latency;
      if (cost < least) candidates.clear();
      if (cost <= least) candidates.push_back(link);
      least = std::min(least, cost);
    }
    return candidates;
  }

  void send(LinkId link, const PairWish& wish) {
    const HopTime time = hop(link, wish.chunk);
    sends_.push_back({.start = now_, .link = link, .chunk = wish.chunk});
    free_at_[link.index()] = now_ + time.busy;
    in_transit_.push_back({now_ + time.latency, wish});
    times_.insert(now_ + time.busy);
    times_.insert(now_ + time.latency);
  }

  HopTime hop(LinkId link, ChunkId chunk) const {
    return hop_time(topology_.classes()[topology_.class_of(link)], collective_.chunk_bytes(chunk), occupancy_);
  }

  const Topology& topology_;
  const Collective& collective_;
  Occupancy occupancy_;
  Random random_;
  std::vector<std::vector<bool>> holds_;
  std::vector<SimTime> free_at_;
  std::vector<PairWish> unsatisfied_;
  std::vector<Transfer> in_transit_;
  std::size_t members_missing_ = 0;
  std::set<SimTime> times_{SimTime::zero()};
  SimTime now_;
  std::vector<Send> sends_;
};

Result<Gathered> gather_by_reference(const SynthesisProblem& problem) {
  if (!problem.topology.direct())
    return input_error({}, "the topology has switches", "this synthesizer sends only over direct links between NPUs",
                       "unwind the switches to a degree, for example 1");
  const Digest key = synthesis_key(problem);
  Gathered best;
  for (std::uint32_t attempt = 0; attempt < std::max<std::uint32_t>(1, problem.attempts); ++attempt) {
    ReferenceAttempt reference(problem, attempt_stream(problem.seed, key, attempt));
    const auto sends = reference.run();
    if (!sends) {
      const PairWish missing = reference.any_missing();
      return input_error({},
                         fmt::format("NPU {} cannot be reached from NPU {}", missing.npu.value(),
                                     problem.collective.owner(missing.chunk).value()),
                         "no path of links leads there, and the collective needs one",
                         "add links, or put the NPUs into different process groups");
    }
    Gathered gathered = without_waste(problem, make_list_schedule(*sends));
    gathered.best_attempt = attempt;
    if (attempt == 0 || gathered.time < best.time) best = std::move(gathered);
  }
  return best;
}

}  // namespace

Result<Synthesis> synthesize_tacos_reference(const SynthesisProblem& problem) {
  return compose(problem, gather_by_reference, "reference");
}

// The cost of the reference: every step looks at all (NPU, chunk) pairs and all in-links of each.

namespace {

double passes(const SynthesisProblem& problem) {
  return problem.collective.kind() == CollectiveKind::all_reduce ? 2 : 1;
}

}  // namespace

std::size_t tacos_reference_bytes(const SynthesisProblem& problem) {
  const double pairs = static_cast<double>(problem.topology.npus()) * static_cast<double>(problem.collective.chunks());
  return static_cast<std::size_t>(pairs * 24 + passes(problem) * sends_of_one_pass(problem.collective) * 280);
}

Work tacos_reference_work(const SynthesisProblem& problem) {
  // A step delivers about one chunk per link and looks at half of the pairs on average, each with (links / NPUs)
  // in-links.
  const double sends = sends_of_one_pass(problem.collective);
  const double looks = sends * static_cast<double>(problem.collective.chunks()) / 2;
  return {WorkUnit::reference_look, passes(problem) * std::max<std::uint32_t>(1, problem.attempts) * looks};
}

}  // namespace tenex
