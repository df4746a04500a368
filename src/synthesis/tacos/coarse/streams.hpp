// The main loop of the coarse engine: every NPU gets every block of its group once, as a stream of its chunks back to
// back.
//
// Idea: a link that becomes free takes the first block, in the order of arrival at its source, that its target neither
// has nor is receiving. A block is forwarded chunk by chunk: its stream may leave `hop_rows` after it began to arrive
// (cut-through), so distance costs hops, not blocks. An event wheel holds links by the row in which they are free. A
// link with nothing to send sleeps until its source gets something that its target lacks. So time is spent per stream,
// never per row and link.
//
// Threads: NPUs are cut into regions of consecutive ids that depend on the topology alone. A region works through a
// round of rows by itself, inside its caches; it sees NPUs in other regions as they were when the round began.
// Rounds end at a barrier. So a stream that crosses regions waits for the next round (which costs latency, not
// throughput), and the result is the same for every number of threads.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/schedule/storage/raw_array.hpp"

namespace tenex {

/// The input of streaming. NPU v's in-links are slots [slot_begin[v], slot_begin[v+1]).
struct StreamProblem {
  std::vector<std::uint32_t> slot_begin;   ///< per NPU, and the end
  std::vector<std::uint32_t> source;       ///< per slot: the NPU it comes from
  std::vector<std::uint32_t> free_row;     ///< per slot: first row in which the link may be used
  std::vector<std::uint32_t> block_of;     ///< per NPU
  std::vector<std::uint32_t> group_of;     ///< per NPU; links between groups stay idle
  std::vector<std::uint32_t> group_begin;  ///< each group's first block, then the end; its blocks are consecutive
  std::vector<std::uint32_t> stream_row;   ///< per NPU: first row from which it can send its own block
  std::vector<std::uint32_t> length;       ///< per block: rows that its stream takes
  std::uint32_t hop_rows = 1;
  /// 1: first in, first out. More: one of the first so many that can be sent, drawn from (`salt`, link, row); NPUs with
  /// the fewest in-links get one that few NPUs around them hold (tight_npus.hpp). First in, first out delivers the same
  /// blocks to neighbours at the same time and starves corners.
  std::uint32_t choices = 1;
  std::uint64_t salt = 0;

  [[nodiscard]] bool joins_group(std::uint32_t source, std::uint32_t target) const {
    return group_of[source] == group_of[target];
  }
  [[nodiscard]] std::uint32_t blocks_for(std::uint32_t npu) const {
    return group_begin[group_of[npu] + 1] - group_begin[group_of[npu]];
  }
};

/// Each NPU has a row of up to `stride` blocks in order of their start, its own first; `when` is row << port_bits
/// port.
struct Streams {
  std::uint32_t stride = 0;
  std::uint32_t port_bits = 0;
  std::uint32_t longest = 1;  ///< rows of the longest stream
  RawArray<std::uint16_t> block;
  RawArray<std::uint32_t> when;
  std::vector<std::uint16_t> entries;  ///< per NPU: entries used (all of them, until tails are balanced)
};

/// Bits that a port number takes.
[[nodiscard]] std::uint32_t port_bits_of(const std::vector<std::uint32_t>& slot_begin);

/// Every NPU must reach every other of its group over the slots between NPUs of the group; at most 65,535 blocks. About
/// 25 ns per stream on one core.
[[nodiscard]] Streams make_streams(const StreamProblem& problem, int threads);

}  // namespace tenex
