#include "synthesis/tacos/large.hpp"
#include "synthesis/tacos/engine_names.hpp"

#include <fmt/format.h>

#include "synthesis/coarse/coarse.hpp"
#include "synthesis/steps/exact.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {

std::string large_unsuitable(const SynthesisProblem& problem) { return exact_refusal(problem); }

Result<Gathered> gather_large(const SynthesisProblem& problem) {
  auto named = [](Result<Gathered> gathered, std::string_view choice) {
    if (gathered) gathered->engine = choice;
    return gathered;
  };
  if (!coarse_unsuitable(problem).empty()) return named(gather_exact(problem), tacos_engine::exact);
  auto coarse = named(gather_coarse(problem), tacos_engine::coarse);
  const auto bound = best_bound({problem.topology, problem.collective, problem.occupancy, true}).time;
  if (!coarse) return named(gather_exact(problem), tacos_engine::exact);
  if (coarse->time <= bound) return coarse;
  const std::size_t needed = coarse->schedule.memory_bytes() + exact_bytes(problem);
  if (needed > problem.memory_limit_bytes) {
    coarse->left_out = fmt::format("the exact engine was not tried: with it, the synthesis needs {} bytes", needed);
    return coarse;
  }
  auto exact = named(gather_exact(problem), tacos_engine::exact);
  return !exact || coarse->time <= exact->time ? std::move(coarse) : std::move(exact);
}

std::size_t large_bytes(const SynthesisProblem& problem) {
  if (!coarse_unsuitable(problem).empty()) return exact_bytes(problem);
  const std::size_t coarse = coarse_bytes(problem);
  const std::size_t both = coarse + exact_bytes(problem);
  return both <= problem.memory_limit_bytes ? both : coarse;
}

double large_seconds(const SynthesisProblem& problem) {
  if (!coarse_unsuitable(problem).empty()) return exact_seconds(problem);
  const bool both = coarse_bytes(problem) + exact_bytes(problem) <= problem.memory_limit_bytes;
  return coarse_seconds(problem) + (both ? exact_seconds(problem) : 0);
}

}  // namespace tenex
