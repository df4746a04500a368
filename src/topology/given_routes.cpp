// The checks of given routes, each error at the place of the route, and the table that they become.
#include "tenex/topology/given_routes.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "topology/hop_check.hpp"
#include "topology/missing_link.hpp"
#include "topology/route_table.hpp"

namespace tenex {

namespace {

constexpr std::string_view kOverLinks = "messages go over links";

/// What is wrong with each route or next hop, the first thing of each.
class GivenCheck {
 public:
  GivenCheck(const Topology& topology, const LinksByTarget& links) : topology_(topology), links_(links) {}

  void check(const GivenRoute& route) {
    place_ = &route.place;
    if (route.from == route.to && route.from.first == route.from.last)
      return fail(fmt::format("a route from NPU {} to itself", route.from.first), "it has no way to go");
    if (!route.links.empty() && route.links.size() != route.through.size() + 1)
      return fail(fmt::format("a route of {} hops names {} links", route.through.size() + 1, route.links.size()),
                  "it names one for every hop, or none");
    if (passes_once(route)) check_hops(route);
  }

  void check(const NextHop& hop) {
    place_ = &hop.place;
    if (!exists(hop.at) || !exists(hop.next)) return;
    const bool alone = hop.to.first == hop.to.last;
    if (alone && hop.to.contains(hop.at)) return fail(fmt::format("a next hop of NPU {} to itself", hop.at.value()));
    if (topology_.is_npu(hop.next) && !(alone && hop.to.contains(hop.next)))
      return fail(fmt::format("messages to {} end at NPU {}", text_of(hop.to), hop.next.value()),
                  "a next hop is a switch, or the destination itself");
    (void)is_linked(hop.at, hop.next, hop.link);
  }

  void fail(std::string problem, std::string why = {}) {
    errors_.push_back(input_error(*place_, std::move(problem), std::move(why)));
  }
  void fail_at(const Place& place, std::string problem, std::string why) {
    place_ = &place;
    fail(std::move(problem), std::move(why));
  }
  [[nodiscard]] bool failed() const { return !errors_.empty(); }
  [[nodiscard]] Diagnostics take() { return std::move(errors_); }

 private:
  static std::string text_of(const NpuRange& npus) {
    return npus.first == npus.last ? fmt::format("NPU {}", npus.first)
                                   : fmt::format("NPUs {} to {}", npus.first, npus.last);
  }

  bool exists(VertexId vertex) {
    if (vertex.index() < topology_.vertices()) return true;
    fail(missing_vertex(topology_, vertex));
    return false;
  }
  void fail(Diagnostic error) {
    error.place = *place_;
    errors_.push_back(std::move(error));
  }

  /// Whether the vertices between exist and no message comes to one twice.
  bool passes_once(const GivenRoute& route) {
    for (std::size_t i = 0; i < route.through.size(); ++i) {
      const VertexId vertex = route.through[i];
      if (!exists(vertex)) return false;
      const bool again = std::find(route.through.begin(), route.through.begin() + static_cast<std::ptrdiff_t>(i),
                                   vertex) != route.through.begin() + static_cast<std::ptrdiff_t>(i);
      if (!again && !route.from.contains(vertex) && !route.to.contains(vertex)) continue;
      fail(fmt::format("a route comes to vertex {} twice", vertex.value()),
           again ? "it would lead in a loop" : "it begins or ends there");
      return false;
    }
    return true;
  }

  void check_hops(const GivenRoute& route) {
    const auto link = [&](std::size_t hop) {
      return route.links.empty() ? std::optional<std::uint32_t>() : std::optional(route.links[hop]);
    };
    const auto& through = route.through;
    for (auto from = route.from.first; through.empty() && from <= route.from.last; ++from)
      for (auto to = route.to.first; to <= route.to.last; ++to)
        if (from != to && !is_linked(VertexId(from), VertexId(to), link(0))) return;
    if (through.empty()) return;
    for (auto from = route.from.first; from <= route.from.last; ++from)
      if (!is_linked(VertexId(from), through.front(), link(0))) return;
    for (std::size_t hop = 1; hop < through.size(); ++hop)
      if (!is_linked(through[hop - 1], through[hop], link(hop))) return;
    for (auto to = route.to.first; to <= route.to.last; ++to)
      if (!is_linked(through.back(), VertexId(to), link(through.size()))) return;
  }

  bool is_linked(VertexId from, VertexId to, std::optional<std::uint32_t> number) {
    const auto links = links_.between(from, to);
    if (links.empty()) {
      fail(missing_link(topology_, from, to, true, kOverLinks));
      return false;
    }
    if (!number || *number < links.size()) return true;
    fail(fmt::format("link {} from {} to {}", *number, from.value(), to.value()),
         links.size() == 1 ? std::string("one link leads there, which is number 0")
                           : fmt::format("{} links lead there, numbered from 0", links.size()));
    return false;
  }

  const Topology& topology_;
  const LinksByTarget& links_;
  const Place* place_ = nullptr;
  Diagnostics errors_;
};

std::string text_of(const std::vector<VertexId>& way) {
  std::string text;
  for (const VertexId vertex : way) text += fmt::format("{}{}", text.empty() ? "" : " -> ", vertex.value());
  return text;
}

/// Rectangles of routes, and of next hops.
std::vector<NpuRanges::Entry> entries_of(const std::vector<GivenRoute>& routes) {
  std::vector<NpuRanges::Entry> entries;
  for (const GivenRoute& route : routes) entries.push_back({route.from.first, route.from.last, route.to});
  return entries;
}
std::vector<NpuRanges::Entry> entries_of(const std::vector<NextHop>& hops) {
  std::vector<NpuRanges::Entry> entries;
  for (const NextHop& hop : hops) entries.push_back({hop.at.value(), hop.at.value(), hop.to});
  return entries;
}

}  // namespace

Result<std::shared_ptr<const RouteTable>> RouteTable::make(const Topology& topology, const GivenRoutes& given) {
  Rules rules;
  rules.first = LinksByTarget(topology);
  GivenCheck check(topology, rules.first);
  for (const GivenRoute& route : given.routes) check.check(route);
  for (const NextHop& hop : given.hops) check.check(hop);
  if (check.failed()) return check.take();
  rules.pairs = NpuRanges(entries_of(given.routes));
  for (const auto& [earlier, later, row, npu] : rules.pairs.overlaps())
    check.fail_at(given.routes[later].place, fmt::format("a second route from NPU {} to NPU {}", row, npu),
                  fmt::format("line {} gives one", given.routes[earlier].place.line));
  rules.next_hops = NpuRanges(entries_of(given.hops));
  for (const auto& [earlier, later, row, npu] : rules.next_hops.overlaps())
    check.fail_at(given.hops[later].place, fmt::format("a second next hop of vertex {} to NPU {}", row, npu),
                  fmt::format("line {} gives one", given.hops[earlier].place.line));
  if (check.failed()) return check.take();
  for (const GivenRoute& route : given.routes) {
    rules.ways.push_back({rules.vertices.size(), rules.links.size(), static_cast<std::uint32_t>(route.through.size()),
                          !route.links.empty()});
    rules.vertices.insert(rules.vertices.end(), route.through.begin(), route.through.end());
    rules.links.insert(rules.links.end(), route.links.begin(), route.links.end());
  }
  for (const NextHop& hop : given.hops) rules.hops.push_back({hop.next, hop.link.value_or(kAnyLink)});
  auto table = std::make_shared<RouteTable>();
  table->rules_ = std::make_shared<const Rules>(std::move(rules));
  table->links_ = {table->rules_, &table->rules_->first};
  if (given.hops.empty()) return std::shared_ptr<const RouteTable>(std::move(table));
  HopCheck follow(topology, *table);
  std::vector<bool> told(given.hops.size(), false);  // one error for each next hop, whatever its range
  for (const NpuId destination : follow.destinations()) {
    const auto flaw = follow.flaw(destination);
    if (!flaw || told[flaw->hop]) continue;
    told[flaw->hop] = true;
    const std::string npu = fmt::format("NPU {}", destination.value());
    check.fail_at(given.hops[flaw->hop].place,
                  flaw->way.size() > 1
                      ? fmt::format("next hops to {} lead in a loop: {}", npu, text_of(flaw->way))
                      : fmt::format("next hops to {} end at vertex {}", npu, flaw->way.front().value()),
                  flaw->way.size() > 1 ? fmt::format("a message to {} would never arrive", npu)
                                       : fmt::format("no path leads on from there to {}", npu));
  }
  if (check.failed()) return check.take();
  return std::shared_ptr<const RouteTable>(std::move(table));
}

Result<Topology> with_routes(const Topology& topology, const GivenRoutes& given) {
  ensure(topology.wires() == nullptr, "routes are given before wires are made");
  Topology plain = topology.without_shape();
  if (given.empty()) return plain;
  auto table = RouteTable::make(plain, given);
  if (!table) return table.errors();
  return plain.with_route_table(*std::move(table));
}

}  // namespace tenex
