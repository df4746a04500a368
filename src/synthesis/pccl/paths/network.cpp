// Copies of adjacency and times, and the choice of slots and units.
//
// Slots cost memory where they are empty: a row per link reaches to the link's last send, and while the first messages
// travel, which takes the latencies of a longest path, most slots stay empty. Where latencies are far longer than the
// time for which a send keeps its link busy, those would be most of the memory; sends are then kept one by one.
#include "synthesis/pccl/paths/network.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

constexpr std::size_t kMostSlottedVertices = 65'535;  // hops in 16 bits, one value for "never"
constexpr std::int64_t kMostSlotsPerHop = std::int64_t{1} << 12;
constexpr std::int64_t kMostUnits = std::numeric_limits<std::uint32_t>::max() - 1;
constexpr double kBytesPerEmptySlot = 6;   // rows grow by halves
constexpr double kEmptyBytesPerCopy = 40;  // what a send that is kept by itself takes more than one in a slot
constexpr double kEmptyBytes = double{1 << 24};

/// The sends that copy all chunks, or that reduce them: one for each delivery, and on ways from one NPU to another
/// about half of the hops to the farthest NPU.
double expected_sends(const Collective& collective, std::int64_t hops_to_farthest) {
  double sends = 0;
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto kind = collective.kind(GroupId::at(g));
    const auto chunks = static_cast<double>(collective.chunks_in(GroupId::at(g)));
    const bool to_one = kind == CollectiveKind::all_to_all || kind == CollectiveKind::gather ||
                        kind == CollectiveKind::scatter || kind == CollectiveKind::all_to_allv;
    const bool once = to_one || stores_conditions(kind);
    const auto receivers = once ? 1.0 : static_cast<double>(collective.groups()[g].members.size() - 1);
    sends += chunks * receivers * (to_one ? std::max(1.0, static_cast<double>(hops_to_farthest) / 2) : 1);
  }
  return sends;
}

}  // namespace

PathNetwork::PathNetwork(const Instance& instance)
    : topology_(instance.topology), sizes_(instance.collective.chunk_sizes().size()) {
  for (std::size_t v = npus(); v < vertices(); ++v) {
    has_limits_ = has_limits_ || !rests(static_cast<std::uint32_t>(v));
    has_single_use_ = has_single_use_ || !branches(static_cast<std::uint32_t>(v));
  }
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
    least_busy_.push_back(SimTime::max().count());
    for (const Bytes size : instance.collective.chunk_sizes()) {
      times_.push_back(hop_time(link_class, size, instance.occupancy));
      least_busy_.back() = std::min(least_busy_.back(), times_.back().busy.count());
    }
  }
  equal_hops_ =
      !times_.empty() && std::all_of(times_.begin(), times_.end(), [&](const auto& t) { return t == times_.front(); });
  set_uses(instance);
  if (!equal_hops_ || vertices() > kMostSlottedVertices || wired() || has_limits_) return;
  const std::int64_t slots = ceil_div(times_.front().latency.count(), times_.front().busy.count());
  if (slots > kMostSlotsPerHop) return;
  slots_per_hop_ = static_cast<std::uint32_t>(slots);
  const std::int64_t hops = hops_to_farthest();
  const double empty = static_cast<double>(links()) * static_cast<double>(hops * (slots - 1));
  empty_slot_bytes_ = empty * kBytesPerEmptySlot;
  slotted_ = empty_slot_bytes_ <= kEmptyBytes + expected_sends(instance.collective, hops) * kEmptyBytesPerCopy;
}

void PathNetwork::set_uses(const Instance& instance) {
  const Wires* wires = topology_.wires();
  if (wires == nullptr) return;
  physical_links_ = wires->network().links();
  least_busy_.assign(physical_links_, SimTime::max().count());
  for (std::size_t link = 0; link < physical_links_; ++link) {
    const VertexId end = wires->network().target(LinkId::at(link));
    const bool parts = !wires->network().is_npu(end) && wires->network().switch_properties(end).copy &&
                       wires->network().switch_properties(end).forwarding == Forwarding::cut_through;
    copies_after_.push_back(parts);
    shares_signals_ = shares_signals_ || parts;
  }
  use_begin_.push_back(0);
  for (std::uint32_t wire = 0; wire < links(); ++wire) {
    for (const WireSpan& span : wires->spans(LinkId(wire))) {
      const bool transfer = instance.occupancy == Occupancy::transfer;
      const std::int64_t extra = transfer ? wires->network().alpha(span.link).count() : 0;
      uses_.push_back({span.link.value(), span.offset.count(), extra});
      for (std::size_t size = 0; size < sizes_; ++size)
        least_busy_[span.link.index()] = std::min(least_busy_[span.link.index()], serialization(wire, size) + extra);
    }
    use_begin_.push_back(uses_.size());
  }
}

std::int64_t PathNetwork::hops_to_farthest() const {
  std::vector<std::int64_t> hops(vertices(), -1);
  std::vector<std::uint32_t> queue{0};
  hops[0] = 0;
  for (std::size_t head = 0; head < queue.size(); ++head)
    for (const PathHop& next : out(queue[head])) {
      if (hops[next.vertex] >= 0) continue;
      hops[next.vertex] = hops[queue[head]] + 1;
      queue.push_back(next.vertex);
    }
  return hops[queue.back()];
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
