#include "bound/ways.hpp"

#include <limits>

#include "tenex/base/graph/shortest_paths.hpp"

namespace tenex {

namespace {

/// All ways that visit no switch twice; nullopt if they are more than `most`.
class WayFinder {
 public:
  WayFinder(const Topology& topology, std::size_t most)
      : topology_(topology),
        most_(most),
        steps_left_(kStepsPerWay * (most + topology.links())),
        visited_(topology.vertices()) {}

  std::optional<Ways> find() {
    for (std::size_t v = 0; v < topology_.vertices(); ++v)
      if (!is_plain_switch(topology_, VertexId::at(v)) && !go_on(VertexId::at(v), VertexId::at(v))) return std::nullopt;
    return std::move(found_);
  }

 private:
  bool go_on(VertexId from, VertexId at) {
    for (const auto link : topology_.out_links(at)) {
      const auto next = topology_.target(link);
      if (steps_left_-- == 0) return false;  // switches behind switches have many dead ends
      if (next == from || visited_[next.index()]) continue;
      path_.push_back(link);
      if (is_plain_switch(topology_, next)) {
        visited_[next.index()] = true;
        if (!go_on(from, next)) return false;
        visited_[next.index()] = false;
      } else {
        if (found_.links.size() + path_.size() > 2 * most_ || found_.ways.size() >= most_) return false;
        const auto begin = static_cast<std::uint32_t>(found_.links.size());
        found_.links.insert(found_.links.end(), path_.begin(), path_.end());
        found_.ways.push_back({from.value(), next.value(), begin, static_cast<std::uint32_t>(found_.links.size())});
      }
      path_.pop_back();
    }
    return true;
  }

  static constexpr std::size_t kStepsPerWay = 4;
  const Topology& topology_;
  std::size_t most_;
  std::size_t steps_left_;
  std::vector<bool> visited_;
  std::vector<LinkId> path_;
  Ways found_;
};

/// From every vertex the lightest way through plain switches that begins (or ends, `backward`) at some vertex that is
/// none.
class NearestEnds {
 public:
  NearestEnds(const Topology& topology, const std::vector<double>& weights, bool backward)
      : topology_(topology),
        backward_(backward),
        end_(topology.vertices()),
        step_(topology.vertices(), LinkId::none()) {
    std::vector<double> distance(topology.vertices(), std::numeric_limits<double>::infinity());
    BestPaths<double> paths(distance);
    for (std::uint32_t v = 0; v < topology.vertices(); ++v) {
      if (is_plain_switch(topology, VertexId(v))) continue;
      paths.reach(v, 0);
      end_[v] = VertexId(v);
    }
    while (const auto at = paths.next()) {
      const VertexId vertex(at->vertex);
      for (const auto link : backward ? topology.in_links(vertex) : topology.out_links(vertex)) {
        const auto next = backward ? topology.source(link) : topology.target(link);
        if (!is_plain_switch(topology, next) || !paths.reach(next.value(), at->cost + weights[link.index()])) continue;
        end_[next.index()] = end_[vertex.index()];
        step_[next.index()] = link;
      }
    }
  }

  [[nodiscard]] bool reaches(VertexId vertex) const { return end_[vertex.index()].exists(); }
  [[nodiscard]] VertexId end(VertexId vertex) const { return end_[vertex.index()]; }
  /// The links between a vertex and its end.
  void add_links(VertexId vertex, std::vector<LinkId>& links) const {
    for (auto step = step_[vertex.index()]; step.exists(); step = step_[vertex.index()]) {
      links.push_back(step);
      vertex = backward_ ? topology_.target(step) : topology_.source(step);
    }
  }

 private:
  const Topology& topology_;
  bool backward_;
  std::vector<VertexId> end_;
  std::vector<LinkId> step_;
};

}  // namespace

Ways lightest_ways(const Topology& topology, const std::vector<double>& weights) {
  const NearestEnds before(topology, weights, false);
  const NearestEnds behind(topology, weights, true);
  Ways found;
  const auto add = [&](VertexId from, std::optional<LinkId> link, VertexId to) {
    if (!before.reaches(from) || !behind.reaches(to) || before.end(from) == behind.end(to)) return;
    const auto begin = static_cast<std::uint32_t>(found.links.size());
    before.add_links(from, found.links);
    if (link) found.links.push_back(*link);
    behind.add_links(to, found.links);
    found.ways.push_back(
        {before.end(from).value(), behind.end(to).value(), begin, static_cast<std::uint32_t>(found.links.size())});
  };
  for (std::size_t l = 0; l < topology.links(); ++l)
    add(topology.source(LinkId::at(l)), LinkId::at(l), topology.target(LinkId::at(l)));
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v)
    if (is_plain_switch(topology, VertexId::at(v))) add(VertexId::at(v), std::nullopt, VertexId::at(v));
  return found;
}

std::optional<Ways> find_ways(const Topology& topology, std::size_t most) {
  std::size_t pairs = 0;  // of a link into a switch and one out of it; more than half of them do not lead back
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v)
    if (is_plain_switch(topology, VertexId::at(v)))
      pairs += topology.in_links(VertexId::at(v)).size() * topology.out_links(VertexId::at(v)).size();
  if (pairs / 2 > most + topology.links()) return std::nullopt;
  return WayFinder(topology, most).find();
}

std::vector<Way> without_dead_ends(const BoundProblem& problem, GroupId group, std::span<const Way> tree) {
  std::vector<std::vector<std::size_t>> at(problem.topology.vertices());  // numbers of ways
  for (std::size_t i = 0; i < tree.size(); ++i) {
    at[tree[i].from].push_back(i);
    at[tree[i].to].push_back(i);
  }
  std::vector<bool> is_member(at.size());
  for (const auto member : problem.collective.groups()[group.index()].members) is_member[member.index()] = true;
  std::vector<std::size_t> degree;
  std::vector<std::uint32_t> ends;
  for (std::uint32_t v = 0; v < at.size(); ++v) {
    degree.push_back(at[v].size());
    if (degree[v] == 1 && !is_member[v]) ends.push_back(v);
  }
  std::vector<bool> cut(tree.size());
  while (!ends.empty()) {
    const auto vertex = ends.back();
    ends.pop_back();
    for (const auto i : at[vertex]) {
      if (cut[i]) continue;
      cut[i] = true;
      const auto other = tree[i].from == vertex ? tree[i].to : tree[i].from;
      if (--degree[other] == 1 && !is_member[other]) ends.push_back(other);
    }
  }
  std::vector<Way> left;
  for (std::size_t i = 0; i < tree.size(); ++i)
    if (!cut[i]) left.push_back(tree[i]);
  return left;
}

}  // namespace tenex
