// Copies of adjacency and times, and the choice of slots and units.
#include "synthesis/pccl/paths/network.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace tenex {
namespace {

constexpr std::size_t kMostSlottedVertices = 65'535;  // hops in 16 bits, one value for "never"
constexpr std::int64_t kMostSlotsPerHop = std::int64_t{1} << 12;
constexpr std::int64_t kMostUnits = std::numeric_limits<std::uint32_t>::max() - 1;

}  // namespace

PathNetwork::PathNetwork(const Instance& instance)
    : topology_(instance.topology), sizes_(instance.collective.chunk_sizes().size()) {
  out_begin_.push_back(0);
  in_begin_.push_back(0);
  for (std::size_t v = 0; v < vertices(); ++v) {
    for (const LinkId link : topology_.out_links(VertexId::at(v)))
      out_.push_back({link.value(), topology_.target(link).value()});
    for (const LinkId link : topology_.in_links(VertexId::at(v)))
      in_.push_back({link.value(), topology_.source(link).value()});
    out_begin_.push_back(static_cast<std::uint32_t>(out_.size()));
    in_begin_.push_back(static_cast<std::uint32_t>(in_.size()));
  }
  set_times(instance);
  set_unit();
}

void PathNetwork::set_times(const Instance& instance) {
  for (const auto& link_class : topology_.classes()) {
    least_busy_.push_back(SimTime::max());
    for (const Bytes size : instance.collective.chunk_sizes()) {
      times_.push_back(hop_time(link_class, size, instance.occupancy));
      least_busy_.back() = std::min(least_busy_.back(), times_.back().busy);
    }
  }
  const bool alike =
      !times_.empty() && std::all_of(times_.begin(), times_.end(), [&](const auto& t) { return t == times_.front(); });
  if (!alike || vertices() > kMostSlottedVertices) return;
  const std::int64_t slots = ceil_div(times_.front().latency.count(), times_.front().busy.count());
  slotted_ = slots <= kMostSlotsPerHop;
  slots_per_hop_ = static_cast<std::uint32_t>(slots);
}

void PathNetwork::set_unit() {
  std::int64_t divisor = 0;
  std::int64_t longest = 0;
  for (const HopTime& time : times_) {
    divisor = std::gcd(divisor, time.latency.count());
    longest = std::max(longest, time.latency.count());
  }
  const auto hops = static_cast<std::int64_t>(vertices());  // a shortest path has fewer
  unit_ = picoseconds(std::max({divisor, std::int64_t{1}, longest / (kMostUnits / hops) + 1}));
  if (divisor > 0 && longest / divisor <= kMostUnits / hops) unit_ = picoseconds(divisor);
  for (const HopTime& time : times_) weights_.push_back(static_cast<std::uint32_t>(time.latency / unit_));
}

}  // namespace tenex
