// What NCCL and RCCL add to the time of an algorithm: protocols, as stated properties.
//
// A protocol is how data and flags travel: LL has 4 bytes of data in 8, LL128 120 in 128, Simple data alone and a flag
// per slice. It costs a share of the bandwidth, so S bytes take the time of S / share, and an overhead per call. The
// numbers are those of NCCL's own model (src/graph/tuning.cc of 2.28.7: baseLatencies, and busBw times 0.5 and 0.92),
// but for LL128, whose 120 of 128 stands there as 0.92.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tenex/base/quantity.hpp"
#include "tenex/collective/collective.hpp"

namespace tenex {

/// A protocol of the library.
struct LibraryProtocol {
  std::string_view name;  ///< "ll", "ll128", "simple"
  std::int64_t data;      ///< so many bytes of data in `line` bytes
  std::int64_t line;
  SimTime ring_overhead;  ///< of a call of a ring
  SimTime tree_overhead;

  /// The bytes that S bytes take the time of, rounded up. O(1).
  [[nodiscard]] Bytes carried(Bytes size) const;
  [[nodiscard]] SimTime overhead(std::string_view algorithm) const {
    return algorithm == "tree" ? tree_overhead : ring_overhead;
  }
};

/// ll, ll128, simple.
[[nodiscard]] std::span<const LibraryProtocol> library_protocols();

/// NVLS, the All-Reduce of NVLink switches that add and multicast (NCCL's tuning.cc of 2.19, for Hopper): 23 us and 5/6
/// of an NPU's bandwidth to the switch, each byte once up and once down.
struct NvlsModel {
  SimTime latency = microseconds(23);
  std::int64_t share_numerator = 5;
  std::int64_t share_denominator = 6;
};

}  // namespace tenex
