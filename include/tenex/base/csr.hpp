// Compressed sparse rows: a list of items per row in two flat arrays.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace tenex {

/// Items grouped by row; row r is a contiguous span. O(rows + items) memory.
template <class Item>
class Csr {
 public:
  Csr() = default;

  /// Groups items 0 .. count-1 by `row_of(i)`, keeping their order inside a row (a stable counting sort);
  /// `item_of(i)` is what is stored. O(rows + count).
  template <class RowOf, class ItemOf>
  static Csr group(std::size_t rows, std::size_t count, RowOf&& row_of, ItemOf&& item_of) {
    Csr csr;
    csr.offsets_.assign(rows + 1, 0);
    for (std::size_t i = 0; i < count; ++i) ++csr.offsets_[static_cast<std::size_t>(row_of(i)) + 1];
    std::partial_sum(csr.offsets_.begin(), csr.offsets_.end(), csr.offsets_.begin());
    csr.items_.resize(count);
    auto cursor = csr.offsets_;
    for (std::size_t i = 0; i < count; ++i) csr.items_[cursor[static_cast<std::size_t>(row_of(i))]++] = item_of(i);
    return csr;
  }

  [[nodiscard]] std::size_t rows() const { return offsets_.empty() ? 0 : offsets_.size() - 1; }
  [[nodiscard]] std::size_t items() const { return items_.size(); }
  /// The items of all rows, row after row.
  [[nodiscard]] std::span<const Item> all() const { return items_; }
  [[nodiscard]] std::span<const Item> row(std::size_t r) const {
    return std::span(items_).subspan(offsets_[r], offsets_[r + 1] - offsets_[r]);
  }

 private:
  std::vector<std::size_t> offsets_;
  std::vector<Item> items_;
};

}  // namespace tenex
