// CollectiveTime: the time of a communication of the groups of a mapping. One word in a study chooses the model.
//
// This module holds LIBRA's formulas; models that simulate or synthesize implement the same interface elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/workload/parallelization.hpp"
#include "tenex/workload/workload.hpp"

namespace tenex {

/// The ends of two concurrent streams of communications, both counted from the start of the first.
struct ConcurrentEnds {
  SimTime first;
  SimTime second;
  bool operator==(const ConcurrentEnds&) const = default;
};

/// A model of communication time on one network.
class CollectiveTime {
 public:
  virtual ~CollectiveTime() = default;
  /// The word of studies: "libra", "libra_derated", ...
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// The time of one communication, run by all groups of its scope at the same time. Called only for groups of two or
  /// more NPUs. Deterministic: equal arguments give equal times.
  [[nodiscard]] virtual Result<SimTime> time(const Communication& communication, const Mapping& mapping) const = 0;

  /// Whether concurrent communications slow each other. If so, a loop asks concurrent() for their times.
  [[nodiscard]] virtual bool contends() const { return false; }
  /// Two concurrent streams, each one communication after the other; the second begins `offset` after the first. An
  /// empty stream ends when it begins. The default adds up times, as if each stream had the network to itself.
  [[nodiscard]] virtual Result<ConcurrentEnds> concurrent(std::span<const Communication> first,
                                                          std::span<const Communication> second, SimTime offset,
                                                          const Mapping& mapping) const;

 protected:
  CollectiveTime() = default;
  CollectiveTime(const CollectiveTime&) = default;
  CollectiveTime& operator=(const CollectiveTime&) = default;
};

/// The collective of a communication, with all groups of its scope, for models that simulate or synthesize it; nullopt
/// for a point-to-point message. `chunks` is c. O(npus * dimensions).
[[nodiscard]] std::optional<CollectiveRequest> collective_request(const Communication& communication,
                                                                  const Mapping& mapping, std::int64_t chunks);

}  // namespace tenex
