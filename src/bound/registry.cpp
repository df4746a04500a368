// The table of bounds, and the largest of the cheap ones.
#include <vector>

#include "bound/exact/methods.hpp"
#include "bound/methods.hpp"
#include "tenex/bound/cut.hpp"
#include "tenex/bound/flow.hpp"
#include "tenex/bound/strength.hpp"

namespace tenex {

namespace {

using Work = std::uint64_t;

#ifdef TENEX_CLP
constexpr auto kExactFlow = exact_flow_bound;
constexpr auto kExactStrength = exact_strength_bound;
#else
constexpr std::optional<CertifiedBound> (*kExactFlow)(const BoundProblem&) = nullptr;
constexpr auto kExactStrength = kExactFlow;
#endif

constexpr BoundMethod kCut = {
    .name = "cut",
    .description = "the links that leave a set of vertices carry what must leave it; with a certificate",
    .concerns = [](CollectiveKind kind) { return kind <= CollectiveKind::all_to_all; },
    .certify = cut_bound,
    .time_of = [](const BoundProblem& problem, const CertifiedBound& cut) { return cut_time(problem, cut.inside); },
    .check = [](const BoundProblem& problem, const CertifiedBound& cut) { return check_cut(problem, cut.inside); },
    .full_work = Work{1} << 31};  // about 20 s

constexpr BoundMethod kStrength = {
    .name = "strength",
    .description = "All-Reduce: the links between the parts of a partition carry what must cross; with a certificate",
    .concerns = [](CollectiveKind kind) { return kind == CollectiveKind::all_reduce; },
    .certify = strength_bound,
    .time_of = [](const BoundProblem& problem,
                  const CertifiedBound& bound) { return strength_time(problem, bound.weights).value(); },
    .check = [](const BoundProblem& problem,
                const CertifiedBound& bound) { return check_strength(problem, bound.weights); },
    .exact = kExactStrength,
    .full_work = Work{1} << 28};  // about 5 s

constexpr BoundMethod kFlow = {
    .name = "flow",
    .description = "All-to-All: links, weighted, carry every chunk over its lightest path; with a certificate",
    .concerns = [](CollectiveKind kind) { return kind == CollectiveKind::all_to_all; },
    .certify = flow_bound,
    .time_of = [](const BoundProblem& problem, const CertifiedBound& flow) { return flow_time(problem, flow.weights); },
    .check = [](const BoundProblem& problem, const CertifiedBound& flow) { return check_flow(problem, flow.weights); },
    .exact = kExactFlow,
    .full_work = Work{1} << 27};  // about 3 s

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
      kCut,
      kStrength,
      kFlow,
      {"late_start", "what must leave NPUs that start late, from then on", late_start_bound},
  };
  return methods;
}

std::vector<Bound> cheap_bounds(const BoundProblem& problem) {
  std::vector<Bound> bounds;
  if (problem.collective.kind() > CollectiveKind::all_to_all) return bounds;
  for (const auto& method : bound_methods())
    if (const auto time = method.compute != nullptr ? method.compute(problem) : std::nullopt)
      bounds.push_back({method.name, *time});
  return bounds;
}

Bound best_cheap_bound(const BoundProblem& problem) {
  Bound best{"none", SimTime::zero()};
  for (const Bound& bound : cheap_bounds(problem))
    if (best.name == "none" || bound.time > best.time) best = bound;
  return best;
}

}  // namespace tenex
