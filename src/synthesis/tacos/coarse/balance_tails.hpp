// Balances tails: the last block into an NPU is split over its in-links, so that none is idle while another still
// sends.
//
// Idea: if an NPU's in-links end at different rows, the end of the stream that finishes last moves to the in-link that
// finishes first and whose source holds these chunks. Every chunk then arrives no later than before, so NPUs that
// forward it are not delayed, and NPUs can be balanced one by one: the latest first, until no other can end later than
// those done.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "synthesis/tacos/coarse/streams.hpp"
#include "tenex/schedule/storage/block_schedule.hpp"

namespace tenex {

/// A part of a block that an NPU receives in place of a stream removed from `streams`. BlockRun::first counts from the
/// first chunk of the block `block` here.
struct TailPart {
  std::uint32_t npu = 0;
  std::uint16_t block = 0;
  BlockRun run;
};

/// The first row after the last stream into the NPU. O(ports), about.
[[nodiscard]] std::uint32_t end_of_streams(const StreamProblem& problem, const Streams& streams, std::uint32_t npu);

/// Shortens `streams` and returns the parts that replace the removed streams, sorted by (npu, start). O(npus log npus +
/// parts).
[[nodiscard]] std::vector<TailPart> balance_tails(const StreamProblem& problem, Streams& streams);

}  // namespace tenex
