// Queues by key, first in first out: what waits at vertices for chunks. There are millions of keys, each with one value
// or two for a short time, so a key has no memory of its own: the ends of queues stand in an open-addressed table, and
// values in one pool.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace tenex::verifier {

template <class Value>
class KeyedQueues {
 public:
  /// O(1) amortized.
  void push(std::uint64_t key, Value value) {
    if (2 * (keys_ + 1) > slots_.size()) grow();
    const std::uint32_t node = make(std::move(value));
    Slot& slot = slots_[slot_of(key)];
    if (slot.first == kNone) {
      slot = {key, node, node};
      ++keys_;
    } else {
      nodes_[slot.last].next = node;
      slot.last = node;
    }
    ++size_;
  }
  /// The last value of a queue; nullptr where it is empty. O(1).
  [[nodiscard]] Value* back(std::uint64_t key) {
    const Slot* const slot = find(key);
    return slot == nullptr ? nullptr : &nodes_[slot->last].value;
  }
  [[nodiscard]] bool contains(std::uint64_t key) const { return find(key) != nullptr; }

  /// Takes the first value of a queue. O(1).
  std::optional<Value> pop(std::uint64_t key) {
    return take(key, [](const Value&) { return true; });
  }
  /// Takes the first value of a queue for which `wanted(value)` holds. O(values before it).
  template <class Wanted>
  std::optional<Value> take(std::uint64_t key, const Wanted& wanted) {
    const Slot* const found = find(key);
    if (found == nullptr) return std::nullopt;
    const auto at = static_cast<std::size_t>(found - slots_.data());
    std::uint32_t before = kNone;
    for (std::uint32_t node = found->first; node != kNone; before = node, node = nodes_[node].next) {
      if (!wanted(nodes_[node].value)) continue;
      const std::uint32_t next = nodes_[node].next;
      if (before != kNone) nodes_[before].next = next;
      Slot& slot = slots_[at];
      if (slot.first == node) slot.first = next;
      if (slot.last == node) slot.last = before;
      std::optional<Value> value(std::move(nodes_[node].value));
      release(node);
      if (slot.first == kNone) erase_slot(at);
      return value;
    }
    return std::nullopt;
  }
  /// Drops a queue. O(its values).
  void clear(std::uint64_t key) {
    const Slot* const found = find(key);
    if (found == nullptr) return;
    const auto at = static_cast<std::size_t>(found - slots_.data());
    for (std::uint32_t node = slots_[at].first; node != kNone;) node = release(node);
    erase_slot(at);
  }

  /// Values in all queues. O(1).
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Calls visit(key, values) for each queue, in no order, with the values in theirs.
  template <class Visit>
  void for_each(const Visit& visit) const {
    std::vector<const Value*> values;
    for (const Slot& slot : slots_) {
      if (slot.first == kNone) continue;
      values.clear();
      for (std::uint32_t node = slot.first; node != kNone; node = nodes_[node].next)
        values.push_back(&nodes_[node].value);
      visit(slot.key, values);
    }
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t first = kNone;  ///< kNone: the slot is free
    std::uint32_t last = kNone;
  };
  struct Node {
    Value value;
    std::uint32_t next = kNone;
  };

  /// Neighbouring keys (vertex, chunk) are spread by a multiplication (Knuth, The Art of Computer Programming 3, 6.4).
  [[nodiscard]] std::size_t home_of(std::uint64_t key) const {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> shift_);
  }
  /// The slot of a key, or the free one where it would stand. There is a free one.
  [[nodiscard]] std::size_t slot_of(std::uint64_t key) const {
    std::size_t at = home_of(key);
    while (slots_[at].first != kNone && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  [[nodiscard]] const Slot* find(std::uint64_t key) const {
    if (keys_ == 0) return nullptr;
    const Slot& slot = slots_[slot_of(key)];
    return slot.first == kNone ? nullptr : &slot;
  }

  void grow() {
    const auto old = std::exchange(slots_, std::vector<Slot>(slots_.empty() ? 16 : 2 * slots_.size()));
    shift_ = 64U - static_cast<unsigned>(std::countr_zero(slots_.size()));
    for (const Slot& slot : old)
      if (slot.first != kNone) slots_[slot_of(slot.key)] = slot;
  }
  /// Frees a slot, and moves those behind it that would not be found any more.
  void erase_slot(std::size_t at) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t next = (at + 1) & mask; slots_[next].first != kNone; next = (next + 1) & mask) {
      if (((next - home_of(slots_[next].key)) & mask) < ((next - at) & mask)) continue;
      slots_[at] = slots_[next];
      at = next;
    }
    slots_[at] = {};
    --keys_;
  }

  std::uint32_t make(Value value) {
    if (free_ == kNone) {
      nodes_.push_back({std::move(value)});
      return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    const std::uint32_t node = free_;
    free_ = nodes_[node].next;
    nodes_[node] = {std::move(value)};
    return node;
  }
  /// Frees a node. Returns the next one of its queue.
  std::uint32_t release(std::uint32_t node) {
    --size_;
    return std::exchange(nodes_[node].next, std::exchange(free_, node));
  }

  std::vector<Slot> slots_;
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
  unsigned shift_ = 64;
  std::size_t keys_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace tenex::verifier
