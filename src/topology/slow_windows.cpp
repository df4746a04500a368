// Hops that depend on their start, and the windows of links.
#include "tenex/topology/slow_windows.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "topology/missing_link.hpp"

namespace tenex {

namespace {

__extension__ using Wide = unsigned __int128;

/// Windows that do not overlap: where several are open, that of the largest factor.
SlowWindows apart(const SlowWindows& windows) {
  std::vector<SimTime> edges;
  for (const SlowWindow& window : windows) edges.insert(edges.end(), {window.from, window.until});
  std::ranges::sort(edges);
  SlowWindows result;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    std::int64_t factor = kNoSlowdown;
    for (const SlowWindow& window : windows)
      if (window.from <= edges[i] && edges[i] < window.until) factor = std::max(factor, window.thousandths);
    if (factor == kNoSlowdown || edges[i] == edges[i + 1]) continue;
    if (!result.empty() && result.back().until == edges[i] && result.back().thousandths == factor)
      result.back().until = edges[i + 1];
    else
      result.push_back({edges[i], edges[i + 1], factor});
  }
  return result;
}

/// The links that a window names.
std::vector<LinkId> links_of(const Topology& topology, const NamedWindow& named) {
  std::vector<LinkId> links;
  for (const LinkId link : topology.out_links(named.source))
    if (!named.target || topology.target(link) == *named.target) links.push_back(link);
  if (!named.target)
    for (const LinkId link : topology.in_links(named.source)) links.push_back(link);
  return links;
}

/// The windows as numbers of lists, by link.
Result<Topology> with_lists(const Topology& topology, const std::vector<SlowWindows>& of_link) {
  constexpr std::size_t kMostLists = 65'535;
  const auto is_before = [](const SlowWindows& a, const SlowWindows& b) {
    const auto key = [](const SlowWindow& window) { return std::tuple(window.from, window.until, window.thousandths); };
    return std::ranges::lexicographical_compare(a, b, {}, key, key);
  };
  std::map<SlowWindows, std::uint16_t, decltype(is_before)> numbers(is_before);
  std::vector<std::uint16_t> list_of_link(of_link.size(), 0);
  std::vector<SlowWindows> lists;
  for (std::size_t link = 0; link < of_link.size(); ++link) {
    if (of_link[link].empty()) continue;
    const auto [found, fresh] = numbers.try_emplace(of_link[link], static_cast<std::uint16_t>(lists.size() + 1));
    if (fresh && lists.size() == kMostLists)
      return input_error({}, fmt::format("more than {} kinds of windows", kMostLists));
    if (fresh) lists.push_back(of_link[link]);
    list_of_link[link] = found->second;
  }
  return topology.with_windows(list_of_link, std::move(lists));
}

}  // namespace

SimTime time_through(std::span<const SlowWindow> windows, SimTime start, SimTime outside) {
  SimTime now = std::max(start, SimTime::zero());
  SimTime left = outside;
  SimTime taken;
  for (const auto& [from, until, thousandths] : windows) {
    if (until <= now) continue;
    if (now < from) {
      if (left <= from - now) break;
      left -= from - now;
      taken += from - now;
      now = from;
    }
    const SimTime room = until - now;
    if (const SimTime needed = stretched(left, thousandths); needed <= room) return taken + needed;
    left -= SimTime::of(
        static_cast<std::int64_t>(static_cast<Wide>(room.count()) * kNoSlowdown / static_cast<Wide>(thousandths)));
    taken += room;
    now = until;
  }
  return saturating_sum(taken, left);
}

Result<Topology> with_slow_windows(const Topology& topology, const std::vector<NamedWindow>& windows) {
  ensure(!topology.varies(), "windows are given once");
  std::vector<SlowWindows> of_link(topology.links());
  Diagnostics errors;
  for (const NamedWindow& named : windows) {
    const VertexId far = named.target.value_or(named.source);
    const VertexId beyond = named.source.index() >= topology.vertices() ? named.source : far;
    if (beyond.index() >= topology.vertices()) {
      errors.push_back(missing_vertex(topology, beyond));
      continue;
    }
    const auto links = links_of(topology, named);
    if (links.empty())
      errors.push_back(input_error({}, fmt::format("no link leads from {} to {}", named.source.value(), far.value()),
                                   "only existing links have windows"));
    for (const LinkId link : links) of_link[link.index()].push_back(named.window);
  }
  if (!errors.empty()) return errors;
  for (SlowWindows& list : of_link) list = apart(list);
  return with_lists(topology, of_link);
}

StartedHops::StartedHops(const Topology& topology, const std::vector<Bytes>& sizes, Occupancy occupancy)
    : columns_(sizes.size()) {
  for (LinkClass link_class : topology.classes()) {
    link_class.windows = 0;
    for (const Bytes size : sizes) table_.push_back(hop_time(link_class, size, occupancy));
  }
  if (!topology.varies()) return;
  for (std::size_t c = 0; c < topology.classes().size(); ++c) {
    const auto windows = topology.windows(static_cast<std::uint16_t>(c));
    windows_.emplace_back(windows.begin(), windows.end());
    alpha_.push_back(topology.classes()[c].alpha);
    overhead_.push_back(topology.classes()[c].overhead);
  }
}

HopTime StartedHops::within(std::uint16_t link_class, const HopTime& hop, SimTime start) const {
  const SimTime alpha = alpha_[link_class];
  const SimTime overhead = overhead_[link_class];  // the bytes leave after it
  const SimTime serialization = time_through(windows_[link_class], start + overhead, hop.latency - alpha);
  const SimTime latency = saturating_sum(alpha, serialization);
  return {hop.busy == hop.latency ? latency : saturating_sum(overhead, serialization), latency};
}

}  // namespace tenex
