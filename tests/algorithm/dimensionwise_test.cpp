// Algorithms that work dimension by dimension: their messages and bytes against numbers derived by hand.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "algorithm/untimed_run.hpp"
#include "support/topologies.hpp"

namespace tenex {
namespace {

/// Messages and chunks that every NPU sends; equal for all NPUs.
struct Traffic {
  std::uint64_t messages = 0;
  std::uint64_t chunks = 0;
  bool operator==(const Traffic&) const = default;
};

std::vector<Message> messages_of(std::string_view algorithm, const Topology& topology, CollectiveKind kind,
                                 std::int64_t chunks) {
  const auto collective = support::collective(kind, topology.npus(), bytes(100000), chunks);
  return support::run_untimed(*support::program_of(algorithm, topology, collective), collective, 1).messages;
}

Traffic sent_by_each(std::string_view algorithm, std::string_view shape, CollectiveKind kind, std::int64_t chunks) {
  const auto topology = support::shape(shape);
  std::map<std::uint32_t, Traffic> traffic;
  for (const auto& message : messages_of(algorithm, topology, kind, chunks)) {
    ++traffic[message.source.value()].messages;
    traffic[message.source.value()].chunks += message.chunks;
  }
  EXPECT_EQ(traffic.size(), topology.npus());
  for (const auto& [npu, mine] : traffic) EXPECT_EQ(mine, traffic[0]) << "NPU " << npu;
  return traffic[0];
}

/// Chunks sent along each dimension of 4 x 3 NPUs, by slice.
std::map<std::uint32_t, std::array<std::uint64_t, 2>> by_dimension(std::string_view algorithm, const Topology& topology,
                                                                   CollectiveKind kind, std::uint32_t chunks) {
  std::map<std::uint32_t, std::array<std::uint64_t, 2>> sent;
  for (const auto& message : messages_of(algorithm, topology, kind, chunks)) {
    const bool first = message.source.value() / 4 == message.destination.value() / 4;
    sent[message.chunk.value() % chunks][first ? 0 : 1] += message.chunks;
  }
  return sent;
}

TEST(HalvingDoubling, SendsTwiceLogarithmicallyManyMessagesAndTheLeastBytes) {
  for (const std::uint32_t n : {2U, 4U, 8U, 16U, 32U}) {
    const auto shape = "FC(" + std::to_string(n) + ")";
    const auto steps = static_cast<std::uint64_t>(std::countr_zero(n));
    // Halves of n, n/2, .. 2 chunks: n - 1 chunks in log2 n messages, per slice; both ways in an All-Reduce.
    EXPECT_EQ(sent_by_each("rhd", shape, CollectiveKind::reduce_scatter, 1), (Traffic{steps, n - 1}));
    EXPECT_EQ(sent_by_each("rhd", shape, CollectiveKind::all_gather, 3), (Traffic{3 * steps, 3 * (n - 1)}));
    EXPECT_EQ(sent_by_each("rhd", shape, CollectiveKind::all_reduce, 2), (Traffic{2 * 2 * steps, 2 * 2 * (n - 1)}));
  }
}

TEST(HalvingDoubling, HalvesTowardTheNearestRankFirst) {
  const auto collective = support::collective(CollectiveKind::all_reduce, 8, bytes(8));
  const auto program = support::program_of("rhd", support::ring(8), collective);
  const auto state = program->begin();
  const auto message = [](std::uint32_t from, std::uint32_t to, std::uint32_t name, Stage stage, std::uint32_t chunks) {
    return Message{NpuId(from), NpuId(to), ChunkId(name), stage, chunks};
  };
  std::vector<Message> out;
  state->start(NpuId(5), out);
  // 5 = 101b. It sends to 100b the chunks of the even owners: 4 of 8, of which 0 is the first.
  EXPECT_EQ(out, (std::vector{message(5, 4, 0, Stage::reduce, 4)}));
  std::vector<ChunkId> chunks;
  program->chunks_of(out[0], chunks);
  EXPECT_EQ(chunks, (std::vector{ChunkId(0), ChunkId(2), ChunkId(4), ChunkId(6)}));
  out.clear();
  // Then it sends to 111b the chunks of the owners x11b: 3 and 7.
  state->arrive(message(4, 5, 1, Stage::reduce, 4), out);
  EXPECT_EQ(out, (std::vector{message(5, 7, 3, Stage::reduce, 2)}));
  out.clear();
  // The partner of the last step is early. The second arrival triggers both that step and the gather's first step: NPU
  // 5 sends the chunk of 001b to it and, since its own sum is complete, its own chunk too.
  state->arrive(message(1, 5, 5, Stage::reduce, 1), out);
  EXPECT_TRUE(out.empty());
  state->arrive(message(7, 5, 1, Stage::reduce, 2), out);
  EXPECT_EQ(out, (std::vector{message(5, 1, 1, Stage::reduce, 1), message(5, 1, 5, Stage::copy, 1)}));
}

TEST(Hierarchical, SendsTheClosedFormOfItsDimensions) {
  // RI(4)_FC(3)_SW(8): per slice of 96 chunks, up the dimensions: 3 messages of 96/4 = 24, 2 of 24/3 = 8, and halves of
  // 8: 4 + 2 + 1. Messages 3 + 2 + 3 = 8; chunks 72 + 16 + 7 = 95 = n - 1.
  const auto* shape = "RI(4)_FC(3)_SW(8)";
  EXPECT_EQ(sent_by_each("hierarchical", shape, CollectiveKind::reduce_scatter, 1), (Traffic{8, 95}));
  EXPECT_EQ(sent_by_each("hierarchical", shape, CollectiveKind::all_gather, 1), (Traffic{8, 95}));
  EXPECT_EQ(sent_by_each("hierarchical", shape, CollectiveKind::all_reduce, 1), (Traffic{16, 190}));
  // A switch of 6 is no power of two: 5 messages of one chunk each, after 3 of 6.
  EXPECT_EQ(sent_by_each("hierarchical", "RI(4)_SW(6)", CollectiveKind::reduce_scatter, 2), (Traffic{2 * 8, 2 * 23}));
  // All-to-All: in a dimension of p, p-1 messages with 1/p of the 24 chunks each: 3 * 6 + 5 * 4.
  EXPECT_EQ(sent_by_each("hierarchical", "RI(4)_SW(6)", CollectiveKind::all_to_all, 1),
            (Traffic{1 + 1 + 1 + 5, 18 + 20}));
  // Over a switch of a power of two, too: 3 * 8 + 7 * 4 of 32. Halving would send 3 * 16 there.
  EXPECT_EQ(sent_by_each("hierarchical", "RI(4)_SW(8)", CollectiveKind::all_to_all, 1),
            (Traffic{1 + 1 + 1 + 7, 24 + 28}));
}

TEST(Hierarchical, OfOneRingIsTheRing) {
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
    const auto ring = messages_of("ring", support::ring(6), kind, 1);
    const auto hierarchical = messages_of("hierarchical", support::ring(6), kind, 1);
    EXPECT_EQ(ring, hierarchical);
  }
}

TEST(Blueconnect, TakesTheFirstDimensionFirstWithAllSlices) {
  // Totals per slice of 12 chunks: 12 NPUs send 3 parts of 3 chunks along the first dimension and 2 parts of 1 along
  // the second.
  const auto topology = support::shape("RI(4)_RI(3)");
  const auto sent = by_dimension("blueconnect", topology, CollectiveKind::reduce_scatter, 2);
  for (std::uint32_t slice = 0; slice < 2; ++slice)
    EXPECT_EQ(sent.at(slice), (std::array<std::uint64_t, 2>{12 * 3 * 3, 12 * 2 * 1}));
}

TEST(RingPerDimension, BeginsEverySliceInAnotherDimension) {
  // Slice 0 goes as in BlueConnect; slice 1 begins with the second dimension: 2 parts of 4 chunks, then 3 parts of 1.
  const auto topology = support::shape("RI(4)_RI(3)");
  for (const auto kind : {CollectiveKind::reduce_scatter, CollectiveKind::all_gather}) {
    const auto sent = by_dimension("ring_per_dimension", topology, kind, 4);
    for (const std::uint32_t slice : {0U, 2U})
      EXPECT_EQ(sent.at(slice), (std::array<std::uint64_t, 2>{12 * 3 * 3, 12 * 2 * 1}));
    for (const std::uint32_t slice : {1U, 3U})
      EXPECT_EQ(sent.at(slice), (std::array<std::uint64_t, 2>{12 * 3 * 1, 12 * 2 * 4}));
  }
}

TEST(Themis, SendsASliceFirstThroughTheDimensionWithTheLeastLoad) {
  // Both dimensions have the same bandwidth; a slice has 12 units. Slice 0 goes in order: 9 along the first (3/4 of
  // 12), 2 along the second (2/3 of 3). Slice 1: 2 < 9, so the second is first: 8 of 12 there, 3 of 4 along the first.
  // The loads are 12 and 10. They differ by more than 1/16 of a slice in the second (12/16 * 2/3 = 0.5), so slice 2
  // goes as slice 1: loads 15 and 18. Slice 3 again begins with the first.
  const auto topology = support::shape("RI(4)_RI(3)");
  const auto sent = by_dimension("themis", topology, CollectiveKind::all_reduce, 4);
  const std::array<std::uint64_t, 2> first{2 * 12 * 3 * 3, 2 * 12 * 2 * 1};
  const std::array<std::uint64_t, 2> second{2 * 12 * 3 * 1, 2 * 12 * 2 * 4};
  EXPECT_EQ(sent.at(0), first);
  EXPECT_EQ(sent.at(1), second);
  EXPECT_EQ(sent.at(2), second);
  EXPECT_EQ(sent.at(3), first);
}

TEST(Themis, KeepsTheOrderWhereLoadsAreClose) {
  // 9 units along the first dimension at 9 GB/s, 2 along the second at 2 GB/s: the loads stay equal.
  const auto topology =
      support::shape("RI(4)_RI(3)", {support::kAlpha}, {gigabytes_per_second(9), gigabytes_per_second(2)});
  const auto sent = by_dimension("themis", topology, CollectiveKind::reduce_scatter, 4);
  for (std::uint32_t slice = 0; slice < 4; ++slice)
    EXPECT_EQ(sent.at(slice), (std::array<std::uint64_t, 2>{12 * 3 * 3, 12 * 2 * 1})) << slice;
}

TEST(Bruck, SendsLogarithmicallyManyMessagesForAnySize) {
  for (const std::uint32_t n : {2U, 3U, 5U, 8U, 12U, 17U}) {
    const auto shape = "FC(" + std::to_string(n) + ")";
    const auto steps = static_cast<std::uint64_t>(std::bit_width(n - 1));
    EXPECT_EQ(sent_by_each("bruck", shape, CollectiveKind::all_gather, 2), (Traffic{2 * steps, 2 * (n - 1)}));
    // The total is the number of bits set in 1 .. n-1.
    std::uint64_t bits = 0;
    for (std::uint32_t o = 1; o < n; ++o) bits += static_cast<std::uint64_t>(std::popcount(o));
    EXPECT_EQ(sent_by_each("bruck", shape, CollectiveKind::all_to_all, 1), (Traffic{steps, bits}));
  }
}

TEST(Direct, KeepsNoMoreThanItsWindowUnderWay) {
  for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
    const auto collective = support::collective(kind, 6, bytes(1000), 2);
    const auto program =
        support::program_of("direct", support::ring(6), collective, {3, DestinationOrder::relative, 1});
    EXPECT_FALSE(program->open_loop());
    const auto state = program->begin();
    std::vector<Message> out;
    state->start(NpuId(2), out);
    EXPECT_EQ(out.size(), 3U);
    // 5 peers, 2 chunks: 10 messages, so 7 arrivals trigger one more each.
    for (int arrived = 1; arrived <= 10; ++arrived) {
      out.clear();
      auto message = Message{NpuId(1), NpuId(2), ChunkId(2), Stage::copy};
      if (kind == CollectiveKind::reduce_scatter) message.stage = Stage::reduce, message.chunk = ChunkId(4);
      state->arrive(message, out);
      EXPECT_EQ(out.size(), arrived <= 7 ? 1U : 0U);
    }
  }
}

TEST(Direct, TakesPeersByOffsetOfTheTorusOrById) {
  const auto topology = support::torus(3, 3);
  const auto peers = [&](DestinationOrder order) {
    const auto collective = support::collective(CollectiveKind::all_gather, 9, bytes(9));
    std::vector<Message> out;
    support::program_of("direct", topology, collective, {0, order, 1})->begin()->start(NpuId(5), out);
    std::vector<std::uint32_t> ids;
    for (const auto& message : out) ids.push_back(message.destination.value());
    return ids;
  };
  // NPU 5 is at (2, 1); offsets 1 .. 8 are (1,0) (2,0) (0,1) (1,1) (2,1) (0,2) (1,2) (2,2).
  EXPECT_EQ(peers(DestinationOrder::relative), (std::vector<std::uint32_t>{3, 4, 8, 6, 7, 2, 0, 1}));
  EXPECT_EQ(peers(DestinationOrder::absolute), (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 6, 7, 8}));
}

}  // namespace
}  // namespace tenex
