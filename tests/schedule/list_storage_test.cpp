#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "schedule/schedule_factories.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {
namespace {

using test::copy_of;
using test::hop_of;
using test::sum_of;
using ::testing::ElementsAre;

TEST(ListStorage, SortsSendsByStartAndThenLink) {
  const Schedule schedule =
      make_list_schedule({copy_of(0, 2, nanoseconds(5)), copy_of(1, 1, nanoseconds(5)), copy_of(2, 9, nanoseconds(1))});
  EXPECT_THAT(list_sends(schedule),
              ElementsAre(copy_of(2, 9, nanoseconds(1)), copy_of(1, 1, nanoseconds(5)), copy_of(0, 2, nanoseconds(5))));
  EXPECT_EQ(schedule.sends(), 3U);
  EXPECT_EQ(schedule.storage_kind(), "list");
}

TEST(ListStorage, OfNoSendsHasNoSegments) {
  const Schedule schedule = make_list_schedule({});
  EXPECT_EQ(schedule.segments(), 0U);
  EXPECT_EQ(schedule.sends(), 0U);
  EXPECT_TRUE(list_sends(schedule).empty());
  EXPECT_EQ(schedule_hash(schedule), schedule_hash(Schedule()));
}

TEST(ListStorage, GivesBackEveryColumn) {
  const std::vector<Send> sends{copy_of(3, 1, nanoseconds(1)), sum_of(4, 2, nanoseconds(2)),
                                hop_of(copy_of(5, 0, nanoseconds(3)), 7, 8)};
  EXPECT_EQ(list_sends(make_list_schedule(sends)), sends);
}

TEST(ListStorage, LeavesOutColumnsThatAreUniform) {
  SendBuffer buffer;
  make_list_schedule({sum_of(0, 0, nanoseconds(4)), sum_of(1, 1, nanoseconds(4))}).read(0, buffer);
  EXPECT_TRUE(buffer.batch.start.empty());
  EXPECT_TRUE(buffer.batch.stage.empty());
  EXPECT_TRUE(buffer.batch.message.empty());
  EXPECT_TRUE(buffer.batch.destination.empty());
  EXPECT_EQ(buffer.batch.at, nanoseconds(4));
  EXPECT_EQ(buffer.batch.uniform_stage, Stage::reduce);
}

/// `per_instant` sends at each of `instants` times.
std::vector<Send> grid_of_sends(std::uint32_t instants, std::uint32_t per_instant) {
  std::vector<Send> sends;
  for (std::uint32_t t = 0; t < instants; ++t)
    for (std::uint32_t link = 0; link < per_instant; ++link) sends.push_back(copy_of(t, link, nanoseconds(t)));
  return sends;
}

TEST(ListStorage, CutsSegmentsOfAboutSixteenThousandSendsAndNeverInsideOneInstant) {
  // 10 instants of 10,000 sends: a segment is full (16,384) inside its 2nd instant and ends with it: 5 segments of
  // 20,000.
  const Schedule schedule = make_list_schedule(grid_of_sends(10, 10'000));
  ASSERT_EQ(schedule.segments(), 5U);
  SendBuffer buffer;
  for (std::size_t segment = 0; segment < 5; ++segment) {
    schedule.read(segment, buffer);
    EXPECT_EQ(buffer.batch.size(), 20'000U);
    EXPECT_EQ(buffer.batch.start_of(0), nanoseconds(2 * static_cast<std::int64_t>(segment)));
  }
}

TEST(ListStorage, ReadsSegmentsWithoutCopying) {
  const Schedule schedule = make_list_schedule(grid_of_sends(10, 10'000));
  SendBuffer first;
  SendBuffer second;
  schedule.read(3, first);
  schedule.read(3, second);
  EXPECT_EQ(first.batch.link.data(), second.batch.link.data());
  EXPECT_TRUE(first.link.empty());
}

TEST(ListStorage, CanBeReadByThreadsInAnyOrder) {
  const auto sends = grid_of_sends(10, 10'000);
  const Schedule schedule = make_list_schedule(sends);
  std::vector<std::uint64_t> chunk_sums(schedule.segments(), 0);
  std::vector<std::thread> threads;
  for (std::size_t segment = schedule.segments(); segment-- > 0;)
    threads.emplace_back([&, segment] {
      SendBuffer buffer;
      schedule.read(segment, buffer);
      for (const ChunkId chunk : buffer.batch.chunk) chunk_sums[segment] += chunk.value();
    });
  for (auto& thread : threads) thread.join();
  // Segment w holds instants 2w and 2w + 1, whose sends carry chunks of the same number: 10,000 * (4w + 1).
  EXPECT_THAT(chunk_sums, ElementsAre(10'000, 50'000, 90'000, 130'000, 170'000));
}

TEST(ListStorage, TakesFewerBytesPerSendWithoutOptionalColumns) {
  // Link, chunk and start: 16 bytes a send. Stage, message and destination add 9.
  const auto plain = grid_of_sends(10, 1000);
  auto full = plain;
  full.front().stage = Stage::reduce;
  full.front() = hop_of(full.front(), 0, 0);
  const auto plain_bytes = make_list_schedule(plain).memory_bytes();
  EXPECT_GE(plain_bytes, 160'000U);
  EXPECT_LT(plain_bytes, 161'000U);
  EXPECT_GE(make_list_schedule(full).memory_bytes(), plain_bytes + 90'000U);
}

TEST(ScheduleHash, TellsApartEverySingleField) {
  const Send send = sum_of(1, 2, nanoseconds(3));
  const auto hash_of = [](const Send& one) { return schedule_hash(make_list_schedule({one})); };
  std::vector<std::uint64_t> hashes{hash_of(send),
                                    hash_of(sum_of(2, 2, nanoseconds(3))),
                                    hash_of(sum_of(1, 1, nanoseconds(3))),
                                    hash_of(sum_of(1, 2, nanoseconds(4))),
                                    hash_of(copy_of(1, 2, nanoseconds(3))),
                                    hash_of(hop_of(send, 0, 0)),
                                    hash_of(hop_of(send, 1, 0)),
                                    hash_of(hop_of(send, 0, 1)),
                                    schedule_hash(Schedule())};
  std::sort(hashes.begin(), hashes.end());
  EXPECT_EQ(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

TEST(ScheduleHash, DoesNotDependOnTheOrderInWhichSendsWereGiven) {
  auto sends = grid_of_sends(3, 100);
  const auto hash = schedule_hash(make_list_schedule(sends));
  std::reverse(sends.begin(), sends.end());
  EXPECT_EQ(schedule_hash(make_list_schedule(sends)), hash);
}

/// The same sends in segments of a few sends, as another storage might cut them.
class SmallSegments final : public ScheduleStorage {
 public:
  explicit SmallSegments(std::vector<Send> sends) : sends_(std::move(sends)) {}
  std::size_t segments() const override { return sends_.size(); }
  std::uint64_t sends() const override { return sends_.size(); }
  void read(std::size_t segment, SendBuffer& buffer) const override {
    buffer.link = {sends_[segment].link};
    buffer.chunk = {sends_[segment].chunk};
    buffer.batch = {};
    buffer.batch.link = buffer.link;
    buffer.batch.chunk = buffer.chunk;
    buffer.batch.at = sends_[segment].start;
    buffer.batch.uniform_stage = sends_[segment].stage;
  }
  std::size_t memory_bytes() const override { return 0; }
  std::string_view kind() const override { return "small"; }
  StorageParts parts() const override { return {}; }

 private:
  std::vector<Send> sends_;
};

TEST(ScheduleHash, DoesNotDependOnTheStorageOrItsSegments) {
  std::vector<Send> sends;  // 5,000 sends: several hash blocks, the last one not full
  for (std::uint32_t t = 0; t < 5000; ++t) sends.push_back(copy_of(t % 7, t % 5, nanoseconds(t)));
  EXPECT_EQ(schedule_hash(Schedule(std::make_shared<SmallSegments>(sends))), schedule_hash(make_list_schedule(sends)));
}

TEST(Storages, ThatYieldSendsOutOfOrderAreCaughtByTheVerifier) {
  const auto topology = support::ring(3);
  const auto gather = support::collective(CollectiveKind::all_gather, 3, bytes(3000));
  const Schedule broken(
      std::make_shared<SmallSegments>(std::vector<Send>{copy_of(0, 0, nanoseconds(5)), copy_of(1, 1, nanoseconds(4))}));
  EXPECT_THROW((void)verify({topology, gather, Occupancy::transfer}, broken), InvariantError);
}

TEST(LastArrival, IsTheLatestOverAllSendsNotTheLastSendsOwn) {
  // line3_heterogeneous with chunks of 4,000 B: 2 us over link 0, 6 us over link 2. 0 + 6 us is later than 3 + 2 us.
  const auto topology = support::line3_heterogeneous();
  const auto gather = support::collective(CollectiveKind::all_gather, 3, bytes(12'000));
  const Schedule schedule = make_list_schedule({copy_of(1, 2, SimTime::zero()), copy_of(0, 0, microseconds(3))});
  EXPECT_EQ(last_arrival({topology, gather, Occupancy::transfer}, schedule), microseconds(6));
  EXPECT_EQ(last_arrival({topology, gather, Occupancy::serialization}, Schedule()), SimTime::zero());
}

}  // namespace
}  // namespace tenex
