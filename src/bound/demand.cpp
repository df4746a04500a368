// The table of demand.hpp.
#include "bound/demand.hpp"

namespace tenex {

NpuDemand npu_demand(const Collective& collective, GroupId group, std::uint32_t rank) {
  const auto n = static_cast<std::int64_t>(collective.groups()[group.index()].members.size());
  const std::int64_t c = collective.chunks_per_npu();
  if (n < 2) return {};
  const bool root = rank == collective.root();
  switch (collective.kind()) {
    case CollectiveKind::all_gather:
      return {.receive = (n - 1) * c, .send = c};
    case CollectiveKind::reduce_scatter:
      return {.receive = c, .send = (n - 1) * c};
    case CollectiveKind::all_to_all:
      return {.receive = (n - 1) * c, .send = (n - 1) * c};
    case CollectiveKind::all_reduce:
      return {.receive = n * c, .send = n * c};
    case CollectiveKind::broadcast:
      return root ? NpuDemand{.receive = 0, .send = c} : NpuDemand{.receive = c, .send = 0};
    case CollectiveKind::reduce:
      return root ? NpuDemand{.receive = c, .send = 0} : NpuDemand{.receive = 0, .send = c};
    case CollectiveKind::gather:
      return root ? NpuDemand{.receive = (n - 1) * c, .send = 0} : NpuDemand{.receive = 0, .send = c};
    case CollectiveKind::scatter:
      return root ? NpuDemand{.receive = 0, .send = (n - 1) * c} : NpuDemand{.receive = c, .send = 0};
    case CollectiveKind::all_to_allv:
    case CollectiveKind::halo_exchange:
    case CollectiveKind::conditions:
    case CollectiveKind::mixed:
      return {};
  }
  return {};
}

}  // namespace tenex
