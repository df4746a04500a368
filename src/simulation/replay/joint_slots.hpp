// What each NPU holds of each chunk during a joint replay.
//
// Encoding: one 32-bit word per (NPU, chunk): whether the final value is held, whether the NPU sends a partial sum, and
// how many partial sums are still to come. While links wait there, the word names the last of them that came, which
// keeps the word's contents meanwhile. Members of a chunk's group have their words in a table of chunks by ranks. Of an
// All-to-All, whose chunks visit few NPUs, the table has the words of destinations alone. All other words are in a hash
// table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "tenex/collective/collective.hpp"

namespace tenex {

/// Words under keys of 64 bits: open addressing with linear probing.
class WordMap {
 public:
  /// Bytes per word at most, while the table grows.
  static constexpr std::size_t kBytes = 48;

  /// The word of a key, zero where it is new. Valid until the next call.
  [[nodiscard]] std::uint32_t& operator[](std::uint64_t key) {
    if (4 * (size_ + 1) > 3 * keys_.size()) grow();
    const auto at = place_of(key);
    if (keys_[at] == kFree) {
      keys_[at] = key;
      ++size_;
    }
    return words_[at];
  }

 private:
  static constexpr std::uint64_t kFree = std::numeric_limits<std::uint64_t>::max();

  [[nodiscard]] std::size_t place_of(std::uint64_t key) const {
    const auto mask = keys_.size() - 1;
    auto at = (key * 0x9e3779b97f4a7c15U >> 20) & mask;
    while (keys_[at] != kFree && keys_[at] != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    WordMap larger;
    larger.keys_.assign(keys_.empty() ? 16 : 2 * keys_.size(), kFree);
    larger.words_.assign(larger.keys_.size(), 0);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i] == kFree) continue;
      const auto at = larger.place_of(keys_[i]);
      larger.keys_[at] = keys_[i];
      larger.words_[at] = words_[i];
    }
    larger.size_ = size_;
    *this = std::move(larger);
  }

  std::vector<std::uint64_t> keys_;
  std::vector<std::uint32_t> words_;
  std::size_t size_ = 0;
};

/// The words of one communication.
class JointSlots {
 public:
  static constexpr std::uint32_t kHeld = 1U << 31;
  static constexpr std::uint32_t kSendsSum = 1U << 30;
  static constexpr std::uint32_t kAwaited = 1U << 29;   ///< no more than a link is in the word
  static constexpr std::uint32_t kRest = kAwaited - 1;  ///< partial sums to come, or a link
  static constexpr std::size_t kMostLinks = kRest;

  explicit JointSlots(const Collective& collective)
      : collective_(collective), to_each_(collective.kind() == CollectiveKind::all_to_all) {
    std::size_t words = 0;
    for (std::size_t g = 0; g < collective.groups().size(); ++g) {
      const auto group = GroupId::at(g);
      tables_.push_back({collective.first_chunk(group).index(), collective.chunks_in(group),
                         to_each_ ? 1 : collective.groups()[g].members.size(), words});
      words += table_words(collective, group);
    }
    words_.assign(words, 0);
    if (reduces(collective.kind())) return;
    for (std::size_t c = 0; c < collective.chunks(); ++c)
      if (const auto chunk = ChunkId::at(c); !to_each_ || collective.destination(chunk) == collective.owner(chunk))
        word(collective.owner(chunk), chunk) = kHeld;
  }

  /// Words in the table.
  [[nodiscard]] static std::size_t table_words(const Collective& collective, GroupId group) {
    const auto members = collective.groups()[group.index()].members.size();
    return collective.chunks_in(group) * (collective.kind() == CollectiveKind::all_to_all ? 1 : members);
  }

  /// Whether the NPU holds the chunk from the beginning, although its word, if there is one, does not say so.
  [[nodiscard]] bool is_source(NpuId npu, ChunkId chunk) const { return to_each_ && collective_.owner(chunk) == npu; }

  /// The word of (NPU, chunk), made where there is none yet. Valid until the next call.
  [[nodiscard]] std::uint32_t& word(NpuId npu, ChunkId chunk) {
    if (const auto group = collective_.group_of(npu); group.exists()) {
      const auto& table = tables_[group.index()];
      const auto local = chunk.index() - table.first_chunk;  // wraps for chunks of groups before
      if (local < table.chunks) {
        if (!to_each_) return words_[table.base + local * table.columns + collective_.rank_of(npu)];
        if (collective_.destination(chunk) == npu) return words_[table.base + local];
      }
    }
    return others_[std::uint64_t{npu.value()} << 32 | chunk.value()];
  }

 private:
  struct Table {
    std::size_t first_chunk;
    std::size_t chunks;
    std::size_t columns;
    std::size_t base;
  };

  const Collective& collective_;
  bool to_each_;
  std::vector<Table> tables_;  // per group
  std::vector<std::uint32_t> words_;
  WordMap others_;
};

}  // namespace tenex
