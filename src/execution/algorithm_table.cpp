#include "tenex/execution/algorithm_table.hpp"

#include <algorithm>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/plan.hpp"

namespace tenex {

const std::vector<const AlgorithmTraits*>& algorithm_traits() {
  static const AlgorithmTraits best{
      .name = kBestOfAll,
      .description = "the best of all for the point, by trials",
      .family = AlgorithmFamily::any,
      .reads = {.attempts = true, .routes = true, .switches = true, .phases = true, .stops = true}};
  static const std::vector<const AlgorithmTraits*> table = [] {
    std::vector<const AlgorithmTraits*> entries;
    for (const auto& algorithm : algorithms()) entries.push_back(&algorithm);
    entries.push_back(&auto_algorithm());
    for (const auto& synthesizer : synthesizers()) entries.push_back(&synthesizer);
    entries.push_back(&best);
    return entries;
  }();
  return table;
}

const AlgorithmTraits& traits_of(std::string_view algorithm) {
  const auto found = std::ranges::find(algorithm_traits(), algorithm, &AlgorithmTraits::name);
  ensure(found != algorithm_traits().end(), "an algorithm that no registry has");
  return **found;
}

bool plays_on_switches(const DesignPoint& point) {
  const auto& topology = point.topology;
  if (topology.unwind > 0 || (topology.machine_file.empty() && count_shape(topology.shape).switches == 0)) return false;
  const auto* synthesizer = find_synthesizer(point.algorithm);
  return synthesizer != nullptr && !synthesizer->reads.switches;
}

std::uint32_t unwinding_degree(const DesignPoint& point) {
  // Most synthesizers send over links between NPUs only (TACOS, section IV-G); degree 1 suits bandwidth-critical
  // collectives.
  return plays_on_switches(point) ? 1 : point.topology.unwind;
}

bool is_program(const DesignPoint& point) { return tries_all(point) || find_algorithm(point.algorithm) != nullptr; }

bool sends_single_chunks(const DesignPoint& point) {
  if (find_synthesizer(point.algorithm) != nullptr) return true;
  const auto* algorithm = find_algorithm(point.algorithm);
  return algorithm != nullptr && algorithm->single_chunks;
}

bool may_run(const DesignPoint& point, std::uint64_t npus, bool Algorithm::*trait) {
  if (const auto* algorithm = find_algorithm(point.algorithm)) return algorithm->*trait;
  return tries_all(point) && std::ranges::any_of(algorithms(), [&](const Algorithm& algorithm) {
           return npus <= algorithm.candidate_npus && algorithm.*trait;
         });
}

}  // namespace tenex
