// The table of demand.hpp.
#include "bound/demand.hpp"

#include <algorithm>
#include <functional>

namespace tenex {

namespace {

void add(NpuDemand& sum, const NpuDemand& demand) {
  sum.receive += demand.receive;
  sum.send += demand.send;
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

NpuDemands::NpuDemands(const Collective& collective) : collective_(collective) {
  for (std::size_t g = 0; g < collective.groups().size(); ++g)
    for (std::size_t q = 0; q < collective.conditions(GroupId::at(g)).size(); ++q) add_condition(GroupId::at(g), q);
  std::ranges::sort(of_conditions_, std::less<>());
  std::size_t kept = 0;
  for (std::size_t i = 0; i < of_conditions_.size(); ++i) {
    if (kept > 0 && !(of_conditions_[kept - 1] < of_conditions_[i]))
      add(of_conditions_[kept - 1].demand.chunks, of_conditions_[i].demand.chunks);
    else
      of_conditions_[kept++] = of_conditions_[i];
  }
  of_conditions_.resize(kept);
}

void NpuDemands::add_condition(GroupId group, std::size_t index) {
  const Condition& condition = collective_.conditions(group)[index];
  const auto& members = collective_.groups()[group.index()].members;
  const std::int64_t c = collective_.chunks_per_npu(group);
  const auto size_class = collective_.size_class(chunk_of_condition(collective_, group, index));
  of_conditions_.push_back({members[condition.source], {size_class, {.receive = 0, .send = c}}});
  for (const auto rank : condition.destinations)
    of_conditions_.push_back({members[rank], {size_class, {.receive = c, .send = 0}}});
}

void NpuDemands::find(NpuId npu, std::vector<SizedDemand>& demands) const {
  demands.clear();
  for (auto own = std::ranges::lower_bound(of_conditions_, npu, {}, &DemandOfNpu::npu);
       own != of_conditions_.end() && own->npu == npu; ++own)
    demands.push_back(own->demand);
  for (const auto& [group, rank] : collective_.memberships(npu)) {
    if (stores_conditions(collective_.kind(group))) continue;
    const SizedDemand demand{collective_.size_class(group), npu_demand(collective_, group, rank)};
    const auto same = std::ranges::find(demands, demand.size_class, &SizedDemand::size_class);
    if (same == demands.end())
      demands.push_back(demand);
    else
      add(same->chunks, demand.chunks);
  }
}

}  // namespace tenex
