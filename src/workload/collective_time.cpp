// Converts a communication of a mapping to the collective that its groups run.
#include "tenex/workload/collective_time.hpp"

#include <utility>

#include "workload/saturating.hpp"

namespace tenex {

Result<ConcurrentEnds> CollectiveTime::concurrent(std::span<const Communication> first,
                                                  std::span<const Communication> second, SimTime offset,
                                                  const Mapping& mapping) const {
  ConcurrentEnds ends{SimTime::zero(), offset};
  for (const auto& [stream, end] : {std::pair(first, &ends.first), std::pair(second, &ends.second)})
    for (const auto& communication : stream) {
      if (mapping.span(communication.scope).shares.empty()) continue;
      const auto taken = time(communication, mapping);
      if (!taken) return taken.errors();
      *end = saturating_sum(*end, *taken);
    }
  return ends;
}

std::optional<CollectiveRequest> collective_request(const Communication& communication, const Mapping& mapping,
                                                    std::int64_t chunks) {
  const auto kind = collective_of(communication.kind);
  if (!kind) return std::nullopt;
  CollectiveRequest request;
  request.kind = *kind;
  request.npus = mapping.shape().npus();
  request.groups = mapping.groups(communication.scope);
  request.chunks = chunks;
  request.size = communication.size;
  return request;
}

}  // namespace tenex
