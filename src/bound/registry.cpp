// The table of bounds, and the largest of the cheap ones.
#include <algorithm>
#include <vector>

#include "bound/exact/methods.hpp"
#include "bound/methods.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/bound/cut.hpp"
#include "tenex/bound/flow.hpp"
#include "tenex/bound/strength.hpp"

namespace tenex {

namespace {

using WorkCount = std::uint64_t;

/// Of groups that differ or share NPUs, the largest bound of one group alone. Proof. Take all sends of the other
/// groups' chunks out of a valid schedule. What is left is a valid schedule of the group: a send asks for earlier sends
/// of its own chunk alone, a link has no more to carry, and the group's postconditions hold as early as before. Groups
/// come in order, until a fixed number of link visits: a maximum over fewer groups is a weaker bound, never a wrong
/// one.
template <auto bound>
std::optional<SimTime> of_groups(const BoundProblem& problem) {
  constexpr std::uint64_t kMostVisits = std::uint64_t{1} << 27;
  constexpr std::uint64_t kMostVisitsOfGroup = kMostVisits / 2;  // bounds have limits of their own
  const auto& collective = problem.collective;
  if (collective.kind() != CollectiveKind::mixed) return bound(problem);
  std::optional<SimTime> largest;
  std::uint64_t visits = 0;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    visits += std::min(kMostVisitsOfGroup, collective.groups()[g].members.size() * problem.topology.links());
    if (g > 0 && visits > kMostVisits) break;
    const Collective alone = collective.only(GroupId::at(g));
    if (const auto time = bound(problem.with(alone))) largest = std::max(largest.value_or(SimTime::zero()), *time);
  }
  return largest;
}

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
    .concerns = [](CollectiveKind) { return true; },
    .certify = cut_bound,
    .time_of = [](const BoundProblem& problem, const CertifiedBound& cut) { return cut_time(problem, cut.inside); },
    .check = [](const BoundProblem& problem, const CertifiedBound& cut) { return check_cut(problem, cut.inside); },
    .full_work = WorkCount{1} << 31};  // about 20 s

constexpr BoundMethod kStrength = {
    .name = "strength",
    .description = "All-Reduce: the links between the parts of a partition carry what must cross; with a certificate",
    .concerns = [](CollectiveKind kind) { return kind == CollectiveKind::all_reduce || kind == CollectiveKind::mixed; },
    .certify = strength_bound,
    .time_of = [](const BoundProblem& problem,
                  const CertifiedBound& bound) { return strength_time(problem, bound.weights); },
    .check = [](const BoundProblem& problem,
                const CertifiedBound& bound) { return check_strength(problem, bound.weights); },
    .exact = kExactStrength,
    .full_work = WorkCount{1} << 28};  // about 5 s

constexpr BoundMethod kFlow = {
    .name = "flow",
    .description = "links, weighted, carry every chunk over its lightest path; with a certificate",
    .concerns =
        [](CollectiveKind kind) {  // a Gather or Scatter has the cut, which is its optimum
          return kind == CollectiveKind::all_to_all || stores_conditions(kind) || kind == CollectiveKind::mixed;
        },
    .certify = flow_bound,
    .time_of = [](const BoundProblem& problem, const CertifiedBound& flow) { return flow_time(problem, flow.weights); },
    .check = [](const BoundProblem& problem, const CertifiedBound& flow) { return check_flow(problem, flow.weights); },
    .exact = kExactFlow,
    .full_work = WorkCount{1} << 27};  // about 3 s

}  // namespace

const std::vector<BoundMethod>& bound_methods() {
  static const std::vector<BoundMethod> methods = {
      {.name = "ejection",
       .description = "every NPU's in-links deliver what it must receive",
       .compute = port_bound<Direction::inward>,
       .one_for_all = true},
      {.name = "injection",
       .description = "every NPU's out-links carry what must leave it",
       .compute = port_bound<Direction::outward>,
       .one_for_all = true},
      {"link_total", "all links together carry every send that must happen", link_total_bound},
      {.name = "eccentricity",
       .description = "the farthest pair of NPUs that must communicate",
       .compute = of_groups<eccentricity_bound>,
       .one_for_all = true,
       .searches_paths = true,
       .lengths_alone = true},
      {.name = "pipeline",
       .description = "chunks pass one NPU's ports one after another and travel the farthest distance",
       .compute = of_groups<pipeline_bound>,
       .one_for_all = true,
       .searches_paths = true},
      {.name = "relay",
       .description =
           "every NPU's in-links deliver what it must receive, from neighbours that must receive before they relay",
       .compute = of_groups<relay_bound>,
       .one_for_all = true},
      {"approach", "every NPU's in-links deliver distant chunks only after these have come near",
       of_groups<approach_bound>},
      {.name = "volume_distance",
       .description = "links carry every chunk as far as it has to go",
       .compute = volume_distance_bound,
       .one_for_all = true},
      {"middle_cut", "All-to-All: links in the middle of a line carry what crosses it", of_groups<middle_cut_bound>},
      {"sum_of_parts", "All-Reduce without overlap: reduction plus gather", of_groups<sum_of_parts_bound>},
      kCut,
      kStrength,
      kFlow,
      {"late_start", "what must leave NPUs that start late, from then on", late_start_bound},
      {"boxes",
       "All-Reduce: the links that leave boxes of NPUs, joined by faster links or below the same switches, carry what "
       "must cross",
       boxes_bound},
      {.name = "hops",
       .description = "what arrives at an NPU early brings the contributions of few, what leaves it late reaches few",
       .compute = of_groups<hops_bound>,
       .one_for_all = true,
       .searches_paths = true},
      {.name = "entry",
       .description =
           "what must enter a set of NPUs comes from the farthest one, and goes on to the farthest one inside",
       .compute = entry_bound,
       .searches_paths = true},
  };
  return methods;
}

std::vector<Bound> cheap_bounds(const BoundProblem& problem) {
  std::vector<Bound> bounds;
  for (const auto& method : bound_methods())
    if (const auto time = method.compute != nullptr ? method.compute(problem) : std::nullopt)
      bounds.push_back({method.name, *time});
  TENEX_ENSURES(std::ranges::all_of(bounds, [](const Bound& bound) { return bound.time >= SimTime::zero(); }),
                "no bound below zero");
  return bounds;
}

Bound best_cheap_bound(const BoundProblem& problem) {
  Bound best{"none", SimTime::zero()};
  for (const Bound& bound : cheap_bounds(problem))
    if (best.name == "none" || bound.time > best.time) best = bound;
  return best;
}

SimTime largest_bound_with(bool BoundMethod::*property, const BoundProblem& problem) {
  SimTime largest;
  for (const auto& method : bound_methods())
    if (method.compute != nullptr && method.*property)
      largest = std::max(largest, method.compute(problem).value_or(SimTime::zero()));
  return largest;
}

}  // namespace tenex
