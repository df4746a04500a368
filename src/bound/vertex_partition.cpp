// Single moves raise the ratio of a partition: a local search, whose result is a bound whatever it is.
#include "bound/vertex_partition.hpp"

#include <algorithm>
#include <tuple>

#include "bound/weighted_links.hpp"
#include "tenex/topology/distance.hpp"

namespace tenex {

bool is_plain_switch(const Topology& topology, VertexId vertex) {
  if (topology.is_npu(vertex)) return false;
  const auto& properties = topology.switch_properties(vertex);
  return !properties.copy && !properties.reduce;
}

std::vector<DisjointSets> joined_below_levels(const Topology& topology) {
  constexpr std::uint32_t kMostLevels = 8;
  const auto level = links_to_nearest_npu(topology);
  std::uint32_t highest = 0;
  for (const auto each : level)
    if (each < level.size()) highest = std::max(highest, each);  // no path leads from others to an NPU
  std::vector<DisjointSets> joined;
  for (std::uint32_t up_to = 0; up_to < std::min(highest, kMostLevels); ++up_to)
    joined.push_back(join_ends(topology, [&](LinkId link) {
      return level[topology.source(link).index()] <= up_to && level[topology.target(link).index()] <= up_to;
    }));
  return joined;
}

VertexPartition::VertexPartition(const BoundProblem& problem, const std::vector<double>& weights, double least)
    : problem_(problem), topology_(problem.topology), rate_of_class_(rates(problem)), part_(topology_.vertices()) {
  DisjointSets joined = join_ends(topology_, [&](LinkId link) {
    const auto [from, to] = ends(link);
    return weights[link.index()] < least && !is_plain_switch(topology_, from) && !is_plain_switch(topology_, to);
  });
  for (std::uint32_t v = 0; v < part_.size(); ++v) part_[v] = joined.find(v);
  members_.resize(part_.size());
  for (std::uint32_t v = 0; v < part_.size(); ++v) enter(VertexId(v), part_[v]);
  for (std::size_t l = 0; l < topology_.links(); ++l) {
    const auto [from, to] = ends(LinkId::at(l));
    if (part_[from.index()] != part_[to.index()]) between_ += rate(LinkId::at(l));
  }
}

std::uint64_t VertexPartition::work_of_round() const {
  std::uint64_t visits = part_.size() * part_.size() / 64;
  for (std::size_t v = 0; v < part_.size(); ++v) {
    const auto degree = topology_.out_links(VertexId::at(v)).size() + topology_.in_links(VertexId::at(v)).size();
    visits += 2 * degree * (degree + 1);
  }
  return visits;
}

void VertexPartition::improve(int rounds, std::uint64_t& work) {
  const auto of_round = work_of_round();
  for (bool better = true; better && rounds > 0 && work > of_round; --rounds) {
    work -= of_round;
    better = false;
    for (std::uint32_t v = 0; v < part_.size(); ++v) better = move_to_best(VertexId(v)) || better;
  }
}

bool VertexPartition::separates(LinkId link) const {
  const auto [from, to] = ends(link);
  return part_[from.index()] != part_[to.index()];
}

void VertexPartition::enter(VertexId vertex, std::uint32_t part) {
  part_[vertex.index()] = part;
  const auto group = group_of(vertex);
  if (group.exists() && members_[part][group.value()]++ == 0) crossings_ += worth(group);
}

void VertexPartition::leave(VertexId vertex) {
  const auto part = part_[vertex.index()];
  const auto group = group_of(vertex);
  if (group.exists() && --members_[part][group.value()] == 0) crossings_ -= worth(group);
}

double VertexPartition::ratio() const {
  double first_parts = 0;
  for (std::size_t g = 0; g < problem_.collective.groups().size(); ++g) first_parts += worth(GroupId::at(g));
  return between_ <= 0 ? 0 : (crossings_ - first_parts) / between_;
}

void VertexPartition::move(VertexId vertex, std::uint32_t part) {
  const auto from = part_[vertex.index()];
  const auto recount = [&](std::span<const LinkId> links, bool outward) {
    for (const auto link : links) {
      const auto other = part_[(outward ? topology_.target(link) : topology_.source(link)).index()];
      between_ += (other != part ? rate(link) : 0) - (other != from ? rate(link) : 0);
    }
  };
  recount(topology_.out_links(vertex), true);
  recount(topology_.in_links(vertex), false);
  leave(vertex);
  enter(vertex, part);
}

bool VertexPartition::move_to_best(VertexId vertex) {
  const auto home = part_[vertex.index()];
  std::vector<std::uint32_t> others;
  for (const auto link : topology_.out_links(vertex)) others.push_back(part_[topology_.target(link).index()]);
  for (const auto link : topology_.in_links(vertex)) others.push_back(part_[topology_.source(link).index()]);
  if (const auto empty = find_empty()) others.push_back(*empty);
  std::ranges::sort(others);
  others.erase(std::unique(others.begin(), others.end()), others.end());
  const double before = ratio();
  double best = before * (1 + 1e-12);
  std::uint32_t where = home;
  for (const auto part : others) {
    if (part == home) continue;
    move(vertex, part);
    if (ratio() > best) std::tie(best, where) = std::pair(ratio(), part);
    move(vertex, home);
  }
  if (where != home) move(vertex, where);
  return where != home;
}

std::optional<std::uint32_t> VertexPartition::find_empty() const {
  std::vector<bool> used(part_.size());
  for (const auto part : part_) used[part] = true;
  const auto empty = std::ranges::find(used, false);
  return empty == used.end() ? std::nullopt : std::optional(static_cast<std::uint32_t>(empty - used.begin()));
}

}  // namespace tenex
