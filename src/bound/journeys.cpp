// The starts of a collective, and what needs no search.
#include "bound/journeys.hpp"

namespace tenex {

std::vector<JourneyStart> journey_starts(const Collective& collective) {
  std::vector<JourneyStart> starts;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto group = GroupId::at(g);
    const std::span<const NpuId> members = collective.groups()[g].members;
    const auto kind = collective.kind(group);
    const auto root = members[collective.root(group)];
    if (kind == CollectiveKind::scatter) starts.push_back({group, root, members});
    for (const NpuId member : members) {
      if (kind == CollectiveKind::all_to_all) starts.push_back({group, member, members});
      if (kind == CollectiveKind::gather && member != root)
        starts.push_back({group, member, members.subspan(collective.root(group), 1)});
    }
    const auto conditions = collective.conditions(group);
    for (std::size_t q = 0; q < conditions.size(); ++q) {
      if (q == 0 || conditions[q].source != conditions[q - 1].source)
        starts.push_back({group, members[conditions[q].source], {}, q, 0});
      ++starts.back().conditions;
    }
  }
  return starts;
}

JourneySum::JourneySum(const Collective& collective, std::span<const std::uint32_t> into,
                       std::span<const std::uint32_t> out_of)
    : collective_(collective), into_(into), out_of_(out_of), needed_(collective.chunk_sizes().size(), 0) {
  for (std::size_t g = 0; g < collective.groups().size(); ++g) add_group(GroupId::at(g));
}

void JourneySum::add_group(GroupId group) {
  const auto kind = collective_.kind(group);
  const auto& members = collective_.groups()[group.index()].members;
  Exact in = 0;
  Exact out = 0;
  std::uint64_t heaviest = 0;  // of one NPU
  for (const NpuId member : members) {
    in += into_[member.index()];
    out += out_of_[member.index()];
    heaviest = std::max(heaviest, std::uint64_t{into_[member.index()]} + out_of_[member.index()]);
  }
  const auto root = members[collective_.root(group)].index();
  const auto others = static_cast<Exact>(members.size()) - 1;
  const Exact c = collective_.chunks_per_npu(group);
  Exact& needed = needed_[collective_.size_class(group)];
  switch (kind) {
    case CollectiveKind::all_gather:  // each member is the source of c chunks
      needed += c * others * in;
      break;
    case CollectiveKind::reduce_scatter:
      needed += c * others * out;
      break;
    case CollectiveKind::all_reduce:
      needed += static_cast<Exact>(collective_.chunks_in(group)) * (in + out - static_cast<Exact>(heaviest));
      break;
    case CollectiveKind::broadcast:
      needed += c * (in - into_[root]);
      break;
    case CollectiveKind::reduce:
      needed += c * (out - out_of_[root]);
      break;
    default:  // these have starts
      break;
  }
}

std::vector<std::uint32_t> lightest_links(const Topology& topology, std::span<const std::uint32_t> weights, bool into) {
  std::vector<std::uint32_t> lightest(topology.npus(), 0);
  for (std::size_t npu = 0; npu < lightest.size(); ++npu) {
    const auto links = into ? topology.in_links(VertexId::at(npu)) : topology.out_links(VertexId::at(npu));
    if (links.empty()) continue;
    lightest[npu] = std::numeric_limits<std::uint32_t>::max();
    for (const auto link : links) lightest[npu] = std::min(lightest[npu], weights[link.index()]);
  }
  return lightest;
}

}  // namespace tenex
