// Still pictures: a network, a schedule by time, and a schedule as edges of a time-expanded network (TEN).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "pages/drawn.hpp"
#include "pages/grouping.hpp"
#include "pages/sends.hpp"
#include "pages/svg.hpp"
#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"
#include "tenex/pages/layout.hpp"
#include "tenex/pages/view.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

using namespace picture_colours;

constexpr std::size_t kMostRows = 80;  ///< of links in a picture by time
constexpr std::size_t kMostDrawnSends = 40'000;
constexpr std::size_t kMostTenVertices = 40;
constexpr std::size_t kMostInstants = 24;

Diagnostic too_much(std::string problem, std::string why) {
  return input_error(
      {}, std::move(problem), std::move(why),
      "write a page (-o view.html), another --picture, or a part of a schedule (tenex export S.h5 --npus "
      "0-7 -o part.h5)");
}

/// A drawing fitted into a frame.
struct Fitted {
  double unit = 1;
  double radius = 1;
  double width = 0;
  double height = 0;
  std::vector<Spot> at;
};

/// The vertices, and how far links bend aside.
std::pair<Spot, Spot> corners_of(const VertexLayout& layout, const Topology& drawn) {
  Spot least = layout.at.front();
  Spot most = least;
  const auto take = [&](double x, double y) {
    least = {std::min(least.x, x), std::min(least.y, y)};
    most = {std::max(most.x, x), std::max(most.y, y)};
  };
  for (const Spot& spot : layout.at) take(spot.x, spot.y);
  for (std::size_t l = 0; l < drawn.links(); ++l) {
    const Spot from = layout.at[drawn.source(LinkId::at(l)).index()];
    const Spot to = layout.at[drawn.target(LinkId::at(l)).index()];
    const double length = std::max(std::hypot(to.x - from.x, to.y - from.y), 1e-9);
    const double aside = layout.bends[l] / length;
    take((from.x + to.x) / 2 + (to.y - from.y) * aside, (from.y + to.y) / 2 - (to.x - from.x) * aside);
  }
  return {least, most};
}

Fitted fit(const VertexLayout& layout, const Topology& drawn, double most_width, double most_height) {
  const auto [least, most] = corners_of(layout, drawn);
  const double wide = std::max(most.x - least.x, 1e-3);
  const double high = std::max(most.y - least.y, 1e-3);
  Fitted fitted;
  fitted.unit = std::min({(most_width - 60) / wide, (most_height - 60) / high, 90.0});
  fitted.radius = std::clamp(0.28 * fitted.unit, 1.2, 14.0);
  fitted.width = std::max(wide * fitted.unit + 60, 120.0);
  fitted.height = high * fitted.unit + 60;
  for (const auto& spot : layout.at)
    fitted.at.push_back({30 + (spot.x - least.x) * fitted.unit, 30 + (spot.y - least.y) * fitted.unit});
  return fitted;
}

/// A shade between light grey and ink.
std::string shade(double share) {
  const auto part = [&](int light, int dark) { return static_cast<int>(std::lround(light + (dark - light) * share)); };
  return fmt::format("#{:02x}{:02x}{:02x}", part(0xcb, 0x16), part(0xd2, 0x32), part(0xd9, 0x4a));
}

/// Per drawn link how much it is used, 0 to 1; bandwidth where there is no schedule.
std::vector<double> shares_of(const Viewed& viewed, const Topology& drawn) {
  std::vector<double> shares(drawn.links());
  if (viewed.schedule == nullptr) {
    double most = 1;
    for (std::size_t l = 0; l < drawn.links(); ++l) {
      shares[l] = static_cast<double>(drawn.bandwidth(LinkId::at(l)).count());
      most = std::max(most, shares[l]);
    }
    for (auto& share : shares) share /= most;
    return shares;
  }
  const auto use = measure_use(*viewed.schedule, nullptr, 1);
  for (std::size_t l = 0; l < use.copy.size(); ++l) {
    const double share = (use.copy[l] + use.reduce[l]) / 255.0;
    if (&drawn == &viewed.topology)
      shares[l] = std::min(share, 1.0);
    else
      for (const auto& span : viewed.topology.wires()->spans(LinkId::at(l)))
        shares[span.link.index()] = std::min(1.0, shares[span.link.index()] + share);
  }
  return shares;
}

void draw_vertices(SvgPicture& svg, const Topology& drawn, const Fitted& fitted, const std::set<std::size_t>& inside) {
  for (std::size_t v = 0; v < drawn.vertices(); ++v) {
    const bool marked = inside.contains(v);
    const auto fill = marked ? "#ead3df" : v < drawn.npus() ? "#ffffff" : kFill;
    const auto stroke = marked ? kCut : kInk;
    const auto [x, y] = fitted.at[v];
    const double r = fitted.radius;
    if (v < drawn.npus())
      svg.circle({x, y}, r, fill, stroke);
    else
      svg.box({x - r, y - 0.8 * r}, 2 * r, 1.6 * r, fill, stroke);
    if (r > 7) svg.text({x, y + 0.35 * r}, fmt::format("{}", v), Anchor::middle, std::min(11.0, r * 0.95));
  }
}

void draw_links(SvgPicture& svg, const Topology& drawn, const Fitted& fitted, const VertexLayout& layout,
                const std::vector<double>& shares, const std::set<std::size_t>& inside) {
  for (std::size_t l = 0; l < drawn.links(); ++l) {
    const auto source = drawn.source(LinkId::at(l)).index();
    const auto target = drawn.target(LinkId::at(l)).index();
    auto a = fitted.at[source];
    auto b = fitted.at[target];
    const double length = std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-9);
    const Spot aside{-(b.y - a.y) / length * 1.8, (b.x - a.x) / length * 1.8};
    a = {a.x + aside.x, a.y + aside.y};
    b = {b.x + aside.x, b.y + aside.y};
    const bool leaves = inside.contains(source) && !inside.contains(target);
    svg.line(a, b, leaves ? std::string(kCut) : shade(shares[l]), leaves ? 3 : 0.7 + 1.8 * shares[l],
             layout.bends[l] * fitted.unit);
  }
}

/// The parts of a caption in as few lines of the width as hold them, each part whole.
std::vector<std::string> caption_lines(const std::vector<std::string>& parts, double width) {
  constexpr double kLetter = 7.2;  // of 12 pt, on average
  const auto most = static_cast<std::size_t>(std::max(0.0, (width - 2 * 12) / kLetter));
  std::vector<std::string> lines;
  for (const std::string& part : parts)
    if (lines.empty() || lines.back().size() + 2 + part.size() > most)
      lines.push_back(part);
    else
      lines.back() += "; " + part;
  return lines;
}

Result<std::string> network_picture(const Viewed& viewed) {
  const Topology& drawn = drawn_network(viewed.topology);
  if (drawn.npus() > kMostViewedNpus)
    return too_much("the network is too large for a picture",
                    fmt::format("it has {} NPUs, and a picture shows {}", drawn.npus(), kMostViewedNpus));
  const auto layout = lay_out(drawn, viewed.shape ? &*viewed.shape : nullptr);
  const auto fitted = fit(layout, drawn, 900, 700);
  std::set<std::size_t> inside;
  std::vector<std::string> words{viewed.title};
  if (!viewed.bounds.empty())
    words.push_back(
        fmt::format("least time {} ({})", to_rounded(viewed.bounds.front().time), viewed.bounds.front().name));
  const auto cut = std::ranges::find_if(viewed.bounds, [](const auto& bound) { return !bound.inside.empty(); });
  if (cut != viewed.bounds.end()) {
    for (const VertexId vertex : cut->inside) inside.insert(vertex.index());
    words.push_back(fmt::format("purple: a cut, {}", to_rounded(cut->time)));
  }
  const auto failed = failed_links(drawn, viewed.intact);
  if (!failed.empty()) words.emplace_back("dashed: failed");
  constexpr double kLine = 16;
  const auto lines = caption_lines(words, fitted.width);
  SvgPicture svg(fitted.width, fitted.height + 8 + kLine * static_cast<double>(lines.size()), viewed.title);
  for (const auto& [source, target] : failed) svg.line(fitted.at[source], fitted.at[target], kReduce, 1.4, 0, "4 4");
  draw_links(svg, drawn, fitted, layout, shares_of(viewed, drawn), inside);
  draw_vertices(svg, drawn, fitted, inside);
  for (std::size_t line = 0; line < lines.size(); ++line)
    svg.text({12, fitted.height + 14 + kLine * static_cast<double>(line)}, lines[line], Anchor::start, 12, kMuted);
  return std::move(svg).finish();
}

std::string link_name(const Topology& topology, LinkId link) {
  const auto name = [&](VertexId vertex) {
    return fmt::format("{}{}", topology.is_npu(vertex) ? "" : "switch ", vertex.value());
  };
  return fmt::format("{} \u2192 {}", name(topology.source(link)), name(topology.target(link)));
}

constexpr double kLabels = 110;
constexpr double kRow = 15;

void draw_time_axis(SvgPicture& svg, double end, double width, double height) {
  constexpr std::size_t kTicks = 5;
  for (std::size_t i = 0; i <= kTicks; ++i) {
    const double x = kLabels + width * static_cast<double>(i) / kTicks;
    svg.line({x, 18}, {x, height}, kLine, 0.8);
    svg.text({x, 13}, to_rounded(picoseconds(std::llround(end * static_cast<double>(i) / kTicks))), Anchor::middle, 11,
             kMuted);
  }
}

Result<std::string> gantt_picture(const Viewed& viewed) {
  const ScheduleFile& file = *viewed.schedule;
  if (file.schedule.sends() > kMostDrawnSends)
    return too_much("the schedule is too long for a picture",
                    fmt::format("it has {} sends, and a picture shows {}", file.schedule.sends(), kMostDrawnSends));
  const auto sends = read_sends(file);
  std::vector<std::vector<std::size_t>> by_link(file.topology.links());
  for (std::size_t i = 0; i < sends.size(); ++i) by_link[sends.link[i]].push_back(i);
  const double end = sends.size() == 0 ? 1 : *std::ranges::max_element(sends.arrival);
  const auto rows = std::min(by_link.size(), kMostRows);
  constexpr double kWidth = 680;
  const double bottom = 22 + kRow * static_cast<double>(rows);
  SvgPicture svg(kLabels + kWidth + 30, bottom + 26, viewed.title);
  draw_time_axis(svg, end, kWidth, bottom);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto link = LinkId::at(row);
    const double y = 22 + kRow * static_cast<double>(row);
    svg.text({kLabels - 8, y + 11}, link_name(file.topology, link), Anchor::end, 11);
    double before = 0;
    const auto x = [&](double time) { return kLabels + kWidth * time / end; };
    for (const auto i : by_link[row]) {
      const double until = sends.start[i] + busy_of(file, sends.start[i], sends.arrival[i], link);
      const double known = std::clamp(sends.ready[i], std::min(before, sends.start[i]), sends.start[i]);
      if (known > before) svg.box({x(before), y + 6.5}, x(known) - x(before), 2, kWait);
      if (sends.start[i] > known) svg.box({x(known), y + 6.5}, x(sends.start[i]) - x(known), 2, kLate);
      const double wide = std::max(0.4, x(until) - x(sends.start[i]) - 0.6);
      svg.box({x(sends.start[i]), y + 2}, wide, kRow - 5, sends.reduces[i] != 0 ? kReduce : kCopy);
      if (wide > 16)
        svg.text({x(sends.start[i]) + 3, y + 10.5}, fmt::format("{}", sends.chunk[i]), Anchor::start, 9, "#ffffff");
      before = until;
    }
  }
  const auto more = by_link.size() - rows;
  svg.text({kLabels, bottom + 16},
           viewed.title + (more > 0 ? fmt::format("; the first {} of {} links", rows, by_link.size()) : ""),
           Anchor::start, 12, kMuted);
  return std::move(svg).finish();
}

/// A colour for each chunk, in turn.
std::string_view colour_of(std::size_t chunk) {
  constexpr std::array<std::string_view, 6> kColours{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9"};
  return kColours[chunk % kColours.size()];
}

/// The instants of the TEN: starts and arrivals, in order.
std::vector<double> instants_of(const ViewedSends& sends) {
  std::set<double> all{0};
  for (std::size_t i = 0; i < sends.size(); ++i) all.insert(sends.start[i]), all.insert(sends.arrival[i]);
  return {all.begin(), all.end()};
}

/// An edge of the TEN: from a vertex at one instant to another one at a later instant.
struct TenEdge {
  double from = 0;
  double to = 0;
  LinkId link;
};

/// The edges of links that the schedule could use: from every instant, where what leaves then arrives at an instant. A
/// link takes as long as sends do on links of its kind; where they take different times, it has no edges.
std::vector<TenEdge> edges_of(const Topology& topology, const ViewedSends& sends, const std::vector<double>& instants) {
  using Kind = std::pair<std::int64_t, std::int64_t>;  // alpha, bandwidth
  const auto kind_of = [&](LinkId link) {
    return Kind{topology.alpha(link).count(), topology.bandwidth(link).count()};
  };
  std::map<Kind, std::set<double>> times;
  for (std::size_t i = 0; i < sends.size(); ++i)
    times[kind_of(LinkId(sends.link[i]))].insert(sends.arrival[i] - sends.start[i]);
  std::vector<TenEdge> edges;
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto known = times.find(kind_of(LinkId::at(l)));
    if (known == times.end() || known->second.size() != 1) continue;
    for (const double from : instants) {
      const double to = from + *known->second.begin();
      if (std::ranges::binary_search(instants, to)) edges.push_back({from, to, LinkId::at(l)});
    }
  }
  return edges;
}

Result<std::string> ten_picture(const Viewed& viewed) {
  const ScheduleFile& file = *viewed.schedule;
  const auto vertices = file.topology.vertices();
  if (vertices > kMostTenVertices || file.schedule.sends() > kMostDrawnSends)
    return too_much("the network is too large for a picture of its TEN",
                    fmt::format("it has {} vertices, and {} fit", vertices, kMostTenVertices));
  const auto sends = read_sends(file);
  const auto instants = instants_of(sends);
  if (instants.size() > kMostInstants)
    return too_much("the schedule has too many instants for a picture of its TEN",
                    fmt::format("it has {}, and {} fit", instants.size(), kMostInstants));
  const double dx = instants.size() > 8 ? 90 : 130;
  constexpr double kStep = 52;
  constexpr double kRadius = 13;
  const auto at = [&](double time, std::size_t vertex) {
    const auto column = std::ranges::lower_bound(instants, time) - instants.begin();
    return Spot{96 + dx * static_cast<double>(column), 50 + kStep * static_cast<double>(vertex)};
  };
  const double width = 96 + dx * static_cast<double>(instants.size() - 1) + 40;
  const double bottom = 50 + kStep * static_cast<double>(vertices - 1) + 30;
  SvgPicture svg(width, bottom + 30, viewed.title);
  for (std::size_t column = 0; column < instants.size(); ++column)
    svg.text({at(instants[column], 0).x, 20}, to_rounded(picoseconds(std::llround(instants[column]))), Anchor::middle,
             11, kMuted);
  // The edges of the TEN: waiting, and links.
  for (std::size_t column = 0; column + 1 < instants.size(); ++column)
    for (std::size_t v = 0; v < vertices; ++v)
      svg.line(at(instants[column], v), at(instants[column + 1], v), kLine, 1, 0, "3 3");
  for (const auto& [start, end, link] : edges_of(file.topology, sends, instants))
    svg.line(at(start, file.topology.source(link).index()), at(end, file.topology.target(link).index()), kLine, 1);
  std::set<std::size_t> chunks;
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const auto link = LinkId(sends.link[i]);
    const auto from = at(sends.start[i], file.topology.source(link).index());
    const auto to = at(sends.arrival[i], file.topology.target(link).index());
    const double length = std::hypot(to.x - from.x, to.y - from.y);
    const double cut = kRadius / length;
    const Spot tip{to.x - (to.x - from.x) * cut, to.y - (to.y - from.y) * cut};
    const auto colour = colour_of(sends.chunk[i]);
    svg.line(from, tip, colour, 2, 0, sends.reduces[i] != 0 ? "6 3" : "");
    svg.arrow_head(from, tip, colour, 9);
    chunks.insert(sends.chunk[i]);
  }
  for (const double instant : instants)
    for (std::size_t v = 0; v < vertices; ++v) {
      const auto spot = at(instant, v);
      if (file.topology.is_npu(VertexId::at(v)))
        svg.circle(spot, kRadius, "#ffffff", kInk);
      else
        svg.box({spot.x - kRadius, spot.y - kRadius}, 2 * kRadius, 2 * kRadius, kFill, kInk);
      svg.text({spot.x, spot.y + 4}, fmt::format("{}", v), Anchor::middle, 11);
    }
  for (std::size_t v = 0; v < vertices; ++v)
    svg.text({70, at(0, v).y + 4}, fmt::format("{} {}", v < file.topology.npus() ? "NPU" : "switch", v), Anchor::end,
             11, kMuted);
  double x = 24;
  constexpr std::size_t kMostNamed = 12;
  for (const auto chunk : chunks) {
    if (chunks.size() > kMostNamed) break;
    svg.line({x, bottom + 10}, {x + 18, bottom + 10}, colour_of(chunk), 2.5);
    svg.text({x + 22, bottom + 14}, fmt::format("chunk {}", chunk), Anchor::start, 11);
    x += 82;
  }
  return std::move(svg).finish();
}

}  // namespace

std::span<const std::string_view> picture_names() {
  static constexpr std::array<std::string_view, 3> kNames{"network", "gantt", "ten"};
  return kNames;
}

Result<std::string> view_picture(const Viewed& viewed, Picture picture) {
  if (picture == Picture::network) return network_picture(viewed);
  if (viewed.schedule == nullptr)
    return input_error({"--picture", 0, 0}, "there is no schedule to draw", "a network alone was named",
                       "name a collective, too, or use --picture network");
  return picture == Picture::gantt ? gantt_picture(viewed) : ten_picture(viewed);
}

}  // namespace tenex
