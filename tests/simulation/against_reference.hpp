// Simulations compared with the reference, message by message.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulation/programs.hpp"
#include "support/collectives.hpp"
#include "tenex/base/random.hpp"
#include "tenex/simulation/reference.hpp"

namespace tenex::support {

inline SimulationOptions recording(Occupancy occupancy) {
  SimulationOptions options;
  options.occupancy = occupancy;
  options.record_sends = true;
  options.record_links = true;
  options.record_npu_finish = true;
  options.record_arrivals = true;
  options.utilization_bins = 7;
  return options;
}

/// A few NPUs start late, by times that fall between, onto and after others' arrivals.
inline std::vector<StartDelay> some_delays(const Topology& topology, std::uint64_t seed) {
  Random random(seed, 0x64656c);
  std::vector<StartDelay> delays;
  for (std::uint32_t npu = 0; npu < topology.npus(); ++npu)
    if (random.below(3) == 0) delays.push_back({NpuId(npu), microseconds(random.below(40)) / 4});
  return delays;
}

inline void expect_equal_to_reference(const Topology& topology, const Collective& collective, const Program& program,
                                      Occupancy occupancy, std::vector<StartDelay> delays = {}) {
  auto options = recording(occupancy);
  options.start_delays = std::move(delays);
  const auto fast = simulate(topology, collective, program, options).value();
  const auto slow = simulate_by_reference(topology, collective, program, options).value();
  ASSERT_EQ(fast.finish, slow.finish);
  ASSERT_EQ(fast.messages, slow.messages);
  ASSERT_EQ(fast.hops, slow.hops);
  const auto fast_sends = list_sends(fast.sends);
  const auto slow_sends = list_sends(slow.sends);
  ASSERT_EQ(fast_sends.size(), slow_sends.size());
  for (std::size_t i = 0; i < fast_sends.size(); ++i) ASSERT_EQ(fast_sends[i], slow_sends[i]) << "send " << i;
  for (std::size_t l = 0; l < fast.links.size(); ++l) {
    ASSERT_EQ(fast.links[l].bytes, slow.links[l].bytes);
    ASSERT_EQ(fast.links[l].busy, slow.links[l].busy);
  }
  ASSERT_EQ(fast.npu_finish, slow.npu_finish);
  ASSERT_EQ(fast.arrivals, slow.arrivals);
  ASSERT_EQ(fast.utilization.bin, slow.utilization.bin);
  ASSERT_EQ(fast.utilization.busy_ps, slow.utilization.busy_ps);
  ASSERT_EQ(fast.sends.payloads() == nullptr, slow.sends.payloads() == nullptr);
  if (fast.sends.payloads() == nullptr) return;
  ASSERT_EQ(fast.sends.payloads()->first, slow.sends.payloads()->first);
  ASSERT_EQ(fast.sends.payloads()->chunks, slow.sends.payloads()->chunks);
}

inline void expect_equal_for_all_algorithms(const Topology& topology, std::int64_t chunks, Bytes size,
                                            std::string_view groups = "all") {
  for (const auto& algorithm : algorithms())
    for (const auto kind : algorithm.collectives)
      for (const auto occupancy : kOccupancies) {
        const auto collective =
            any_collective(kind, topology.npus(), size, chunks, groups, topology.links() + topology.npus());
        SCOPED_TRACE(std::string(algorithm.name) + " " + std::string(to_string(kind)));
        const auto program = program_if_defined(algorithm, topology, collective);
        if (!program) continue;
        expect_equal_to_reference(topology, collective, *program, occupancy);
        expect_equal_to_reference(topology, collective, *program, occupancy, some_delays(topology, 1));
        if (::testing::Test::HasFailure()) return;
      }
}

/// A program with replies: every arrival with tag > 0 triggers a message of the next lower tag to a pseudo-random NPU.
/// Messages carry one, two or five consecutive chunks.
class WanderingProgram final : public Program {
 public:
  WanderingProgram(std::uint32_t npus, std::uint32_t length, std::uint64_t seed)
      : npus_(npus), length_(length), seed_(seed) {}
  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override { return std::make_unique<State>(*this); }
  [[nodiscard]] std::uint64_t messages() const override { return std::uint64_t{npus_} * (length_ + 1); }
  [[nodiscard]] std::vector<std::uint32_t> message_sizes() const override { return {1, 2, 5}; }
  void chunks_of(const Message& message, std::vector<ChunkId>& out) const override {
    for (std::uint32_t i = 0; i < message.chunks; ++i) out.push_back(ChunkId(message.chunk.value() % 4 + i));
  }

 private:
  class State final : public ProgramState {
   public:
    explicit State(const WanderingProgram& program) : program_(program), arrivals_(program.npus_, 0) {}
    void start(NpuId npu, std::vector<Message>& out) override { send(npu, program_.length_, out); }
    void arrive(const Message& message, std::vector<Message>& out) override {
      ++arrivals_[message.destination.index()];
      if (message.chunk.value() > 0) send(message.destination, message.chunk.value() - 1, out);
    }

   private:
    // The destination depends on how many messages have arrived before: a test of the order of simultaneous arrivals.
    void send(NpuId from, std::uint32_t chunk, std::vector<Message>& out) {
      Random random(program_.seed_, (std::uint64_t{from.value()} << 32) + arrivals_[from.index()]);
      const auto to = (from.value() + 1 + random.below(program_.npus_ - 1)) % program_.npus_;
      constexpr std::uint32_t sizes[] = {1, 2, 5};
      out.push_back({from, NpuId(to), ChunkId(chunk), Stage::copy, sizes[random.below(3)]});
    }
    const WanderingProgram& program_;
    std::vector<std::uint64_t> arrivals_;
  };
  std::uint32_t npus_;
  std::uint32_t length_;
  std::uint64_t seed_;
};

}  // namespace tenex::support
