// Sends of several chunks at once, by hand. Links take 500 ns and 50 GB/s: a chunk of 1 MB takes 20 us behind alpha.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "schedule/schedule_factories.hpp"
#include "support/verdicts.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

using test::link_between;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Bytes kMegabyte = bytes(1'000'000);

Collective of_four(CollectiveKind kind) { return support::collective(kind, 4, kMegabyte * 4); }

/// Payloads, and sends whose chunk id is the number of payloads before it plus the collective's 4 chunks.
class Parcels {
 public:
  explicit Parcels(const Topology& topology) : topology_(topology) {}

  void send(std::uint32_t from, std::uint32_t to, std::vector<std::uint32_t> chunks, SimTime start, Stage stage,
            std::vector<std::uint32_t> contributors = {}) {
    const auto payload = add(chunks, contributors);
    sends_.push_back({start, link_between(topology_, from, to), ChunkId(4 + payload), stage});
  }
  Schedule schedule() const { return make_list_schedule(sends_, payloads_); }

 private:
  std::uint32_t add(const std::vector<std::uint32_t>& chunks, const std::vector<std::uint32_t>& contributors) {
    std::vector<ChunkId> ids;
    for (const auto chunk : chunks) ids.emplace_back(chunk);
    payloads_.add(ids, contributors);
    return static_cast<std::uint32_t>(payloads_.size() - 1);
  }
  const Topology& topology_;
  std::vector<Send> sends_;
  Payloads payloads_;
};

using support::messages;

/// All-Reduce by recursive halving and doubling: halves with the NPU at distance 2, quarters with that at distance 1.
Schedule halving_doubling(const Topology& topology, SimTime second, SimTime third, SimTime fourth) {
  Parcels parcels(topology);
  for (std::uint32_t u = 0; u < 4; ++u) {
    const std::uint32_t far = u ^ 2U;
    const std::uint32_t near = u ^ 1U;
    const std::uint32_t far_half = far & 2U;
    const std::uint32_t own_half = u & 2U;
    parcels.send(u, far, {far_half, far_half + 1}, SimTime::zero(), Stage::reduce);
    parcels.send(u, near, {near}, second, Stage::reduce);
    parcels.send(u, near, {u}, third, Stage::copy);
    parcels.send(u, far, {own_half, own_half + 1}, fourth, Stage::copy);
  }
  return parcels.schedule();
}

TEST(Payload, HalvesAndDoubles) {
  // Two chunks take 40.5 us, one 20.5 us: 40.5, 61, 81.5 and 122 us.
  const Topology topology = support::fully_connected(4);
  const Schedule schedule = halving_doubling(topology, nanoseconds(40'500), nanoseconds(61'000), nanoseconds(81'500));
  for (const auto check : {ReductionCheck::in_tree, ReductionCheck::exact_sets}) {
    VerifyOptions options;
    options.reduction_check = check;
    const Verdict verdict =
        verify({topology, of_four(CollectiveKind::all_reduce), Occupancy::transfer}, schedule, options);
    EXPECT_THAT(messages(verdict), IsEmpty());
    EXPECT_TRUE(verdict.valid());
    EXPECT_EQ(verdict.sends, 16U);
    EXPECT_EQ(verdict.collective_time, nanoseconds(122'000));
  }
  EXPECT_EQ(last_arrival({topology, of_four(CollectiveKind::all_reduce), Occupancy::transfer}, schedule),
            nanoseconds(122'000));
}

TEST(Payload, MustHaveArrivedWhole) {
  // The quarters leave a picosecond before the halves arrive, so they lack contributions, and later sums are not
  // complete.
  const Topology topology = support::fully_connected(4);
  const Schedule schedule =
      halving_doubling(topology, picoseconds(40'499'999), nanoseconds(61'000), nanoseconds(81'500));
  const Verdict verdict = verify({topology, of_four(CollectiveKind::all_reduce), Occupancy::transfer}, schedule);
  EXPECT_FALSE(verdict.valid());
  EXPECT_THAT(messages(verdict)[0], HasSubstr("incomplete_sum"));
}

TEST(Payload, TakesItsLinkForAllItsBytes) {
  // The link to NPU 1 is free again after 20 us; the link to NPU 3 is taken again a picosecond earlier.
  const Topology topology = support::fully_connected(4);
  Parcels parcels(topology);
  parcels.send(0, 1, {0}, SimTime::zero(), Stage::copy);
  parcels.send(0, 1, {0}, nanoseconds(20'000), Stage::copy);
  parcels.send(0, 2, {0}, SimTime::zero(), Stage::copy);
  parcels.send(0, 3, {0}, SimTime::zero(), Stage::copy);
  parcels.send(0, 3, {0}, picoseconds(19'999'999), Stage::copy);
  const Verdict verdict =
      verify({topology, of_four(CollectiveKind::all_gather), Occupancy::serialization}, parcels.schedule());
  ASSERT_FALSE(messages(verdict).empty());
  EXPECT_EQ(messages(verdict)[0],
            "link_overlap: send of chunks 0 on link 2 (0 -> 3) at 19999999ps: the link is busy with another send until "
            "20us");
}

TEST(Payload, SaysWhichChunkIsMissing) {
  const Topology topology = support::fully_connected(4);
  Parcels parcels(topology);
  parcels.send(0, 1, {0, 2}, SimTime::zero(), Stage::copy);
  const Verdict verdict =
      verify({topology, of_four(CollectiveKind::all_gather), Occupancy::transfer}, parcels.schedule());
  EXPECT_EQ(messages(verdict)[0],
            "source_lacks_chunk: send of chunk 2 on link 0 (0 -> 1) at 0s: NPU 0 does not hold the chunk");
}

TEST(Payload, CountsEachContributionOnce) {
  // NPU 1 sends its part of chunks 0 and 2 to NPU 0, twice.
  const Topology topology = support::fully_connected(4);
  Parcels parcels(topology);
  parcels.send(1, 0, {0, 2}, SimTime::zero(), Stage::reduce);
  parcels.send(1, 0, {0, 2}, nanoseconds(40'500), Stage::reduce);
  const Verdict verdict =
      verify({topology, of_four(CollectiveKind::reduce_scatter), Occupancy::transfer}, parcels.schedule());
  int twice = 0;
  for (const auto& finding : verdict.findings) twice += finding.violation == Violation::contribution_twice ? 1 : 0;
  EXPECT_EQ(twice, 2);  // one for each chunk
}

TEST(Payload, IsHeldApartByRelays) {
  // A ring: NPU 0's two chunks pass NPU 1, which does not unpack them, in an All-to-All of 2 chunks per pair.
  const Topology topology = support::ring(4);
  const Collective exchange = support::collective(CollectiveKind::all_to_all, 4, kMegabyte * 8, 2);
  Payloads payloads;
  payloads.first = {0, 2};
  payloads.chunks = {ChunkId(4), ChunkId(5)};  // from NPU 0 to NPU 2: (0*4 + 2)*2
  const auto id = ChunkId(32);
  const std::vector<Send> hops{
      {SimTime::zero(), link_between(topology, 0, 1), id, Stage::copy, MessageId(0), NpuId(2)},
      {nanoseconds(40'500), link_between(topology, 1, 2), id, Stage::copy, MessageId(0), NpuId(2)}};
  const Verdict verdict = verify({topology, exchange, Occupancy::transfer}, make_list_schedule(hops, payloads));
  EXPECT_EQ(verdict.collective_time, nanoseconds(81'000));
  // 4*3 pairs with 2 chunks each; 2 of them have arrived.
  EXPECT_EQ(verdict.violations, 22U);
  for (const auto& finding : verdict.findings) EXPECT_EQ(finding.violation, Violation::missing_postcondition);
}

TEST(Payload, IsRefusedWhereNobodyCanSendIt) {
  const Topology topology = support::fully_connected(4);
  for (const std::vector<std::uint32_t>& unfit : {std::vector<std::uint32_t>{}, {0, 4}, {1, 0}, {2, 2}, {0, 1}}) {
    Parcels parcels(topology);
    parcels.send(0, 1, unfit, SimTime::zero(), Stage::copy);
    CollectiveRequest halves;
    halves.npus = 4;
    halves.groups = parse_groups("0,2; 1,3", 4).value();  // chunks 0 and 1 are of one group: {0, 1} is valid, but not
                                                          // held
    halves.size = kMegabyte * 2;
    const Verdict verdict =
        verify({topology, Collective::make(halves).value(), Occupancy::transfer}, parcels.schedule());
    const bool fit = unfit.size() == 2 && unfit[1] == 1;
    EXPECT_EQ(verdict.findings[0].violation, fit ? Violation::source_lacks_chunk : Violation::unknown_chunk);
  }
  Send beyond{SimTime::zero(), link_between(topology, 0, 1), ChunkId(4), Stage::copy};
  EXPECT_EQ(verify({topology, of_four(CollectiveKind::all_gather), Occupancy::transfer}, make_list_schedule({beyond}))
                .findings[0]
                .violation,
            Violation::unknown_chunk);
}

constexpr SimTime kSecond = nanoseconds(81'000);  // after a send of all four chunks, which takes 80.5 us

// Every NPU sends its whole input to all others: to the next one at once, to the others after that one's input has
// come.
Schedule one_shot(const Topology& topology, bool stated) {
  Parcels parcels(topology);
  for (std::uint32_t u = 0; u < 4; ++u)
    for (const std::uint32_t on : {1U, 2U, 3U}) {
      const auto start = on == 1 ? SimTime::zero() : kSecond;
      parcels.send(u, (u + on) % 4, {0, 1, 2, 3}, start, Stage::reduce,
                   stated ? std::vector{u} : std::vector<std::uint32_t>{});
    }
  return parcels.schedule();
}

TEST(StatedContributors, LetAnNpuSendItsInputAfterItHasReceivedOthers) {
  const Topology topology = support::fully_connected(4);
  const Instance instance{topology, of_four(CollectiveKind::all_reduce), Occupancy::transfer};
  const Verdict verdict = verify(instance, one_shot(topology, true));
  EXPECT_THAT(messages(verdict), IsEmpty());
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.reduction_check, "exact_sets");
  EXPECT_EQ(verdict.waste, 0U);
  EXPECT_EQ(verdict.collective_time, kSecond + nanoseconds(80'500));
  // Without the statement a later send has what came before it, which then counts twice.
  const Verdict whole = verify(instance, one_shot(topology, false));
  EXPECT_FALSE(whole.valid());
  EXPECT_EQ(whole.findings[0].violation, Violation::contribution_twice);
}

/// NPU 2 sends its input to NPU 3, that one the sum of both to NPU 1, and NPU 1 the sum of `contributors` to NPU 0.
/// What is wrong with the last of these sends; empty: nothing.
std::string problem_of_third_hand(std::vector<std::uint32_t> contributors) {
  const Topology topology = support::fully_connected(4);
  Parcels parcels(topology);
  parcels.send(2, 3, {0}, SimTime::zero(), Stage::reduce, {2});
  parcels.send(3, 1, {0}, kSecond, Stage::reduce, {2, 3});
  parcels.send(1, 0, {0}, kSecond * 2, Stage::reduce, std::move(contributors));
  const Verdict verdict =
      verify({topology, of_four(CollectiveKind::all_reduce), Occupancy::transfer}, parcels.schedule());
  for (const auto& finding : verdict.findings)
    if (finding.send.start == kSecond * 2) return std::string(to_string(finding.violation));
  return "";
}

TEST(StatedContributors, MustBeSumsThatTheSourceHas) {
  // NPU 1 has its own input, and one sum of the inputs of 2 and 3.
  for (const auto& held : {std::vector<std::uint32_t>{1}, {2, 3}, {1, 2, 3}})
    EXPECT_EQ(problem_of_third_hand(held), "");
  for (const auto& lacked : {std::vector<std::uint32_t>{2}, {1, 3}, {0}, {0, 1, 2, 3}})
    EXPECT_EQ(problem_of_third_hand(lacked), "source_lacks_chunk");
  for (const auto& unfit : {std::vector<std::uint32_t>{4}, {3, 2}, {1, 1}})
    EXPECT_EQ(problem_of_third_hand(unfit), "unknown_chunk");
}

TEST(Payload, BelongsToTheHash) {
  const Topology topology = support::fully_connected(4);
  Parcels one(topology);
  one.send(0, 1, {0, 1}, SimTime::zero(), Stage::copy);
  Parcels other(topology);
  other.send(0, 1, {0, 2}, SimTime::zero(), Stage::copy);
  EXPECT_NE(schedule_hash(one.schedule()), schedule_hash(other.schedule()));
}

}  // namespace
}  // namespace tenex
