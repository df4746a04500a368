// Slower links, as a study's `stragglers` and `overhead` ask.
#include "topology/slow_links.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "tenex/base/diagnostic.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/wires.hpp"
#include "topology/missing_link.hpp"

namespace tenex {

namespace {

/// What a link's times are multiplied by, in thousandths.
struct Factors {
  std::int64_t beta = kNoSlowdown;
  std::int64_t alpha = kNoSlowdown;
};

/// Raises the factors of a slowdown's links and returns the number of those links.
std::size_t mark(const Topology& topology, const Slowdown& slowdown, std::vector<Factors>& factors) {
  std::size_t found = 0;
  const auto raise = [&](LinkId link) {
    auto& [beta, alpha] = factors[link.index()];
    beta = std::max(beta, slowdown.thousandths);
    alpha = std::max(alpha, slowdown.alpha_thousandths);
    ++found;
  };
  for (const LinkId link : topology.out_links(slowdown.source))
    if (!slowdown.target || topology.target(link) == *slowdown.target) raise(link);
  if (!slowdown.target)
    for (const LinkId link : topology.in_links(slowdown.source)) raise(link);
  return found;
}

/// The same network with every link as `change` leaves it.
template <class Change>
Result<Topology> with_links(const Topology& topology, Change change) {
  TopologyBuilder builder(topology.npus());
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v)
    builder.add_switch(topology.switch_properties(VertexId::at(v)));
  builder.reserve_links(topology.links());
  for (std::size_t i = 0; i < topology.links(); ++i) {
    auto link = topology.link(LinkId::at(i));
    change(i, link);
    builder.add_link(link);
  }
  if (topology.shape()) builder.declare_shape(*topology.shape());
  auto changed = std::move(builder).build();
  if (!changed || !topology.route_table()) return changed;
  return changed->with_route_table(topology.route_table());
}

/// What a factor added to an alpha: stretched(before, thousandths) - before. The product was rounded up by less than
/// 1 ps and the factor is 1 or more, so the quotient rounds down to what was before.
SimTime added(SimTime alpha, std::int64_t thousandths) {
  __extension__ using Wide = __int128;
  const Wide before = Wide{alpha.count()} * kNoSlowdown / thousandths;
  return alpha - SimTime::of(static_cast<std::int64_t>(before));
}

}  // namespace

Result<Topology> slow_links(const Topology& topology, const std::vector<Slowdown>& slowdowns) {
  ensure(topology.wires() == nullptr, "links are slowed down before wires are made");
  std::vector<Factors> factors(topology.links());
  Diagnostics errors;
  for (const auto& slowdown : slowdowns) {
    const VertexId far = slowdown.target.value_or(slowdown.source);
    const VertexId beyond = slowdown.source.index() >= topology.vertices() ? slowdown.source : far;
    if (beyond.index() >= topology.vertices())
      errors.push_back(missing_vertex(topology, beyond));
    else if (mark(topology, slowdown, factors) == 0)
      errors.push_back(input_error({}, fmt::format("no link leads from {} to {}", slowdown.source.value(), far.value()),
                                   "only existing links are slowed down"));
  }
  if (!errors.empty()) return errors;
  return with_links(topology, [&](std::size_t i, Link& link) {
    link.slowdown = std::max(link.slowdown, factors[i].beta);
    link.alpha = stretched(link.alpha, factors[i].alpha);
  });
}

Result<Topology> with_overhead(const Topology& topology, SimTime overhead) {
  ensure(topology.wires() == nullptr, "overheads are added before wires are made");
  return with_links(topology, [&](std::size_t, Link& link) {
    if (!topology.is_npu(link.source)) return;
    link.alpha = saturating_sum(link.alpha, overhead);
    link.overhead = saturating_sum(link.overhead, overhead);
  });
}

std::vector<SimTime> added_alphas(const Topology& slowed, const std::vector<Slowdown>& slowdowns) {
  if (std::ranges::none_of(slowdowns, [](const Slowdown& each) { return each.alpha_thousandths > kNoSlowdown; }))
    return {};
  std::vector<Factors> factors(slowed.links());
  for (const auto& slowdown : slowdowns) mark(slowed, slowdown, factors);
  std::vector<SimTime> times;
  times.reserve(factors.size());
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const LinkClass& link = slowed.classes()[slowed.class_of(LinkId::at(i))];
    times.push_back(added(link.alpha - link.overhead, factors[i].alpha));
  }
  return times;
}

}  // namespace tenex
