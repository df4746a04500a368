#include "synthesis/trees/flow_network.hpp"

#include <algorithm>

namespace tenex {

std::uint32_t FlowNetwork::add_node() {
  out_.emplace_back();
  level_.push_back(0);
  next_.push_back(0);
  return static_cast<std::uint32_t>(out_.size() - 1);
}

std::uint32_t FlowNetwork::add_edge(std::uint32_t from, std::uint32_t to, std::int64_t capacity) {
  const auto arc = static_cast<std::uint32_t>(target_.size());
  out_[from].push_back(arc);
  out_[to].push_back(arc + 1);
  target_.push_back(to);
  target_.push_back(from);
  capacity_.push_back(capacity);
  capacity_.push_back(0);
  return arc / 2;
}

std::int64_t FlowNetwork::flow(std::uint32_t source, std::uint32_t sink, std::int64_t enough) {
  left_ = capacity_;
  std::int64_t found = 0;
  while (found < enough && find_levels(source, sink)) {
    std::fill(next_.begin(), next_.end(), 0U);
    while (found < enough) {
      const std::int64_t more = push(source, sink, enough - found);
      if (more == 0) break;
      found += more;
    }
  }
  return found;
}

bool FlowNetwork::find_levels(std::uint32_t source, std::uint32_t sink) {
  std::fill(level_.begin(), level_.end(), 0U);
  queue_.assign(1, source);
  level_[source] = 1;
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const std::uint32_t node = queue_[head];
    if (node == sink) return true;
    for (const std::uint32_t arc : out_[node]) {
      if (left_[arc] == 0 || level_[target_[arc]] != 0) continue;
      level_[target_[arc]] = level_[node] + 1;
      queue_.push_back(target_[arc]);
    }
  }
  return false;
}

std::int64_t FlowNetwork::push(std::uint32_t node, std::uint32_t sink, std::int64_t amount) {
  if (node == sink) return amount;
  std::int64_t pushed = 0;
  for (auto& i = next_[node]; i < out_[node].size(); ++i) {
    const std::uint32_t arc = out_[node][i];
    if (left_[arc] == 0 || level_[target_[arc]] != level_[node] + 1) continue;
    const std::int64_t more = push(target_[arc], sink, std::min(amount - pushed, left_[arc]));
    left_[arc] -= more;
    left_[arc ^ 1U] += more;
    pushed += more;
    if (pushed == amount) return pushed;
  }
  return pushed;
}

}  // namespace tenex
