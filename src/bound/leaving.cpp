// The table of what must leave a set, for groups by their members inside, for conditions one by one.
#include "bound/leaving.hpp"

#include <algorithm>

#include "bound/demand.hpp"
#include "bound/sized_needs.hpp"

namespace tenex {

namespace {

/// What must leave a set with `inside` of the group's members, in chunks for c = 1. Not for stored conditions.
std::int64_t units_that_leave(CollectiveKind kind, std::int64_t members, std::int64_t inside, bool root_inside) {
  const auto outside = members - inside;
  switch (kind) {
    case CollectiveKind::all_gather:
      return outside > 0 ? inside : 0;
    case CollectiveKind::reduce_scatter:
      return inside > 0 ? outside : 0;
    case CollectiveKind::all_reduce:
      return inside > 0 && outside > 0 ? members : 0;
    case CollectiveKind::broadcast:
      return root_inside && outside > 0 ? 1 : 0;
    case CollectiveKind::reduce:
      return !root_inside && inside > 0 ? 1 : 0;
    case CollectiveKind::all_to_all:
      return inside * outside;
    case CollectiveKind::gather:
      return root_inside ? 0 : inside;
    case CollectiveKind::scatter:
      return root_inside ? outside : 0;
    default:
      return 0;
  }
}

}  // namespace

std::vector<std::int64_t> chunks_that_leave(const Collective& collective, const VertexSet& set) {
  std::vector<std::int64_t> chunks(collective.chunk_sizes().size(), 0);
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto group = GroupId::at(g);
    const auto& members = collective.groups()[g].members;
    const auto each = collective.chunks_per_npu(group);
    const auto conditions = collective.conditions(group);
    for (std::size_t q = 0; q < conditions.size(); ++q) {
      const auto is_inside = [&](std::uint32_t rank) { return set[members[rank].index()]; };
      if (is_inside(conditions[q].source) && !std::ranges::all_of(conditions[q].destinations, is_inside))
        chunks[collective.size_class(chunk_of_condition(collective, group, q))] += each;
    }
    if (!conditions.empty()) continue;
    const auto inside = std::ranges::count_if(members, [&](NpuId member) { return set[member.index()]; });
    chunks[collective.size_class(group)] +=
        each * units_that_leave(collective.kind(group), static_cast<std::int64_t>(members.size()), inside,
                                set[members[collective.root(group)].index()]);
  }
  return chunks;
}

std::uint64_t condition_visits(const Collective& collective) {
  std::uint64_t visits = 0;
  for (std::size_t g = 0; g < collective.groups().size(); ++g)
    for (const Condition& condition : collective.conditions(GroupId::at(g)))
      visits += 1 + condition.destinations.size();
  return visits;
}

GrowingSet::GrowingSet(const Collective& collective)
    : collective_(collective), groups_(collective.groups().size()), first_part_(collective.npus() + 1, 0) {
  std::vector<std::vector<Part>> parts(collective.npus());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const auto group = GroupId::at(g);
    add_conditions(group, parts);
    if (!is_classic(collective))
      groups_[g].bytes_of_each = static_cast<double>(collective.chunks_per_npu(group)) *
                                 static_cast<double>(collective.chunk_sizes()[collective.size_class(group)].count());
  }
  for (std::size_t npu = 0; npu < parts.size(); ++npu) {
    parts_.insert(parts_.end(), parts[npu].begin(), parts[npu].end());
    first_part_[npu + 1] = parts_.size();
  }
}

void GrowingSet::add_conditions(GroupId group, std::vector<std::vector<Part>>& parts) {
  const auto& members = collective_.groups()[group.index()].members;
  const auto conditions = collective_.conditions(group);
  for (std::size_t q = 0; q < conditions.size(); ++q) {
    const auto id = static_cast<std::uint32_t>(conditions_.size());
    parts[members[conditions[q].source].index()].push_back({id, true});
    for (const auto rank : conditions[q].destinations) parts[members[rank].index()].push_back({id, false});
    const auto chunk = collective_.chunk_bytes(chunk_of_condition(collective_, group, q));
    conditions_.push_back({static_cast<double>(chunk.count()) * static_cast<double>(collective_.chunks_per_npu(group)),
                           static_cast<std::uint32_t>(conditions[q].destinations.size())});
  }
}

double GrowingSet::leaving_of(GroupId group) const {
  const auto& counted = groups_[group.index()];
  const auto members = static_cast<std::int64_t>(collective_.groups()[group.index()].members.size());
  return counted.bytes_of_each *
         static_cast<double>(units_that_leave(collective_.kind(group), members, counted.inside, counted.root_inside));
}

void GrowingSet::enter(NpuId npu) {
  for (const auto& [group, rank] : collective_.memberships(npu)) {
    if (stores_conditions(collective_.kind(group))) continue;
    leaving_ -= leaving_of(group);
    auto& counted = groups_[group.index()];
    ++counted.inside;
    counted.root_inside = counted.root_inside || rank == collective_.root(group);
    leaving_ += leaving_of(group);
  }
  for (std::size_t i = first_part_[npu.index()]; i < first_part_[npu.index() + 1]; ++i) {
    auto& condition = conditions_[parts_[i].condition];
    const bool left = condition.source_inside && condition.outside > 0;
    if (parts_[i].source)
      condition.source_inside = true;
    else
      --condition.outside;
    const bool leaves = condition.source_inside && condition.outside > 0;
    if (leaves != left) leaving_ += leaves ? condition.bytes : -condition.bytes;
  }
}

}  // namespace tenex
