#include "tenex/base/graph/max_flow.hpp"

#include <span>

#include "tenex/base/contract.hpp"

namespace tenex {

/// A flow from the source along the arcs, or from the sink against them.
template <bool backward>
class FlowNetwork::Network {
 public:
  static constexpr bool kOneGoal = true;

  Network(FlowNetwork& network, std::uint32_t goal) : network_(network), goal_(goal) {}

  [[nodiscard]] std::span<const std::uint32_t> ways(std::uint32_t node) const { return network_.arcs_of_[node]; }
  [[nodiscard]] std::uint32_t end(std::uint32_t arc) const { return network_.arcs_[arc].to; }
  [[nodiscard]] std::int64_t residual(std::uint32_t arc) const {
    return network_.arcs_[arc ^ std::uint32_t{backward}].left;
  }
  [[nodiscard]] std::int64_t takes(std::uint32_t node) const {
    return node == goal_ ? std::numeric_limits<std::int64_t>::max() : 0;
  }
  void push(std::uint32_t arc, std::int64_t amount) {
    auto& along = network_.arcs_[arc ^ std::uint32_t{backward}];
    if (along.left == along.capacity) network_.changed_.push_back(arc);
    along.left -= amount;
    network_.arcs_[arc ^ std::uint32_t{!backward}].left += amount;
  }
  void take(std::uint32_t /*node*/, std::int64_t /*amount*/) {}
  static bool visit(std::size_t /*ways*/) { return true; }

 private:
  FlowNetwork& network_;
  std::uint32_t goal_;
};

std::uint32_t FlowNetwork::add_node() {
  before_.push_back({edges_.size(), arcs_.size()});
  arcs_of_.emplace_back();
  return static_cast<std::uint32_t>(arcs_of_.size() - 1);
}

void FlowNetwork::remove_last_node() {
  const auto [edges, arcs] = before_.back();
  before_.pop_back();
  for (; edges_.size() > edges; edges_.pop_back()) set_capacity(static_cast<std::uint32_t>(edges_.size() - 1), 0);
  for (; arcs_.size() > arcs; arcs_.resize(arcs_.size() - 2)) {
    const std::uint32_t to = arcs_[arcs_.size() - 2].to;
    const std::uint32_t from = arcs_[arcs_.size() - 1].to;
    arcs_of_[from].pop_back();
    arcs_of_[to].pop_back();
    rising_arc_.erase(key(from, to));
  }
  arcs_of_.pop_back();
}

std::uint32_t FlowNetwork::add_edge(std::uint32_t from, std::uint32_t to, std::int64_t capacity) {
  TENEX_EXPECTS(from != to && from < nodes() && to < nodes(), "two nodes of the network");
  const bool falls = from > to;
  const auto fresh = static_cast<std::uint32_t>(arcs_.size());
  const auto [known, added] = rising_arc_.try_emplace(key(from, to), fresh ^ std::uint32_t{falls});
  if (added) {
    arcs_.push_back({0, 0, to});
    arcs_.push_back({0, 0, from});
    arcs_of_[from].push_back(fresh);
    arcs_of_[to].push_back(fresh + 1);
  }
  edges_.push_back({known->second ^ std::uint32_t{falls}, 0});
  const auto number = static_cast<std::uint32_t>(edges_.size() - 1);
  set_capacity(number, capacity);
  return number;
}

void FlowNetwork::take_back() {
  for (const std::uint32_t arc : changed_) {
    arcs_[arc].left = arcs_[arc].capacity;
    arcs_[arc ^ 1U].left = arcs_[arc ^ 1U].capacity;
  }
  changed_.clear();
}

std::int64_t FlowNetwork::flow(std::uint32_t source, std::uint32_t sink, std::int64_t enough) {
  Network<true> network(*this, source);
  std::int64_t found = 0;
  search_.begin(sink, nodes());
  while (found < enough && search_.find_levels(network)) found += search_.push(network, enough - found);
  take_back();
  return found;
}

bool FlowNetwork::find_cut(std::uint32_t source, std::uint32_t sink, std::uint64_t& work) {
  Network<false> network(*this, sink);
  search_.begin(source, nodes());
  bool ended = true;
  while (ended && search_.find_levels(network)) {
    work -= std::min<std::uint64_t>(work, arcs());
    ended = work > 0;
    if (ended) (void)search_.push(network, kAnyFlow);
  }
  take_back();
  return ended;
}

}  // namespace tenex
