// Schedules of textbook algorithms, as files hold them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "support/topologies.hpp"
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

/// Calls visit(file) for the textbook's rings, direct exchanges and halvings on three and four NPUs.
template <class Visit>
void for_each_small_schedule(const Visit& visit) {
  for (const auto name_of_shape : {"FC(3)", "RI(4)"}) {
    const auto topology = shape(name_of_shape);
    for (const auto kind : {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                            CollectiveKind::all_to_all}) {
      const auto collective = Collective::make({kind, topology.npus(), {}, 1, Bytes::of(1 << 20), 0});
      for (const auto name : {"ring", "direct", "rhd"}) {
        const auto* const algorithm = find_algorithm(name);
        if (algorithm == nullptr || !std::ranges::count(candidates(topology, *collective), algorithm)) continue;
        SCOPED_TRACE(fmt::format("{} {} {}", name_of_shape, to_string(kind), name));
        visit(recorded(topology, *collective, *algorithm));
      }
    }
  }
}

}  // namespace tenex::support
