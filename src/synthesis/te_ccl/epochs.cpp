// Lengths of epochs, and hops in epochs.
#include "synthesis/te_ccl/epochs.hpp"

#include <algorithm>

#include "tenex/topology/timing.hpp"

namespace tenex::te_ccl {
namespace {

std::int64_t floor_quotient(SimTime time, SimTime length) { return time.count() / length.count(); }
std::int64_t ceil_quotient(SimTime time, SimTime length) {
  return (time.count() + length.count() - 1) / length.count();
}

HopTime hop_of(const Instance& instance, std::size_t link) {
  const auto& link_class = instance.topology.classes()[instance.topology.class_of(LinkId::at(link))];
  return hop_time(link_class, instance.collective.chunk_sizes().front(), instance.occupancy);
}

LinkEpochs rounded_up(const HopTime& hop, SimTime length) {
  LinkEpochs link;
  link.busy = hop.busy;
  // Sends of one epoch follow each other, and the last of them counts for all.
  link.most = static_cast<int>(std::max<std::int64_t>(1, floor_quotient(length, hop.busy)));
  link.span = static_cast<int>(ceil_quotient(hop.busy, length));
  link.latency = static_cast<int>(ceil_quotient(hop.latency + hop.busy * (link.most - 1), length));
  return link;
}

LinkEpochs rounded_down(const HopTime& hop, SimTime length) {
  LinkEpochs link;
  link.busy = hop.busy;
  link.latency = static_cast<int>(floor_quotient(hop.latency, length));
  link.span = static_cast<int>(std::max<std::int64_t>(1, floor_quotient(hop.busy, length)));
  link.most = hop.busy >= length ? 1 : static_cast<int>(ceil_quotient(length, hop.busy));
  return link;
}

}  // namespace

SimTime epoch_length(const Instance& instance, const EpochChoice& choice) {
  constexpr std::int64_t kLongAlpha = 200;
  constexpr std::int64_t kLonger = 5;
  if (choice.by == EpochChoice::By::length) return choice.length;
  SimTime fastest = SimTime::max();
  SimTime slowest;
  SimTime alpha;
  for (std::size_t link = 0; link < instance.topology.links(); ++link) {
    const auto& link_class = instance.topology.classes()[instance.topology.class_of(LinkId::at(link))];
    const SimTime taken = serialization_time(instance.collective.chunk_sizes().front(), link_class);
    fastest = std::min(fastest, taken);
    slowest = std::max(slowest, taken);
    alpha = std::max(alpha, link_class.alpha);
  }
  const SimTime length = std::max(picoseconds(1), choice.by == EpochChoice::By::fastest ? fastest : slowest);
  return alpha.count() / kLongAlpha > length.count() ? length * kLonger : length;
}

EpochGrid epoch_grid(const Instance& instance, SimTime length, Rounding rounding) {
  EpochGrid grid;
  grid.length = length;
  grid.exact = true;
  for (std::size_t link = 0; link < instance.topology.links(); ++link) {
    const HopTime hop = hop_of(instance, link);
    grid.links.push_back(rounding == Rounding::up ? rounded_up(hop, length) : rounded_down(hop, length));
    grid.exact &= hop.busy % length == SimTime::zero() && hop.latency % length == SimTime::zero();
    grid.longest_latency = std::max(grid.longest_latency, grid.links.back().latency);
  }
  return grid;
}

}  // namespace tenex::te_ccl
