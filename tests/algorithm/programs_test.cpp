// What all algorithms must do whatever the network: tried with messages that arrive in random orders.
#include <gtest/gtest.h>

#include <string>

#include "algorithm/untimed_run.hpp"
#include "support/topologies.hpp"

namespace tenex {
namespace {

constexpr CollectiveKind kKinds[] = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                     CollectiveKind::all_reduce};

struct Case {
  std::uint32_t npus;
  std::string_view groups;
};
constexpr Case kCases[] = {{2, "all"}, {3, "all"}, {4, "all"}, {7, "all"}, {8, "all"}, {9, "0-3; 4,8,6"}};

// Runs `check(algorithm, collective, run)` over algorithms, collectives, groups, chunk counts and arrival orders.
template <class Check>
void for_every_run(Check&& check) {
  for (const auto& algorithm : algorithms())
    for (const auto kind : kKinds)
      for (const auto& [npus, groups] : kCases)
        for (const std::int64_t chunks : {1, 2, 3}) {
          const auto collective = support::collective(kind, npus, bytes(1000), chunks, groups);
          const auto program = algorithm.make(support::fully_connected(npus), collective).value();
          for (const std::uint64_t seed : {1, 2, 3}) {
            SCOPED_TRACE(std::string(algorithm.name) + " " + std::string(to_string(kind)) + " of " +
                         std::to_string(npus) + " NPUs, groups " + std::string(groups) +
                         ", c = " + std::to_string(chunks) + ", order " + std::to_string(seed));
            check(*program, collective, support::run_untimed(*program, collective, seed));
            if (testing::Test::HasFailure()) return;
          }
        }
}

TEST(Programs, EndWithEveryPostconditionInAnyOrderOfArrival) {
  for_every_run([](const Program&, const Collective& collective, const support::UntimedRun& run) {
    for (std::uint32_t n = 0; n < collective.npus(); ++n)
      for (std::uint32_t c = 0; c < collective.chunks(); ++c) {
        if (!collective.must_hold(NpuId(n), ChunkId(c))) continue;
        const auto members = support::members_of(collective, ChunkId(c));
        // Every member's contribution exactly once.
        ASSERT_EQ(run.held[n][c], support::Contributions(members, 1)) << "NPU " << n << ", chunk " << c;
      }
  });
}

TEST(Programs, SendAsManyMessagesAsTheySay) {
  for_every_run([](const Program& program, const Collective& collective, const support::UntimedRun& run) {
    // Each chunk of a group of m must reach (or collect from) m-1 others, one message each; an All-Reduce does both.
    std::uint64_t expected = 0;
    for (const auto& group : collective.groups())
      expected +=
          group.members.size() * (group.members.size() - 1) * static_cast<std::uint64_t>(collective.chunks_per_npu());
    if (collective.kind() == CollectiveKind::all_reduce) expected *= 2;
    ASSERT_EQ(program.messages(), expected);
    ASSERT_EQ(run.messages.size(), expected);
  });
}

TEST(Programs, KeepMessagesInsideTheirGroup) {
  for_every_run([](const Program&, const Collective& collective, const support::UntimedRun& run) {
    for (const auto& message : run.messages) {
      ASSERT_NE(message.source, message.destination);
      ASSERT_EQ(collective.group_of(message.source), collective.group_of(message.destination));
      ASSERT_EQ(collective.group_of(message.source), collective.group_of(message.chunk));
    }
  });
}

TEST(Programs, LookTheSameFromEveryNpu) {
  // Rotate all ranks by one: the messages of NPU r+1 are those of NPU r, shifted. Tried on what is injected first.
  for (const auto& algorithm : algorithms())
    for (const auto kind : kKinds) {
      const std::uint32_t n = 6;
      const std::uint32_t c = 3;
      const auto collective = support::collective(kind, n, bytes(18), c);
      const auto state = algorithm.make(support::ring(n), collective).value()->begin();
      std::vector<Message> previous;
      state->start(NpuId(n - 1), previous);
      for (std::uint32_t r = 0; r < n; ++r) {
        for (auto& message : previous) {
          message.source = NpuId((message.source.value() + 1) % n);
          message.destination = NpuId((message.destination.value() + 1) % n);
          message.chunk = ChunkId((message.chunk.value() + c) % (n * c));
        }
        std::vector<Message> mine;
        state->start(NpuId(r), mine);
        ASSERT_EQ(mine, previous) << algorithm.name << " " << to_string(kind) << " at NPU " << r;
      }
    }
}

}  // namespace
}  // namespace tenex
