// Internal to exchange: flows of TE-CCL's outputs.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "exchange/value_tree.hpp"
#include "tenex/exchange/foreign_schedule.hpp"

namespace tenex::exchange {

/// "Chunk c from s traveled over i->j with volume v in epoch k". Vertices are as the file numbers them.
struct TeCclFlow {
  std::int64_t chunk = 0;
  std::int64_t source = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t epoch = 0;
  std::int64_t volume = kWholeChunk;  ///< in millionths of a chunk, as the file rounds
  const TreeValue* text = nullptr;
};

/// Follows the flows of an All-to-All whose chunks are divided: adds the schedule's pieces and transfers, and what is
/// wrong with it. `number`: the NPU of each vertex; the schedule's NPUs and chunks per NPU are known, and the flows in
/// the order of their epochs. Errors (resource): more than a million transfers. O(flows * pieces of a chunk).
Status follow_volumes(const std::vector<TeCclFlow>& flows, const std::map<std::int64_t, std::uint32_t>& number,
                      Place output, ForeignSchedule& schedule);

}  // namespace tenex::exchange
