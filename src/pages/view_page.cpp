// The data of a view: the network as columns by vertex and link, the schedule as columns by send, and what is drawn
// over them. src/pages/web/view.js reads it.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>

#include "pages/drawn.hpp"
#include "pages/grouping.hpp"
#include "pages/html.hpp"
#include "pages/sends.hpp"
#include "tenex/pages/layout.hpp"
#include "tenex/pages/view.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

constexpr std::size_t kSpans = 240;  ///< of time, where single sends are not shown

void add_network(const Topology& drawn, const Shape* shape, JsonText& json, ColumnPack& columns) {
  const auto layout = lay_out(drawn, shape);
  std::vector<float> x;
  std::vector<float> y;
  for (const auto& spot : layout.at) x.push_back(static_cast<float>(spot.x)), y.push_back(static_cast<float>(spot.y));
  std::vector<std::uint32_t> source;
  std::vector<std::uint32_t> target;
  std::vector<double> bandwidth;
  std::vector<double> alpha;
  for (std::size_t l = 0; l < drawn.links(); ++l) {
    const auto link = LinkId::at(l);
    source.push_back(drawn.source(link).value());
    target.push_back(drawn.target(link).value());
    bandwidth.push_back(static_cast<double>(drawn.bandwidth(link).count()));
    alpha.push_back(static_cast<double>(drawn.alpha(link).count()));
  }
  json.member("form", layout.form)
      .member("npus", static_cast<std::int64_t>(drawn.npus()))
      .member("vertices", static_cast<std::int64_t>(drawn.vertices()));
  columns.add("x", std::span<const float>(x));
  columns.add("y", std::span<const float>(y));
  columns.add("source", std::span<const std::uint32_t>(source));
  columns.add("target", std::span<const std::uint32_t>(target));
  columns.add("bandwidth", std::span<const double>(bandwidth));
  columns.add("alpha", std::span<const double>(alpha));
  columns.add("bend", std::span<const float>(layout.bends));
}

void add_failed(const Topology& drawn, const Topology* intact, JsonText& json) {
  json.key("failed").begin_array();
  for (const auto& [source, target] : failed_links(drawn, intact))
    json.begin_array().integer(source).integer(target).end_array();
  json.end_array();
}

/// The physical links of each link of the schedule, where these are paths over switches.
void add_paths(const Topology& topology, JsonText& json, ColumnPack& columns) {
  const bool paths = &drawn_network(topology) != &topology;
  json.key("paths").truth(paths);
  if (!paths) return;
  std::vector<std::uint32_t> first{0};
  std::vector<std::uint32_t> links;
  std::vector<double> alpha;
  for (std::size_t w = 0; w < topology.links(); ++w) {
    for (const auto& span : topology.wires()->spans(LinkId::at(w))) links.push_back(span.link.value());
    first.push_back(static_cast<std::uint32_t>(links.size()));
    alpha.push_back(static_cast<double>(topology.alpha(LinkId::at(w)).count()));
  }
  columns.add("path_first", std::span<const std::uint32_t>(first));
  columns.add("path_link", std::span<const std::uint32_t>(links));
  columns.add("path_alpha", std::span<const double>(alpha));
}

void add_bounds(const Viewed& viewed, JsonText& json) {
  json.key("bounds").begin_array();
  for (const auto& bound : viewed.bounds) {
    json.begin_object().member("name", bound.name).member("meaning", bound.meaning);
    json.member("time", bound.time.count()).key("binds").truth(bound.binds);
    std::vector<std::uint32_t> inside;
    for (const VertexId vertex : bound.inside) inside.push_back(vertex.value());
    json.list("inside", inside).list("weights", bound.weights).end_object();
  }
  json.end_array();
}

/// What NPUs hold at the start, as ranges of chunks, and how many chunks each must have at the end.
void add_holdings(const Collective& collective, ColumnPack& columns) {
  std::vector<std::uint32_t> npu;
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> count;
  for (std::size_t i = 0; i < collective.npus(); ++i)
    for (const auto& member : collective.memberships(NpuId::at(i))) {
      const auto held = collective.held_by(member);
      if (held.count == 0) continue;
      npu.push_back(static_cast<std::uint32_t>(i));
      first.push_back(static_cast<std::uint32_t>(held.first));
      count.push_back(static_cast<std::uint32_t>(held.count));
    }
  std::vector<std::uint32_t> wanted(collective.npus());
  for (std::size_t c = 0; c < collective.chunks(); ++c)
    collective.for_each_destination(ChunkId::at(c), [&](NpuId each) { ++wanted[each.index()]; });
  columns.add("held_npu", std::span<const std::uint32_t>(npu));
  columns.add("held_first", std::span<const std::uint32_t>(first));
  columns.add("held_count", std::span<const std::uint32_t>(count));
  columns.add("wanted", std::span<const std::uint32_t>(wanted));
}

void add_sends(const ScheduleFile& file, JsonText& json, ColumnPack& columns) {
  const auto sends = read_sends(file);
  json.member("mode", "sends");
  json.key("sums").truth(std::ranges::any_of(sends.reduces, [](auto each) { return each != 0; }));
  json.list("chain", sends.chain);
  columns.add("start", std::span<const double>(sends.start));
  columns.add("arrival", std::span<const double>(sends.arrival));
  columns.add("ready", std::span<const double>(sends.ready));
  columns.add("link", std::span<const std::uint32_t>(sends.link));
  columns.add("chunk", std::span<const std::uint32_t>(sends.chunk));
  columns.add("cause", std::span<const std::uint32_t>(sends.cause));
  columns.add("reduces", std::span<const std::uint8_t>(sends.reduces));
  columns.add("payload_first", std::span<const std::uint32_t>(sends.payload_first));
  columns.add("payload_chunk", std::span<const std::uint32_t>(sends.payload_chunk));
  add_holdings(file.collective, columns);
}

void add_use(const ScheduleFile& file, const GroupedNetwork* groups, JsonText& json, ColumnPack& columns) {
  const auto use = measure_use(file, groups, kSpans);
  json.member("mode", "use").member("spans", static_cast<std::int64_t>(use.spans)).key("end").real(use.end);
  json.key("sums").truth(std::ranges::any_of(use.reduce, [](auto each) { return each != 0; }));
  columns.add("use_reduce", std::span<const std::uint8_t>(use.reduce));
  columns.add("use_copy", std::span<const std::uint8_t>(use.copy));
}

void add_schedule(const ScheduleFile* file, const GroupedNetwork* groups, JsonText& json, ColumnPack& columns) {
  if (file == nullptr) {
    json.member("mode", "network");
    return;
  }
  json.member("occupancy", to_string(file->occupancy))
      .member("chunks", static_cast<std::int64_t>(file->collective.chunks()))
      .member("send_count", static_cast<std::int64_t>(file->schedule.sends()))
      .member("part", file->part);
  if (groups == nullptr && file->schedule.sends() <= kMostViewedSends)
    add_sends(*file, json, columns);
  else
    add_use(*file, groups, json, columns);
}

}  // namespace

std::vector<DrawnBound> draw_bounds(const BoundProblem& problem, std::uint64_t work_limit) {
  std::vector<DrawnBound> drawn;
  for (const auto& method : bound_methods()) {
    const auto add = [&](SimTime time, std::vector<VertexId> inside, std::vector<std::uint32_t> weights) {
      drawn.push_back({std::string(method.name), std::string(method.description), time, false, std::move(inside),
                       std::move(weights)});
    };
    if (method.certify == nullptr) {
      if (const auto time = method.compute(problem)) add(*time, {}, {});
    } else if (method.concerns == nullptr || method.concerns(problem.collective.kind())) {
      if (auto found = method.certify(problem, std::min(work_limit, method.full_work)))
        add(found->time, std::move(found->inside), std::move(found->weights));
    }
  }
  std::ranges::stable_sort(drawn, std::greater(), &DrawnBound::time);
  if (!drawn.empty()) drawn.front().binds = true;
  return drawn;
}

Result<std::string> view_page(const Viewed& viewed) {
  JsonText json;
  ColumnPack columns;
  json.begin_object().member("title", viewed.title);
  json.key("facts").begin_array();
  for (const auto& [name, value] : viewed.facts) json.begin_array().text(name).text(value).end_array();
  json.end_array();
  const Topology& drawn = drawn_network(viewed.topology);
  std::optional<GroupedNetwork> groups;
  if (drawn.npus() > kMostViewedNpus) groups = group_network(viewed.topology, viewed.shape, kMostViewedNpus / 2);
  if (groups) {
    add_network(groups->topology, groups->shape ? &*groups->shape : nullptr, json, columns);
    json.member("group_size", static_cast<std::int64_t>(groups->npus_per_group));
    json.member("all_npus", static_cast<std::int64_t>(viewed.topology.npus()));
    columns.add("links_in", std::span<const std::uint32_t>(groups->links_in));
    json.key("failed").begin_array().end_array().key("bounds").begin_array().end_array().key("paths").truth(false);
  } else {
    add_network(drawn, viewed.shape ? &*viewed.shape : nullptr, json, columns);
    add_failed(drawn, viewed.intact, json);
    add_paths(viewed.topology, json, columns);
    add_bounds(viewed, json);
  }
  add_schedule(viewed.schedule, groups ? &*groups : nullptr, json, columns);
  columns.describe(json, "columns");
  json.end_object();
  return page_of({viewed.title,
                  {"common.js", "map.js", "schedule.js", "gantt.js", "look.js", "view.js"},
                  "view.html",
                  json.str(),
                  columns.packed()});
}

}  // namespace tenex
