// Tight NPUs: those with the fewest in-links, which need every one of them nearly all the time.
//
// Idea: if such NPUs are side by side (a corner of a mesh beside a removed link), they depend on what they pass on to
// each other: links into the cluster from outside must deliver different blocks. So a cluster should not be cut by
// regions, which see each other late, and a link into it checks which blocks the cluster holds already.
#pragma once

#include <cstdint>
#include <vector>

namespace tenex {

struct StreamProblem;

/// Regions of consecutive NPUs, and for every tight NPU the NPUs to check before a block is sent to it.
struct TightNpus {
  std::vector<std::uint32_t> region_begin;  ///< per region its first NPU, and the end
  std::vector<std::uint32_t> region_of;     ///< per NPU
  std::vector<std::uint32_t> around_begin;  ///< per NPU, and the end: its first in `around`
  std::vector<std::uint32_t> around;        ///< in-neighbours and other NPUs of its cluster, within its region, nearest
                                            ///< first

  [[nodiscard]] bool is_tight(std::uint32_t npu) const { return around_begin[npu] < around_begin[npu + 1]; }
};

/// Regions of about `region_size` NPUs whose ends cut few groups and few links between tight NPUs. O(links).
[[nodiscard]] TightNpus find_tight_npus(const StreamProblem& problem, std::uint32_t region_size);

}  // namespace tenex
