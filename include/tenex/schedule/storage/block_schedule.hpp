// The block-expanded storage: whole blocks of chunks sent back to back, kept as one entry and expanded when read.
//
// Idea: links of equal alpha and beta send in rows of one period. A block is a list of chunks in a fixed order; a run
// puts `count` consecutive chunks of a block on a link in consecutive rows. Most runs are whole blocks: 6 bytes each,
// whatever the block's size. Parts of blocks are runs of 12 bytes, and the sends inside blocks before blocks travel
// (ramps) are kept once for all blocks that look alike. Readers see single sends: segments() and read() yield them in
// order of (start, link), tiles() and read_link() link by link.
//
// Encoding: NPU by NPU, because an NPU receives every block but its own once. Each NPU has a row of `stride` entries.
// Entry 0 is its own block, which is never sent to it. The blocks that it receives follow in order of their start; the
// row of the start and the port (which in-link) are packed into 32 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/storage/raw_array.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Part of a block (or a single chunk) on a link: chunk `first + i` of the table of chunks leaves in row `start + i`.
struct BlockRun {
  std::uint32_t start = 0;  ///< row
  std::uint32_t first = 0;  ///< position in BlockSchedule::chunks
  std::uint16_t port = 0;   ///< which in-link of the NPU, in the order of Topology::in_links
  std::uint16_t count = 0;
  bool operator==(const BlockRun&) const = default;
};

/// One send of a ramp: the sends inside a block before blocks travel, shared by all blocks that look alike.
struct RampSend {
  std::uint32_t start = 0;  ///< row
  std::uint32_t place = 0;  ///< position of the chunk in the order of the NPU's own block
  std::uint32_t inner = 0;  ///< which of the NPU's in-links from its own block
};

/// Plain data of a block-expanded schedule of copies. The vertices are NPUs 0 .. npus-1; links into anything else are
/// idle.
struct BlockSchedule {
  SimTime period;                          ///< period of a row: how long one chunk keeps a link busy
  std::vector<ChunkId> chunks;             ///< block by block, in the order in which a block's chunks are sent
  std::vector<std::uint32_t> block_begin;  ///< position in `chunks` of each block's first chunk, then the end
  std::uint32_t stride = 0;                ///< entries per NPU: the number of blocks
  std::uint32_t port_bits = 0;             ///< low bits of `when` that hold the port
  RawArray<std::uint16_t> block;           ///< npus * stride
  RawArray<std::uint32_t> when;            ///< npus * stride: row << port_bits | port
  std::vector<std::uint16_t> entries;      ///< entries used by each NPU, its own block included
  std::vector<RampSend> ramps;             ///< ramps of all kinds of blocks, by position in the block, in order of
                                           ///< start
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ramp_of;  ///< per NPU: its range in `ramps`; empty: no ramps
  std::vector<std::uint16_t>
      inner_port;              ///< port of the NPU's i-th inner link, at the NPU's first link + i; as `ramp_of`
  std::vector<BlockRun> runs;  ///< parts of blocks, NPU by NPU, in order of start
  std::vector<std::uint64_t> runs_begin;  ///< per NPU, and the end: its first in `runs`
};

/// Makes a schedule of `data` for `topology` (whose in-links give the ports). No two runs of a link may overlap in
/// time; the caller guarantees it and the verifier checks it. Expects: a period, and tables as long as `npus` and
/// `stride` say. `threads` build the index that gives access to any row.
/// O(entries) time; the index takes 2 bytes per NPU and 256 rows.
[[nodiscard]] Schedule make_block_schedule(const Topology& topology, BlockSchedule data, int threads = 1);

/// Returns true if make_block_schedule() made `schedule` for these in-links: of a topology, or of its reverse.
/// O(links).
[[nodiscard]] bool has_block_ports(const Schedule& schedule, const Topology& topology);

}  // namespace tenex
