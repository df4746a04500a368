#include "synthesis/tacos/large.hpp"

#include "synthesis/coarse/coarse.hpp"
#include "synthesis/steps/exact.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {

std::string large_unsuitable(const SynthesisProblem& problem) { return exact_refusal(problem); }

Result<Gathered> gather_large(const SynthesisProblem& problem) {
  auto named = [](Result<Gathered> gathered, EngineChoice choice) {
    if (gathered) gathered->engine = to_string(choice);
    return gathered;
  };
  if (!coarse_unsuitable(problem).empty()) return named(gather_exact(problem), EngineChoice::exact);
  auto coarse = named(gather_coarse(problem), EngineChoice::coarse);
  const auto bound = best_bound({problem.topology, problem.collective, problem.occupancy, true}).time;
  if (!coarse) return named(gather_exact(problem), EngineChoice::exact);
  if (coarse->time <= bound) return coarse;
  auto exact = named(gather_exact(problem), EngineChoice::exact);
  return !exact || coarse->time <= exact->time ? std::move(coarse) : std::move(exact);
}

}  // namespace tenex
