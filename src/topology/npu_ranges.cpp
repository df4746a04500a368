// Rectangles by rows, cut where one begins or ends.
#include "topology/npu_ranges.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tenex {

NpuRanges::NpuRanges(std::span<const Entry> entries) {
  for (const Entry& entry : entries) {
    starts_.push_back(entry.first_row);
    starts_.push_back(entry.last_row + 1);
  }
  std::ranges::sort(starts_);
  starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
  const auto group_of = [&](std::uint32_t row) {
    return static_cast<std::size_t>(std::ranges::lower_bound(starts_, row) - starts_.begin());
  };
  begin_.assign(starts_.size(), 0);
  for (const Entry& entry : entries)
    for (auto g = group_of(entry.first_row); g < group_of(entry.last_row + 1); ++g) ++begin_[g + 1];
  for (std::size_t g = 1; g < begin_.size(); ++g) begin_[g] += begin_[g - 1];
  items_.resize(begin_.empty() ? 0 : begin_.back());
  auto next = begin_;
  for (std::uint32_t i = 0; i < entries.size(); ++i)
    for (auto g = group_of(entries[i].first_row); g < group_of(entries[i].last_row + 1); ++g)
      items_[next[g]++] = {entries[i].npus, i};
  for (std::size_t g = 0; g < groups(); ++g)
    std::ranges::stable_sort(std::span(items_).subspan(begin_[g], begin_[g + 1] - begin_[g]), {},
                             [](const Item& item) { return item.npus.first; });
}

NpuRanges::Rows NpuRanges::group(std::size_t i) const {
  return {starts_[i], starts_[i + 1] - 1, std::span(items_).subspan(begin_[i], begin_[i + 1] - begin_[i])};
}

std::vector<NpuRanges::Overlap> NpuRanges::overlaps() const {
  std::map<std::uint32_t, Overlap> found;  // by the later entry
  for (std::size_t g = 0; g < groups(); ++g) {
    const Rows rows = group(g);
    Item before;  // of those so far, the one that reaches farthest
    for (std::size_t i = 0; i < rows.items.size(); ++i) {
      const Item item = rows.items[i];
      const Item reaching = std::exchange(before, i == 0 || item.npus.last > before.npus.last ? item : before);
      const std::uint32_t last = std::min(reaching.npus.last, item.npus.last);
      if (i == 0 || item.npus.first > last) continue;
      Overlap overlap{std::min(reaching.entry, item.entry), std::max(reaching.entry, item.entry), rows.first,
                      item.npus.first};
      if (overlap.row == overlap.npu) {  // that NPU itself: take another one, or another row
        if (overlap.npu < last)
          ++overlap.npu;
        else if (rows.first < rows.last)
          ++overlap.row;
        else
          continue;
      }
      found.try_emplace(overlap.later, overlap);
    }
  }
  std::vector<Overlap> list;
  for (const auto& [later, overlap] : found) list.push_back(overlap);
  return list;
}

std::optional<std::uint32_t> NpuRanges::find(std::uint32_t row, NpuId npu) const {
  const auto group = std::ranges::upper_bound(starts_, row) - starts_.begin();
  if (group == 0 || static_cast<std::size_t>(group) == starts_.size()) return std::nullopt;
  const auto items = this->group(static_cast<std::size_t>(group) - 1).items;
  const auto after = std::ranges::upper_bound(items, npu.value(), {}, [](const Item& item) { return item.npus.first; });
  if (after == items.begin() || !std::prev(after)->npus.contains(vertex_of(npu))) return std::nullopt;
  return std::prev(after)->entry;
}

}  // namespace tenex
