// Queues by key do what a map of queues does.
#include "schedule/verifier/keyed_queues.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

namespace tenex {
namespace {

TEST(KeyedQueues, DoWhatAMapOfQueuesDoes) {
  // Few keys, so that queues fill and empty, and keys that differ in high or low bits alone.
  std::mt19937_64 random(7);
  for (const std::size_t keys : {1, 3, 40, 700}) {
    verifier::KeyedQueues<int> queues;
    std::map<std::uint64_t, std::deque<int>> twin;
    std::uint64_t size = 0;
    for (int turn = 0; turn < 20'000; ++turn) {
      const std::uint64_t number = random() % keys;
      const std::uint64_t key = number % 2 == 0 ? number : number << 32U;
      const auto found = twin.find(key);
      const bool empty = found == twin.end();
      ASSERT_EQ(queues.contains(key), !empty);
      switch (random() % 6) {
        case 0:
        case 1:
        case 2:
          queues.push(key, turn);
          twin[key].push_back(turn);
          ++size;
          break;
        case 3: {
          const auto value = queues.pop(key);
          ASSERT_EQ(value.has_value(), !empty);
          if (empty) break;
          ASSERT_EQ(*value, found->second.front());
          found->second.pop_front();
          --size;
          break;
        }
        case 4: {  // the first even value
          const auto even = [](int value) { return value % 2 == 0; };
          const auto value = queues.take(key, even);
          if (empty) break;
          const auto first = std::ranges::find_if(found->second, even);
          ASSERT_EQ(value.has_value(), first != found->second.end());
          if (!value) break;
          ASSERT_EQ(*value, *first);
          found->second.erase(first);
          --size;
          break;
        }
        default:
          if (!empty) {
            ASSERT_EQ(*queues.back(key), found->second.back());
          }
          if (random() % 4 != 0) break;
          queues.clear(key);
          if (!empty) size -= found->second.size();
          twin.erase(key);
      }
      if (const auto now = twin.find(key); now != twin.end() && now->second.empty()) twin.erase(now);
      ASSERT_EQ(queues.size(), size);
    }
    std::map<std::uint64_t, std::deque<int>> all;
    queues.for_each([&](std::uint64_t key, const std::vector<const int*>& values) {
      for (const int* value : values) all[key].push_back(*value);
    });
    EXPECT_EQ(all, twin);
  }
}

}  // namespace
}  // namespace tenex
