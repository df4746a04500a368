// What simulations expect and ensure, by a program that breaks it.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "simulation/programs.hpp"
#include "simulation/simulation_contract.hpp"
#include "support/contracts.hpp"
#include "support/topologies.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex {
namespace {

using support::breaks;

/// States one message more than it sends.
class BoastingProgram final : public Program {
 public:
  [[nodiscard]] std::unique_ptr<ProgramState> begin() const override { return program_.begin(); }
  [[nodiscard]] std::uint64_t messages() const override { return program_.messages() + 1; }

 private:
  support::ScriptedProgram program_{{support::flow(0, 1, 0), support::flow(1, 0, 1)}};
};

TEST(SimulationContracts, FindAMessageThatNeverArrives) {
  TENEX_NEEDS_CONTRACTS();
  const Topology topology = support::line(2);
  const Collective gather = support::collective(CollectiveKind::all_gather, 2, bytes(2000));
  EXPECT_THAT([&] { (void)simulate(topology, gather, BoastingProgram(), {}); },
              breaks("simulate() ensures every message has arrived"));
}

TEST(SimulationContracts, AreAboutTheCaller) {
  TENEX_NEEDS_CONTRACTS();
  const Topology topology = support::line(2);
  const Collective gather = support::collective(CollectiveKind::all_gather, 2, bytes(2000));
  const support::ScriptedProgram program({support::flow(0, 1, 0)});
  SimulationOptions options;
  options.threads = 0;
  EXPECT_THAT([&] { (void)simulate(topology, gather, program, options); },
              breaks("simulate() expects at least one thread"));
  EXPECT_THAT([&] { (void)replay(topology, gather, Schedule(), Replay::timed, options); },
              breaks("replay() expects at least one thread"));
  const Collective of_three = support::collective(CollectiveKind::all_gather, 3, bytes(3000));
  EXPECT_THAT([&] { (void)replay(topology, of_three, Schedule(), Replay::timed, {}); },
              breaks("replay() expects a collective of the topology's NPUs"));
}

TEST(SimulationContracts, OfARecordFindWhatIsMissing) {
  const Topology topology = support::line(2);  // two links
  const auto has = [&](const Simulation& simulation, const SimulationOptions& options) {
    return has_what_is_asked(simulation, topology, options);
  };
  EXPECT_TRUE(has({}, {}));
  SimulationOptions options;
  options.record_links = true;
  EXPECT_FALSE(has({}, options));
  Simulation simulation;
  simulation.links.resize(2);
  EXPECT_TRUE(has(simulation, options));
  EXPECT_FALSE(has(simulation, {}));                          // nobody asked
  simulation.npu_finish = {SimTime::zero(), nanoseconds(1)};  // after the finish
  options.record_npu_finish = true;
  EXPECT_FALSE(has(simulation, options));
  simulation.finish = nanoseconds(1);
  EXPECT_TRUE(has(simulation, options));
}

}  // namespace
}  // namespace tenex
