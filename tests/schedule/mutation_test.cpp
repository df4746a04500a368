// Breaks valid schedules in a thousand random ways and compares the verifier with a naive reading of the definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "schedule/link_major_storage.hpp"
#include "schedule/naive_oracle.hpp"
#include "schedule/schedule_factories.hpp"
#include "tenex/schedule/retime.hpp"
#include "tenex/schedule/verifier.hpp"

namespace tenex {
namespace {

/// A valid schedule, and the topology and collective that it is valid for.
struct Case {
  std::string name;
  Topology topology;
  Collective collective;
  Occupancy occupancy;
  std::vector<Send> sends;
};

Case greedy_case(std::string name, Topology topology, Collective collective, Occupancy occupancy, std::uint64_t seed,
                 bool flood = false) {
  auto sends = list_sends(test::greedy_schedule({topology, collective, occupancy}, seed, flood));
  return {std::move(name), std::move(topology), std::move(collective), occupancy, std::move(sends)};
}

/// The same All-Reduce with every chunk under the name of the next one of its group: its sums become complete at NPUs
/// other than the chunks' owners.
Case rooted_elsewhere(Case given) {
  given.name += " rooted elsewhere";
  for (auto& send : given.sends) {
    const GroupId group = given.collective.group_of(send.chunk);
    const auto first = given.collective.first_chunk(group).index();
    const auto count = given.collective.chunks_in(group);
    send.chunk = ChunkId::at(first + (send.chunk.index() - first + 1) % count);
  }
  return given;
}

std::vector<Case> cases() {
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
  all.push_back({"recursive doubling", cube, doubled, transfer, test::recursive_doubling({cube, doubled, transfer})});
  for (const auto kind : {all_gather, reduce_scatter})
    for (const bool as_messages : {true, false}) {
      const auto star = support::switched(4);
      const auto direct = collective(kind, 4, bytes(4000));
      all.push_back({std::string(to_string(kind)) + (as_messages ? " by messages" : " by forwarding"), star, direct,
                     serialization, test::direct_over_switch({star, direct, serialization}, as_messages)});
    }
  const auto adding = test::star(4, {.copy = false, .reduce = true});
  const auto summed = collective(reduce, 4, bytes(1000));
  all.push_back({"reducing switch",
                 adding,
                 summed,
                 transfer,
                 {test::sum_of(0, 2, SimTime::zero()), test::sum_of(0, 4, SimTime::zero()),
                  test::sum_of(0, 6, SimTime::zero()), test::sum_of(0, 1, microseconds(1))}});
  const auto copying = test::star(4, {.copy = true, .reduce = false});
  for (const auto kind : {all_gather, reduce_scatter}) {
    const auto direct = collective(kind, 4, bytes(4000));
    all.push_back({std::string(to_string(kind)) + " by a copying switch", copying, direct, serialization,
                   test::direct_over_switch({copying, direct, serialization}, false)});
  }
  const auto able = test::star(3, {.copy = true, .reduce = true});
  std::vector<Send> in_network;  // summed in the switch, sent down to all
  for (std::uint32_t chunk = 0; chunk < 3; ++chunk)
    for (std::uint32_t npu = 0; npu < 3; ++npu) {
      in_network.push_back(test::sum_of(chunk, 2 * npu, microseconds(2 * chunk)));
      in_network.push_back(test::copy_of(chunk, 2 * npu + 1, microseconds(2 * chunk + 2)));
    }
  all.push_back({"all-reduce in the network", able, collective(all_reduce, 3, bytes(3000)), transfer, in_network});
  return all;
}

template <class T>
T& any_of(std::vector<T>& items, Random& random) {
  return items[random.below(static_cast<std::uint32_t>(items.size()))];
}

SimTime random_shift(const Case& original, Random& random) {
  const HopTime hop =
      hop_time(original.topology.classes()[0], original.collective.chunk_sizes()[0], original.occupancy);
  const std::vector<SimTime> shifts{SimTime::of(1), hop.busy, hop.latency, hop.latency * 3};
  return shifts[random.below(4)];
}

/// One random change to one or two sends.
std::vector<Send> mutate(const Case& original, Random& random) {
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

std::string describe(const Verdict& verdict) {
  return verdict.findings.empty() ? "no finding" : verdict.findings.front().message;
}

TEST(Mutations, StartFromSchedulesThatVerifierAndOracleAccept) {
  for (const auto& original : cases()) {
    const Schedule schedule = make_list_schedule(original.sends);
    const Verdict verdict = verify({original.topology, original.collective, original.occupancy}, schedule);
    EXPECT_TRUE(verdict.valid()) << original.name << ": " << describe(verdict);
    const auto oracle =
        test::NaiveOracle({original.topology, original.collective, original.occupancy}, schedule).answer();
    EXPECT_TRUE(oracle.valid) << original.name;
    EXPECT_EQ(oracle.collective_time, verdict.collective_time) << original.name;
    EXPECT_EQ(oracle.waste, verdict.waste) << original.name;
  }
}

TEST(Mutations, AreJudgedAsTheDefinitionJudgesThem) {
  const auto originals = cases();
  Random random(2024);
  std::size_t broken = 0;
  std::size_t harmless = 0;
  for (int round = 0; round < 1000; ++round) {
    const Case& original = originals[static_cast<std::size_t>(round) % originals.size()];
    const Schedule schedule = make_list_schedule(mutate(original, random));
    const auto oracle =
        test::NaiveOracle({original.topology, original.collective, original.occupancy}, schedule).answer();
    for (const auto method : {ReductionCheck::automatic, ReductionCheck::exact_sets, ReductionCheck::in_tree}) {
      VerifyOptions options;
      options.reduction_check = method;
      const Verdict verdict = verify({original.topology, original.collective, original.occupancy}, schedule, options);
      if (verdict.outcome == Verification::skipped) {
        EXPECT_EQ(method, ReductionCheck::in_tree);
        continue;
      }
      EXPECT_EQ(verdict.valid(), oracle.valid) << original.name << ", mutation " << round << ", method "
                                               << static_cast<int>(method) << ": " << describe(verdict);
      if (!oracle.valid || !verdict.valid()) continue;
      EXPECT_EQ(verdict.collective_time, oracle.collective_time) << original.name << ", mutation " << round;
      EXPECT_EQ(verdict.waste, oracle.waste) << original.name << ", mutation " << round;
    }
    ++(oracle.valid ? harmless : broken);
  }
  EXPECT_GT(broken, 300U);
  EXPECT_GT(harmless, 50U);
}

/// Expects two verdicts to agree in everything.
void expect_equal(const Verdict& got, const Verdict& expected, const std::string& where) {
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

TEST(Mutations, AreJudgedLinkByLinkAsTheyAreInTimeOrder) {
  const auto originals = cases();
  Random random(777);
  std::size_t accepted = 0;
  std::size_t refused = 0;
  for (int round = 0; round < 1500; ++round) {
    const Case& original = originals[static_cast<std::size_t>(round) % originals.size()];
    const auto sends = round < static_cast<int>(originals.size()) ? original.sends : mutate(original, random);
    const auto check = [&](const Schedule& schedule, ReductionCheck method, int threads) {
      VerifyOptions options;
      options.reduction_check = method;
      options.threads = threads;
      return verify({original.topology, original.collective, original.occupancy}, schedule, options);
    };
    const Schedule by_time = make_list_schedule(sends);
    const test::LinkMajor by_link(sends, 1 + random.below(5));
    const std::string where = original.name + ", mutation " + std::to_string(round);
    for (const auto method : {ReductionCheck::automatic, ReductionCheck::in_tree}) {
      const Verdict expected = check(by_time, method, 1);
      for (const int threads : {1, 3}) {
        by_link.forget_reads();
        const Verdict verdict = check(by_link.schedule(), method, threads);
        expect_equal(verdict, expected, where);
        if (by_link.segments_read() > 0) continue;  // wrong or unusual, and so replayed in time order
        const auto oracle =
            test::NaiveOracle({original.topology, original.collective, original.occupancy}, by_time).answer();
        EXPECT_TRUE(oracle.valid) << where;
        EXPECT_EQ(verdict.collective_time, oracle.collective_time) << where;
        EXPECT_EQ(verdict.waste, oracle.waste) << where;
        ++accepted;
      }
      // Collectives that only copy, among NPUs alone, are usual whatever their mutation, as long as there are no
      // messages.
      const bool messages = std::ranges::any_of(sends, [](const Send& send) { return send.message.exists(); });
      if (expected.valid() && !reduces(original.collective.kind()) && original.topology.switches() == 0 && !messages) {
        EXPECT_EQ(by_link.segments_read(), 0U) << where;
      }
    }
    if (!check(by_time, ReductionCheck::automatic, 1).valid()) ++refused;
  }
  EXPECT_GT(accepted, 600U);
  EXPECT_GT(refused, 400U);
}

TEST(Mutations, ThatStayValidCanBeRetimed) {
  const auto originals = cases();
  Random random(99);
  std::size_t retimed_count = 0;
  for (int round = 0; round < 1000; ++round) {
    const Case& original = originals[static_cast<std::size_t>(round) % originals.size()];
    const Schedule schedule = make_list_schedule(mutate(original, random));
    const Verdict before = verify({original.topology, original.collective, original.occupancy}, schedule);
    if (!before.valid()) continue;
    const Schedule sooner = retime({original.topology, original.collective, original.occupancy}, schedule);
    const Verdict after = verify({original.topology, original.collective, original.occupancy}, sooner);
    EXPECT_TRUE(after.valid()) << original.name << ", mutation " << round << ": " << describe(after);
    EXPECT_LE(after.collective_time, before.collective_time) << original.name << ", mutation " << round;
    ++retimed_count;
  }
  EXPECT_GT(retimed_count, 50U);
}

}  // namespace
}  // namespace tenex
