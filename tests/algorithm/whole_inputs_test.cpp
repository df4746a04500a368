// All-Reduces by sums of whole inputs: messages and contributors by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "algorithm/untimed_run.hpp"
#include "support/collectives.hpp"
#include "support/topologies.hpp"

namespace tenex {
namespace {

using support::started;
using support::triggered;
using ::testing::ElementsAre;

Collective all_reduce_of(std::size_t npus, std::int64_t chunks = 1) {
  return support::any_collective(CollectiveKind::all_reduce, npus, bytes(10'000), chunks);
}

std::vector<std::uint32_t> destinations(const std::vector<Message>& messages) {
  std::vector<std::uint32_t> npus;
  for (const auto& message : messages) npus.push_back(message.destination.value());
  return npus;
}
std::vector<std::uint32_t> contributors(const Program& program, const Message& message) {
  std::vector<std::uint32_t> ranks;
  program.contributors_of(message, ranks);
  return ranks;
}

// 5 NPUs: each sends its whole input, which is 5 chunks, to the 4 others at once, and nothing after that.
TEST(OneShot, SendsEveryInputToAllOthersAtOnce) {
  const auto program = support::program_of("one_shot", support::fully_connected(5), all_reduce_of(5));
  EXPECT_EQ(program->messages(), 20U);
  EXPECT_THAT(program->message_sizes(), ElementsAre(5U));
  const auto state = program->begin();
  const auto sent = started(*state, 3);
  EXPECT_THAT(destinations(sent), ElementsAre(4, 0, 1, 2));
  for (const auto& message : sent) {
    EXPECT_EQ(message.stage, Stage::reduce);
    EXPECT_EQ(message.chunks, 5U);
    EXPECT_THAT(contributors(*program, message), ElementsAre(3));
    EXPECT_TRUE(triggered(*state, message).empty());
  }
}

// RI(2)_FC(3): the ring of two exchanges inputs, then the three NPUs of a column exchange sums of two. NPU 4 = (0, 2)
// sends to 5, and when 5's input has come to 0 and 2, the sum of ranks 4 and 5. The sum of 2 and 3 may arrive before.
TEST(OneShot, GoesDimensionByDimension) {
  const auto program = support::program_of("one_shot_per_dimension", support::shape("RI(2)_FC(3)"), all_reduce_of(6));
  EXPECT_EQ(program->messages(), 6U * (1 + 2));
  const auto state = program->begin();
  EXPECT_THAT(destinations(started(*state, 4)), ElementsAre(5));
  const auto own = started(*state, 2).front();
  const auto from_2 = triggered(*state, started(*state, 3).front());
  EXPECT_THAT(destinations(from_2), ElementsAre(4, 0));
  EXPECT_THAT(contributors(*program, from_2[0]), ElementsAre(2, 3));
  EXPECT_THAT(contributors(*program, own), ElementsAre(2));
  EXPECT_TRUE(triggered(*state, from_2[0]).empty());  // 4 lacks the input of 5
  const auto from_4 = triggered(*state, started(*state, 5).front());
  EXPECT_THAT(destinations(from_4), ElementsAre(0, 2));
  for (const auto& message : from_4) EXPECT_THAT(contributors(*program, message), ElementsAre(4, 5));
}

// 12 = 2 * 2 * 3: NPU 7 = 1 + 2 * 1 + 4 * 1 exchanges with 6, then with 5, then with 11 and 3. 1 + 1 + 2 messages.
TEST(RecursiveDoubling, TakesThePrimeFactors) {
  const auto program = support::program_of("recursive_doubling", support::fully_connected(12), all_reduce_of(12, 2));
  EXPECT_EQ(program->messages(), 2U * 12 * 4);
  const auto state = program->begin();
  const auto first = started(*state, 7);
  EXPECT_THAT(destinations(first), ElementsAre(6, 6));  // two slices
  const auto second = triggered(*state, started(*state, 6)[0]);
  EXPECT_THAT(destinations(second), ElementsAre(5));
  EXPECT_THAT(contributors(*program, second[0]), ElementsAre(6, 7));
  const auto from_5 = [&] {
    static_cast<void>(started(*state, 5));
    return triggered(*state, started(*state, 4)[0]);
  }();
  EXPECT_THAT(destinations(from_5), ElementsAre(7));
  const auto third = triggered(*state, from_5[0]);
  EXPECT_THAT(destinations(third), ElementsAre(11, 3));
  EXPECT_THAT(contributors(*program, third[1]), ElementsAre(4, 5, 6, 7));
}

TEST(RecursiveDoubling, OfAPrimeNumberIsOneShot) {
  const auto doubling = support::program_of("recursive_doubling", support::fully_connected(7), all_reduce_of(7));
  const auto shot = support::program_of("one_shot", support::fully_connected(7), all_reduce_of(7));
  EXPECT_EQ(started(*doubling->begin(), 5), started(*shot->begin(), 5));
  EXPECT_EQ(doubling->messages(), shot->messages());
}

}  // namespace
}  // namespace tenex
