// The end of a plan in slots, and the plan as a schedule.
#include "synthesis/pccl/paths/slot_links.hpp"

#include <numeric>

namespace tenex {

void SlotLinks::drop(const Bitset& chunks) {
  for (std::uint32_t link = 0; link < rows_.size(); ++link) {
    auto& row = rows_[link];
    for (Time start = 0; start < row.size(); ++start) {
      if (row[start] == kEmptySlot || !chunks.test(row[start])) continue;
      row[start] = kEmptySlot;
      taken_[link].reset(start);
    }
    while (!row.empty() && row.back() == kEmptySlot) row.pop_back();
  }
}

std::vector<PlannedHop<SlotLinks::Time>> SlotLinks::hops() const {
  std::size_t slots = 0;
  for (const auto& row : rows_) slots = std::max(slots, row.size());
  std::vector<std::size_t> next(slots + 1, 0);  // a counting sort by slot
  const auto for_each = [&](auto&& visit) {
    for (std::uint32_t link = 0; link < rows_.size(); ++link)
      for (Time start = 0; start < rows_[link].size(); ++start)
        if (rows_[link][start] != kEmptySlot) visit(link, start, rows_[link][start]);
  };
  for_each([&](std::uint32_t, Time start, std::uint32_t) { ++next[start + 1]; });
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<PlannedHop<Time>> all(next.back());
  for_each([&](std::uint32_t link, Time start, std::uint32_t chunk) { all[next[start]++] = {start, link, chunk}; });
  return all;
}

void SlotLinks::assign(const std::vector<PlannedHop<Time>>& hops) {
  for (auto& row : rows_) row.clear();
  for (auto& taken : taken_) taken = {};
  for (const auto& hop : hops) take(hop.link, hop.start, 0, hop.chunk);
}

SlotLinks::Time SlotLinks::end() const {
  std::size_t slots = 0;
  for (const auto& row : rows_) slots = std::max(slots, row.size());
  return slots == 0 ? 0 : static_cast<Time>(slots) - 1 + per_hop_;
}

Schedule SlotLinks::finish() && {
  taken_ = {};
  return make_slot_schedule(std::move(rows_), slot_);
}

}  // namespace tenex
