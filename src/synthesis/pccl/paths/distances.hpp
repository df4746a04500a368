// Shortest hop times, which order the conditions and guide the searches.
//
// Encoding: a row holds the least time from every vertex to one destination (or from one source to every vertex), in
// hops or in the network's unit. Rows to the destinations of all conditions are kept in a table, shared by all
// attempts, if they fit; otherwise a search makes the row that it needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "synthesis/pccl/paths/network.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/base/graph/shortest_paths.hpp"

namespace tenex {

/// The distance of a vertex that is not reached.
template <class Cell>
inline constexpr Cell kUnreached = std::numeric_limits<Cell>::max();

/// Which way a search follows links.
enum class LinkDirection : std::uint8_t { forward, backward };

/// Makes rows one at a time. Cell: std::uint16_t counts hops, std::uint32_t the network's unit.
template <class Cell>
class DistanceSearch {
 public:
  explicit DistanceSearch(const PathNetwork& network) : network_(network) {}

  /// The distances from `vertex` (or to it, if backward) for messages of a size class, over `allowed` vertices (null:
  /// all). O(links), with a factor log vertices where hops differ.
  void fill(std::uint32_t vertex, std::size_t size_class, LinkDirection direction, const Bitset* allowed,
            std::span<Cell> row);

 private:
  void breadth_first(std::uint32_t vertex, LinkDirection direction, const Bitset* allowed, std::span<Cell> row);
  void dijkstra(std::uint32_t vertex, std::size_t size_class, LinkDirection direction, const Bitset* allowed,
                std::span<Cell> row);
  [[nodiscard]] std::span<const PathHop> hops(std::uint32_t vertex, LinkDirection direction) const {
    return direction == LinkDirection::forward ? network_.out(vertex) : network_.in(vertex);
  }

  const PathNetwork& network_;
  std::vector<std::uint32_t> queue_;
  BestPaths<Cell> paths_;
};

/// The rows to many destinations.
template <class Cell>
class DistanceTable {
 public:
  /// A destination, the size class of the message, and the group that its paths must not leave (none: no matter).
  struct Key {
    std::uint32_t destination = 0;
    std::uint32_t size_class = 0;
    std::uint32_t group = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t mixed = (std::uint64_t{key.destination} << 32U) ^ (std::uint64_t{key.group} << 8U) ^ key.size_class;
      mixed *= 0x9E3779B97F4A7C15U;
      return mixed ^ (mixed >> 29U);
    }
  };

  explicit DistanceTable(std::size_t vertices) : vertices_(vertices) {}

  /// Adds a row; the caller fills it with row().
  void add(const Key& key) { index_.try_emplace(key, index_.size()); }
  [[nodiscard]] const std::unordered_map<Key, std::size_t, Hash>& index() const { return index_; }
  void allocate() { cells_.assign(index_.size() * vertices_, kUnreached<Cell>); }
  [[nodiscard]] bool empty() const { return cells_.empty(); }
  [[nodiscard]] std::span<Cell> row(std::size_t index) {
    return std::span(cells_).subspan(index * vertices_, vertices_);
  }
  [[nodiscard]] const Cell* find(const Key& key) const { return cells_.data() + index_.find(key)->second * vertices_; }

 private:
  std::size_t vertices_;
  std::unordered_map<Key, std::size_t, Hash> index_;
  std::vector<Cell> cells_;
};

extern template class DistanceSearch<std::uint16_t>;
extern template class DistanceSearch<std::uint32_t>;

}  // namespace tenex
