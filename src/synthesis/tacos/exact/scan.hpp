// The inner loop of the exact engine: which chunks of a list does an NPU lack?
//
// Idea: the loop has no branches. Every entry is written, the count advances only past those that the NPU lacks, and
// the count is tested after every block of entries. Chunks that a block finds beyond the wanted number are given back.
// A test takes about nine instructions; the list is read in order, and the bits of an NPU stay in the first-level
// cache.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tenex {

/// The state of one port during a run.
template <class Slot>
struct Cursor {
  const Slot* list = nullptr;  ///< of the source
  std::uint32_t source = 0;
  std::uint32_t next = 0;      ///< the next entry to test
  std::uint32_t rotation = 0;  ///< the source's own chunk that comes first
  std::uint32_t own = 0;       ///< how many own chunks the source has
  std::uint32_t lane = 0;      ///< of the link
};

constexpr std::uint32_t kEntriesPerCount = 8;  ///< entries tested between two tests of the count

/// 1 where the bit is set.
inline std::size_t bit_of(const std::uint64_t* bits, std::size_t i) { return (bits[i / 64] >> (i % 64)) & 1U; }

/// Tests `entries` entries from `list` on, writes those whose bits are set in `lacks` to `found`, and returns their
/// number.
template <class Slot>
std::size_t pick(const Slot* __restrict list, std::size_t entries, const std::uint64_t* __restrict lacks,
                 Slot* __restrict found) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t chunk = list[i];
    found[count] = static_cast<Slot>(chunk);
    count += bit_of(lacks, chunk);
  }
  return count;
}

/// Appends entries of cursor.next .. limit whose bits are set in `lacks` to the `so_far` in `found`, until there are
/// `want`, and moves the cursor past them. Returns the count. `found` has room for want + kEntriesPerCount.
template <class Slot>
std::uint32_t scan(Cursor<Slot>& cursor, std::uint32_t limit, std::uint32_t want, const std::uint64_t* lacks,
                   Slot* found, std::uint32_t so_far = 0) {
  const Slot* const list = cursor.list;
  std::size_t count = so_far;
  std::size_t at = cursor.next;
  if (cursor.rotation != 0) {  // own chunks: each out-link begins at another one
    for (; count < want && at < cursor.own && at < limit; ++at) {
      const std::size_t turned = at + cursor.rotation;
      count += pick(list + (turned < cursor.own ? turned : turned - cursor.own), 1, lacks, found + count);
    }
    if (count < want && at >= cursor.own) cursor.rotation = 0;
  }
  if (cursor.rotation == 0 && count < want) {
    if (want == 1) {
      while (at < limit && bit_of(lacks, list[at]) == 0) ++at;
      if (at < limit) found[count++] = list[at++];
    } else {
      for (; count < want && at + kEntriesPerCount <= limit; at += kEntriesPerCount)
        count += pick(list + at, kEntriesPerCount, lacks, found + count);
      if (count < want && at < limit) {
        count += pick(list + at, limit - at, lacks, found + count);
        at = limit;
      }
      while (count > want) count -= bit_of(lacks, list[--at]);
    }
  }
  cursor.next = static_cast<std::uint32_t>(at);
  return static_cast<std::uint32_t>(count);
}

}  // namespace tenex
