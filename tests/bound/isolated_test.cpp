// Vertices without links, as faults leave them: a network with failed NPUs among its vertices has the bounds of its
// twin without them. With failed switches none is larger; some methods leave networks with switches to others.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <set>
#include <vector>

#include "support/topologies.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/bound/certificates.hpp"

namespace tenex {
namespace {

std::uint64_t number(std::uint64_t beyond) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(0, beyond));
}

/// The topology with isolated NPUs in between and isolated switches behind, and the new ids of its NPUs.
struct Scattered {
  Topology topology;
  std::vector<NpuId> members;
};
Scattered scatter_ids(const Topology& whole) {
  std::set<std::size_t> dead;
  const std::size_t npus = whole.npus() + 1 + number(3);
  while (dead.size() < npus - whole.npus()) dead.insert(number(npus));
  std::vector<NpuId> members;
  for (std::size_t id = 0; id < npus; ++id)
    if (!dead.contains(id)) members.push_back(NpuId::at(id));
  TopologyBuilder builder(npus);
  for (std::uint64_t left = number(3); left > 0; --left) builder.add_switch();
  for (std::size_t i = 0; i < whole.links(); ++i) {
    Link link = whole.link(LinkId::at(i));
    link.source = vertex_of(members[link.source.index()]);
    link.target = vertex_of(members[link.target.index()]);
    builder.add_link(link);
  }
  return {std::move(builder).build().value(), members};
}

Collective collective_of(CollectiveKind kind, std::size_t npus, std::vector<NpuId> members, std::int64_t chunks) {
  CollectiveRequest request;
  request.kind = kind;
  request.npus = npus;
  request.groups = {ProcessGroup{std::move(members)}};
  request.chunks = chunks;
  request.size = bytes(1'000'003);
  return Collective::make(std::move(request)).value();
}

RC_GTEST_PROP(FaultyBounds, AreThoseOfTheTwinWithoutIsolatedVertices, ()) {
  const auto whole = support::random_connected_topology(number(100'000), 9, number(2) == 0);
  const auto scattered = scatter_ids(whole);
  std::vector<NpuId> everyone;
  for (std::size_t id = 0; id < whole.npus(); ++id) everyone.push_back(NpuId::at(id));
  const auto chunks = static_cast<std::int64_t>(1 + number(4));
  const auto occupancy = number(2) == 0 ? Occupancy::serialization : Occupancy::transfer;
  const bool overlap = number(2) == 0;
  for (const auto kind :
       {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
        CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::all_to_all, CollectiveKind::gather}) {
    const auto alone = collective_of(kind, whole.npus(), everyone, chunks);
    const auto among = collective_of(kind, scattered.topology.npus(), scattered.members, chunks);
    const BoundProblem plain{{whole, alone, occupancy}, overlap, true, {}};
    const BoundProblem faulty{{scattered.topology, among, occupancy}, overlap, true, {}};
    constexpr std::uint64_t kWork = std::uint64_t{1} << 22;
    for (const auto& method : bound_methods()) {
      RC_LOG() << method.name << ' ' << to_string(kind);
      if (method.compute != nullptr) {
        const auto twin = method.compute(plain);
        const auto here = method.compute(faulty);
        if (scattered.topology.switches() == 0) RC_ASSERT(here == twin);
        if (here) RC_ASSERT(twin && *here <= *twin);
        continue;
      }
      if (!method.concerns(kind)) continue;
      // A search may take another way among other ids, so each is confirmed.
      const auto found = method.certify(faulty, kWork);
      if (scattered.topology.switches() == 0) RC_ASSERT(found.has_value() == method.certify(plain, kWork).has_value());
      if (found) RC_ASSERT(method.check(faulty, *found) == found->time);
    }
    RC_ASSERT(paper_ideal(whole, alone) == paper_ideal(scattered.topology, among));
  }
}

}  // namespace
}  // namespace tenex
