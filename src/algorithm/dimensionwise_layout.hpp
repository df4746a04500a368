// The data that a program computes before it runs dimension by dimension, and the names of its messages.
//
// Names. A message is named by its lowest chunk. In a Reduce-Scatter or All-Gather a part of stage s holds the chunks
// of the owners whose digits in the dimensions of stages 0 .. s are given and whose other digits are free: its name has
// zeroes there. In an All-to-All an NPU has, before stage s, the chunks whose sources agree with it in the dimensions
// still to come and whose destinations agree with it in the dimensions done. The part for another NPU has that NPU's
// digit in the dimension of stage s. The stage of a message follows from its ends: they differ in one dimension. A
// message of whole inputs has all chunks of its slice, or all that its source sums, and the name that a part would
// have.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "algorithm/dimensionwise.hpp"
#include "algorithm/divisor.hpp"
#include "algorithm/seats.hpp"

namespace tenex {

/// A dimension with constants for fast arithmetic.
struct DigitDimension {
  std::uint32_t size = 1;
  std::uint32_t stride = 1;  ///< product of the sizes before
  Divisor by_size;
  Divisor by_stride;
  bool ring = false;
  std::uint32_t longer = 0;  ///< hops of a part each way round a ring; slices take the longer way in turns
  std::uint32_t shorter = 0;
  std::uint32_t wrap = 0;             ///< from the last rank of a line to the first: (size - 1) * stride
  std::uint32_t first_held_word = 0;  ///< index of its first word among a record's words of held sums; ring only

  [[nodiscard]] std::uint32_t digit(std::uint32_t rank) const { return by_size.remainder(by_stride.quotient(rank)); }
  /// The rank one position on, or back, from a rank with the digit `mine`.
  [[nodiscard]] std::uint32_t neighbour(std::uint32_t rank, std::uint32_t mine, bool clockwise) const {
    if (clockwise) return mine + 1 == size ? rank - wrap : rank + stride;
    return mine == 0 ? rank + wrap : rank - stride;
  }
  /// Whether a message between neighbours went clockwise; in a ring of two it did.
  [[nodiscard]] bool clockwise(std::uint32_t from, std::uint32_t to) const {
    return to - from == stride || from - to == wrap;
  }
  /// The digit `offset` (<= size) positions on.
  [[nodiscard]] std::uint32_t on(std::uint32_t digit, std::uint32_t offset) const {
    const auto sum = digit + offset;
    return sum < size ? sum : sum - size;
  }
  [[nodiscard]] std::uint32_t hops(bool clockwise, std::uint32_t slice) const {
    return clockwise == (slice % 2 == 0) ? longer : shorter;
  }
};

constexpr std::size_t kMostDimensions = 32;
constexpr std::uint32_t kNoStage = ~std::uint32_t{0};

/// An order of dimensions. A stage's index counts the stages of sums first, then those of copies.
struct StageOrder {
  bool ascending = true;                                     ///< whether stage s of the way up is dimension s
  std::array<std::uint8_t, kMostDimensions> dimension_at{};  ///< by stage of the way up
  std::array<std::uint8_t, kMostDimensions> stage_of{};      ///< by dimension
  std::array<std::uint32_t, kMostDimensions> chunks{};       ///< in a message, by stage of the way up
  std::array<std::uint32_t, 2 * kMostDimensions> needed{};   ///< messages that complete a stage, by index
};

/// A GroupExchange with constants for fast arithmetic.
struct DimensionLayout {
  std::vector<DigitDimension> dimensions;
  std::vector<StageOrder> orders;
  Divisor by_orders;
  std::uint32_t members = 1;
  std::uint32_t count = 0;          ///< of dimensions
  std::uint32_t stages = 0;         ///< in all
  std::uint32_t reduce_stages = 0;  ///< the first of them
  std::uint32_t held_words = 0;
  /// With a window, by slice * stages + stage: the stage (with the same numbering) that must be complete at an NPU
  /// before this one begins there, and the stage that may begin when this one is complete; kNoStage for none. Empty
  /// without a window.
  std::vector<std::uint32_t> waits_for;
  std::vector<std::uint32_t> lets;
  /// By the bit width of a difference of ranks: the dimension in which the ranks differ, or the one before it.
  std::array<std::uint8_t, 33> dimension_of_width{};

  [[nodiscard]] const StageOrder& order_of(std::uint32_t slice) const {
    return orders.size() == 1 ? orders[0] : orders[by_orders.remainder(slice)];
  }
  /// The only dimension in which two ranks differ.
  [[nodiscard]] std::uint32_t dimension_between(std::uint32_t a, std::uint32_t b) const {
    const auto difference = a > b ? a - b : b - a;
    const std::uint32_t guess = dimension_of_width[static_cast<std::size_t>(std::bit_width(difference))];
    return guess + 1 < count && difference >= dimensions[guess + 1].stride ? guess + 1 : guess;
  }
  /// The stage of the way up that a stage is or reverses.
  [[nodiscard]] std::uint32_t way_up(std::uint32_t index) const {
    return index < reduce_stages || reduce_stages == stages ? index : stages - 1 - index;
  }
  /// The index of the stage of copies that reverses a stage of the way up.
  [[nodiscard]] std::uint32_t copy_index(std::uint32_t way_up) const { return stages - 1 - way_up; }
};

/// The layouts of all groups; equal layouts are stored once.
class DimensionLayouts {
 public:
  /// `window`: 0 for none.
  DimensionLayouts(const Collective& collective, const std::vector<GroupExchange>& of_groups, std::uint32_t window,
                   Contents contents);

  [[nodiscard]] const Seats& seats() const { return seats_; }
  [[nodiscard]] const DimensionLayout& of(GroupId group) const {
    return layouts_.size() == 1 ? layouts_[0] : layouts_[layout_of_[group.index()]];
  }
  [[nodiscard]] const std::vector<DimensionLayout>& all() const { return layouts_; }
  [[nodiscard]] bool exchanges_pairs() const { return seats_.kind() == CollectiveKind::all_to_all; }

  [[nodiscard]] bool sums_inputs() const { return contents_ == Contents::inputs; }
  /// Whether sums state their contributors.
  [[nodiscard]] bool states_contributors() const { return contents_ != Contents::parts; }
  /// Whether a stage of the way up sends all that an NPU sums to each of the others, and has no way down.
  [[nodiscard]] bool one_shot(const DimensionLayout& layout, std::uint32_t stage) const {
    return contents_ == Contents::inputs_across && stage + 1 == layout.count;
  }

  /// The contributors to a message of whole inputs, in increasing order: the ranks that agree with its source in the
  /// dimension of its stage and of those to come.
  void contributors_of(const Message& message, std::vector<std::uint32_t>& out) const;
  /// The chunks of a message, in increasing order.
  void chunks_of(const Message& message, std::vector<ChunkId>& out) const;
  /// Messages of the whole program. O(groups * dimensions).
  [[nodiscard]] std::uint64_t messages() const;
  /// The numbers of chunks that messages carry, in increasing order.
  [[nodiscard]] std::vector<std::uint32_t> message_sizes() const;

 private:
  [[nodiscard]] DimensionLayout lay_out(const GroupExchange& of_group) const;
  [[nodiscard]] StageOrder lay_out(const std::vector<std::uint32_t>& order, const DimensionLayout& layout) const;
  void take_turns(const GroupExchange& of_group, DimensionLayout& layout) const;

  Seats seats_;
  std::uint32_t window_;
  Contents contents_;
  std::vector<DimensionLayout> layouts_;
  std::vector<std::uint32_t> layout_of_;  ///< by group
};

}  // namespace tenex
