// Bounds over switches with virtual cut-through: numbers by hand, and an attack on every bound over all small networks.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bound/any_schedule.hpp"
#include "bound/compared.hpp"
#include "support/collectives.hpp"
#include "support/draws.hpp"
#include "support/topologies.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/topology/hand_over.hpp"

namespace tenex {
namespace {

using enum CollectiveKind;

constexpr SwitchProperties kEarly{.forwarding = Forwarding::virtual_cut_through};

SimTime early_bound(std::string_view name, const BoundProblem& problem) {
  for (const Bound& bound : cheap_bounds(problem))
    if (bound.name == name) return bound.time;
  return SimTime::zero();
}

TEST(EarlySwitchBound, OfOneSwitchIsWhatAScheduleTakes) {
  // SW(8), 400 MB, 50 GB/s, 0.5 us: chunks of 1 ms, and a schedule of 7.001 ms (EarlySwitch.PassesAChunkOn...). If the
  // switch stored, nothing could be passed on before 1.0005 ms: 8.001.
  const Topology storing = support::shape("SW(8)");
  const Topology early = storing.with_switches(kEarly);
  for (const auto kind : {all_gather, reduce_scatter}) {
    const Collective collective = support::collective(kind, 8, bytes(400'000'000));
    EXPECT_EQ(early_bound("relay", {storing, collective}), microseconds(8001)) << to_string(kind);
    EXPECT_EQ(early_bound("relay", {early, collective}), microseconds(7001)) << to_string(kind);
    EXPECT_EQ(support::compare({early, collective}, microseconds(7001)).wrong, "") << to_string(kind);
    EXPECT_EQ(support::compare({early, collective}, microseconds(7001)).largest, microseconds(7001)) << to_string(kind);
  }
}

TEST(EarlySwitchBound, OfAPathFromSlowToSlowOverAFastLinkHasBoth) {
  // 0 - switch - switch - 1 with 40, 10 and 40 ns for 1,000 bytes and alphas of 100 ns: 300 + 40 + 30 (the rule), where
  // 300 + 90 would be wrong and 300 + 40 is what a whole path at once would take. With sends of several chunks the
  // latter is what is claimed.
  TopologyBuilder builder(2);
  const VertexId left = builder.add_switch(kEarly);
  const VertexId right = builder.add_switch(kEarly);
  const auto join = [&](VertexId a, VertexId b, std::int64_t each) {
    builder.add_link_pair({a, b, nanoseconds(100), bytes_per_second(1'000'000'000'000 / each)});
  };
  join(VertexId(0), left, 40);
  join(left, right, 10);
  join(right, VertexId(1), 40);
  const Topology topology = std::move(builder).build().value();
  const Collective gather = support::collective(all_gather, 2, bytes(2000));
  EXPECT_EQ(early_bound("eccentricity", {topology, gather}), nanoseconds(370));
  BoundProblem several{topology, gather};
  several.single_chunks = false;
  EXPECT_EQ(early_bound("eccentricity", several), nanoseconds(340));
  EXPECT_EQ(early_bound("relay", several), SimTime::zero());
}

/// Plays a copying collective in a random order: of all sends that bring a chunk nearer to where it is needed, one
/// after another as early as it can start. Switches pass each arrival on once.
class RandomPlay {
 public:
  RandomPlay(const Instance& instance, std::uint64_t seed)
      : topology_(instance.topology),
        collective_(instance.collective),
        occupancy_(instance.occupancy),
        random_(seed, 0x706c6179),
        free_(topology_.links()),
        has_(topology_.vertices() * collective_.chunks()) {
    for (std::uint32_t c = 0; c < collective_.chunks(); ++c) {
      at(vertex_of(collective_.source(ChunkId(c))), c).push_back({SimTime::zero(), SimTime::zero()});
      collective_.for_each_destination(ChunkId(c), [&](NpuId npu) {
        if (npu != collective_.source(ChunkId(c))) ++missing_;
      });
    }
  }

  /// The sends and when all is done; nullopt where the order leads nowhere.
  std::optional<SimTime> run() {
    const std::size_t most = 3 * topology_.links() * collective_.chunks();
    for (std::size_t step = 0; missing_ > 0 && step < most; ++step)
      if (!take_one()) return std::nullopt;
    return missing_ == 0 ? std::optional(finish_) : std::nullopt;
  }
  [[nodiscard]] std::vector<Send> sends() const { return sends_; }

 private:
  struct There {
    SimTime whole;
    SimTime serialization;  ///< of the link over which it came
    bool used = false;
  };
  struct Move {
    LinkId link;
    std::uint32_t chunk;
    std::size_t arrival;
    SimTime start;
  };

  std::vector<There>& at(VertexId vertex, std::uint32_t chunk) {
    return has_[vertex.index() * collective_.chunks() + chunk];
  }

  bool take_one() {
    std::vector<Move> moves;
    for (std::uint32_t l = 0; l < topology_.links(); ++l)
      for (std::uint32_t c = 0; c < collective_.chunks(); ++c)
        if (const auto move = move_of(LinkId(l), c)) moves.push_back(*move);
    if (moves.empty()) return false;
    // Mostly one of those that start soonest.
    std::ranges::sort(moves, {}, &Move::start);
    const auto few = random_.below(4) == 0 ? moves.size() : std::min<std::size_t>(moves.size(), 3);
    play(moves[random_.below(static_cast<std::uint32_t>(few))]);
    return true;
  }

  std::optional<Move> move_of(LinkId link, std::uint32_t chunk) {
    const VertexId source = topology_.source(link);
    const VertexId target = topology_.target(link);
    if (topology_.is_npu(target) && !at(target, chunk).empty()) return std::nullopt;
    // What waits at a switch has to be passed on first.
    if (!topology_.is_npu(target) && std::ranges::count(at(target, chunk), false, &There::used) > 1)
      return std::nullopt;
    std::optional<Move> best;
    const SimTime own = serialization(link, chunk);
    for (std::size_t i = 0; i < at(source, chunk).size(); ++i) {
      const There& there = at(source, chunk)[i];
      if (!topology_.is_npu(source) && there.used) continue;
      const SimTime lead = passes_on_early(topology_, source) ? std::min(own, there.serialization) : SimTime::zero();
      const SimTime start = std::max(free_[link.index()], there.whole - lead);
      if (!best || start < best->start) best = Move{link, chunk, i, start};
    }
    return best;
  }
  [[nodiscard]] SimTime serialization(LinkId link, std::uint32_t chunk) const {
    return serialization_time(collective_.chunk_bytes(ChunkId(chunk)), topology_.classes()[topology_.class_of(link)]);
  }

  void play(const Move& move) {
    const VertexId target = topology_.target(move.link);
    at(topology_.source(move.link), move.chunk)[move.arrival].used = true;
    const SimTime own = serialization(move.link, move.chunk);
    const SimTime alpha = topology_.alpha(move.link);
    free_[move.link.index()] = move.start + own + (occupancy_ == Occupancy::transfer ? alpha : SimTime::zero());
    at(target, move.chunk).push_back({move.start + alpha + own, own});
    sends_.push_back({move.start, move.link, ChunkId(move.chunk)});
    if (topology_.is_npu(target) && collective_.must_hold(npu_of(target), ChunkId(move.chunk))) {
      --missing_;
      finish_ = std::max(finish_, move.start + alpha + own);
    }
  }

  const Topology& topology_;
  const Collective& collective_;
  Occupancy occupancy_;
  Random random_;
  std::vector<SimTime> free_;
  std::vector<std::vector<There>> has_;
  std::vector<Send> sends_;
  std::size_t missing_ = 0;
  SimTime finish_;
};

/// Network `number` of all with so many NPUs and switches: each pair of vertices has no links, slow ones or fast ones.
Topology small_network(std::uint32_t npus, std::uint32_t switches, std::uint32_t number) {
  TopologyBuilder builder(npus);
  for (std::uint32_t s = 0; s < switches; ++s) builder.add_switch(kEarly);
  for (std::uint32_t a = 0; a < npus + switches; ++a)
    for (std::uint32_t b = a + 1; b < npus + switches; ++b, number /= 3) {
      if (number % 3 == 0) continue;
      // 1,000 bytes take 40 ns or 12 ns; alphas are 2 ns.
      const auto speed = bytes_per_second(1'000'000'000'000 / (number % 3 == 1 ? 40 : 12));
      builder.add_link_pair({VertexId(a), VertexId(b), nanoseconds(2), speed});
    }
  return std::move(builder).build().value();
}

TEST(EarlySwitchBound, HoldsOnEveryNetworkOfUpToFourVerticesAndTwoSpeeds) {
  const int plays = support::draws(30, 2000);
  const std::uint32_t step = support::draws(5, 1);  // CI looks at every fifth network
  int met = 0;
  int looked_at = 0;
  for (const auto& [npus, switches, networks] : {std::array{2U, 1U, 27U}, {3U, 1U, 729U}, {2U, 2U, 729U}})
    for (std::uint32_t number = 0; number < networks; number += networks == 27 ? 1 : step) {
      const Topology topology = small_network(npus, switches, number);
      if (find_disconnected_pair(topology)) continue;
      for (const auto kind : {all_gather, broadcast, all_to_all})
        for (const auto occupancy : {Occupancy::serialization, Occupancy::transfer}) {
          const auto collective =
              support::collective(kind, npus, bytes(kind == broadcast ? 2000 : 1000 * npus), kind == broadcast ? 2 : 1);
          const Instance instance{topology, collective, occupancy};
          SimTime best = SimTime::max();
          std::vector<Send> sends;
          for (int play = 0; play < plays; ++play) {
            RandomPlay one(instance, static_cast<std::uint64_t>(play));
            const auto time = one.run();
            if (!time || *time >= best) continue;
            best = *time;
            sends = one.sends();
          }
          ASSERT_LT(best, SimTime::max()) << npus << " NPUs, network " << number;
          const auto verdict = verify(instance, make_list_schedule(std::move(sends)));
          ASSERT_TRUE(verdict.valid()) << npus << " NPUs, network " << number << ": "
                                       << (verdict.findings.empty() ? "" : verdict.findings.front().message);
          const auto compared = support::compare(instance, best);
          ASSERT_EQ(compared.wrong, "") << to_string(kind) << ", " << npus << " NPUs, network " << number;
          met += compared.largest == best ? 1 : 0;
          ++looked_at;
          if (kind == all_to_all) continue;
          // Turned around in time, a gather is a reduction.
          const Collective turned = collective.as(kind == all_gather ? reduce_scatter : reduce);
          const Topology mirror = topology.mirrored();
          ASSERT_EQ(support::compare({mirror, turned, occupancy}, best).wrong, "")
              << to_string(turned.kind()) << ", " << npus << " NPUs, network " << number;
        }
    }
  EXPECT_GT(3 * met, looked_at);  // and they say something
}

/// Alphas of zero to a chunk's time and more, and speeds that differ by twelve.
const support::DrawnLinks kDrawnLinks{{nanoseconds(0), nanoseconds(500), nanoseconds(30'000)},
                                      {gigabytes_per_second(25), gigabytes_per_second(50), gigabytes_per_second(300)},
                                      false};

TEST(EarlySwitchBound, IsNotAboveAPlayedGreedyOfAnyKind) {
  const int draws = support::draws(120, 5000);
  for (int draw = 0; draw < draws; ++draw) {
    Random random(static_cast<std::uint64_t>(draw), 0x626e64);
    const bool able = random.below(2) == 0;
    const Topology topology = support::drawn_switches(
        random, {.copy = able, .reduce = able, .forwarding = Forwarding::virtual_cut_through}, kDrawnLinks);
    const CollectiveKind any[] = {all_gather, reduce_scatter, all_reduce, broadcast,
                                  reduce,     all_to_all,     gather,     scatter};
    const CollectiveKind unicast[] = {all_to_all, gather, scatter};
    const auto kind = able ? any[random.below(8)] : unicast[random.below(3)];
    const auto npus = static_cast<std::int64_t>(topology.npus());
    const auto collective = support::collective(kind, topology.npus(), bytes(1'000'000 * npus), 1 + random.below(3));
    const auto occupancy = random.below(2) == 0 ? Occupancy::serialization : Occupancy::transfer;
    const Instance instance{topology, collective, occupancy};
    const Topology storing = with_early_switches_as(topology, Forwarding::store_and_forward);
    SimTime best = SimTime::max();
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      const Schedule stored = support::EarliestSends({storing, collective, occupancy}, seed).schedule();
      const auto verdict = verify(instance, retime_early(instance, stored, {}, true));
      ASSERT_TRUE(verdict.valid()) << "draw " << draw;
      best = std::min(best, verdict.collective_time);
    }
    for (const bool single_chunks : {true, false})
      ASSERT_EQ(support::compare({instance, true, single_chunks}, best).wrong, "")
          << to_string(kind) << ", draw " << draw;
  }
}

}  // namespace
}  // namespace tenex
