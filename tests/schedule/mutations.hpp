// Valid schedules to start from, random changes to them, and the comparison of verdicts.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schedule/schedule_factories.hpp"
#include "support/topologies.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex::test {

/// A valid schedule, and the topology and collective that it is valid for.
struct Case {
  std::string name;
  Topology topology;
  Collective collective;
  Occupancy occupancy;
  std::vector<Send> sends;
};

inline Case greedy_case(std::string name, Topology topology, Collective collective, Occupancy occupancy,
                        std::uint64_t seed, bool flood = false) {
  auto sends = list_sends(greedy_schedule({topology, collective, occupancy}, seed, flood));
  return {std::move(name), std::move(topology), std::move(collective), occupancy, std::move(sends)};
}

/// The same All-Reduce with every chunk under the name of the next one of its group: its sums become complete at NPUs
/// other than the chunks' owners.
inline Case rooted_elsewhere(Case given) {
  given.name += " rooted elsewhere";
  for (auto& send : given.sends) {
    const GroupId group = given.collective.group_of(send.chunk);
    const auto first = given.collective.first_chunk(group).index();
    const auto count = given.collective.chunks_in(group);
    send.chunk = ChunkId::at(first + (send.chunk.index() - first + 1) % count);
  }
  return given;
}

inline std::vector<Case> cases() {
  using enum CollectiveKind;
  using support::collective;
  constexpr auto transfer = Occupancy::transfer;
  constexpr auto serialization = Occupancy::serialization;
  std::vector<Case> all;
  all.push_back(greedy_case("ring gather", support::ring(4), collective(all_gather, 4, bytes(8000), 2), transfer, 1));
  all.push_back(
      greedy_case("mesh scatter", support::mesh(3, 2), collective(reduce_scatter, 6, bytes(6000)), transfer, 2));
  all.push_back(
      greedy_case("ring all-reduce", support::ring(3), collective(all_reduce, 3, bytes(6000), 2), serialization, 3));
  all.push_back(
      greedy_case("mesh broadcast", support::mesh(3, 3), collective(broadcast, 9, bytes(4000), 2), transfer, 4));
  all.push_back(
      greedy_case("torus reduce", support::torus(3, 2), collective(reduce, 6, bytes(4000), 2), serialization, 5));
  all.push_back(greedy_case("uneven line gather", support::line3_heterogeneous(),
                            collective(all_gather, 3, bytes(24'000), 2), serialization, 6));
  all.push_back(greedy_case("uneven line all-reduce", support::line3_heterogeneous(),
                            collective(all_reduce, 3, bytes(12'000)), transfer, 7));
  all.push_back(greedy_case("groups gather through bystanders", support::ring(6),
                            collective(all_gather, 6, bytes(6000), 1, "0,2,4; 1,3"), transfer, 8, true));
  all.push_back(greedy_case("groups scatter through bystanders", support::ring(6),
                            collective(reduce_scatter, 6, bytes(6000), 1, "0,3; 1,2,4"), serialization, 9, true));
  all.push_back(rooted_elsewhere(
      greedy_case("mesh all-reduce", support::mesh(3, 2), collective(all_reduce, 6, bytes(6000)), transfer, 10)));
  all.push_back(
      rooted_elsewhere(greedy_case("groups all-reduce through bystanders", support::ring(6),
                                   collective(all_reduce, 6, bytes(6000), 1, "0,2,4; 1,3"), serialization, 11, true)));
  const auto cube = support::shape("hypercube(2)");
  const auto doubled = collective(all_reduce, 4, bytes(4000));
  all.push_back({"recursive doubling", cube, doubled, transfer, recursive_doubling({cube, doubled, transfer})});
  for (const auto kind : {all_gather, reduce_scatter})
    for (const bool as_messages : {true, false}) {
      const auto star = support::switched(4);
      const auto direct = collective(kind, 4, bytes(4000));
      all.push_back({std::string(to_string(kind)) + (as_messages ? " by messages" : " by forwarding"), star, direct,
                     serialization, direct_over_switch({star, direct, serialization}, as_messages)});
    }
  const auto adding = star(4, {.copy = false, .reduce = true});
  const auto summed = collective(reduce, 4, bytes(1000));
  all.push_back({"reducing switch",
                 adding,
                 summed,
                 transfer,
                 {sum_of(0, 2, SimTime::zero()), sum_of(0, 4, SimTime::zero()), sum_of(0, 6, SimTime::zero()),
                  sum_of(0, 1, microseconds(1))}});
  const auto copying = star(4, {.copy = true, .reduce = false});
  for (const auto kind : {all_gather, reduce_scatter}) {
    const auto direct = collective(kind, 4, bytes(4000));
    all.push_back({std::string(to_string(kind)) + " by a copying switch", copying, direct, serialization,
                   direct_over_switch({copying, direct, serialization}, false)});
  }
  const auto able = star(3, {.copy = true, .reduce = true});
  std::vector<Send> in_network;  // summed in the switch, sent down to all
  for (std::uint32_t chunk = 0; chunk < 3; ++chunk)
    for (std::uint32_t npu = 0; npu < 3; ++npu) {
      in_network.push_back(sum_of(chunk, 2 * npu, microseconds(2 * chunk)));
      in_network.push_back(copy_of(chunk, 2 * npu + 1, microseconds(2 * chunk + 2)));
    }
  all.push_back({"all-reduce in the network", able, collective(all_reduce, 3, bytes(3000)), transfer, in_network});
  return all;
}

template <class T>
T& any_of(std::vector<T>& items, Random& random) {
  return items[random.below(static_cast<std::uint32_t>(items.size()))];
}

inline SimTime random_shift(const Case& original, Random& random) {
  const HopTime hop =
      hop_time(original.topology.classes()[0], original.collective.chunk_sizes()[0], original.occupancy);
  const std::vector<SimTime> shifts{SimTime::of(1), hop.busy, hop.latency, hop.latency * 3};
  return shifts[random.below(4)];
}

/// One random change to one or two sends.
inline std::vector<Send> mutate(const Case& original, Random& random) {
  auto sends = original.sends;
  auto& send = any_of(sends, random);
  auto& other = any_of(sends, random);
  const auto links = static_cast<std::uint32_t>(original.topology.links());
  const auto chunks = static_cast<std::uint32_t>(original.collective.chunks());
  switch (random.below(10)) {
    case 0:
      send.start -= random_shift(original, random);
      break;
    case 1:
      send.start += random_shift(original, random);
      break;
    case 2:
      send.chunk = ChunkId(random.below(chunks + 1));
      break;  // sometimes one that does not exist
    case 3:
      send.link = LinkId(random.below(links + 1));
      break;
    case 4:
      sends.erase(sends.begin() + (&send - sends.data()));
      break;
    case 5: {
      Send again = send;
      again.start += random_shift(original, random) * (1 + random.below(20));
      sends.push_back(again);
      break;
    }
    case 6:
      std::swap(send.start, other.start);
      break;
    case 7:
      std::swap(send.chunk, other.chunk);
      break;
    case 8:
      send.stage = send.stage == Stage::copy ? Stage::reduce : Stage::copy;
      break;
    default:  // a plain send becomes a hop; a hop becomes plain, or gets another message or destination
      if (random.below(2) == 0)
        std::swap(send.message, other.message);
      else if (send.message.exists())
        send.message = MessageId::none(), send.destination = NpuId::none();
      else
        send.message = MessageId(1000), send.destination = npu_of(original.topology.target(send.link));
      break;
  }
  return sends;
}

inline std::string describe(const Verdict& verdict) {
  return verdict.findings.empty() ? "no finding" : verdict.findings.front().message;
}

/// Expects two verdicts to agree in everything.
inline void expect_equal(const Verdict& got, const Verdict& expected, const std::string& where) {
  EXPECT_EQ(got.outcome, expected.outcome) << where;
  EXPECT_EQ(got.violations, expected.violations) << where;
  EXPECT_EQ(got.sends, expected.sends) << where;
  EXPECT_EQ(got.waste, expected.waste) << where;
  EXPECT_EQ(got.collective_time, expected.collective_time) << where;
  EXPECT_EQ(got.memory_needed_bytes, expected.memory_needed_bytes) << where;
  EXPECT_EQ(got.reduction_check, expected.reduction_check) << where;
  ASSERT_EQ(got.findings.size(), expected.findings.size()) << where;
  for (std::size_t i = 0; i < got.findings.size(); ++i)
    EXPECT_EQ(got.findings[i].message, expected.findings[i].message);
}

}  // namespace tenex::test
