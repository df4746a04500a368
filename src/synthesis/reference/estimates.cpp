// The cost of the reference: every step looks at all (NPU, chunk) pairs and all in-links of each.
#include <algorithm>

#include "synthesis/reference/tacos_reference.hpp"
#include "synthesis/sends_estimate.hpp"

namespace tenex {

namespace {

constexpr double kSecondsPerLook = 5e-9;

double passes(const SynthesisProblem& problem) {
  return problem.collective.kind() == CollectiveKind::all_reduce ? 2 : 1;
}

}  // namespace

std::size_t tacos_reference_bytes(const SynthesisProblem& problem) {
  const double pairs = static_cast<double>(problem.topology.npus()) * static_cast<double>(problem.collective.chunks());
  return static_cast<std::size_t>(pairs * 24 + passes(problem) * sends_of_one_pass(problem.collective) * 280);
}

double tacos_reference_seconds(const SynthesisProblem& problem) {
  // A step delivers about one chunk per link and looks at half of the pairs on average, each with (links / NPUs)
  // in-links.
  const double sends = sends_of_one_pass(problem.collective);
  const double looks = sends * static_cast<double>(problem.collective.chunks()) / 2;
  return passes(problem) * std::max<std::uint32_t>(1, problem.attempts) * looks * kSecondsPerLook;
}

}  // namespace tenex
