#include "bound/ways.hpp"

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

}  // namespace

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
