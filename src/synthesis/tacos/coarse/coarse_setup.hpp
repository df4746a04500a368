// The coarse engine's decisions before it streams: blocks, their gathers, and the rows in which links are free.
#pragma once

#include <cstdint>
#include <vector>

#include "synthesis/tacos/coarse/block_gather.hpp"
#include "synthesis/tacos/coarse/partition.hpp"
#include "synthesis/tacos/coarse/streams.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

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
