// The end of a plan in slots, and the plan as a schedule.
#include "synthesis/pccl/paths/slot_links.hpp"


namespace tenex {

std::vector<PlannedHop<SlotLinks::Time>> SlotLinks::drop(const Bitset& chunks) {
  std::vector<PlannedHop<Time>> dropped;
  for (std::uint32_t link = 0; link < rows_.size(); ++link) {
    auto& row = rows_[link];
    for (Time start = 0; start < row.size(); ++start) {
      if (row[start] == kEmptySlot || !chunks.test(row[start])) continue;
      dropped.push_back({start, link, row[start]});
      row[start] = kEmptySlot;
      taken_[link].reset(start);
    }
    while (!row.empty() && row.back() == kEmptySlot) row.pop_back();
  }
  sends_ -= dropped.size();
  return dropped;
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
