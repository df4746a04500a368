// Composes every collective of gathers: reductions by time reversal, All-Reduce as a reduction and a gather.
//
// Idea (TACOS, section IV-E): a Reduce-Scatter (Reduce) is an All-Gather (Broadcast) on the reversed topology, reversed
// in time; a switch reduces there where it copies here. An All-Reduce is a Reduce-Scatter followed by an All-Gather,
// re-timed so that a chunk's gather begins when its own reduction is complete.
//
// If every link has an opposite link of its class, exchanging the two maps the topology to its reverse. A gather on the
// topology, over exchanged links, is then a gather on the reverse, and a reduction needs no synthesis of its own: it is
// a view of the gather. (Where a switch only copies or only reduces, or links are wires, it is not.) Both halves of an
// All-Reduce come from the same gather, hence from one seed. An owner's chunks go in opposite orders in the two halves,
// so that the chunk that is complete first is gathered first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/hash.hpp"
#include "tenex/base/random.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// A schedule of an All-Gather or a Broadcast.
struct Gathered {
  Schedule schedule;               ///< free of waste
  SimTime time;                    ///< its last arrival
  std::uint32_t best_attempt = 0;  ///< as many as there are attempts: a plan in rounds, beside them (`paths` of pccl)
  std::uint64_t pruned_waste = 0;
  std::string_view engine = {};  ///< the engine that made it, if the gatherer had a choice
  RunMetrics run = {};           ///< all but the engine
  std::optional<SolverReport> solver = {};
  SimTime rate_time = {};     ///< as in Synthesis
  std::string left_out = {};  ///< improvements that did not fit into problem.memory_limit_bytes, in words; empty:
                              ///< none
};

/// Synthesizes an All-Gather or a Broadcast.
using Gatherer = Result<Gathered> (*)(const SynthesisProblem&);

/// Synthesizes any collective with a gatherer. If every link has an opposite, the gatherer is called once, for a gather
/// on the topology. Otherwise a reduction calls it for a gather on the reversed topology (with its own key, and so its
/// own random numbers), and an All-Reduce for both; `best_attempt` is then that of the gather on the topology. Errors:
/// the gatherer's.
[[nodiscard]] Result<Synthesis> compose(const SynthesisProblem& problem, Gatherer gather, std::string_view engine);

/// Prunes waste from a valid schedule of a copying collective; without waste the last arrival is the collective time.
[[nodiscard]] Gathered without_waste(const SynthesisProblem& problem, const Schedule& schedule);

/// The random numbers of one attempt, keyed by (seed, synthesis key, attempt) alone.
[[nodiscard]] inline Random attempt_stream(std::uint64_t seed, const Digest& synthesis_key, std::uint32_t attempt) {
  return Random(seed, digest64(to_string(synthesis_key), attempt));
}

/// The least number of sends of one copying or reducing pass, without relays, from sizes alone: n-1 per chunk of a
/// group of n. An All-Reduce has two passes.
[[nodiscard]] inline double sends_of_one_pass(const Collective& collective) {
  double sends = 0;
  for (std::size_t g = 0; g < collective.groups().size(); ++g)
    sends += static_cast<double>(collective.chunks_in(GroupId::at(g))) *
             (static_cast<double>(collective.groups()[g].members.size()) - 1);
  return sends;
}

/// Bytes of a send of a reduction that is no view of its gather, for plans.
inline constexpr double kBytesOfMirroredSend = 24;

/// Times the reduction and the gather of an All-Reduce side by side (merge_phases.hpp), where that ends sooner than
/// `synthesis.schedule`, fits into the memory limit and has few enough sends.
void merge_halves(const SynthesisProblem& problem, Synthesis& synthesis);
/// The bytes and work that merge_halves() adds over wires, from sizes alone; 0 where it makes nothing.
[[nodiscard]] std::size_t merge_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work merge_work(const SynthesisProblem& problem);

/// Whether some switch has a limited buffer.
[[nodiscard]] bool limits_buffers(const Topology& topology);

}  // namespace tenex
