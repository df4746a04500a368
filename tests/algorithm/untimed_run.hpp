// Runs a program without any network: messages arrive in a random order, values are sets of contributions. A property
// that holds for every order holds on every network.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/random.hpp"

namespace tenex::support {

/// The number of times that the contribution of each rank of the chunk's group is in a value; one count for kinds that
/// do not reduce.
using Contributions = std::vector<std::uint8_t>;

/// The chunks that every NPU holds at the end, and all messages in order of injection.
struct UntimedRun {
  std::vector<std::vector<Contributions>> held;  ///< [npu][chunk]; empty: nothing received or owned
  std::vector<Message> messages;
};

/// What an NPU sends when it starts.
inline std::vector<Message> started(ProgramState& state, std::uint32_t npu) {
  std::vector<Message> out;
  state.start(NpuId(npu), out);
  return out;
}

/// What the receiver of this message sends when it arrives.
inline std::vector<Message> triggered(ProgramState& state, const Message& arrived) {
  std::vector<Message> out;
  state.arrive(arrived, out);
  return out;
}

/// The final value of a chunk: every contribution exactly once.
inline Contributions complete(const Collective& collective, ChunkId chunk) {
  const auto group = collective.group_of(chunk);
  if (!reduces(collective.kind(group))) return {1};
  return Contributions(collective.groups()[group.index()].members.size(), 1);
}

/// The first holdings: contributors hold their own contribution; owners of chunks to gather hold the whole value.
inline std::vector<std::vector<Contributions>> first_holdings(const Collective& collective) {
  std::vector<std::vector<Contributions>> held(collective.npus(), std::vector<Contributions>(collective.chunks()));
  for (std::uint32_t n = 0; n < collective.npus(); ++n)
    for (std::uint32_t c = 0; c < collective.chunks(); ++c) {
      if (collective.holds_at_start(NpuId(n), ChunkId(c))) held[n][c] = {1};
      if (!collective.contributes(NpuId(n), ChunkId(c))) continue;
      held[n][c].assign(complete(collective, ChunkId(c)).size(), 0);
      held[n][c][collective.rank_in(collective.group_of(ChunkId(c)), NpuId(n)).value()] = 1;
    }
  return held;
}

/// The chunks of a message. Checks their number, their order and their group, of which both ends are members.
inline std::vector<ChunkId> carried(const Program& program, const Collective& collective, const Message& message) {
  std::vector<ChunkId> chunks;
  program.chunks_of(message, chunks);
  EXPECT_EQ(chunks.size(), message.chunks);
  EXPECT_TRUE(std::is_sorted(chunks.begin(), chunks.end()));
  EXPECT_EQ(std::adjacent_find(chunks.begin(), chunks.end()), chunks.end());
  const auto group = collective.group_of(chunks.front());
  for (const auto chunk : chunks) EXPECT_EQ(collective.group_of(chunk), group);
  EXPECT_TRUE(collective.rank_in(group, message.source) && collective.rank_in(group, message.destination));
  EXPECT_TRUE(message.chunks > 1 || chunks == std::vector{message.chunk});
  return chunks;
}

/// The sum of the contributors that a message states, from the sums that its source has: its own contribution and what
/// has arrived, each whole or not at all.
inline Contributions stated_sum(const Program& program, const Message& message,
                                const std::vector<Contributions>& parts) {
  std::vector<std::uint32_t> ranks;
  program.contributors_of(message, ranks);
  EXPECT_TRUE(std::is_sorted(ranks.begin(), ranks.end()));
  Contributions stated(parts.at(0).size(), 0);
  for (const auto rank : ranks) stated.at(rank) = 1;
  Contributions sum(stated.size(), 0);
  for (const auto& part : parts) {
    bool inside = true;
    for (std::size_t i = 0; i < part.size(); ++i) inside = inside && part[i] <= stated[i];
    for (std::size_t i = 0; i < part.size() && inside; ++i) sum[i] = static_cast<std::uint8_t>(sum[i] + part[i]);
  }
  EXPECT_EQ(sum, stated) << "a message states contributors whose sum its source cannot make";
  return stated;
}

inline UntimedRun run_untimed(const Program& program, const Collective& collective, std::uint64_t seed) {
  struct Pending {
    Message message;
    std::vector<ChunkId> chunks;
    std::vector<Contributions> values;
  };
  UntimedRun run{first_holdings(collective), {}};
  std::vector<Pending> pending;
  /// [npu][chunk]: the sums that an NPU has, if messages state their contributors.
  std::vector<std::vector<std::vector<Contributions>>> parts(collective.npus());
  for (std::size_t n = 0; n < parts.size() && program.states_contributors(); ++n)
    for (const auto& own : run.held[n]) parts[n].push_back({own});
  const auto inject = [&](const std::vector<Message>& messages) {
    for (const auto& message : messages) {
      Pending sent{message, carried(program, collective, message), {}};
      for (const auto chunk : sent.chunks) {
        const auto source = message.source.index();
        const bool stated = message.stage == Stage::reduce && program.states_contributors();
        sent.values.push_back(stated ? stated_sum(program, message, parts[source][chunk.index()])
                                     : run.held[source][chunk.index()]);
        EXPECT_FALSE(sent.values.back().empty()) << "a message carries a chunk that its source does not hold";
      }
      pending.push_back(std::move(sent));
      run.messages.push_back(message);
    }
  };
  const auto state = program.begin();
  std::vector<Message> triggered;
  for (std::uint32_t n = 0; n < collective.npus(); ++n) {
    triggered.clear();
    state->start(NpuId(n), triggered);
    inject(triggered);
  }
  Random random(seed);
  while (!pending.empty() && !testing::Test::HasFailure()) {
    std::swap(pending[random.below(static_cast<std::uint32_t>(pending.size()))], pending.back());
    const auto [message, chunks, values] = std::move(pending.back());
    pending.pop_back();
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      auto& held = run.held[message.destination.index()][chunks[c].index()];
      if (message.stage == Stage::copy) {
        held = values[c];
        continue;
      }
      EXPECT_FALSE(held.empty()) << "a sum arrives at a bystander";
      if (program.states_contributors()) parts[message.destination.index()][chunks[c].index()].push_back(values[c]);
      for (std::size_t i = 0; i < held.size(); ++i) held[i] = static_cast<std::uint8_t>(held[i] + values[c][i]);
    }
    triggered.clear();
    state->arrive(message, triggered);
    inject(triggered);
  }
  return run;
}

/// The program of a registered algorithm.
inline std::shared_ptr<const Program> program_of(std::string_view algorithm, const Topology& topology,
                                                 const Collective& collective, const AlgorithmOptions& options = {}) {
  return find_algorithm(algorithm)->make(topology, collective, options).value();
}

}  // namespace tenex::support
