// The verifier on cut-through switches (wires), on their signals, and on buffers of switches that store and forward.
//
// A chunk of 1,000 B takes 1 us over a link of 1 GB/s and alpha is 1 us, so a wire over one switch arrives 3 us after
// its start and takes its up-link for [t, t + 1 us) and its down-link for [t + 1 us, t + 2 us).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "schedule/schedule_factories.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Topology wired_star(std::uint32_t n, bool copy = false, bool reduce = false) {
  return wires_of(test::star(n, {copy, reduce, Forwarding::cut_through}, microseconds(1), gigabytes_per_second(1)))
      .value();
}

Send over(const Topology& topology, std::uint32_t from, std::uint32_t to, std::uint32_t chunk, SimTime start,
          Stage stage = Stage::copy) {
  return {start, test::link_between(topology, from, to), ChunkId(chunk), stage};
}

std::vector<std::string> problems(const Verdict& verdict) {
  std::vector<std::string> texts;
  for (const auto& finding : verdict.findings)
    texts.push_back(std::string(to_string(finding.violation)) + ": " + finding.message);
  return texts;
}

Verdict check_on_wires(CollectiveKind kind, const Topology& topology, std::vector<Send> sends,
                       Occupancy occupancy = Occupancy::serialization) {
  const auto npus = static_cast<std::uint32_t>(topology.npus());
  const bool one = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
  const auto collective = support::collective(kind, npus, bytes(one ? 1000 : 1000 * npus));
  return verify({topology, collective, occupancy}, make_list_schedule(std::move(sends)));
}

TEST(VerifierWires, AnAllGatherByShiftsTakesOneChunkTimePerShiftAndThePathOnce) {
  // Shift d starts at d - 1 us; the last of three arrives at 2 + 3 us. Up- and down-links are each used back to back.
  const Topology star = wired_star(4);
  std::vector<Send> sends;
  for (std::uint32_t shift = 1; shift < 4; ++shift)
    for (std::uint32_t npu = 0; npu < 4; ++npu)
      sends.push_back(over(star, npu, (npu + shift) % 4, npu, microseconds(shift - 1)));
  const Verdict verdict = check_on_wires(CollectiveKind::all_gather, star, sends);
  EXPECT_THAT(problems(verdict), IsEmpty());
  EXPECT_EQ(verdict.collective_time, microseconds(5));
  // Under `transfer` each link is busy for its own alpha longer: shifts every 1 us overlap, every 2 us do not.
  EXPECT_FALSE(check_on_wires(CollectiveKind::all_gather, star, sends, Occupancy::transfer).valid());
  for (Send& send : sends) send.start = send.start * 2;
  EXPECT_TRUE(check_on_wires(CollectiveKind::all_gather, star, sends, Occupancy::transfer).valid());
}

TEST(VerifierWires, ThatShareTheUpLinkOverlap) {
  const Topology star = wired_star(3);
  const Verdict verdict = check_on_wires(CollectiveKind::broadcast, star,
                                         {over(star, 0, 1, 0, microseconds(0)), over(star, 0, 2, 0, nanoseconds(500))});
  EXPECT_THAT(
      problems(verdict),
      ElementsAre(HasSubstr("link 0 of the network (0 -> 3), on its path, is busy with another send until 1us")));
}

TEST(VerifierWires, ThatShareTheDownLinkOverlapThere) {
  // Scattered starts: NPU 1 -> 2 at 0, NPU 0 -> 2 at 0.5 us: the down-link is taken for [1, 2) us and [1.5, 2.5) us.
  const Topology star = wired_star(3);
  const Verdict verdict = check_on_wires(CollectiveKind::all_gather, star,
                                         {over(star, 1, 2, 1, microseconds(0)), over(star, 0, 2, 0, nanoseconds(500)),
                                          over(star, 0, 1, 0, microseconds(2)), over(star, 1, 0, 1, microseconds(2)),
                                          over(star, 2, 0, 2, microseconds(3)), over(star, 2, 1, 2, microseconds(4))});
  EXPECT_THAT(problems(verdict), ElementsAre(HasSubstr("(3 -> 2), on its path, is busy with another send until 2us")));
}

TEST(VerifierWires, AreOneSignalWhereASwitchCopies) {
  const auto sends = [](const Topology& star) {
    return std::vector<Send>{over(star, 0, 1, 0, microseconds(0)), over(star, 0, 2, 0, microseconds(0))};
  };
  const Topology copying = wired_star(3, true);
  const Verdict verdict = check_on_wires(CollectiveKind::broadcast, copying, sends(copying));
  EXPECT_THAT(problems(verdict), IsEmpty());
  EXPECT_EQ(verdict.collective_time, microseconds(3));
  const Topology plain = wired_star(3);
  EXPECT_THAT(problems(check_on_wires(CollectiveKind::broadcast, plain, sends(plain))),
              ElementsAre(HasSubstr("they are one signal only where a switch copies")));
}

TEST(VerifierWires, AreOneSignalWhereASwitchReduces) {
  const auto sends = [](const Topology& star) {
    return std::vector<Send>{over(star, 1, 0, 0, microseconds(0), Stage::reduce),
                             over(star, 2, 0, 0, microseconds(0), Stage::reduce)};
  };
  const Topology reducing = wired_star(3, false, true);
  const Verdict verdict = check_on_wires(CollectiveKind::reduce, reducing, sends(reducing));
  EXPECT_THAT(problems(verdict), IsEmpty());
  EXPECT_EQ(verdict.collective_time, microseconds(3));
  const Topology plain = wired_star(3);
  EXPECT_THAT(problems(check_on_wires(CollectiveKind::reduce, plain, sends(plain))),
              ElementsAre(HasSubstr("they are one signal only where a switch reduces")));
  // A sum needs its parts at one time.
  auto late = sends(reducing);
  late[1].start = nanoseconds(1);
  EXPECT_FALSE(check_on_wires(CollectiveKind::reduce, reducing, late).valid());
}

TEST(VerifierWires, OfDifferentChunksAreNeverOneSignal) {
  const Topology star = wired_star(3, true, true);
  EXPECT_FALSE(check_on_wires(CollectiveKind::all_to_all, star,
                              {over(star, 0, 1, 1, microseconds(0)), over(star, 0, 2, 2, microseconds(0))})
                   .valid());
}

TEST(VerifierWires, AreRetimedInTheOrderOfTheirPhysicalLinks) {
  // The shifts start 5 us apart; as soon as possible they start 1 us apart.
  const Topology star = wired_star(4);
  std::vector<Send> sends;
  for (std::uint32_t shift = 1; shift < 4; ++shift)
    for (std::uint32_t npu = 0; npu < 4; ++npu)
      sends.push_back(over(star, npu, (npu + shift) % 4, npu, microseconds(5 * shift)));
  const auto collective = support::collective(CollectiveKind::all_gather, 4, bytes(4000));
  const Instance instance{star, collective, Occupancy::serialization};
  const Schedule schedule = retime(instance, make_list_schedule(sends));
  const Verdict verdict = verify(instance, schedule);
  EXPECT_TRUE(verdict.valid());
  EXPECT_EQ(verdict.collective_time, microseconds(5));
}

/// NPU 0 - switch 2 - NPU 1, two chunks of 1,000 B; the link out is as fast as the link in.
Verdict pass_over_buffer(std::uint32_t buffer, std::vector<SimTime> in, std::vector<SimTime> out) {
  TopologyBuilder builder(2);
  const VertexId hub = builder.add_switch({.buffer = buffer});
  builder.add_link({VertexId(0), hub, microseconds(1), gigabytes_per_second(1)});
  builder.add_link({hub, VertexId(1), microseconds(1), gigabytes_per_second(1)});
  builder.add_link({VertexId(1), VertexId(0), microseconds(1), gigabytes_per_second(1)});
  const Topology topology = std::move(builder).build().value();
  const auto collective =
      support::collective(CollectiveKind::broadcast, 2, bytes(1000 * static_cast<std::int64_t>(in.size())),
                          static_cast<std::uint32_t>(in.size()));
  std::vector<Send> sends;
  for (std::uint32_t i = 0; i < in.size(); ++i) {
    sends.push_back(test::copy_of(i, 0, in[i]));
    sends.push_back(test::copy_of(i, 1, out[i]));
  }
  return verify({topology, collective, Occupancy::serialization}, make_list_schedule(std::move(sends)));
}

TEST(VerifierBuffers, HoldWhatWaitsAndNoMore) {
  const auto us = [](std::int64_t time) { return microseconds(time); };
  // Arrivals at 2, 3 and 4 us. Sent on at once, nothing waits.
  EXPECT_TRUE(pass_over_buffer(0, {us(0), us(1), us(2)}, {us(2), us(3), us(4)}).valid());
  // One us later each: the first waits [2, 3), the second [3, 4), the third [4, 5): one at the end of every instant.
  EXPECT_TRUE(pass_over_buffer(1, {us(0), us(1), us(2)}, {us(3), us(4), us(5)}).valid());
  EXPECT_THAT(problems(pass_over_buffer(0, {us(0), us(1), us(2)}, {us(3), us(4), us(5)})),
              ElementsAre("buffer_overflow: at 2us 1 chunks wait in switch 2, whose buffer holds 0"));
  // Two us later each: two wait from 3 us on.
  EXPECT_THAT(problems(pass_over_buffer(1, {us(0), us(1), us(2)}, {us(4), us(5), us(6)})),
              ElementsAre("buffer_overflow: at 3us 2 chunks wait in switch 2, whose buffer holds 1"));
  EXPECT_TRUE(pass_over_buffer(2, {us(0), us(1), us(2)}, {us(4), us(5), us(6)}).valid());
}

TEST(VerifierBuffers, CountACopiedChunkOnceAndASumOnce) {
  // Chunk 0 arrives at 2 us and leaves at 2 and 3 us: it waits once, for [2, 3).
  const auto star = [](SwitchProperties properties) {
    return test::star(3, properties, microseconds(1), gigabytes_per_second(1));
  };
  const auto copied = [&](std::uint32_t buffer) {
    return check_on_wires(CollectiveKind::broadcast, star({.copy = true, .buffer = buffer}),
                          {test::copy_of(0, 0, microseconds(0)), test::copy_of(0, 3, microseconds(2)),
                           test::copy_of(0, 5, microseconds(3))});
  };
  EXPECT_TRUE(copied(1).valid());
  EXPECT_FALSE(copied(0).valid());
  // Two partial sums arrive at 2 and 3 us and leave as one at 3 us; separately, the second would wait as well.
  const auto summed = [&](bool reduce, std::uint32_t buffer) {
    std::vector<Send> sends{test::sum_of(0, 2, microseconds(0)), test::sum_of(0, 4, microseconds(1)),
                            test::sum_of(0, 1, microseconds(3))};
    if (!reduce) sends.push_back(test::sum_of(0, 1, microseconds(4)));
    return check_on_wires(CollectiveKind::reduce, star({.reduce = reduce, .buffer = buffer}), sends);
  };
  EXPECT_TRUE(summed(true, 1).valid());
  EXPECT_FALSE(summed(true, 0).valid());
  EXPECT_TRUE(summed(false, 1).valid());  // the first waits [2, 3), the second [3, 4)
  EXPECT_FALSE(summed(false, 0).valid());
}

}  // namespace
}  // namespace tenex
