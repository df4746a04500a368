// A table by row and NPU whose entries are rectangles: what holds for a range of rows and a range of NPUs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/given_routes.hpp"

namespace tenex {

/// Entries that do not overlap, by their number. Rows are cut where any entry begins or ends; between two cuts all rows
/// have the same entries, which are kept once. O(entries * cuts in their rows) memory: O(entries) where ranges of rows
/// are equal or apart.
class NpuRanges {
 public:
  struct Entry {
    std::uint32_t first_row = 0;
    std::uint32_t last_row = 0;
    NpuRange npus;
  };
  /// An entry that overlaps an earlier one.
  struct Overlap {
    std::uint32_t earlier = 0;
    std::uint32_t later = 0;
    std::uint32_t row = 0;
    std::uint32_t npu = 0;
  };
  /// What holds for the NPUs of a range in some rows.
  struct Item {
    NpuRange npus;
    std::uint32_t entry = 0;
  };
  /// Equal rows.
  struct Rows {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::span<const Item> items;  ///< in order of NPUs
  };

  NpuRanges() = default;
  explicit NpuRanges(std::span<const Entry> entries);

  /// Some overlaps, if there are any: at most one for each entry that comes later. An NPU in its own row counts for
  /// nothing. O(items).
  [[nodiscard]] std::vector<Overlap> overlaps() const;
  [[nodiscard]] bool empty() const { return items_.empty(); }
  /// The entry of a row and an NPU. Precondition: no overlaps. O(log entries).
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t row, NpuId npu) const;
  /// Equal rows; number i of groups().
  [[nodiscard]] std::size_t groups() const { return starts_.empty() ? 0 : starts_.size() - 1; }
  [[nodiscard]] Rows group(std::size_t i) const;

 private:
  std::vector<std::uint32_t> starts_;  // first rows of groups, then the end of the last
  std::vector<std::size_t> begin_;     // by group, then the end
  std::vector<Item> items_;
};

}  // namespace tenex
