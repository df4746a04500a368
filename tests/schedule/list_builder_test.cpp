#include "tenex/schedule/storage/list_builder.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "support/topologies.hpp"

namespace tenex {
namespace {

/// A schedule built of the sends of a list, in batches of `size`.
Schedule built(const std::vector<Send>& sends, std::size_t size) {
  ListBuilder builder(sends.size());
  for (std::size_t first = 0; first < sends.size(); first += size) {
    const std::vector<Send> part(sends.begin() + static_cast<std::ptrdiff_t>(first),
                                 sends.begin() + static_cast<std::ptrdiff_t>(std::min(first + size, sends.size())));
    // A list storage sorts, so a batch that is out of order is put together by hand.
    std::vector<LinkId> link;
    std::vector<ChunkId> chunk;
    std::vector<SimTime> start;
    std::vector<Stage> stage;
    std::vector<MessageId> message;
    std::vector<NpuId> destination;
    for (const Send& send : part) {
      link.push_back(send.link), chunk.push_back(send.chunk), start.push_back(send.start);
      stage.push_back(send.stage), message.push_back(send.message), destination.push_back(send.destination);
    }
    builder.append({link, chunk, start, stage, message, destination, SimTime::zero(), Stage::copy});
  }
  return builder.finish();
}

std::vector<Send> sends(std::size_t count, bool stages, bool messages) {
  std::vector<Send> made;
  for (std::uint32_t i = 0; i < count; ++i) {
    Send send{picoseconds(i / 4 * 10), LinkId(i % 4), ChunkId(i % 7)};
    if (stages && i > 10) send.stage = Stage::reduce;
    if (messages && i > 20) send.message = MessageId(i), send.destination = NpuId(i % 3);
    made.push_back(send);
  }
  return made;
}

TEST(ListBuilder, MakesTheSameScheduleAsAWholeList) {
  for (const bool stages : {false, true})
    for (const bool messages : {false, true}) {
      const auto all = sends(50'000, stages, messages);
      const Schedule whole = make_list_schedule(all);
      const Schedule pieces = built(all, 1'000);
      EXPECT_EQ(schedule_hash(pieces), schedule_hash(whole));
      EXPECT_EQ(pieces.segments(), whole.segments());
      EXPECT_EQ(pieces.may_carry_messages(), messages);
    }
}

TEST(ListBuilder, SortsWhatComesOutOfOrder) {
  auto all = sends(100, true, true);
  const Schedule whole = make_list_schedule(all);
  std::swap(all[10], all[80]);
  EXPECT_EQ(list_sends(built(all, 30)), list_sends(whole));
}

TEST(ListBuilder, MakesAnEmptyScheduleOfNothing) {
  const Schedule empty = ListBuilder().finish();
  EXPECT_EQ(empty.sends(), 0U);
  EXPECT_EQ(empty.segments(), 0U);
}

}  // namespace
}  // namespace tenex
