// Times of messages between neighbouring stages.
#include "training/message_path.hpp"

#include <algorithm>
#include <vector>

#include "tenex/topology/distance.hpp"
#include "tenex/topology/hand_over.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/timing.hpp"

namespace tenex {
namespace {

struct Boundary {
  NpuId from;
  NpuId to;
};

/// One boundary of each kind: digit i goes from 0 to 1, the faster ones from their last value to 0.
std::vector<Boundary> boundaries_of(const GroupSpan& span) {
  std::vector<Boundary> boundaries;
  std::size_t weight = 1;
  std::size_t carried = 0;  // id formed by the faster digits before they carry over
  for (const auto& share : span.shares) {
    boundaries.push_back({NpuId::at(carried), NpuId::at(weight * share.stride)});
    carried += weight * share.stride * (share.members - 1);
    weight *= share.extent;
  }
  return boundaries;
}

}  // namespace

SimTime message_time(const Topology& topology, const GroupSpan& span, Bytes size) {
  Router router(topology);
  SimTime slowest;
  for (const auto& boundary : boundaries_of(span)) {
    SimTime time;
    auto at = vertex_of(boundary.from);
    auto before = LinkId::none();
    while (at != vertex_of(boundary.to)) {
      const auto link = router.next_link(at, boundary.from, boundary.to);
      ensure(link.exists(), "neighbouring stages can reach each other");
      const auto hop = hop_time(topology.classes()[topology.class_of(link)], size, Occupancy::serialization);
      time = saturating_sum(time, hop.latency);
      if (passes_on_early(topology, at)) time -= hand_over_lead(topology, before, link, size);
      before = link;
      at = topology.target(link);
    }
    slowest = std::max(slowest, time);
  }
  return slowest;
}

SimTime least_message_time(const Topology& topology, const GroupSpan& span, Bytes size) {
  SimTime slowest;
  for (const auto& boundary : boundaries_of(span))
    slowest = std::max(slowest, arrival_times(topology, vertex_of(boundary.from), size)[boundary.to.index()]);
  return slowest;
}

}  // namespace tenex
