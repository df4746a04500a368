// Roles: one per direction, the link that leaves its source; or two per dimension over switches, the link to the switch
// and the link from it.
#include "schedule/verifier/orbit_links.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "tenex/topology/hand_over.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {

namespace {

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

/// Who uses a physical link: the NPU that it leaves or reaches, in a role.
struct RoleHolder {
  std::uint32_t role = kNobody;
  NpuId npu;
  bool operator==(const RoleHolder&) const = default;
};

class WireRoles {
 public:
  WireRoles(const Instance& instance, const TranslationGroup& group)
      : instance_(instance),
        wires_(*instance.topology.wires()),
        network_(wires_.network()),
        group_(group),
        holder_(network_.links()) {
    for (const LinkClass& each : instance.topology.classes()) wire_time_.push_back(serialization_time(size(), each));
    for (const LinkClass& each : network_.classes()) link_time_.push_back(serialization_time(size(), each));
    for (const auto& direction : group.directions()) {
      const std::uint32_t first = group.dimensions()[direction.dimension].first_direction;
      const bool over_switch = at_origin(first).size() > 1;
      const bool begins = first_role_.size() == first || !over_switch;
      first_role_.push_back(begins ? roles_ : first_role_[first]);
      if (begins) roles_ += over_switch ? 2 : 1;
    }
    link_.assign(group.npus() * roles_, LinkId::none());
  }

  [[nodiscard]] std::uint32_t roles() const { return roles_; }

  /// Whether all wires have the links of their roles, alike at all NPUs.
  bool hold() {
    for (const auto& dimension : group_.dimensions())
      for (std::uint32_t i = 0; i < dimension.directions; ++i) {
        const std::size_t links = at_origin(dimension.first_direction + i).size();
        if (links > 2 || links != at_origin(dimension.first_direction).size()) return false;
      }
    for (std::size_t npu = 0; npu < group_.npus(); ++npu)  // in the order of links
      for (std::uint32_t direction = 0; direction < group_.directions().size(); ++direction)
        if (!takes_its_links({NpuId::at(npu), direction})) return false;
    return true;
  }

  void add_uses(std::uint32_t direction, std::vector<RoleUse>& uses) const {
    const SimTime serialization = wire_time_[group_.directions()[direction].link_class];
    for (const WireSpan& span : at_origin(direction))
      uses.push_back(
          {holder_[span.link.index()].role, span.offset,
           instance_.occupancy == Occupancy::transfer ? serialization + network_.alpha(span.link) : serialization});
  }

 private:
  [[nodiscard]] Bytes size() const { return instance_.collective.chunk_sizes()[0]; }
  [[nodiscard]] std::span<const WireSpan> at_origin(std::uint32_t direction) const {
    return wires_.spans(group_.link({NpuId(0), direction}));
  }

  bool takes_its_links(const TranslationGroup::Departure& departure) {
    const LinkId wire = group_.link(departure);
    const auto spans = wires_.spans(wire);
    const NpuId target = group_.neighbour(departure.source, departure.direction);
    const auto at_first = at_origin(departure.direction);
    if (spans.size() != at_first.size() || !is_path(wire, departure.source, target)) return false;
    for (std::size_t i = 0; i < spans.size(); ++i)
      if (spans[i].offset != at_first[i].offset || network_.alpha(spans[i].link) != network_.alpha(at_first[i].link))
        return false;
    const std::uint32_t role = first_role_[departure.direction];
    if (spans.size() == 1) return has_role(spans[0].link, {role, departure.source});
    return has_role(spans[0].link, {role, departure.source}) && has_role(spans[1].link, {role + 1, target});
  }

  /// Whether a wire's links lead from its source over switches to its target, in its times. A switch that cuts through
  /// passes on what arrives, and so does one with virtual cut-through between links that are equally fast; one that
  /// stores and forwards begins when all has arrived.
  [[nodiscard]] bool is_path(LinkId wire, NpuId source, NpuId target) const {
    const std::uint16_t claimed = instance_.topology.class_of(wire);
    SimTime offset;
    SimTime slowest;
    VertexId at = vertex_of(source);
    for (const WireSpan& span : wires_.spans(wire)) {
      if (at != vertex_of(source)) {
        if (network_.is_npu(at)) return false;
        const bool early = passes_on_early(network_, at);
        if (early && slowest != link_time_[network_.class_of(span.link)]) return false;
        if (!early && !cuts_through(network_, at)) offset += std::exchange(slowest, SimTime::zero());
      }
      if (network_.source(span.link) != at || span.offset != offset) return false;
      offset += network_.alpha(span.link);
      slowest = std::max(slowest, link_time_[network_.class_of(span.link)]);
      at = network_.target(span.link);
    }
    return at == vertex_of(target) && instance_.topology.classes()[claimed].alpha == offset &&
           wire_time_[claimed] == slowest;
  }

  /// Gives a link its role, or sees that it has it: one to one.
  bool has_role(LinkId link, RoleHolder holder) {
    RoleHolder& known = holder_[link.index()];
    LinkId& of_holder = link_[holder.role * group_.npus() + holder.npu.index()];
    if (known.role == kNobody && !of_holder.exists()) {
      known = holder;
      of_holder = link;
    }
    return known == holder && of_holder == link;
  }

  const Instance& instance_;
  const Wires& wires_;
  const Topology& network_;
  const TranslationGroup& group_;
  std::vector<SimTime> wire_time_;         ///< serialization by class of wire
  std::vector<SimTime> link_time_;         ///< by class of physical link
  std::vector<std::uint32_t> first_role_;  ///< by direction: of its wires' first link
  std::uint32_t roles_ = 0;
  std::vector<RoleHolder> holder_;  ///< by physical link
  std::vector<LinkId> link_;        ///< by role, then by NPU
};

}  // namespace

std::optional<OrbitLinks> orbit_links(const Instance& instance, const TranslationGroup& group) {
  const auto directions = static_cast<std::uint32_t>(group.directions().size());
  OrbitLinks links;
  if (instance.topology.wires() == nullptr) {
    links.roles = directions;
    for (std::uint32_t direction = 0; direction < directions; ++direction) {
      const LinkClass& link_class = instance.topology.classes()[group.directions()[direction].link_class];
      const HopTime hop = hop_time(link_class, instance.collective.chunk_sizes()[0], instance.occupancy);
      links.first.push_back(direction);
      links.uses.push_back({direction, SimTime::zero(), hop.busy});
    }
    links.first.push_back(directions);
    return links;
  }
  WireRoles roles(instance, group);
  if (!roles.hold()) return std::nullopt;
  links.roles = roles.roles();
  for (std::uint32_t direction = 0; direction < directions; ++direction) {
    links.first.push_back(static_cast<std::uint32_t>(links.uses.size()));
    roles.add_uses(direction, links.uses);
  }
  links.first.push_back(static_cast<std::uint32_t>(links.uses.size()));
  return links;
}

}  // namespace tenex
