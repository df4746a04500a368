// Schedules of textbook algorithms, as files hold them.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/files/schedule_file.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex::support {

/// The recorded sends of an algorithm.
inline ScheduleFile recorded(const Topology& topology, const Collective& collective, const Algorithm& algorithm) {
  const auto program = algorithm.make(topology, collective, {});
  SimulationOptions options;
  options.record_sends = true;
  auto simulation = simulate(topology, collective, **program, options);
  EXPECT_TRUE(simulation.ok()) << to_string(simulation.errors());
  return {topology, collective, Occupancy::serialization, simulation->sends, std::string(algorithm.name), {}};
}

}  // namespace tenex::support
