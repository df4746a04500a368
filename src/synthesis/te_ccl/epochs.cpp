// Lengths of epochs, and hops in epochs.
#include "synthesis/te_ccl/epochs.hpp"

#include <algorithm>
#include <map>

#include "tenex/base/contract.hpp"
#include "tenex/topology/slow_windows.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex::te_ccl {
namespace {

std::int64_t floor_quotient(SimTime time, SimTime length) { return time.count() / length.count(); }
std::int64_t ceil_quotient(SimTime time, SimTime length) {
  return (time.count() + length.count() - 1) / length.count();
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

/// Signals on a physical link: by the wires that take it.
class RoomOfWires {
 public:
  RoomOfWires(const Instance& instance, SimTime length, Rounding rounding)
      : instance_(instance), length_(length), rounding_(rounding) {}

  void add(LinkId wire, std::size_t place, SimTime serialization) {
    const auto spans = instance_.topology.wires()->spans(wire);
    const auto [link, offset] = spans[place];
    SimTime busy = serialization;
    if (instance_.occupancy == Occupancy::transfer) busy += instance_.topology.wires()->network().alpha(link);
    longest_ = std::max(longest_, busy);
    shortest_ = std::min(shortest_, busy);
    in_epochs_ &= busy % length_ == SimTime::zero();
    const SimTime part = offset % length_;
    parts_differ_ |= !uses_.empty() && part != part_;
    part_ = part;
    std::vector<std::uint32_t> path;  // the same links so far mean the same source
    for (std::size_t i = 0; i <= place; ++i) path.push_back(spans[i].link.value());
    auto& use = uses_[path];
    use.links.push_back(wire);
    use.span = place;
    use.offset =
        static_cast<int>(rounding_ == Rounding::up ? ceil_quotient(offset, length_) : floor_quotient(offset, length_));
  }
  /// Whether the length divides what its signals take, and when they come.
  [[nodiscard]] bool exact() const { return in_epochs_ && !parts_differ_ && part_ == SimTime::zero(); }

  [[nodiscard]] LinkRoom room() const {
    LinkRoom room;
    for (const auto& [path, use] : uses_) room.uses.push_back(use);
    if (uses_.empty()) return room;
    if (rounding_ == Rounding::up) {
      room.most = static_cast<int>(std::max<std::int64_t>(1, floor_quotient(length_, longest_)));
      room.span = static_cast<int>(ceil_quotient(longest_, length_));
      return room;
    }
    // Sends that are `shortest_` apart, in windows of epochs; of unequal parts, one epoch more counts for each window.
    constexpr std::int64_t kEpochsOfUnequalParts = 8;
    const std::int64_t span = std::max<std::int64_t>(1, floor_quotient(shortest_, length_));
    const std::int64_t window = parts_differ_ ? span * kEpochsOfUnequalParts : span;
    room.span = static_cast<int>(window);
    room.most = static_cast<int>(
        ceil_quotient(length_ * (window + (parts_differ_ ? 1 : 0)), std::max(shortest_, picoseconds(1))));
    return room;
  }

 private:
  const Instance& instance_;
  SimTime length_;
  Rounding rounding_;
  SimTime longest_ = picoseconds(1);
  SimTime shortest_ = SimTime::max();
  SimTime part_;
  bool parts_differ_ = false;
  bool in_epochs_ = true;
  std::map<std::vector<std::uint32_t>, RoomUse> uses_;
};

void add_rooms_of_wires(const Instance& instance, Rounding rounding, EpochGrid& grid) {
  const Wires& wires = *instance.topology.wires();
  std::vector<RoomOfWires> rooms(wires.network().links(), RoomOfWires(instance, grid.length, rounding));
  for (std::size_t wire = 0; wire < wires.size(); ++wire) {
    const auto spans = wires.spans(LinkId::at(wire));
    for (std::size_t place = 0; place < spans.size(); ++place)
      rooms[spans[place].link.index()].add(LinkId::at(wire), place, grid.links[wire].serialization);
  }
  for (const RoomOfWires& room : rooms) {
    grid.exact &= room.exact();
    grid.rooms.push_back(room.room());
  }
}

/// Sends of the epochs until the last window is over.
class VaryingEpochs {
 public:
  VaryingEpochs(const Instance& instance, const StartedHops& hops, SimTime length, Rounding rounding)
      : topology_(instance.topology), hops_(hops), length_(length), rounding_(rounding) {}

  /// Fills the grid's tables. Its links are those outside all windows.
  void add_to(EpochGrid& grid) {
    for (std::size_t link = 0; link < grid.links.size(); ++link)
      grid.class_of.push_back(topology_.class_of(LinkId::at(link)));
    for (std::uint16_t c = 0; c < topology_.classes().size(); ++c) {
      const auto link = std::ranges::find(grid.class_of, c) - grid.class_of.begin();
      add_class(c, grid.links[static_cast<std::size_t>(link)], grid);
    }
  }

 private:
  void add_class(std::uint16_t link_class, const LinkEpochs& outside, EpochGrid& grid) {
    auto& table = grid.varying.emplace_back();
    const auto windows = topology_.windows(link_class);
    if (windows.empty()) return;
    const std::int64_t needed = ceil_quotient(windows.back().until, length_);
    const std::int64_t most = kMostVaryingEpochs / outside.most + 1;
    if (needed > most) grid.most_epochs = static_cast<int>(std::min<std::int64_t>(grid.most_epochs, most));
    for (int epoch = 0; epoch < std::min(needed, most); ++epoch) {
      table.push_back(rounding_ == Rounding::up ? up(link_class, epoch, outside) : down(link_class, epoch, outside));
      const HopTime first = hop(link_class, length_ * epoch);
      grid.exact &= first.busy % length_ == SimTime::zero() && first.latency % length_ == SimTime::zero();
    }
  }
  [[nodiscard]] HopTime hop(std::uint16_t link_class, SimTime start) const { return hops_.at(link_class, 0, start); }

  [[nodiscard]] LinkEpochs up(std::uint16_t link_class, int epoch, LinkEpochs link) const {
    const SimTime begin = length_ * epoch;
    SimTime start = begin;
    SimTime arrival;
    for (link.most = 0; true; ++link.most) {
      const HopTime next = hop(link_class, start);
      if (link.most > 0 && start + next.busy > begin + length_) break;
      arrival = start + next.latency;
      start += next.busy;
    }
    link.span = link.most > 1 ? 1 : static_cast<int>(ceil_quotient(start - begin, length_));
    link.latency = static_cast<int>(ceil_quotient(arrival - begin, length_));
    link.soonest = static_cast<int>(floor_quotient(hop(link_class, begin).latency, length_));
    return link;
  }
  [[nodiscard]] LinkEpochs down(std::uint16_t link_class, int epoch, LinkEpochs link) const {
    const SimTime begin = length_ * epoch;
    SimTime start = begin;
    for (link.most = 0; start < begin + length_; ++link.most) start += hop(link_class, start).busy;
    link.span = link.most > 1 ? 1 : static_cast<int>(floor_quotient(start - begin, length_));
    link.latency = static_cast<int>(floor_quotient(hop(link_class, begin).latency, length_));
    link.soonest = link.latency;
    return link;
  }

  const Topology& topology_;
  const StartedHops& hops_;
  SimTime length_;
  Rounding rounding_;
};

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
    const SimTime taken =
        link_class.overhead + serialization_time(instance.collective.chunk_sizes().front(), link_class);
    fastest = std::min(fastest, taken);
    slowest = std::max(slowest, taken);
    alpha = std::max(alpha, link_class.alpha);
  }
  const SimTime length =
      std::max(picoseconds(1), choice.by == EpochChoice::By::fastest ? fastest : slowest) * choice.factor;
  return alpha.count() / kLongAlpha > length.count() ? length * kLonger : length;
}

EpochGrid epoch_grid(const Instance& instance, SimTime length, Rounding rounding) {
  TENEX_EXPECTS(instance.collective.chunk_sizes().size() == 1, "chunks of one size");
  TENEX_EXPECTS(length > SimTime::zero(), "an epoch that takes time");
  EpochGrid grid;
  grid.length = length;
  grid.exact = true;
  const StartedHops hops(instance.topology, instance.collective.chunk_sizes(), instance.occupancy);
  for (std::size_t link = 0; link < instance.topology.links(); ++link) {
    const HopTime hop = hops.outside(instance.topology.class_of(LinkId::at(link)), 0);
    grid.links.push_back(rounding == Rounding::up ? rounded_up(hop, length) : rounded_down(hop, length));
    grid.links.back().soonest = static_cast<int>(floor_quotient(hop.latency, length));
    grid.links.back().serialization = hop.latency - instance.topology.alpha(LinkId::at(link));
    grid.exact &= hop.busy % length == SimTime::zero() && hop.latency % length == SimTime::zero();
    grid.longest_latency = std::max(grid.longest_latency, grid.links.back().latency);
  }
  if (instance.topology.wires() != nullptr) {
    add_rooms_of_wires(instance, rounding, grid);
    return grid;
  }
  for (std::size_t link = 0; link < grid.links.size(); ++link)
    grid.rooms.push_back({grid.links[link].span, grid.links[link].most, {{{LinkId::at(link)}, 0, 0}}});
  if (instance.topology.varies()) VaryingEpochs(instance, hops, length, rounding).add_to(grid);
  return grid;
}

}  // namespace tenex::te_ccl
