// The coarse engine's decisions before it streams: blocks, their gathers, and the rows in which links are free.
#pragma once

#include <cstdint>
#include <vector>

#include "synthesis/tacos/coarse/partition.hpp"
#include "synthesis/tacos/coarse/streams.hpp"
#include "tenex/schedule/storage/block_schedule.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

// The exact All-Gather inside a block: the ramp after which every NPU of the block can send all of the block's chunks.
//
// Idea: step by step, every idle link takes the first chunk, in the order of arrival at its source, that its target
// neither has nor is receiving: first in, first out, as in the exact engine, on graphs of some dozen NPUs. Blocks that
// look alike share one result. The block's chunks then get one order, early arrivals first, and each NPU a first row
// from which it can send them back to back in that order without waiting for any of them.

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

// Blocks, and what streams are given.

/// Members of the largest process group.
[[nodiscard]] std::size_t largest_group(const Collective& collective);

/// The number of NPUs that a block should have: a small part of the rows that the NPU with the fewest in-links from its
/// group needs at least (a smaller part if all NPUs have as few, as on tori: there whole blocks cost a stream or two).
/// It stays not far above the square root of a group's NPUs, where the gathers inside blocks would begin to cost more
/// than the streams. O(npus).
[[nodiscard]] std::size_t block_size_for(const SynthesisProblem& problem);

struct CoarseSetup {
  BlockPartition partition;
  std::vector<BlockGather> gathers;                  ///< one per kind of block
  std::vector<std::uint32_t> gather_of;              ///< per block
  std::vector<std::vector<std::uint32_t>> slots_of;  ///< per block: its inner links' slots, by number in its BlockShape
  std::vector<std::uint32_t> place_in_block;         ///< per NPU: position among its block's members
  StreamProblem streams;
  std::vector<ChunkId> chunks;  ///< block by block, in the order of sending
  std::vector<std::uint32_t> block_begin;
};

/// `hop_rows` is the number of rows from a send's start until its chunk can be forwarded. Blocks have about
/// `block_size` NPUs. O(links + kinds of blocks * gather).
[[nodiscard]] CoarseSetup plan_coarse(const SynthesisProblem& problem, std::uint32_t hop_rows, std::size_t block_size);

}  // namespace tenex
