// Internal to pages: the sends of a schedule in memory, and what each of them waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tenex/files/schedule_file.hpp"

namespace tenex {

inline constexpr std::uint32_t kNoSend = std::numeric_limits<std::uint32_t>::max();

/// Columns by send, in the order of (start, link). Times in ps.
struct ViewedSends {
  std::vector<double> start;
  std::vector<double> arrival;
  /// When what the send carries was where it starts: the last arrival that it needs (before its end where the switch
  /// passes it on early), or the end of a late NPU's delay.
  std::vector<double> ready;
  std::vector<std::uint32_t> link;
  std::vector<std::uint32_t> chunk;  ///< the first that it carries
  /// The send that ended last of those that it had to wait for: one whose arrival it needs, or the one before it on its
  /// link; kNoSend: none.
  std::vector<std::uint32_t> cause;
  std::vector<std::uint8_t> reduces;  ///< 1: it carries a partial sum
  // Where some sends carry several chunks: those of send i are payload_chunk[payload_first[i] .. payload_first[i + 1]).
  std::vector<std::uint32_t> payload_first;
  std::vector<std::uint32_t> payload_chunk;

  /// The critical chain: from the last arrival that somebody needs back over causes, in order of time.
  std::vector<std::uint32_t> chain;

  [[nodiscard]] std::size_t size() const { return start.size(); }
};

/// Reads the sends and finds what they waited for. O(sends log sends), some 100 bytes per send. Expects: a whole
/// schedule, or a part of one, whose missing sends count as having ended at once.
[[nodiscard]] ViewedSends read_sends(const ScheduleFile& file);

/// How long a send keeps its link busy: its arrival comes alpha, less an overhead, later under `serialization`.
[[nodiscard]] inline double busy_of(const ScheduleFile& file, double start, double arrival, LinkId link) {
  const bool all = file.occupancy == Occupancy::transfer;
  const LinkClass& own = file.topology.classes()[file.topology.class_of(link)];
  return arrival - start - (all ? 0 : static_cast<double>((own.alpha - own.overhead).count()));
}

}  // namespace tenex
