// The cases of several benchmark programs: shapes by name, All-Gather of one chunk per NPU unless said otherwise.
#pragma once

#include <sys/resource.h>

#include <string_view>
#include <utility>

#include "support/topologies.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex::benchmarks {

/// A topology with a collective on it; 1 MiB per chunk, so that the times are bandwidth-bound.
struct Case {
  Topology topology;
  Collective collective;
};

inline Case make_case(std::string_view shape, CollectiveKind kind = CollectiveKind::all_gather,
                      std::int64_t chunks = 1) {
  auto topology = unwind_switches(support::shape(shape), 1).value();
  const auto npus = topology.npus();
  const auto size = mebibytes(static_cast<std::int64_t>(npus) * chunks);
  return {std::move(topology), support::collective(kind, npus, size, chunks)};
}

inline Synthesis synthesize_case(const Case& given, std::uint64_t seed = 1) {
  const SynthesisProblem problem{given.topology, given.collective, Occupancy::transfer, {seed}};
  return find_synthesizer("tacos")->synthesize(problem).value();
}

/// The CPU seconds of this process in user mode.
inline double user_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

}  // namespace tenex::benchmarks
