// Queues of events against sets and sorted lists of the standard library.
#include "tenex/base/graph/event_queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "tenex/base/random.hpp"

namespace tenex {
namespace {

using Event = EventQueue::Event;

std::set<Event> events_now(EventQueue& queue) {
  std::set<Event> events;
  for (auto event = queue.pop(); event != EventQueue::kNone; event = queue.pop()) events.insert(event);
  return events;
}

TEST(EventQueue, GivesTheEventsOfOneTimeTogetherAndEarlierOnesFirst) {
  EventQueue queue(4);
  queue.put(0, picoseconds(1000));
  queue.put(1, picoseconds(7));
  queue.put(2, picoseconds(1000));
  queue.put(3, SimTime::max());
  ASSERT_TRUE(queue.advance());
  EXPECT_EQ(queue.now(), picoseconds(7));
  EXPECT_EQ(events_now(queue), (std::set<Event>{1}));
  queue.put(1, picoseconds(7));  // the present has not passed
  EXPECT_EQ(events_now(queue), (std::set<Event>{1}));
  queue.put_earlier(2, picoseconds(999));
  queue.put_earlier(0, picoseconds(1001));  // later than it is: stays
  ASSERT_TRUE(queue.advance());
  EXPECT_EQ(queue.now(), picoseconds(999));
  EXPECT_EQ(events_now(queue), (std::set<Event>{2}));
  queue.remove(3);
  ASSERT_TRUE(queue.advance());
  EXPECT_EQ(queue.now(), picoseconds(1000));
  EXPECT_EQ(events_now(queue), (std::set<Event>{0}));
  EXPECT_FALSE(queue.advance());
}

RC_GTEST_PROP(EventQueue, EqualsAMapOfTimes, ()) {
  constexpr Event events = 20;
  EventQueue queue(events);
  std::map<Event, SimTime> expected;
  SimTime now;
  for (const auto word : *rc::gen::container<std::vector<std::uint32_t>>(200, rc::gen::arbitrary<std::uint32_t>())) {
    const Event event = word % events;
    const auto time = now + picoseconds(word >> (word / events % 32));
    if (word % 7 == 0) {
      queue.remove(event);
      expected.erase(event);
    } else if (word % 3 != 0) {
      queue.put_earlier(event, time);
      const auto [known, fresh] = expected.try_emplace(event, time);
      if (!fresh) known->second = std::min(known->second, time);
    } else {
      std::set<Event> due;
      for (const auto& [each, at] : expected)
        if (at == now) due.insert(each);
      RC_ASSERT(events_now(queue) == due);
      for (const auto each : due) expected.erase(each);
      RC_ASSERT(queue.advance() == !expected.empty());
      if (expected.empty()) continue;
      now = SimTime::max();
      for (const auto& [each, at] : expected) now = std::min(now, at);
      RC_ASSERT(queue.now().count() == now.count());
    }
  }
}

// Events of five lanes, pushed and popped by turns, come out as a sort by time and lane gives them: a later push is
// never earlier than what has been popped, as in a simulation.
TEST(EventLanes, PopInTheOrderOfASort) {
  Random random(3);
  for (int round = 0; round < 50; ++round) {
    EventLanes<int> lanes(5);
    std::vector<std::tuple<SimTime, std::size_t, int>> waiting;  // sorted
    std::vector<SimTime> last(5);
    SimTime now;
    for (int event = 0; event < 200; ++event) {
      const std::size_t lane = random.below(5);
      last[lane] = std::max(last[lane], now) + picoseconds(random.below(4));
      lanes.push(lane, last[lane], event);
      const std::tuple pushed(last[lane], lane, event);
      waiting.insert(std::upper_bound(waiting.begin(), waiting.end(), pushed), pushed);
      if (random.below(2) == 0) continue;
      now = lanes.time();
      EXPECT_EQ(now, std::get<SimTime>(waiting.front()));
      EXPECT_EQ(lanes.pop(), std::get<int>(waiting.front()));
      waiting.erase(waiting.begin());
    }
    while (!waiting.empty()) {
      EXPECT_EQ(lanes.time(), std::get<SimTime>(waiting.front()));
      EXPECT_EQ(lanes.pop(), std::get<int>(waiting.front()));
      waiting.erase(waiting.begin());
    }
    EXPECT_TRUE(lanes.empty());
  }
}

}  // namespace
}  // namespace tenex
