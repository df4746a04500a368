// The table of demand.hpp.
#include "bound/demand.hpp"

#include <algorithm>

namespace tenex {

namespace {

struct DemandOfNpu {
  NpuId npu;
  SizedDemand demand;
};

void add_condition(const Collective& collective, GroupId group, std::size_t index, std::vector<DemandOfNpu>& found) {
  const Condition& condition = collective.conditions(group)[index];
  const auto& members = collective.groups()[group.index()].members;
  const std::int64_t c = collective.chunks_per_npu(group);
  const auto size_class = collective.size_class(chunk_of_condition(collective, group, index));
  found.push_back({members[condition.source], {size_class, {.receive = 0, .send = c}}});
  for (const auto rank : condition.destinations)
    found.push_back({members[rank], {size_class, {.receive = c, .send = 0}}});
}

}  // namespace

ChunkId chunk_of_condition(const Collective& collective, GroupId group, std::size_t index) {
  const auto c = static_cast<std::size_t>(collective.chunks_per_npu(group));
  return ChunkId::at(collective.first_chunk(group).index() + index * c);
}

ConditionRange conditions_from(const Collective& collective, const Collective::Membership& member) {
  const auto c = static_cast<std::size_t>(collective.chunks_per_npu(member.group));
  const auto own = collective.owned_by(member);
  const auto first = (own.first - collective.first_chunk(member.group).index()) / c;
  return {first, first + own.count / c};
}

NpuDemand npu_demand(const Collective& collective, GroupId group, std::uint32_t rank) {
  const auto n = static_cast<std::int64_t>(collective.groups()[group.index()].members.size());
  const std::int64_t c = collective.chunks_per_npu(group);
  if (n < 2) return {};
  const bool root = rank == collective.root(group);
  switch (collective.kind(group)) {
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

NpuDemands::NpuDemands(const Collective& collective) : first_(collective.npus() + 1, 0) {
  std::vector<DemandOfNpu> found;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto group = GroupId::at(g);
    const auto& members = collective.groups()[g].members;
    for (std::size_t q = 0; q < collective.conditions(group).size(); ++q) add_condition(collective, group, q, found);
    if (stores_conditions(collective.kind(group))) continue;
    for (std::uint32_t rank = 0; rank < members.size(); ++rank)
      found.push_back({members[rank], {collective.size_class(group), npu_demand(collective, group, rank)}});
  }
  const auto key = [](const DemandOfNpu& each) { return std::pair(each.npu, each.demand.size_class); };
  std::ranges::sort(found, {}, key);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& [npu, demand] = found[i];
    if (i > 0 && key(found[i - 1]) == key(found[i])) {
      demands_.back().chunks.receive += demand.chunks.receive;
      demands_.back().chunks.send += demand.chunks.send;
      continue;
    }
    demands_.push_back(demand);
    ++first_[npu.index() + 1];
  }
  for (std::size_t npu = 0; npu + 1 < first_.size(); ++npu) first_[npu + 1] += first_[npu];
}

}  // namespace tenex
