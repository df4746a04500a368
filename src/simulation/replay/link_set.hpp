// A set of links that is filled in any order and emptied in the order of links.
//
// Encoding: a bit per link, and a bit per word of these.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/base/ids.hpp"

namespace tenex {

class LinkSet {
 public:
  explicit LinkSet(std::size_t links) : words_(links / 64 + 1), filled_(links / 4096 + 1) {}

  /// O(1).
  void add(LinkId link) {
    const auto word = link.index() / 64;
    words_[word] |= std::uint64_t{1} << (link.index() % 64);
    filled_[word / 64] |= std::uint64_t{1} << (word % 64);
  }

  /// Calls visit(LinkId) in the order of links and empties the set; `visit` adds nothing. O(members + links / 4096).
  template <class Visit>
  void take_all(Visit&& visit) {
    for (std::size_t group = 0; group < filled_.size(); ++group)
      for (; filled_[group] != 0; filled_[group] &= filled_[group] - 1) {
        const auto word = group * 64 + static_cast<std::size_t>(std::countr_zero(filled_[group]));
        for (; words_[word] != 0; words_[word] &= words_[word] - 1)
          visit(LinkId::at(word * 64 + static_cast<std::size_t>(std::countr_zero(words_[word]))));
      }
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> filled_;
};

}  // namespace tenex
