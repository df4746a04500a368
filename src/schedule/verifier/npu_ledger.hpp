// One NPU's ledger: when each chunk arrives there and when it leaves, and whether that obeys the rules.
//
// Both readers of links use it: the one of single sends with times in picoseconds, and the one of runs with rows. All
// deliveries are entered first, then all sends, in any order; finish() compares the two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tenex/base/csr.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/collective/collective.hpp"

namespace tenex::verifier {

/// Whether all ids are below `limit`. Compiles to vector instructions, because it has no branch and no comparison per
/// id (and copies none).
[[nodiscard]] inline bool all_below(std::span<const ChunkId> ids, std::uint32_t limit) {
  constexpr std::uint32_t kTop = 0x8000'0000U;
  if (limit >= kTop) return std::ranges::all_of(ids, [&](ChunkId id) { return id.value() < limit; });
  std::uint32_t small = kTop;  // its top bit survives while id - limit is negative and id is not
  for (const ChunkId& id : ids) small &= (id.value() - limit) & ~id.value();
  return small == kTop;
}

/// Counts over NPUs that obey every rule.
template <class Time>
struct LedgerTally {
  std::uint64_t sends = 0;  ///< over their in-links
  std::uint64_t waste = 0;  ///< copies that arrived there and were of no use
  std::uint64_t roots = 0;  ///< sums that became complete there
  Time last_useful = 0;     ///< last arrival of a sum or of a useful copy

  void add(const LedgerTally& other) {
    sends += other.sends;
    waste += other.waste;
    roots += other.roots;
    last_useful = std::max(last_useful, other.last_useful);
  }
};

/// The tables of one NPU at a time, by chunk (or by another numbering of all chunks). `Time` is a signed integer.
template <class Time>
class NpuLedger {
 public:
  static constexpr Time kNever = std::numeric_limits<Time>::max();
  static constexpr Time kNothing = -1;          ///< there is no part of a sum
  static constexpr Time kLatest = kNever >> 2;  ///< later times could overflow when added; all bits are ones

  /// `owned`: the chunks of each owner, out of `chunks`. O(chunks) memory: a time per table.
  NpuLedger(CollectiveKind kind, std::size_t chunks, const Csr<ChunkId>& owned)
      : owned_(owned), chunks_(chunks), sums_(reduces(kind)), copies_(!sums_ || kind == CollectiveKind::all_reduce) {
    if (sums_) {
      summed_.resize(chunks);
      sum_left_.resize(chunks);
    }
    if (copies_) {
      copied_.resize(chunks);
      forwarded_.resize(chunks);
      if (sums_) copy_left_.resize(chunks);
    }
  }

  [[nodiscard]] bool sums() const { return sums_; }      ///< the collective forms sums
  [[nodiscard]] bool copies() const { return copies_; }  ///< the collective hands out final values
  /// Whether the NPU may pass on what it does not need.
  [[nodiscard]] bool may_relay() const { return needed_ < chunks_; }
  [[nodiscard]] bool needs(std::size_t chunk) const { return chunk - needed_begin_ < needed_; }

  /// Nothing has arrived yet; a member has its own contributions. `needed` chunks from `first` on are those of the
  /// NPU's group.
  void begin(NpuId npu, std::size_t first, std::size_t needed) {
    npu_ = npu;
    needed_begin_ = first;
    needed_ = needed;
    std::ranges::fill(copied_, kNever);
    std::ranges::fill(copy_left_, kNever);
    std::ranges::fill(sum_left_, kNever);
    if (may_relay()) {
      std::ranges::fill(forwarded_, std::uint8_t{0});
      std::ranges::fill(summed_, kNothing);
    }
    if (sums_) std::fill_n(summed_.begin() + static_cast<std::ptrdiff_t>(needed_begin_), needed_, Time{0});
    if (!sums_)
      for (const ChunkId chunk : owned_.row(npu.index())) copied_[chunk.index()] = 0;
  }

  // The tables, for the loops of readers. A reader enters a chunk's deliveries by min into copied() and by max into
  // summed(), and its sends by min into copy_left(), or once into sum_left().
  [[nodiscard]] Time* copied() { return copied_.data(); }        ///< when the final value first arrives, or kNever
  [[nodiscard]] Time* copy_left() { return copy_left_.data(); }  ///< when it is first sent, beside sums, or kNever
  [[nodiscard]] Time* summed() { return summed_.data(); }        ///< when the last partial sum arrives, or kNothing
  [[nodiscard]] Time* sum_left() { return sum_left_.data(); }    ///< when the sum is sent, or kNever
  /// Whether the NPU forwarded the chunk as a copy without needing it.
  [[nodiscard]] std::uint8_t* forwarded() { return forwarded_.data(); }

  /// Checks the sums and the postconditions, and counts the useful deliveries. `copies_arrived` are those of `arrived`
  /// deliveries that were copies; `last_sum` is the last arrival of the others.
  [[nodiscard]] bool finish(std::uint64_t arrived, std::uint64_t copies_arrived, Time last_sum,
                            LedgerTally<Time>& tally) const {
    LedgerTally<Time> own;
    if (sums_ && !sums_obey(own.roots)) return false;
    if (sums_ && needed_ < summed_.size() && !relays_obey()) return false;
    std::uint64_t useful = 0;
    Time last = last_sum;
    if (copies_) {
      last = std::max(last, last_copy());
      if (last == kNever) return false;
      useful = needed_ - (sums_ ? own.roots : owned_.row(npu_.index()).size());
      if (needed_ < copied_.size())
        for (std::size_t c = 0; c < copied_.size(); ++c)
          if (forwarded_[c] != 0) {
            ++useful;
            last = std::max(last, copied_[c]);
          }
    }
    own.sends = arrived;
    own.waste = copies_arrived - useful;
    own.last_useful = last;
    tally.add(own);
    return true;
  }

 private:
  /// All ones if a sum that leaves at that time stays, otherwise zero.
  [[nodiscard]] static Time stays_bits(Time sum_left) { return sum_left == kNever ? Time{-1} : Time{0}; }

  /// The last arrival of a chunk's copy that the NPU needs. Where its own sum stays it needs none.
  [[nodiscard]] Time last_copy() const {
    Time last = 0;
    const Time* const copied = copied_.data() + needed_begin_;
    if (sums_) {
      const Time* const sum_left = sum_left_.data() + needed_begin_;
      for (std::size_t c = 0; c < needed_; ++c) {
        last = std::max(last, copied[c] & ~stays_bits(sum_left[c]));
      }
    } else {
      for (std::size_t c = 0; c < needed_; ++c) last = std::max(last, copied[c]);
    }
    return last;
  }

  /// Whether every sum of the NPU's own group leaves after its last part has arrived, or stays here, and copies of sums
  /// that stay start when they are complete. Counts the sums that stay.
  [[nodiscard]] bool sums_obey(std::uint64_t& roots) const {
    // Loops without conditional loads and jumps, which compilers turn into comparisons of several chunks at once. A
    // difference of times fits, and its sign says which is later.
    Time staying = 0;
    Time slack = 0;
    const Time* const summed = summed_.data() + needed_begin_;
    const Time* const sum_left = sum_left_.data() + needed_begin_;
    for (std::size_t c = 0; c < needed_; ++c) staying += sum_left[c] == kNever ? 1 : 0;
    for (std::size_t c = 0; c < needed_; ++c) slack |= sum_left[c] - summed[c];
    if (copies_) {
      const Time* const copied = copied_.data() + needed_begin_;
      const Time* const copy_left = copy_left_.data() + needed_begin_;
      for (std::size_t c = 0; c < needed_; ++c) {
        const Time stays = stays_bits(sum_left[c]);
        slack |= copy_left[c] - ((summed[c] & stays) | (copied[c] & ~stays));
      }
    }
    roots += static_cast<std::uint64_t>(staying);
    const bool obeys = slack >= 0;
    // In an All-Reduce a sum may become complete anywhere (in_tree.hpp), otherwise at its owner.
    if (copies_) return obeys;
    const auto owned = owned_.row(npu_.index());
    return obeys && roots == owned.size() &&
           std::ranges::all_of(owned, [&](ChunkId chunk) { return sum_left_[chunk.index()] == kNever; });
  }

  /// Whether what the NPU passes on for other groups leaves after it has arrived, and every sum does leave.
  [[nodiscard]] bool relays_obey() const {
    bool obeys = true;
    for (std::size_t c = 0; c < summed_.size(); ++c) {
      if (needs(c)) continue;
      const bool has_sum = summed_[c] != kNothing;
      obeys &= has_sum == (sum_left_[c] != kNever) && summed_[c] <= sum_left_[c];
      if (copies_) obeys &= copied_[c] <= copy_left_[c];
    }
    return obeys;
  }

  const Csr<ChunkId>& owned_;
  std::size_t chunks_;
  bool sums_;
  bool copies_;
  NpuId npu_ = NpuId::none();
  std::size_t needed_begin_ = 0;  ///< the chunks of the NPU's group
  std::size_t needed_ = 0;
  std::vector<Time> copied_;
  std::vector<Time> copy_left_;
  std::vector<Time> summed_;
  std::vector<Time> sum_left_;
  std::vector<std::uint8_t> forwarded_;
};

}  // namespace tenex::verifier
