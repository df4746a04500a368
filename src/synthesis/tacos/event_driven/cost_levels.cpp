// Levels by thresholds, clusters as strongly connected components (Tarjan, SIAM J. Comput. 1(2), 1972; iterative).
#include "synthesis/tacos/event_driven/cost_levels.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tenex {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kSeveral = kNobody - 1;

/// The least cost of each level: the first cost that is more than `factor` times the least of the level before. The
/// factor is an integer in units of 1/65,536, so that levels do not depend on rounding. It is squared until there are
/// at most `limit` levels, and stays far below 2^63: costs are below 2^62, so eight levels are left long before.
std::vector<std::int64_t> level_floors(std::vector<std::int64_t> costs, std::uint32_t limit) {
  std::sort(costs.begin(), costs.end());
  std::vector<std::int64_t> floors;
  constexpr std::uint32_t one = 1U << 16U;
  for (Wide factor = one + one / 4; floors.empty() || floors.size() > limit; factor = factor * factor / one) {
    floors.clear();
    for (const std::int64_t cost : costs)
      if (floors.empty() || static_cast<Wide>(cost) * one > factor * static_cast<Wide>(floors.back()))
        floors.push_back(cost);
  }
  return floors;
}

/// The group whose chunks each vertex handles, or kNobody, or kSeveral.
std::vector<std::uint32_t> groups_of_vertices(const Topology& topology, const std::vector<Participants>& participants) {
  std::vector<std::uint32_t> group_of(topology.vertices(), kNobody);
  for (std::uint32_t g = 0; g < participants.size(); ++g)
    for (const VertexId vertex : participants[g].vertices) {
      auto& group = group_of[vertex.index()];
      group = group == kNobody ? g : kSeveral;
    }
  return group_of;
}

bool share_a_group(std::uint32_t a, std::uint32_t b) {
  if (a == kNobody || b == kNobody) return false;
  return a == b || a == kSeveral || b == kSeveral;
}

/// Strongly connected components of the links for which `use` holds; each is named by one of its vertices.
template <class Use>
class Components {
 public:
  Components(const Topology& topology, Use use)
      : topology_(topology),
        use_(use),
        order_(topology.vertices(), 0),
        low_(topology.vertices(), 0),
        name_(topology.vertices(), kNobody) {
    for (std::uint32_t vertex = 0; vertex < topology.vertices(); ++vertex)
      if (order_[vertex] == 0) explore(vertex);
  }

  [[nodiscard]] std::vector<std::uint32_t> names() && { return std::move(name_); }

 private:
  struct Frame {
    std::uint32_t vertex = 0;
    std::size_t next_link = 0;
  };

  void enter(std::uint32_t vertex) {
    order_[vertex] = low_[vertex] = ++entered_;
    open_.push_back(vertex);
    path_.push_back({vertex});
  }

  void explore(std::uint32_t start) {
    enter(start);
    while (!path_.empty()) {
      auto& [vertex, next_link] = path_.back();
      const auto out = topology_.out_links(VertexId(vertex));
      if (next_link == out.size()) {
        leave(vertex);
        continue;
      }
      const LinkId link = out[next_link++];
      const std::uint32_t target = topology_.target(link).value();
      if (!use_(link)) continue;
      if (order_[target] == 0)
        enter(target);
      else if (name_[target] == kNobody)
        low_[vertex] = std::min(low_[vertex], order_[target]);
    }
  }

  void leave(std::uint32_t vertex) {
    path_.pop_back();
    if (!path_.empty()) low_[path_.back().vertex] = std::min(low_[path_.back().vertex], low_[vertex]);
    if (low_[vertex] != order_[vertex]) return;
    for (std::uint32_t last = kNobody; last != vertex; open_.pop_back()) {
      last = open_.back();
      name_[last] = vertex;
    }
  }

  const Topology& topology_;
  Use use_;
  std::vector<std::uint32_t> order_;  ///< 0: not yet entered
  std::vector<std::uint32_t> low_;
  std::vector<std::uint32_t> name_;
  std::vector<std::uint32_t> open_;  ///< entered, component not yet known
  std::vector<Frame> path_;
  std::uint32_t entered_ = 0;
};

}  // namespace

CostLevels::CostLevels(const Topology& topology, const std::vector<std::int64_t>& cost,
                       const std::vector<Participants>& participants) {
  if (cost.empty()) return;
  const auto floors = level_floors(cost, kMaxLevels);
  levels_ = static_cast<std::uint32_t>(floors.size());
  for (const std::int64_t each : cost)
    level_.push_back(
        static_cast<std::uint32_t>(std::upper_bound(floors.begin(), floors.end(), each) - floors.begin() - 1));
  const auto group_of = groups_of_vertices(topology, participants);
  for (std::uint32_t level = 0; level < levels_; ++level) {
    const auto use = [&](LinkId link) {
      return level_[link.index()] < level &&
             share_a_group(group_of[topology.source(link).index()], group_of[topology.target(link).index()]);
    };
    clusters_.push_back(Components(topology, use).names());
  }
}

}  // namespace tenex
