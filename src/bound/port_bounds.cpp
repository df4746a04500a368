// Ejection and injection: all data that enters or leaves an NPU passes its own links, each of which delivers a floor
// count by T.
//
// Bound: for every NPU the least T with sum over its in-links (out-links) of count(T) >= chunks that it must receive
// (send).
//
// Idea: for every NPU, the least T at which its in-links (out-links) can have delivered what it must receive (send) by
// demand.hpp; the bound is the largest over all NPUs. A send over an out-link has to arrive, so T counts arrivals on
// both sides. What an NPU needs for several process groups adds up. The bound holds whatever is behind the links, also
// switches. Encoding: NPUs with the same demand, chunk sizes and links per class need one search; 40,000 NPUs of a mesh
// have a few such kinds, and where every NPU sees the same network one stands for all. Source: the floor counts are
// this project's; the forms without floors are in LIBRA (arXiv:2109.11762) and TACOS (arXiv:2304.05301).
#include <algorithm>
#include <set>
#include <vector>

#include "bound/methods.hpp"
#include "bound/sized_needs.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {

namespace {

/// Whether what is asked of one NPU is asked of all, on a network that all see alike.
bool one_stands_for_all(const BoundProblem& problem) {
  const auto& collective = problem.collective;
  return is_classic(collective) && !has_root(collective.kind()) && collective.groups().size() == 1 &&
         collective.groups()[0].members.size() == problem.topology.npus() &&
         TranslationGroup::of(problem.topology).has_value();
}

}  // namespace

template <Direction direction>
std::optional<SimTime> port_bound(const BoundProblem& problem) {
  const auto& topology = problem.topology;
  const std::size_t classes = topology.classes().size();
  const NpuDemands demands(problem.collective);
  std::vector<SizedDemand> of_npu;
  std::set<std::vector<std::int64_t>> seen;  // links of each class, then size class and chunks of each size
  std::vector<std::int64_t> kind;            // of one NPU
  SimTime bound = SimTime::zero();
  const std::size_t npus = one_stands_for_all(problem) ? 1 : topology.npus();
  for (std::size_t npu = 0; npu < npus; ++npu) {
    kind.assign(classes, 0);
    demands.find(NpuId::at(npu), of_npu);
    for (const auto& [size_class, demand] : of_npu) {
      if (demand.in(direction) == 0) continue;
      kind.push_back(static_cast<std::int64_t>(size_class));
      kind.push_back(demand.in(direction));
    }
    if (kind.size() == classes) continue;
    for (const LinkId link : links_of(topology, VertexId::at(npu), direction)) ++kind[topology.class_of(link)];
    if (seen.contains(kind)) continue;
    seen.insert(kind);
    std::vector<SizedNeed> needs;
    for (std::size_t i = classes; i < kind.size(); i += 2)
      needs.push_back({static_cast<std::size_t>(kind[i]), kind[i + 1]});
    bound = std::max(bound, least_time_of_sizes(problem, std::span(kind).first(classes), needs));
  }
  return bound;
}

template std::optional<SimTime> port_bound<Direction::inward>(const BoundProblem&);
template std::optional<SimTime> port_bound<Direction::outward>(const BoundProblem&);

}  // namespace tenex
