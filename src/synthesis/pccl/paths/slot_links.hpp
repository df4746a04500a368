// The slots of links where all hops take equally long.
//
// Encoding: per link a bit per slot (set: taken) and a bit per word of 64 slots (set: all taken), so the next free slot
// is found by scanning words. The chunk in each slot stands in a row per link, which is as long as the link's last
// slot: the rows are the schedule, 4 bytes per slot.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "synthesis/pccl/paths/network.hpp"
#include "synthesis/pccl/paths/planned_hop.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

// A schedule whose sends start at slots, stored link by link: 4 bytes per slot.

/// What stands in a row where a link is free.
inline constexpr std::uint32_t kEmptySlot = std::numeric_limits<std::uint32_t>::max();

/// Makes a schedule of `rows`: rows[link][i] is the chunk that the link begins to send at i * slot, or kEmptySlot. All
/// sends copy. Segments are ranges of slots, 16 or more. Rows that are mostly empty become a list instead. O(slots).
[[nodiscard]] Schedule make_slot_schedule(std::vector<std::vector<std::uint32_t>> rows, SimTime slot);

class SlotLinks {
 public:
  using Time = std::uint32_t;            ///< slots
  using Cell = std::uint16_t;            ///< distances: hops
  using Key = std::uint64_t;             ///< of open vertices: a time, a distance and a vertex
  static constexpr unsigned kHalf = 16;  ///< bits of a Key for the distance, and for the vertex

  SlotLinks(const PathNetwork& network, const Collective& /*collective*/)
      : rows_(network.links()), taken_(network.links()), per_hop_(network.slots_per_hop()), slot_(network.slot()) {}

  [[nodiscard]] static Cell weight(std::uint32_t /*link*/, std::size_t /*size*/) { return 1; }
  [[nodiscard]] Time least(Cell distance) const { return distance * per_hop_; }
  [[nodiscard]] Time latency(std::uint32_t /*link*/, std::size_t /*size*/) const { return per_hop_; }
  [[nodiscard]] static Time busy(std::uint32_t /*link*/, std::size_t /*size*/) { return 1; }

  /// The first free slot at `time` or later. O(taken words / 64) at worst.
  [[nodiscard]] Time free_from(std::uint32_t link, Time time, std::size_t /*size*/) const {
    const Taken& taken = taken_[link];
    std::size_t word = time / 64;
    if (word >= taken.words.size()) return time;
    const std::uint64_t here = ~taken.words[word] >> (time % 64);
    if (here != 0) return time + static_cast<Time>(std::countr_zero(here));
    word = taken.next_open(word + 1);
    if (word >= taken.words.size()) return static_cast<Time>(64 * word);
    return static_cast<Time>(64 * word) + static_cast<Time>(std::countr_zero(~taken.words[word]));
  }

  // What limited buffers and wires need (as in GapLinks): there are no slots where they are.
  [[nodiscard]] static std::size_t shares(std::uint32_t /*signal*/, std::uint32_t /*link*/, Time /*start*/,
                                          std::size_t /*size*/) {
    return 0;
  }
  [[nodiscard]] static Time free_until(std::uint32_t /*link*/, Time time, std::size_t /*size*/) { return time; }
  void start_at_multiples_of(Time /*quantum*/) {}
  void close_gaps() {}
  void begin_trial() {}
  void undo_trial() {}

  void take(std::uint32_t link, Time start, std::size_t /*size*/, std::uint32_t chunk, std::size_t /*shared*/ = 0) {
    taken_[link].set(start);
    auto& row = rows_[link];
    if (start >= row.size()) {
      if (start >= row.capacity()) row.reserve(start + start / 2 + 16);
      row.resize(start + std::size_t{1}, kEmptySlot);
    }
    row[start] = chunk;
  }
  /// Takes out all sends of the chunks whose bit is set. O(slots).
  void drop(const Bitset& chunks);
  /// All sends, sorted by (start, link). O(slots).
  [[nodiscard]] std::vector<PlannedHop<Time>> hops() const;
  /// Replaces all sends. O(links + sends).
  void assign(const std::vector<PlannedHop<Time>>& hops);

  [[nodiscard]] std::uint64_t sends() const {
    std::uint64_t total = 0;
    for (const Taken& taken : taken_) total += taken.count;
    return total;
  }
  /// How many sends the link has.
  [[nodiscard]] std::uint32_t load(std::uint32_t link) const { return taken_[link].count; }

  /// The slots until the last arrival. O(links + slots at the end that are free).
  [[nodiscard]] Time end() const;
  [[nodiscard]] SimTime time_of(Time time) const { return static_cast<std::int64_t>(time) * slot_; }
  /// The sends as a schedule: the rows themselves, or a list where that is smaller. Leaves the links unusable.
  [[nodiscard]] Schedule finish() &&;

 private:
  struct Taken {
    std::vector<std::uint64_t> words;  ///< what lies beyond is free
    std::vector<std::uint64_t> full;   ///< a bit per word
    std::uint32_t count = 0;           ///< bits that are set

    /// The first word from `word` on that is not full. O(words / 64).
    [[nodiscard]] std::size_t next_open(std::size_t word) const {
      std::size_t block = word / 64;
      if (block >= full.size()) return word;
      std::uint64_t open = ~full[block] >> (word % 64);
      if (open != 0) return word + static_cast<std::size_t>(std::countr_zero(open));
      while (++block < full.size())
        if (~full[block] != 0) return 64 * block + static_cast<std::size_t>(std::countr_zero(~full[block]));
      return 64 * block;
    }
    void set(Time slot) {
      const std::size_t word = slot / 64;
      if (word >= words.size()) {
        words.resize(word + 1, 0);
        full.resize(word / 64 + 1, 0);
      }
      words[word] |= std::uint64_t{1} << (slot % 64);
      ++count;
      if (~words[word] == 0) full[word / 64] |= std::uint64_t{1} << (word % 64);
    }
    void reset(Time slot) {
      const std::size_t word = slot / 64;
      --count;
      words[word] &= ~(std::uint64_t{1} << (slot % 64));
      full[word / 64] &= ~(std::uint64_t{1} << (word % 64));
    }
  };

  std::vector<std::vector<std::uint32_t>> rows_;  ///< per link
  std::vector<Taken> taken_;
  Time per_hop_;
  SimTime slot_;
};

}  // namespace tenex
