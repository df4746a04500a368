// The sends of one link of a periodic schedule: the same trees in every period, with new chunks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/schedule/send.hpp"

namespace tenex {

/// Period q of a schedule starts chunk q * trees + t of each tree t, while there are chunks.
struct PeriodFrame {
  SimTime period;
  std::uint32_t trees = 1;
  std::uint64_t chunks = 1;

  /// Sets the chunk of a tree in a period. Returns false where there is none.
  [[nodiscard]] bool chunk_of(std::int64_t period_number, std::uint32_t tree, std::uint32_t& chunk) const {
    const auto number = static_cast<std::uint64_t>(period_number) * trees + tree;
    chunk = static_cast<std::uint32_t>(number);
    return period_number >= 0 && number < chunks;
  }
};

/// What a link carries at one time of every period.
struct LinkUse {
  SimTime residue;           ///< start modulo the period
  std::int64_t periods = 0;  ///< start divided by the period: how many periods after its own the tree passes here
  std::uint32_t tree = 0;
  Stage stage = Stage::copy;
};

/// Calls visit(start, chunk, stage) for a link's sends that start in [begin, end), in order of start. `uses` are sorted
/// by residue, all different; `begin` is not negative. O(uses per period touched).
template <class Visit>
void visit_link(std::span<const LinkUse> uses, const PeriodFrame& frame, SimTime begin, SimTime end, Visit&& visit) {
  for (std::int64_t row = begin / frame.period; frame.period * row < end; ++row) {
    const SimTime row_begin = frame.period * row;
    auto first = uses.begin();
    auto last = uses.end();
    if (row_begin < begin) first = std::ranges::lower_bound(uses, begin - row_begin, {}, &LinkUse::residue);
    if (row_begin + frame.period > end) last = std::ranges::lower_bound(uses, end - row_begin, {}, &LinkUse::residue);
    for (auto use = first; use < last; ++use) {
      std::uint32_t chunk = 0;
      if (frame.chunk_of(row - use->periods, use->tree, chunk)) visit(row_begin + use->residue, chunk, use->stage);
    }
  }
}

/// Fills `buffer.batch` with the link's sends that start in [begin, end), as visit_link() visits them.
void read_period_link(std::span<const LinkUse> uses, const PeriodFrame& frame, SimTime begin, SimTime end, LinkId link,
                      SendBuffer& buffer);

/// Fills `buffer.batch` with sends without messages, which must be in order of link; sorts them by start.
void show_sends(std::vector<Send>& sends, SendBuffer& buffer);

}  // namespace tenex
