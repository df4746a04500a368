// What each NPU holds of each chunk during a joint replay.
//
// Encoding: one 32-bit word per (NPU, chunk): whether the final value is held, whether the NPU sends a partial sum,
// whether somebody waits, and how many partial sums are still to come. Members of a chunk's group have their words in a
// table of chunks by ranks; relays, and all of an All-to-All (whose chunks visit few NPUs), in a hash map.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tenex/collective/collective.hpp"

namespace tenex {

/// The words of one communication.
class JointSlots {
 public:
  static constexpr std::uint32_t kHeld = 1U << 31;
  static constexpr std::uint32_t kSendsSum = 1U << 30;
  static constexpr std::uint32_t kAwaited = 1U << 29;
  static constexpr std::uint32_t kToCome = kAwaited - 1;  ///< a counter of partial sums

  explicit JointSlots(const Collective& collective) : collective_(collective) {
    std::size_t words = 0;
    for (std::size_t group = 0; group < collective.groups().size(); ++group) {
      base_.push_back(words);
      words += table_words(collective, GroupId::at(group));
    }
    words_.assign(words, 0);
  }

  /// Words in the table; All-to-All has none there.
  [[nodiscard]] static std::size_t table_words(const Collective& collective, GroupId group) {
    if (collective.kind() == CollectiveKind::all_to_all) return 0;
    return collective.chunks_in(group) * collective.groups()[group.index()].members.size();
  }

  /// The index of the word of (NPU, chunk), made where there is none yet, with what the NPU holds at first.
  [[nodiscard]] std::size_t index(NpuId npu, ChunkId chunk) {
    const auto group = collective_.group_of(chunk);
    if (collective_.kind() != CollectiveKind::all_to_all && collective_.group_of(npu) == group) {
      const auto local = chunk.index() - collective_.first_chunk(group).index();
      return base_[group.index()] + local * collective_.groups()[group.index()].members.size() +
             collective_.rank_of(npu);
    }
    const auto key = std::uint64_t{npu.value()} << 32 | chunk.value();
    const auto [found, fresh] = others_.try_emplace(key, words_.size());
    if (fresh) words_.push_back(0);
    return found->second;
  }
  [[nodiscard]] std::uint32_t& word(std::size_t index) { return words_[index]; }

 private:
  const Collective& collective_;
  std::vector<std::size_t> base_;  // per group
  std::vector<std::uint32_t> words_;
  std::unordered_map<std::uint64_t, std::size_t> others_;
};

}  // namespace tenex
