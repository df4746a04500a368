// The queue of events and the set of links of the joint replay, against the sets of the standard library.
#include "simulation/replay/event_queue.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "simulation/replay/link_set.hpp"

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

TEST(LinkSet, GivesEachLinkOnceInOrder) {
  LinkSet links(300'000);
  for (const std::uint32_t link : {299'999U, 64U, 0U, 63U, 64U, 5000U}) links.add(LinkId(link));
  std::vector<std::uint32_t> taken;
  const auto take = [&] { links.take_all([&](LinkId link) { taken.push_back(link.value()); }); };
  take();
  EXPECT_EQ(taken, (std::vector<std::uint32_t>{0, 63, 64, 5000, 299'999}));
  take();
  EXPECT_EQ(taken.size(), 5U);
}

}  // namespace
}  // namespace tenex
