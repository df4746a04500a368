// From a communication of a mapping to the collective that its groups run.
#include "tenex/workload/collective_time.hpp"

namespace tenex {

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
