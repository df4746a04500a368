// Ejection and injection: all data that enters or leaves an NPU passes its own links, each of which delivers a floor
// count by T.
//
// Idea: for every NPU, the least T at which its in-links (out-links) can have delivered what it must receive (send) by
// demand.hpp; the bound is the largest over all NPUs. A send over an out-link has to arrive, so T counts arrivals on
// both sides. What an NPU needs for several process groups adds up. The bound holds whatever is behind the links, also
// switches. Encoding: NPUs with the same demand, chunk sizes and links per class need one search; 40,000 NPUs of a mesh
// have a few such kinds. Source: the floor counts are this project's; the forms without floors are in LIBRA
// (arXiv:2109.11762) and TACOS (arXiv:2304.05301).
#include <algorithm>
#include <set>
#include <vector>

#include "bound/demand.hpp"
#include "bound/methods.hpp"
#include "bound/sized_needs.hpp"

namespace tenex {

namespace {

enum class Side { in, out };

std::optional<SimTime> port_bound(const BoundProblem& problem, Side side) {
  const auto& topology = problem.topology;
  const std::size_t classes = topology.classes().size();
  const NpuDemands demands(problem.collective);
  std::vector<SizedDemand> of_npu;
  std::set<std::vector<std::int64_t>> seen;  // links of each class, then size class and chunks of each size
  std::vector<std::int64_t> kind;            // of one NPU
  SimTime bound = SimTime::zero();
  for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
    kind.assign(classes, 0);
    demands.find(NpuId::at(npu), of_npu);
    for (const auto& [size_class, demand] : of_npu) {
      const std::int64_t count = side == Side::in ? demand.receive : demand.send;
      if (count == 0) continue;
      kind.push_back(static_cast<std::int64_t>(size_class));
      kind.push_back(count);
    }
    if (kind.size() == classes) continue;
    const auto vertex = VertexId::at(npu);
    for (const LinkId link : side == Side::in ? topology.in_links(vertex) : topology.out_links(vertex))
      ++kind[topology.class_of(link)];
    if (seen.contains(kind)) continue;
    seen.insert(kind);
    std::vector<SizedNeed> needs;
    for (std::size_t i = classes; i < kind.size(); i += 2)
      needs.push_back({static_cast<std::size_t>(kind[i]), kind[i + 1]});
    bound = std::max(bound, least_time_of_sizes(problem, std::span(kind).first(classes), needs));
  }
  return bound;
}

}  // namespace

std::optional<SimTime> ejection_bound(const BoundProblem& problem) { return port_bound(problem, Side::in); }

std::optional<SimTime> injection_bound(const BoundProblem& problem) { return port_bound(problem, Side::out); }

}  // namespace tenex
