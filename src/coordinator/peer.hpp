// The state of another rank, as rank 0 knows it.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "coordinator/node_leases.hpp"
#include "coordinator/wire.hpp"

namespace tenex {

struct Peer {
  std::chrono::steady_clock::time_point last_word;
  bool lost = false;
  std::string host = "?";
  int threads = 1;
  RankReport report;
  std::chrono::steady_clock::time_point heard;  ///< time at which the report came
  std::uint64_t leases_sent = 0;
  bool asks = false;
  bool said_bye = false;
};

/// The most kills for lack of memory that a living rank of the node has reported; `own` is rank 0's count.
[[nodiscard]] inline std::uint64_t memory_kills_beside(std::size_t rank, const std::vector<Peer>& peers,
                                                       const NodeMap& map, std::uint64_t own) {
  const auto& nodes = map.node_of_rank;
  const auto together = [&](std::size_t r) { return nodes.empty() || nodes[r] == nodes[rank]; };
  std::uint64_t most = together(0) ? own : 0;
  for (std::size_t r = 1; r < peers.size(); ++r)
    if (!peers[r].lost && together(r)) most = std::max(most, peers[r].report.memory_kills);
  return most;
}

}  // namespace tenex
