// Programs and runs for the simulation tests.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "tenex/algorithm/algorithm.hpp"
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

}  // namespace tenex::support
