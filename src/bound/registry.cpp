// The table of bounds, and the largest of them.
#include <vector>

#include "bound/methods.hpp"
#include "tenex/bound/cut.hpp"
#include "tenex/bound/flow.hpp"
#include "tenex/bound/strength.hpp"

namespace tenex {

namespace {

constexpr std::uint64_t kCutWork = std::uint64_t{1} << 31;  ///< link visits: about 20 s

std::optional<CertifiedBound> certified_cut(const BoundProblem& problem) { return cut_bound(problem, kCutWork); }

SimTime checked_cut(const BoundProblem& problem, const CertifiedBound& cut) { return check_cut(problem, cut.inside); }

constexpr std::uint64_t kStrengthWork = std::uint64_t{1} << 28;  ///< link visits: about 5 s

std::optional<CertifiedBound> certified_strength(const BoundProblem& problem) {
  return strength_bound(problem, kStrengthWork);
}

SimTime checked_strength(const BoundProblem& problem, const CertifiedBound& strength) {
  return check_strength(problem, strength.weights);
}

constexpr std::uint64_t kFlowWork = std::uint64_t{1} << 27;  ///< link visits: about 3 s

std::optional<CertifiedBound> certified_flow(const BoundProblem& problem) { return flow_bound(problem, kFlowWork); }

SimTime checked_flow(const BoundProblem& problem, const CertifiedBound& flow) {
  return check_flow(problem, flow.weights);
}

}  // namespace

const std::vector<BoundMethod>& bound_methods() {
  static const std::vector<BoundMethod> methods = {
      {"ejection", "every NPU's in-links deliver what it must receive", ejection_bound},
      {"injection", "every NPU's out-links carry what must leave it", injection_bound},
      {"link_total", "all links together carry every send that must happen", link_total_bound},
      {"eccentricity", "the farthest pair of NPUs that must communicate", eccentricity_bound},
      {"pipeline", "chunks pass one NPU's ports one after another and travel the farthest distance", pipeline_bound},
      {"relay",
       "every NPU's in-links deliver what it must receive, from neighbours that must receive before they relay",
       relay_bound},
      {"approach", "every NPU's in-links deliver distant chunks only after these have come near", approach_bound},
      {"slices", "the links across a slice of a product shape carry what must enter it", slices_bound},
      {"volume_distance", "All-to-All: links carry every chunk as far as it has to go", volume_distance_bound},
      {"middle_cut", "All-to-All: links in the middle of a line carry what crosses it", middle_cut_bound},
      {"sum_of_parts", "All-Reduce without overlap: reduction plus gather", sum_of_parts_bound},
      {"cut", "the links that leave a set of vertices carry what must leave it; not in rows, with a certificate",
       nullptr, false, certified_cut, checked_cut},
      {"strength",
       "All-Reduce: the links between the parts of a partition carry what must cross; not in rows, with a certificate",
       nullptr, false, certified_strength, checked_strength},
      {"flow", "All-to-All: links, weighted, carry every chunk over its lightest path; not in rows, with a certificate",
       nullptr, false, certified_flow, checked_flow},
  };
  return methods;
}

std::vector<Bound> all_bounds(const BoundProblem& problem) {
  std::vector<Bound> bounds;
  for (const auto& method : bound_methods())
    if (const auto time = method.in_rows ? method.compute(problem) : std::nullopt)
      bounds.push_back({method.name, *time});
  return bounds;
}

Bound best_bound(const BoundProblem& problem) {
  Bound best{"none", SimTime::zero()};
  for (const Bound& bound : all_bounds(problem))
    if (best.name == "none" || bound.time > best.time) best = bound;
  return best;
}

}  // namespace tenex
