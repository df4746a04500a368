// Programs and runs for the simulation tests.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/random.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex::support {

/// A program of messages injected at time zero that trigger nothing.
class ScriptedProgram final : public Program {
 public:
  explicit ScriptedProgram(std::vector<Message> messages) : messages_(std::move(messages)) {}

  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override { return std::make_unique<State>(messages_); }
  [[nodiscard]] std::uint64_t messages() const override { return messages_.size(); }

 private:
  class State final : public ProgramState {
   public:
    explicit State(const std::vector<Message>& messages) : messages_(messages) {}
    void start(NpuId npu, std::vector<Message>& out) override {
      for (const auto& message : messages_)
        if (message.source == npu) out.push_back(message);
    }
    void arrive(const Message&, std::vector<Message>&) override {}

   private:
    const std::vector<Message>& messages_;
  };
  std::vector<Message> messages_;
};

inline Message flow(std::uint32_t from, std::uint32_t to, std::uint32_t chunk) {
  return {NpuId(from), NpuId(to), ChunkId(chunk), Stage::copy};
}

inline std::shared_ptr<const Program> program_of(std::string_view algorithm, const Topology& topology,
                                                 const Collective& collective) {
  return find_algorithm(algorithm)->make(topology, collective, {}).value();
}

/// The program; nullptr if the algorithm is not defined for this case.
inline std::shared_ptr<const Program> program_if_defined(const Algorithm& algorithm, const Topology& topology,
                                                         const Collective& collective,
                                                         const AlgorithmOptions& options = {}) {
  auto program = algorithm.make(topology, collective, options);
  return program ? std::move(program).value() : nullptr;
}

/// Simulates an algorithm, recording everything.
inline Simulation run(std::string_view algorithm, const Topology& topology, const Collective& collective,
                      Occupancy occupancy = Occupancy::serialization) {
  SimulationOptions options;
  options.occupancy = occupancy;
  options.record_sends = true;
  options.record_links = true;
  return simulate(topology, collective, *program_of(algorithm, topology, collective), options).value();
}

/// Simulates an algorithm and returns only the finish.
inline SimTime finish(std::string_view algorithm, const Topology& topology, const Collective& collective,
                      const SimulationOptions& options = {}) {
  return simulate(topology, collective, *program_of(algorithm, topology, collective), options)->finish;
}

inline constexpr CollectiveKind kGathersAndSums[] = {CollectiveKind::all_gather, CollectiveKind::reduce_scatter,
                                                     CollectiveKind::all_reduce};
inline constexpr Occupancy kOccupancies[] = {Occupancy::serialization, Occupancy::transfer};

/// Random messages at time zero, as an open loop.
class OpenScript final : public Program {
 public:
  OpenScript(std::uint32_t npus, std::uint64_t seed) : messages_(npus) {
    Random random(seed, 11);
    for (std::uint32_t npu = 0; npu < npus; ++npu)
      for (auto count = random.below(9); count > 0; --count)
        messages_[npu].push_back({NpuId(npu), NpuId((npu + 1 + random.below(npus - 1)) % npus), ChunkId(0)});
  }
  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override { return std::make_unique<State>(messages_); }
  [[nodiscard]] std::uint64_t messages() const override {
    std::uint64_t total = 0;
    for (const auto& mine : messages_) total += mine.size();
    return total;
  }
  [[nodiscard]] bool open_loop() const override { return true; }
  [[nodiscard]] std::uint64_t messages_from(NpuId npu) const override { return messages_[npu.index()].size(); }
  [[nodiscard]] Message message_of(NpuId npu, std::uint64_t index) const override {
    return messages_[npu.index()][index];
  }

 private:
  class State final : public ProgramState {
   public:
    explicit State(const std::vector<std::vector<Message>>& messages) : messages_(messages) {}
    void start(NpuId npu, std::vector<Message>& out) override {
      out.insert(out.end(), messages_[npu.index()].begin(), messages_[npu.index()].end());
    }
    void arrive(const Message&, std::vector<Message>&) override {}

   private:
    const std::vector<std::vector<Message>>& messages_;
  };
  std::vector<std::vector<Message>> messages_;
};

}  // namespace tenex::support
