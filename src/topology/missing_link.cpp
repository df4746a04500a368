// Messages that name a link or a vertex that does not exist, with the nearest ones that do.
#include "topology/missing_link.hpp"

#include <algorithm>

#include <fmt/core.h>

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

}  // namespace

Diagnostic missing_link(const Topology& topology, VertexId a, VertexId b, bool one_way, std::string_view rule) {
  const auto around = neighbours(topology, a);
  return input_error({},
                     one_way ? fmt::format("no link leads from {} to {}", a.value(), b.value())
                             : fmt::format("no link joins {} and {}", a.value(), b.value()),
                     std::string(rule),
                     around.empty() ? fmt::format("{} has no links at all", a.value())
                                    : fmt::format("{} has links with {}", a.value(), nearest(around, b)));
}

Diagnostic missing_vertex(const Topology& topology, VertexId vertex) {
  return input_error({}, fmt::format("vertex {} does not exist", vertex.value()),
                     fmt::format("vertices are 0 to {}", topology.vertices() - 1));
}

}  // namespace tenex
