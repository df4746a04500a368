// Breadth first where hops are alike, else Dijkstra.
#include "synthesis/pccl/paths/distances.hpp"

#include <algorithm>

namespace tenex {

template <class Cell>
void DistanceSearch<Cell>::fill(std::uint32_t vertex, std::size_t size_class, LinkDirection direction,
                                const Bitset* allowed, std::span<Cell> row) {
  std::fill(row.begin(), row.end(), kUnreached<Cell>);
  if (network_.equal_hops())
    breadth_first(vertex, direction, allowed, row);
  else
    dijkstra(vertex, size_class, direction, allowed, row);
}

template <class Cell>
void DistanceSearch<Cell>::breadth_first(std::uint32_t vertex, LinkDirection direction, const Bitset* allowed,
                                         std::span<Cell> row) {
  row[vertex] = 0;
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
  paths_.begin(row);
  paths_.reach(vertex, 0);
  while (const auto at = paths_.next())
    for (const PathHop& hop : hops(at->vertex, direction)) {
      if (allowed != nullptr && !allowed->test(hop.vertex)) continue;
      const std::uint64_t next = std::uint64_t{at->cost} + network_.weight(hop.link, size_class);
      paths_.reach(hop.vertex, static_cast<Cell>(std::min<std::uint64_t>(next, kUnreached<Cell>)));
    }
}

template class DistanceSearch<std::uint16_t>;
template class DistanceSearch<std::uint32_t>;

}  // namespace tenex
