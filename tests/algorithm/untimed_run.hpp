// Runs a program without any network: messages arrive in a random order, values are sets of contributions. What holds
// for every order holds on every network.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/random.hpp"

namespace tenex::support {

/// Counts, per rank of the chunk's group, how often its contribution is in a value.
using Contributions = std::vector<int>;

/// What every NPU holds of every chunk at the end, and all messages in order of injection.
struct UntimedRun {
  std::vector<std::vector<Contributions>> held;  ///< [npu][chunk]; empty: nothing received or owned
  std::vector<Message> messages;
};

inline std::size_t members_of(const Collective& collective, ChunkId chunk) {
  return collective.groups()[collective.group_of(chunk).index()].members.size();
}

/// At first: contributors hold their own contribution; owners of chunks to gather hold the whole value.
inline std::vector<std::vector<Contributions>> first_holdings(const Collective& collective) {
  std::vector<std::vector<Contributions>> held(collective.npus(), std::vector<Contributions>(collective.chunks()));
  for (std::uint32_t n = 0; n < collective.npus(); ++n)
    for (std::uint32_t c = 0; c < collective.chunks(); ++c) {
      const auto members = members_of(collective, ChunkId(c));
      if (collective.holds_at_start(NpuId(n), ChunkId(c))) held[n][c].assign(members, 1);
      if (!collective.contributes(NpuId(n), ChunkId(c))) continue;
      held[n][c].assign(members, 0);
      held[n][c][collective.rank_of(NpuId(n))] = 1;
    }
  return held;
}

inline UntimedRun run_untimed(const Program& program, const Collective& collective, std::uint64_t seed) {
  struct Pending {
    Message message;
    Contributions value;
  };
  UntimedRun run{first_holdings(collective), {}};
  std::vector<Pending> pending;
  const auto inject = [&](const std::vector<Message>& messages) {
    for (const auto& message : messages) {
      const auto& value = run.held[message.source.index()][message.chunk.index()];
      EXPECT_FALSE(value.empty()) << "a message carries a chunk that its source does not hold";
      pending.push_back({message, value});
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
  while (!pending.empty()) {
    std::swap(pending[random.below(static_cast<std::uint32_t>(pending.size()))], pending.back());
    const auto [message, value] = pending.back();
    pending.pop_back();
    auto& held = run.held[message.destination.index()][message.chunk.index()];
    if (message.stage == Stage::copy) {
      held = value;
    } else {
      EXPECT_FALSE(held.empty()) << "a sum arrives at a bystander";
      for (std::size_t i = 0; i < value.size(); ++i) held[i] += value[i];
    }
    triggered.clear();
    state->arrive(message, triggered);
    inject(triggered);
  }
  return run;
}

/// The program of a registered algorithm.
inline std::shared_ptr<const Program> program_of(std::string_view algorithm, const Topology& topology,
                                                 const Collective& collective) {
  return find_algorithm(algorithm)->make(topology, collective).value();
}

}  // namespace tenex::support
