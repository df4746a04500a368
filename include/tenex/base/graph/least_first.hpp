// A heap whose least entry comes first: what waits for its turn, in a total order.
//
// A binary heap (Williams, "Algorithm 232: heapsort", Communications of the ACM 7, 1964). Entries that are neither less
// nor greater come in any order, so a caller whose result must not depend on that orders them all, by a number at last.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace tenex {

/// push() and pop() take O(log entries).
template <class Entry, class Less = std::less<>>
class LeastFirst {
 public:
  explicit LeastFirst(Less less = {}) : less_(std::move(less)) {}

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  /// The least entry. There must be one.
  [[nodiscard]] const Entry& top() const { return entries_.front(); }
  void clear() { entries_.clear(); }
  void push(Entry entry) {
    entries_.push_back(std::move(entry));
    std::push_heap(entries_.begin(), entries_.end(), later());
  }
  /// Takes the least entry. There must be one.
  Entry pop() {
    std::pop_heap(entries_.begin(), entries_.end(), later());
    Entry least = std::move(entries_.back());
    entries_.pop_back();
    return least;
  }

 private:
  [[nodiscard]] auto later() const {
    return [this](const Entry& a, const Entry& b) { return less_(b, a); };
  }

  [[no_unique_address]] Less less_;
  std::vector<Entry> entries_;
};

}  // namespace tenex
