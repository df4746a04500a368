#include <gtest/gtest.h>

#include "algorithm/untimed_run.hpp"
#include "support/topologies.hpp"

namespace tenex {
namespace {

using support::started;
using support::triggered;

Collective rooted(CollectiveKind kind, std::size_t npus, std::uint32_t root, std::int64_t chunks = 1) {
  CollectiveRequest request;
  request.kind = kind;
  request.npus = npus;
  request.chunks = chunks;
  request.size = bytes(1000);
  request.root = root;
  return Collective::make(std::move(request)).value();
}

Message message(std::uint32_t from, std::uint32_t to, std::uint32_t chunk, std::uint32_t chunks = 1,
                Stage stage = Stage::copy) {
  return {NpuId(from), NpuId(to), ChunkId(chunk), stage, chunks};
}

std::vector<std::uint32_t> chunks_carried(const Program& program, const Message& sent) {
  std::vector<ChunkId> chunks;
  program.chunks_of(sent, chunks);
  std::vector<std::uint32_t> numbers;
  for (const auto chunk : chunks) numbers.push_back(chunk.value());
  return numbers;
}

// 6 NPUs, root 0. Ranks 1, 3 and 5 are odd: leaves. Rank 2 (binary 10) gathers 3 and sends both to 0. Rank 4 (100)
// gathers 5 and sends both to 0; of its four places only two exist.
TEST(Binomial, GathersSubtrees) {
  const auto program = support::program_of("binomial", support::ring(6), rooted(CollectiveKind::gather, 6, 0));
  const auto state = program->begin();
  EXPECT_EQ(started(*state, 1), std::vector{message(1, 0, 1)});
  EXPECT_EQ(started(*state, 3), std::vector{message(3, 2, 3)});
  EXPECT_EQ(started(*state, 5), std::vector{message(5, 4, 5)});
  for (const auto inner : {0U, 2U, 4U}) EXPECT_TRUE(started(*state, inner).empty());
  EXPECT_EQ(triggered(*state, message(3, 2, 3)), std::vector{message(2, 0, 2, 2)});
  EXPECT_EQ(triggered(*state, message(5, 4, 5)), std::vector{message(4, 0, 4, 2)});
  EXPECT_TRUE(triggered(*state, message(4, 0, 4, 2)).empty());
  EXPECT_EQ(chunks_carried(*program, message(4, 0, 4, 2)), (std::vector{4U, 5U}));
  EXPECT_EQ(program->messages(), 5U);
  EXPECT_EQ(program->message_sizes(), (std::vector{1U, 2U}));
}

// 7 NPUs, root 5, so that ranks counted from the root are NPUs 5, 6, 0, 1, 2, 3, 4. The root sends four places on (NPU
// 2, with the chunks of 2, 3, 4), then two (NPU 0, with 0 and 1), then one. NPU 2 sends two places on and one.
TEST(Binomial, ScattersFromAnyRoot) {
  const auto program = support::program_of("binomial", support::ring(7), rooted(CollectiveKind::scatter, 7, 5, 2));
  const auto state = program->begin();
  // Chunks are numbered by destination: 2 * NPU + k.
  EXPECT_EQ(started(*state, 5), (std::vector{message(5, 2, 4, 3), message(5, 0, 0, 2), message(5, 6, 12),
                                             message(5, 2, 5, 3), message(5, 0, 1, 2), message(5, 6, 13)}));
  EXPECT_EQ(chunks_carried(*program, message(5, 2, 5, 3)), (std::vector{5U, 7U, 9U}));
  EXPECT_EQ(triggered(*state, message(5, 2, 5, 3)), (std::vector{message(2, 4, 9), message(2, 3, 7)}));
  EXPECT_EQ(program->messages(), 12U);
  EXPECT_EQ(program->message_sizes(), (std::vector{1U, 2U, 3U}));
}

// Root 3 of 8: four places on is NPU 7, and its subtree is 7, 0, 1, 2.
TEST(Binomial, ListsTheChunksOfASubtreeThatGoesOnAtTheFirstNpu) {
  const auto program = support::program_of("binomial", support::ring(8), rooted(CollectiveKind::gather, 8, 3));
  EXPECT_EQ(chunks_carried(*program, message(7, 3, 7, 4)), (std::vector{0U, 1U, 2U, 7U}));
}

TEST(Binomial, BroadcastsAndReducesAlongTheSameTree) {
  const auto down = support::program_of("binomial", support::ring(4), rooted(CollectiveKind::broadcast, 4, 1, 2));
  const auto sending = down->begin();
  EXPECT_EQ(started(*sending, 1),
            (std::vector{message(1, 3, 0), message(1, 2, 0), message(1, 3, 1), message(1, 2, 1)}));
  EXPECT_EQ(triggered(*sending, message(1, 3, 1)), std::vector{message(3, 0, 1)});
  EXPECT_TRUE(triggered(*sending, message(1, 2, 1)).empty());
  EXPECT_EQ(down->message_sizes(), std::vector{1U});

  const auto sum = [](std::uint32_t from, std::uint32_t to, std::uint32_t chunk) {
    return message(from, to, chunk, 1, Stage::reduce);
  };
  const auto up = support::program_of("binomial", support::ring(4), rooted(CollectiveKind::reduce, 4, 1));
  const auto summing = up->begin();
  EXPECT_EQ(started(*summing, 0), std::vector{sum(0, 3, 0)});
  EXPECT_EQ(started(*summing, 2), std::vector{sum(2, 1, 0)});
  EXPECT_TRUE(started(*summing, 3).empty());
  EXPECT_EQ(triggered(*summing, sum(0, 3, 0)), std::vector{sum(3, 1, 0)});
  EXPECT_EQ(up->messages(), 3U);
}

// 6 NPUs: 1 and 2 and 4 are children of 0, 3 of 2, 5 of 4. Sums go up, and come down to the largest subtrees first.
TEST(Binomial, ReducesAndBroadcasts) {
  const auto collective = support::collective(CollectiveKind::all_reduce, 6, bytes(6000));
  const auto program = support::program_of("binomial", support::ring(6), collective);
  EXPECT_EQ(program->messages(), 2U * 5);
  EXPECT_EQ(program->message_sizes(), std::vector{6U});
  const auto state = program->begin();
  const auto up = [](std::uint32_t from, std::uint32_t to) { return message(from, to, 0, 6, Stage::reduce); };
  const auto down = [](std::uint32_t from, std::uint32_t to) { return message(from, to, 0, 6); };
  EXPECT_EQ(started(*state, 1), std::vector{up(1, 0)});
  EXPECT_TRUE(started(*state, 2).empty());
  EXPECT_EQ(triggered(*state, up(3, 2)), std::vector{up(2, 0)});
  EXPECT_EQ(triggered(*state, up(5, 4)), std::vector{up(4, 0)});
  EXPECT_TRUE(triggered(*state, up(1, 0)).empty());
  EXPECT_TRUE(triggered(*state, up(2, 0)).empty());
  EXPECT_EQ(triggered(*state, up(4, 0)), (std::vector{down(0, 4), down(0, 2), down(0, 1)}));
  EXPECT_EQ(triggered(*state, down(0, 4)), std::vector{down(4, 5)});
}

}  // namespace
}  // namespace tenex
