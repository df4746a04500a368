// NPUs without links, in no group: no bound changes.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <vector>

#include "bound/any_schedule.hpp"
#include "bound/compared.hpp"
#include "bound/graphs.hpp"
#include "tenex/topology/distance.hpp"

namespace tenex {
namespace {

using enum CollectiveKind;

/// The NPUs of a network in new places among `npus`, the others without links.
struct Moved {
  Topology topology;
  std::vector<NpuId> place;
};

Moved with_isolated(const Topology& network, std::uint32_t npus) {
  Moved moved;
  for (const auto rank : support::random_ranks(npus, npus)) moved.place.emplace_back(rank);
  moved.place.resize(network.npus());
  std::ranges::sort(moved.place);
  TopologyBuilder builder(npus);
  for (std::size_t l = 0; l < network.links(); ++l) {
    Link link = network.link(LinkId::at(l));
    link.source = vertex_of(moved.place[link.source.index()]);
    link.target = vertex_of(moved.place[link.target.index()]);
    builder.add_link(link);
  }
  moved.topology = std::move(builder).build().value();
  return moved;
}

RC_GTEST_PROP(RemovedNpusProperties, ChangeNoBound, ()) {
  const auto network = support::random_graph(*rc::gen::inRange<std::uint32_t>(2, 8), 0);
  const auto npus = static_cast<std::uint32_t>(network.npus());
  const auto moved = with_isolated(network, npus + *rc::gen::inRange<std::uint32_t>(1, 12));
  const auto kind =
      *rc::gen::element(all_gather, reduce_scatter, all_reduce, broadcast, reduce, all_to_all, gather, scatter);
  CollectiveRequest request{kind, npus, {}, *rc::gen::inRange<std::int64_t>(1, 4), bytes(12'000'000 * npus)};
  const auto whole = Collective::make(request).value();
  request.npus = moved.topology.npus();
  request.groups = {{moved.place}};
  const auto part = Collective::make(request).value();
  const auto occupancy = *rc::gen::element(Occupancy::serialization, Occupancy::transfer);
  const auto before = cheap_bounds({network, whole, occupancy});
  const auto after = cheap_bounds({moved.topology, part, occupancy});
  RC_ASSERT(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i) RC_ASSERT(before[i].time == after[i].time);
  for (const auto& method : bound_methods()) {
    if (method.certify == nullptr || !method.concerns(kind)) continue;
    const auto found = method.certify({network, whole, occupancy}, support::kSearchWork);
    const BoundProblem problem{moved.topology, part, occupancy};
    const auto again = method.certify(problem, support::kSearchWork);
    RC_ASSERT(found.has_value() == again.has_value());
    if (!found) continue;
    RC_ASSERT(again->time == found->time);
    RC_ASSERT(again->densest == found->densest);
    RC_ASSERT(method.check(problem, *again) == again->time);
  }
  RC_ASSERT(paper_ideal(network, whole) == paper_ideal(moved.topology, part));
  RC_ASSERT(latency_diameter(network) == latency_diameter(moved.topology));
}

}  // namespace
}  // namespace tenex
