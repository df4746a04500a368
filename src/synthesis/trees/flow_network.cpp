#include "synthesis/trees/flow_network.hpp"

#include <algorithm>
#include <bit>

namespace tenex {

std::uint32_t DenseFlowNetwork::add_node() {
  if (nodes_ == side_) make_room(2 * nodes_);
  edges_before_.push_back(edges_.size());
  return static_cast<std::uint32_t>(nodes_++);
}

void DenseFlowNetwork::remove_last_node() {
  for (const std::size_t before = edges_before_.back(); edges_.size() > before; edges_.pop_back())
    set_capacity(static_cast<std::uint32_t>(edges_.size() - 1), 0);
  edges_before_.pop_back();
  --nodes_;
}

std::uint32_t DenseFlowNetwork::add_edge(std::uint32_t from, std::uint32_t to, std::int64_t capacity) {
  edges_.push_back({from, to, 0});
  const auto number = static_cast<std::uint32_t>(edges_.size() - 1);
  set_capacity(number, capacity);
  return number;
}

void DenseFlowNetwork::set_capacity(std::uint32_t edge, std::int64_t capacity) {
  auto& [from, to, own] = edges_[edge];
  auto& room = room_[pair(from, to)];
  room += capacity - own;
  own = capacity;
  change(from, to, room);
}

void DenseFlowNetwork::make_room(std::size_t nodes) {
  side_ = std::max<std::size_t>(nodes, 2);
  words_ = (side_ + 63) / 64;
  room_.assign(side_ * side_, 0);
  left_.assign(side_ * side_, 0);
  open_.assign(side_ * words_, 0);
  layers_.assign((side_ + 1) * words_, 0);
  unseen_.assign(words_, 0);
  for (const Edge& edge : edges_) room_[pair(edge.from, edge.to)] += edge.capacity;
  for (const Edge& edge : edges_) change(edge.from, edge.to, room_[pair(edge.from, edge.to)]);
}

void DenseFlowNetwork::change(std::uint32_t from, std::uint32_t to, std::int64_t left) {
  left_[pair(from, to)] = left;
  auto& word = open_from(from)[to / 64];
  const auto bit = std::uint64_t{1} << (to % 64);
  word = left > 0 ? word | bit : word & ~bit;
}

std::int64_t DenseFlowNetwork::flow(std::uint32_t source, std::uint32_t sink, std::int64_t enough) {
  std::int64_t found = 0;
  while (found < enough && find_layers(source, sink)) found += push(source, 0, sink, enough - found);
  for (const std::uint64_t touched : touched_) {
    const auto from = static_cast<std::uint32_t>(touched >> 32U);
    const auto to = static_cast<std::uint32_t>(touched);
    change(from, to, room_[pair(from, to)]);
  }
  touched_.clear();
  return found;
}

bool DenseFlowNetwork::find_layers(std::uint32_t source, std::uint32_t sink) {
  std::fill(unseen_.begin(), unseen_.end(), ~std::uint64_t{0});
  std::fill_n(layer(0), words_, 0);
  layer(0)[source / 64] = std::uint64_t{1} << (source % 64);
  for (std::size_t depth = 0;; ++depth) {
    std::uint64_t* const here = layer(depth);
    std::uint64_t* const next = layer(depth + 1);
    for (std::size_t w = 0; w < words_; ++w) unseen_[w] &= ~here[w];
    std::fill_n(next, words_, 0);
    for (std::size_t w = 0; w < words_; ++w)
      for (std::uint64_t rest = here[w]; rest != 0; rest &= rest - 1) {
        const auto node = static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
        const std::uint64_t* const open = open_from(node);
        for (std::size_t x = 0; x < words_; ++x) next[x] |= open[x];
      }
    std::uint64_t any = 0;
    for (std::size_t w = 0; w < words_; ++w) any |= next[w] &= unseen_[w];
    const auto bit = std::uint64_t{1} << (sink % 64);
    if ((next[sink / 64] & bit) != 0) {
      std::fill_n(next, words_, 0);
      next[sink / 64] = bit;
      return true;
    }
    if (any == 0) return false;
  }
}

/// A node from which less can be pushed than was asked leaves its layer.
std::int64_t DenseFlowNetwork::push(std::uint32_t node, std::size_t depth, std::uint32_t sink, std::int64_t amount) {
  if (node == sink) return amount;
  std::int64_t pushed = 0;
  std::uint64_t* const next = layer(depth + 1);
  for (std::size_t w = 0; w < words_; ++w)
    for (std::uint64_t rest = open_from(node)[w] & next[w]; rest != 0; rest &= rest - 1) {
      const auto to = static_cast<std::uint32_t>(w * 64 + static_cast<std::size_t>(std::countr_zero(rest)));
      const std::int64_t asked = std::min(amount - pushed, left_[pair(node, to)]);
      const std::int64_t more = push(to, depth + 1, sink, asked);
      if (more < asked) next[w] &= ~(rest & -rest);
      if (more == 0) continue;
      change(node, to, left_[pair(node, to)] - more);
      change(to, node, left_[pair(to, node)] + more);
      touched_.push_back(std::uint64_t{node} << 32U | to);
      touched_.push_back(std::uint64_t{to} << 32U | node);
      pushed += more;
      if (pushed == amount) return pushed;
    }
  return pushed;
}

}  // namespace tenex
