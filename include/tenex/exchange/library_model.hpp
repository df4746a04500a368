// What NCCL and RCCL add to the time of an algorithm: protocols, as stated properties.
//
// A protocol is how data and flags travel: LL has 4 bytes of data in 8, LL128 120 in 128, Simple data alone and a flag
// per slice. It costs a share of the bandwidth, so S bytes take the time of S / share, an overhead per call, and a
// latency per hop, which is that of the machine where the machine's own is longer. The numbers are those of NCCL's own
// model (src/graph/tuning.cc of 2.28.7: baseLatencies, hwLatencies, and busBw times 0.5 and 0.92), but for LL128, whose
// 120 of 128 stands there as 0.92.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "tenex/base/quantity.hpp"
#include "tenex/collective/collective.hpp"

namespace tenex {

/// The numbers of an algorithm under a protocol.
struct LibraryLatency {
  SimTime overhead;     ///< of a call
  SimTime box_hop;      ///< over NVLinks
  SimTime network_hop;  ///< over NICs
};

/// A protocol of the library.
struct LibraryProtocol {
  std::string_view name;  ///< "ll", "ll128", "simple"
  std::int64_t data;      ///< so many bytes of data in `line` bytes
  std::int64_t line;
  LibraryLatency ring;
  LibraryLatency tree;

  /// The bytes that S bytes take the time of, rounded up. O(1).
  [[nodiscard]] Bytes carried(Bytes size) const;
  [[nodiscard]] const LibraryLatency& latency(std::string_view algorithm) const {
    return algorithm == "tree" ? tree : ring;
  }
  /// The time of all hops of a collective on NPUs of equal boxes, as NCCL's model counts them: a ring passes every NPU,
  /// a tree is a chain within a box and binary between boxes. Zero where the algorithm does not do it. O(1).
  [[nodiscard]] SimTime hops(std::string_view algorithm, CollectiveKind kind, std::size_t npus,
                             std::size_t boxes) const;
};

/// The least time in which LL moves S bytes where its busbw has a limit, which depends on the GPU: NCCL's llMaxBws
/// within a box are 39 GB/s (Volta), 87.7 (Ampere), 141 (Hopper), 282 (Blackwell). In us; 0 for other protocols. O(1).
[[nodiscard]] double least_ll_us(const LibraryProtocol& protocol, CollectiveKind kind, std::size_t npus, double size,
                                 Bandwidth limit);

/// ll, ll128, simple.
[[nodiscard]] std::span<const LibraryProtocol> library_protocols();

/// NVLS, the All-Reduce of NVLink switches that add and multicast: 25 us (tuning.cc of 2.28.7) and 5/6 of an NPU's
/// bandwidth to the switch (2.19), each byte once up and once down.
struct NvlsModel {
  SimTime latency = microseconds(25);
  std::int64_t share_numerator = 5;
  std::int64_t share_denominator = 6;
};

}  // namespace tenex
