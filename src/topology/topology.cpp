// The frozen multigraph and its builder.
#include "tenex/topology/topology.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include <fmt/core.h>

#include "tenex/topology/wires.hpp"
#include "topology/route_table.hpp"

namespace tenex {

namespace {

constexpr std::size_t kMostClasses = std::numeric_limits<std::uint16_t>::max();
constexpr std::size_t kMostIds = std::numeric_limits<std::uint32_t>::max() - 1;

struct ClassHash {
  std::size_t operator()(const LinkClass& link) const noexcept {
    // Fibonacci hashing of the one, then the other: enough to spread a few classes.
    const auto a = static_cast<std::uint64_t>(link.alpha.count()) * 0x9E3779B97F4A7C15U;
    const auto b = (a ^ static_cast<std::uint64_t>(link.bandwidth.count())) * 0xC2B2AE3D27D4EB4FU;
    const auto rest = static_cast<std::uint64_t>(link.slowdown) ^ (std::uint64_t{link.windows} << 48U) ^
                      static_cast<std::uint64_t>(link.overhead.count());
    return static_cast<std::size_t>((b ^ rest) * 0x9E3779B97F4A7C15U);
  }
};

/// Numbers link classes in the order in which they first appear.
class ClassTable {
 public:
  /// The number of a class, or kMostClasses where there are too many.
  std::size_t number(const LinkClass& link) {
    if (!classes_.empty() && classes_[last_] == link) return last_;
    const auto [entry, fresh] = numbers_.try_emplace(link, classes_.size());
    if (fresh) {
      if (classes_.size() == kMostClasses) return kMostClasses;
      classes_.push_back(link);
    }
    last_ = entry->second;
    return last_;
  }
  std::vector<LinkClass> take() && { return std::move(classes_); }

 private:
  std::unordered_map<LinkClass, std::size_t, ClassHash> numbers_;
  std::vector<LinkClass> classes_;
  std::size_t last_ = 0;
};

Csr<LinkId> by_vertex(std::size_t vertices, const std::vector<VertexId>& vertex_of_link) {
  return Csr<LinkId>::group(
      vertices, vertex_of_link.size(), [&](std::size_t link) { return vertex_of_link[link].index(); },
      [](std::size_t link) { return LinkId::at(link); });
}

/// The errors of a link.
Diagnostics check_link(const Link& link, std::size_t number, std::size_t vertices) {
  Diagnostics errors;
  const auto name = [&] { return fmt::format("link {} ({} -> {})", number, link.source.value(), link.target.value()); };
  for (const VertexId end : {link.source, link.target}) {
    if (end.index() >= vertices) {
      errors.push_back(input_error({}, fmt::format("{} uses vertex {}, which does not exist", name(), end.value()),
                                   fmt::format("vertices are 0 to {}", vertices - 1)));
    }
  }
  if (link.source == link.target) {
    errors.push_back(input_error({}, fmt::format("{} joins a vertex to itself", name()), "a link has two ends"));
  }
  if (link.bandwidth <= Bandwidth::zero()) {
    errors.push_back(input_error({}, fmt::format("{} has a bandwidth of {} B/s", name(), link.bandwidth.count()),
                                 "a bandwidth is positive"));
  }
  if (link.alpha < SimTime::zero()) {
    errors.push_back(input_error({}, fmt::format("{} has an alpha of {} ps", name(), link.alpha.count()),
                                 "a latency is at least 0"));
  }
  if (link.overhead < SimTime::zero() || link.overhead > std::max(link.alpha, SimTime::zero())) {
    errors.push_back(input_error({}, fmt::format("{} has an overhead of {} ps", name(), link.overhead.count()),
                                 "an overhead is at least 0, and a part of alpha"));
  }
  if (link.slowdown < kNoSlowdown) {
    errors.push_back(input_error({}, fmt::format("{} has a slowdown of {}/1000", name(), link.slowdown),
                                 "a slow link takes at least as long as its bandwidth says"));
  }
  return errors;
}

Diagnostic too_many_classes() {
  return input_error({}, fmt::format("more than {} kinds of links", kMostClasses),
                     "links that differ in alpha or bandwidth are kinds of their own");
}

}  // namespace

Topology Topology::with_switches(SwitchProperties properties) const {
  return with_switches(std::vector(switches(), properties));
}

Topology Topology::with_switches(std::vector<SwitchProperties> properties) const {
  ensure(properties.size() == switches() && !wires_, "properties for each switch, before wires are made");
  Topology changed = *this;
  changed.switches_ = std::move(properties);
  return changed;
}

Topology Topology::without_shape() const {
  Topology plain = *this;
  plain.shape_.reset();
  plain.unwound_shape_.reset();
  if (wires_) plain.wires_ = std::make_shared<const Wires>(wires_->without_shape());
  return plain;
}

Result<Topology> Topology::with_windows(const std::vector<std::uint16_t>& list_of_link,
                                        std::vector<SlowWindows> lists) const {
  ensure(list_of_link.size() == links() && !wires_, "windows for each link, before wires are made");
  Topology varied = *this;
  ClassTable classes;
  for (std::size_t i = 0; i < links(); ++i) {
    LinkClass link_class = classes_[class_of_[i]];
    link_class.windows = list_of_link[i];
    const std::size_t number = classes.number(link_class);
    if (number == kMostClasses) return too_many_classes();
    varied.class_of_[i] = static_cast<std::uint16_t>(number);
  }
  varied.classes_ = std::move(classes).take();
  varied.windows_ = lists.empty() ? nullptr : std::make_shared<const std::vector<SlowWindows>>(std::move(lists));
  return varied;
}

Topology Topology::without_windows() const {
  if (!varies()) return *this;
  return with_windows(std::vector<std::uint16_t>(links(), 0), {}).value();
}

Topology Topology::with_route_table(std::shared_ptr<const RouteTable> table) const {
  ensure(table == nullptr || !shape_, "given routes take the place of a shape's");
  Topology changed = *this;
  changed.route_table_ = std::move(table);
  return changed;
}

Topology Topology::reversed() const {
  Topology turned = *this;
  turned.route_table_.reset();
  if (wires_) turned.wires_ = std::make_shared<const Wires>(wires_->reversed());
  std::swap(turned.source_, turned.target_);
  std::swap(turned.out_, turned.in_);
  return turned;
}

Topology Topology::mirrored() const {
  Topology turned = reversed();
  for (SwitchProperties& properties : turned.switches_) std::swap(properties.copy, properties.reduce);
  if (turned.wires_) turned.wires_ = std::make_shared<const Wires>(turned.wires_->exchanged());
  return turned;
}

Topology Topology::without(const std::vector<bool>& drop) const {
  ensure(drop.size() == links(), "one flag per link");
  ensure(!wires_, "links are removed before wires are made");
  Topology kept;
  kept.windows_ = windows_;
  kept.npus_ = npus_;
  kept.switches_ = switches_;
  ClassTable classes;
  for (std::size_t i = 0; i < links(); ++i) {
    if (drop[i]) continue;
    kept.source_.push_back(source_[i]);
    kept.target_.push_back(target_[i]);
    kept.class_of_.push_back(static_cast<std::uint16_t>(classes.number(classes_[class_of_[i]])));
  }
  kept.classes_ = std::move(classes).take();
  kept.out_ = by_vertex(kept.vertices(), kept.source_);
  kept.in_ = by_vertex(kept.vertices(), kept.target_);
  if (kept.links() == links()) {
    kept.shape_ = shape_;
    kept.unwound_shape_ = unwound_shape_;
    kept.route_table_ = route_table_;
  } else if (route_table_) {
    kept.route_table_ = route_table_->without(drop, kept);
  }
  return kept;
}

VertexId TopologyBuilder::add_switch(SwitchProperties properties) {
  switches_.push_back(properties);
  return VertexId::at(npus_ + switches_.size() - 1);
}

LinkId TopologyBuilder::add_link(Link link) {
  links_.push_back(link);
  return LinkId::at(links_.size() - 1);
}

LinkId TopologyBuilder::add_link_pair(Link link) {
  const LinkId first = add_link(link);
  std::swap(link.source, link.target);
  add_link(link);
  return first;
}

Result<Topology> TopologyBuilder::build() && {
  const std::size_t vertices = npus_ + switches_.size();
  if (npus_ == 0) return input_error({}, "a topology without NPUs", "a topology has at least one NPU");
  if (vertices > kMostIds || links_.size() > kMostIds) {
    return resource_error(fmt::format("a topology of {} vertices and {} links", vertices, links_.size()),
                          fmt::format("at most {} of each are addressed", kMostIds));
  }
  Topology topology;
  topology.npus_ = npus_;
  topology.switches_ = std::move(switches_);
  topology.source_.reserve(links_.size());
  topology.target_.reserve(links_.size());
  topology.class_of_.reserve(links_.size());
  ClassTable classes;
  Diagnostics errors;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    append(errors, check_link(link, i, vertices));
    const std::size_t number = classes.number({link.alpha, link.bandwidth, link.slowdown, 0, link.overhead});
    if (number == kMostClasses) return too_many_classes();
    topology.source_.push_back(link.source);
    topology.target_.push_back(link.target);
    topology.class_of_.push_back(static_cast<std::uint16_t>(number));
  }
  if (!errors.empty()) return errors;
  topology.classes_ = std::move(classes).take();
  topology.out_ = by_vertex(vertices, topology.source_);
  topology.in_ = by_vertex(vertices, topology.target_);
  topology.shape_ = std::move(shape_);
  topology.unwound_shape_ = std::move(unwound_shape_);
  ensure(!wires_ || wires_->size() == topology.links(), "one wire per link");
  topology.wires_ = std::move(wires_);
  return topology;
}

}  // namespace tenex
