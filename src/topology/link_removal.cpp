// Removal of the links between given pairs of vertices, as a study's `without` asks.
#include <algorithm>

#include <fmt/core.h>

#include "tenex/topology/transform.hpp"

namespace tenex {

namespace {

constexpr std::size_t kNeighboursShown = 8;

/// The neighbours of a vertex over links in either direction, sorted and without repetition.
std::vector<VertexId> neighbours(const Topology& topology, VertexId vertex) {
  std::vector<VertexId> found;
  for (const LinkId link : topology.out_links(vertex)) found.push_back(topology.target(link));
  for (const LinkId link : topology.in_links(vertex)) found.push_back(topology.source(link));
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

/// "0, 2, 13" of the neighbours whose ids are nearest to `wanted`.
std::string nearest(std::vector<VertexId> candidates, VertexId wanted) {
  const auto distance = [&](VertexId v) {
    return v > wanted ? v.value() - wanted.value() : wanted.value() - v.value();
  };
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](VertexId a, VertexId b) { return distance(a) < distance(b); });
  const bool more = candidates.size() > kNeighboursShown;
  if (more) candidates.resize(kNeighboursShown);
  std::sort(candidates.begin(), candidates.end());
  std::string list;
  for (const VertexId v : candidates) list += fmt::format("{}{}", list.empty() ? "" : ", ", v.value());
  return more ? list + ", .." : list;
}

Diagnostic no_link(const Topology& topology, VertexId a, VertexId b) {
  const auto around = neighbours(topology, a);
  return input_error({}, fmt::format("no link joins {} and {}", a.value(), b.value()),
                     "only existing links are removed",
                     around.empty() ? fmt::format("{} has no links at all", a.value())
                                    : fmt::format("{} has links with {}", a.value(), nearest(around, b)));
}

}  // namespace

Result<Topology> remove_links(const Topology& topology, const std::vector<std::pair<VertexId, VertexId>>& pairs) {
  std::vector<bool> drop(topology.links(), false);
  Diagnostics errors;
  for (const auto& [a, b] : pairs) {
    const VertexId beyond = a.index() >= topology.vertices() ? a : b;
    if (beyond.index() >= topology.vertices()) {
      errors.push_back(input_error({}, fmt::format("vertex {} does not exist", beyond.value()),
                                   fmt::format("vertices are 0 to {}", topology.vertices() - 1)));
      continue;
    }
    bool found = false;
    for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
      for (const LinkId link : topology.out_links(from)) {
        if (topology.target(link) != to) continue;
        drop[link.index()] = true;
        found = true;
      }
    }
    if (!found) errors.push_back(no_link(topology, a, b));
  }
  if (!errors.empty()) return errors;
  return topology.without(drop);
}

}  // namespace tenex
