// Decides which node evaluates which large point. See the header for the rule.
#include "coordinator/node_leases.hpp"

#include <algorithm>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

NodeLeases::NodeLeases(NodeMap map, std::vector<LargePoint> points, Duration duration, std::uint64_t first_id)
    : map_(std::move(map)),
      lost_(map_.node_of_rank.size(), false),
      duration_(std::move(duration)),
      next_id_((std::uint64_t{1} << 62U) + first_id) {
  ensure(!map_.node_of_rank.empty() && map_.node_of_rank.size() == map_.share_of_rank.size(),
         "a map of nodes needs a share for every rank");
  nodes_.resize(std::size_t{1} + *std::ranges::max_element(map_.node_of_rank));
  std::vector<std::size_t> ranks(nodes_.size(), 0);
  for (std::size_t r = 0; r < map_.node_of_rank.size(); ++r) {
    nodes_[map_.node_of_rank[r]].memory += map_.share_of_rank[r];
    several_ranks_ = ++ranks[map_.node_of_rank[r]] > 1 || several_ranks_;
  }
  smallest_share_ = *std::ranges::min_element(map_.share_of_rank);
  for (const auto& node : nodes_) largest_memory_ = std::max(largest_memory_, node.memory);
  waiting_.reserve(points.size());
  for (const auto& point : points) waiting_.push_back({point, false});
  sort();
}

void NodeLeases::sort() {
  std::ranges::sort(waiting_, [](const Waiting& a, const Waiting& b) {
    const auto& x = a.point.cost;
    const auto& y = b.point.cost;
    return x.seconds != y.seconds ? x.seconds > y.seconds : x.point < y.point;
  });
}

void NodeLeases::put_back(const LargePoint& point, bool suspect) {
  waiting_.push_back({point, suspect});
  sort();
}

bool NodeLeases::fits(const LargePoint& point, const Node& node) const {
  return point.bytes <= node.memory || node.memory == largest_memory_;
}

bool NodeLeases::has_live_ranks(std::uint32_t node) const {
  for (std::size_t r = 0; r < lost_.size(); ++r)
    if (map_.node_of_rank[r] == node && !lost_[r]) return true;
  return false;
}

bool NodeLeases::holds_back(std::size_t rank) const {
  const Node& node = nodes_[map_.node_of_rank[rank]];
  return node.busy_rank ||
         std::ranges::any_of(waiting_, [&](const Waiting& waiting) { return fits(waiting.point, node); });
}

std::optional<Lease> NodeLeases::next(std::size_t rank, const std::function<bool(std::size_t)>& idle,
                                      double time_left) {
  const auto number = map_.node_of_rank[rank];
  Node& node = nodes_[number];
  if (node.busy_rank || lost_[rank]) return std::nullopt;
  for (std::size_t r = 0; r < lost_.size(); ++r)
    if (map_.node_of_rank[r] == number && !lost_[r] && !idle(r)) return std::nullopt;
  const auto found = std::ranges::find_if(waiting_, [&](const Waiting& waiting) {
    return fits(waiting.point, node) && duration_(waiting.point.cost) <= time_left;
  });
  if (found == waiting_.end()) return std::nullopt;
  Lease lease{next_id_++, {found->point.cost.point}, found->point.cost.seconds};
  lease.exclusive = true;
  lease.careful = found->suspect;
  waiting_.erase(found);
  node.busy_rank = rank;
  node.lease = lease.id;
  return lease;
}

bool NodeLeases::finish(std::uint64_t lease) {
  for (auto& node : nodes_) {
    if (!node.busy_rank || node.lease != lease) continue;
    node.busy_rank.reset();
    return true;
  }
  return false;
}

void NodeLeases::lose(std::size_t rank) {
  lost_[rank] = true;
  Node& node = nodes_[map_.node_of_rank[rank]];
  if (node.busy_rank == rank) node.busy_rank.reset();
  largest_memory_ = 0;
  for (std::uint32_t n = 0; n < nodes_.size(); ++n)
    if (has_live_ranks(n)) largest_memory_ = std::max(largest_memory_, nodes_[n].memory);
}

std::size_t NodeLeases::withdraw(double time_left) {
  return std::erase_if(waiting_, [&](const Waiting& waiting) { return duration_(waiting.point.cost) > time_left; });
}

std::size_t NodeLeases::leases_out() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(nodes_, [](const Node& node) { return node.busy_rank.has_value(); }));
}

}  // namespace tenex
