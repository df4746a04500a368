// Walks from every vertex with a next hop, until a vertex that an earlier walk has passed.
#include "topology/hop_check.hpp"

#include <algorithm>
#include <utility>

#include "tenex/base/bitset.hpp"

namespace tenex {

HopCheck::HopCheck(const Topology& topology, const RouteTable& table)
    : topology_(topology), table_(table), plain_(topology), seen_(topology.vertices(), 0) {}

std::vector<NpuId> HopCheck::destinations() const {
  Bitset named(topology_.npus());
  const NpuRanges& hops = table_.rules_->next_hops;
  for (std::size_t i = 0; i < hops.groups(); ++i)
    for (const auto& item : hops.group(i).items)
      for (auto npu = item.npus.first; npu <= item.npus.last; ++npu) named.set(npu);
  std::vector<NpuId> list;
  for (std::size_t npu = 0; npu < topology_.npus(); ++npu)
    if (named.test(npu)) list.push_back(NpuId::at(npu));
  return list;
}

VertexId HopCheck::next(VertexId at, NpuId destination) {
  const auto given = table_.next_of_hops(at, destination);
  const LinkId link = given.empty() ? plain_.next_link(at, npu_of(at), destination) : given.front();
  return link.exists() ? topology_.target(link) : VertexId::none();
}

std::optional<HopCheck::Flaw> HopCheck::flaw(NpuId destination) {
  const NpuRanges& hops = table_.rules_->next_hops;
  const std::uint32_t before = walk_;  // walks to other destinations
  for (std::size_t i = 0; i < hops.groups(); ++i) {
    const auto [first, last, items] = hops.group(i);
    if (items.empty()) continue;  // vertices between two with next hops
    for (auto row = first; row <= last; ++row) {
      const auto hop = hops.find(row, destination);
      if (!hop || row == destination.value()) continue;
      if (table_.links_of(table_.rules_->hops[*hop], VertexId(row)).empty()) return Flaw{*hop, {VertexId(row)}};
      ++walk_;
      for (VertexId at(row); at != vertex_of(destination);) {
        std::uint32_t& seen = seen_[at.index()];
        if (seen > before && seen < walk_) break;  // an earlier walk went on from here and came to the NPU
        if (seen == walk_) return describe(at, destination);
        seen = walk_;
        const VertexId onward = next(at, destination);
        if (!onward.exists()) return Flaw{*hop, {at}};
        at = onward;
      }
    }
  }
  return std::nullopt;
}

/// `at`: on a loop, in which some vertex has a next hop, since the other routes form none.
HopCheck::Flaw HopCheck::describe(VertexId at, NpuId destination) {
  Flaw flaw{0, {at}};
  do {
    if (const auto hop = table_.rules_->next_hops.find(flaw.way.back().value(), destination)) flaw.hop = *hop;
    flaw.way.push_back(next(flaw.way.back(), destination));
  } while (flaw.way.back() != at);
  return flaw;
}

}  // namespace tenex
