#include "schedule/timing/wire_order.hpp"

#include <algorithm>
#include <tuple>

#include "tenex/topology/timing.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

/// A send takes a physical link.
struct Taking {
  LinkId link;
  SimTime from;
  SimTime offset;
  SimTime busy;
  std::size_t send = 0;
};

std::vector<Taking> list_takings(const Instance& instance, std::span<const Send> sends) {
  const Wires& wires = *instance.topology.wires();
  const HopTimes times(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  std::vector<Taking> takings;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const HopTime hop =
        times.at(instance.topology.class_of(sends[i].link), instance.collective.size_class(sends[i].chunk));
    const SimTime serialization = hop.latency - instance.topology.alpha(sends[i].link);
    for (const auto& [link, offset] : wires.spans(sends[i].link)) {
      const SimTime own = instance.occupancy == Occupancy::transfer ? wires.network().alpha(link) : SimTime::zero();
      takings.push_back({link, sends[i].start + offset, offset, serialization + own, i});
    }
  }
  std::sort(takings.begin(), takings.end(), [](const Taking& a, const Taking& b) {
    return std::tie(a.link, a.from, a.send) < std::tie(b.link, b.from, b.send);
  });
  return takings;
}

}  // namespace

std::vector<StartConstraint> wire_order(const Instance& instance, std::span<const Send> sends) {
  if (instance.topology.wires() == nullptr) return {};
  const auto takings = list_takings(instance, sends);
  std::vector<StartConstraint> constraints;
  const Taking* first = nullptr;  // of the present signal, whose takings all begin and end together
  for (const Taking& taking : takings) {
    if (first == nullptr || taking.link != first->link) {
      first = &taking;
      continue;
    }
    if (taking.from == first->from) {
      constraints.push_back({taking.send, first->send, first->offset - taking.offset, true});
      constraints.push_back({first->send, taking.send, taking.offset - first->offset, true});
      continue;
    }
    constraints.push_back({taking.send, first->send, first->offset - taking.offset + first->busy});
    first = &taking;
  }
  return constraints;
}

}  // namespace tenex
