// Breadth first where hops are alike, else Dijkstra on a binary heap of (distance, vertex).
#include "synthesis/pccl/paths/distances.hpp"

#include <algorithm>
#include <functional>

namespace tenex {

template <class Cell>
void DistanceSearch<Cell>::fill(std::uint32_t vertex, std::size_t size_class, LinkDirection direction,
                                const Bitset* allowed, std::span<Cell> row) {
  std::fill(row.begin(), row.end(), kUnreached<Cell>);
  row[vertex] = 0;
  if (network_.equal_hops())
    breadth_first(vertex, direction, allowed, row);
  else
    dijkstra(vertex, size_class, direction, allowed, row);
}

template <class Cell>
void DistanceSearch<Cell>::breadth_first(std::uint32_t vertex, LinkDirection direction, const Bitset* allowed,
                                         std::span<Cell> row) {
  queue_.assign(1, vertex);
  for (std::size_t head = 0; head < queue_.size(); ++head) {
    const auto next = static_cast<Cell>(row[queue_[head]] + 1);
    for (const PathHop& hop : hops(queue_[head], direction)) {
      if (row[hop.vertex] != kUnreached<Cell> || (allowed != nullptr && !allowed->test(hop.vertex))) continue;
      row[hop.vertex] = next;
      queue_.push_back(hop.vertex);
    }
  }
}

template <class Cell>
void DistanceSearch<Cell>::dijkstra(std::uint32_t vertex, std::size_t size_class, LinkDirection direction,
                                    const Bitset* allowed, std::span<Cell> row) {
  heap_.assign(1, vertex);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const auto at = static_cast<std::uint32_t>(heap_.back());
    const std::uint64_t distance = heap_.back() >> 32U;
    heap_.pop_back();
    if (distance != row[at]) continue;
    for (const PathHop& hop : hops(at, direction)) {
      const std::uint64_t next = distance + network_.weight(hop.link, size_class);
      if (next >= row[hop.vertex] || (allowed != nullptr && !allowed->test(hop.vertex))) continue;
      row[hop.vertex] = static_cast<Cell>(next);
      heap_.push_back(next << 32U | hop.vertex);
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
    }
  }
}

template class DistanceSearch<std::uint16_t>;
template class DistanceSearch<std::uint32_t>;

}  // namespace tenex
