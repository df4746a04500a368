// The exact All-Gather inside a block: the ramp after which every NPU of the block can send all of the block's chunks.
//
// Idea: step by step, every idle link takes the first chunk, in the order of arrival at its source, that its target
// neither has nor is receiving: first in, first out, as in the exact engine, on graphs of some dozen NPUs. Blocks that
// look alike share one result. The block's chunks then get one order, early arrivals first, and each NPU a first row
// from which it can send them back to back in that order without waiting for any of them.
#pragma once

#include <cstdint>
#include <vector>

#include "tenex/schedule/storage/block_schedule.hpp"

namespace tenex {

/// A block for its gather: NPUs by their position in the block, links inside the block in order of their target.
struct BlockShape {
  std::uint32_t npus = 0;
  std::uint32_t chunks_per_npu = 1;
  std::vector<std::uint32_t> link_begin;  ///< per NPU, and the end
  std::vector<std::uint32_t> source;      ///< per link
  bool operator==(const BlockShape&) const = default;
};

struct BlockGather {
  std::vector<std::uint32_t> order;       ///< position -> chunk (NPU * chunks_per_npu + k)
  std::vector<RampSend> sends;            ///< by target, in order of start
  std::vector<std::uint32_t> send_begin;  ///< per NPU, and the end
  std::vector<std::uint32_t> stream_row;  ///< per NPU: the first row from which it can send the block
  std::vector<std::uint32_t> free_row;    ///< per link: the first row after its last send
};

/// `hop_rows`: a chunk sent in row t can be forwarded in row t + hop_rows. The shape must be strongly connected. O(rows
/// * links + deliveries).
[[nodiscard]] BlockGather gather_in_block(const BlockShape& shape, std::uint32_t hop_rows);

}  // namespace tenex
