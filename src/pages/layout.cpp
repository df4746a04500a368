#include "tenex/pages/layout.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <optional>
#include <utility>

#include "pages/layout_parts.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/family.hpp"

namespace tenex {
namespace {

/// A dragonfly: groups in a circle, the NPUs of a group in a circle.
std::vector<Spot> groups_in_circles(std::size_t npus, std::size_t per_group) {
  const auto groups = npus / per_group;
  const double inner = circle_radius(per_group);
  const double outer = std::max(circle_radius(groups) * (2 * inner + 1), 2 * inner + 1);
  std::vector<Spot> at;
  for (std::size_t i = 0; i < npus; ++i) {
    const auto centre = on_circle(i / per_group, groups, outer);
    const auto own = on_circle(i % per_group, per_group, inner);
    at.push_back({centre.x + own.x, centre.y + own.y});
  }
  return at;
}

/// Fruchterman and Reingold, from a circle, with all pairs: for at most some thousand vertices.
std::vector<Spot> by_forces(const Topology& topology) {
  const auto n = topology.vertices();
  std::vector<Spot> at;
  for (std::size_t i = 0; i < n; ++i) at.push_back(on_circle(i, n, std::sqrt(static_cast<double>(n))));
  constexpr double kWork = 2e8;
  const auto rounds = static_cast<int>(std::clamp(kWork / static_cast<double>(n * n), 20.0, 400.0));
  std::vector<Spot> force(n);
  for (int round = 0; round < rounds; ++round) {
    std::ranges::fill(force, Spot{});
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const double dx = at[i].x - at[j].x;
        const double dy = at[i].y - at[j].y;
        const double push = 1 / std::max(dx * dx + dy * dy, 1e-6);
        force[i].x += dx * push, force[i].y += dy * push;
        force[j].x -= dx * push, force[j].y -= dy * push;
      }
    for (std::size_t l = 0; l < topology.links(); ++l) {
      const auto a = topology.source(LinkId::at(l)).index();
      const auto b = topology.target(LinkId::at(l)).index();
      const double dx = at[b].x - at[a].x;
      const double dy = at[b].y - at[a].y;
      const double pull = std::hypot(dx, dy) / 2;  // both directions of a pair pull
      force[a].x += dx * pull, force[a].y += dy * pull;
      force[b].x -= dx * pull, force[b].y -= dy * pull;
    }
    const double most = 0.3 * std::sqrt(static_cast<double>(n)) * (1 - static_cast<double>(round) / rounds) + 0.01;
    for (std::size_t i = 0; i < n; ++i) {
      const double length = std::hypot(force[i].x, force[i].y);
      const double step = length > 0 ? std::min(length, most) / length : 0;
      at[i].x += force[i].x * step, at[i].y += force[i].y * step;
    }
  }
  return at;
}

/// How far a link's middle is moved so that it does not lie over vertices between its ends.
float bend_of(const VertexLayout& layout, Spot a, Spot b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length = std::hypot(dx, dy);
  if (length < 1.3) return 0;
  const auto covers = [&](const Spot& p) {
    const double along = ((p.x - a.x) * dx + (p.y - a.y) * dy) / (length * length);
    const double beside = std::abs((p.x - a.x) * dy - (p.y - a.y) * dx) / length;
    return beside < 0.12 && along * length > 0.2 && (1 - along) * length > 0.2;
  };
  if (std::ranges::none_of(layout.at, covers)) return 0;
  return static_cast<float>(std::min(0.4, 0.08 + 0.06 * length));
}

void bend_links(const Topology& topology, VertexLayout& layout) {
  layout.bends.assign(topology.links(), 0);
  constexpr double kMostChecks = 4e8;
  if (static_cast<double>(topology.links()) * static_cast<double>(layout.at.size()) > kMostChecks) return;
  for (std::size_t l = 0; l < topology.links(); ++l)
    layout.bends[l] = bend_of(layout, layout.at[topology.source(LinkId::at(l)).index()],
                              layout.at[topology.target(LinkId::at(l)).index()]);
}

VertexLayout place(const Topology& topology, const Shape* shape) {
  constexpr std::size_t kFewNpus = 16;
  const bool product = shape != nullptr && shape->is_product();
  if (product)
    if (auto at = place_product(topology, *shape)) return {at->form, std::move(at->at), {}};
  if (topology.switches() > 0) return {"levels", place_levels(topology), {}};
  if (shape != nullptr && !product && shape->family->name == std::string_view("dragonfly"))
    return {"groups", groups_in_circles(topology.npus(), shape->arguments[0]), {}};
  if (topology.npus() <= kFewNpus) {
    std::vector<Spot> at;
    for (std::size_t i = 0; i < topology.npus(); ++i)
      at.push_back(on_circle(i, topology.npus(), circle_radius(topology.npus())));
    return {"circle", std::move(at), {}};
  }
  return {"forces", by_forces(topology), {}};
}

}  // namespace

double circle_radius(std::size_t n) {
  return n < 2 ? 0 : std::max(0.5, 0.5 / std::sin(std::numbers::pi / static_cast<double>(n)));
}

Spot on_circle(std::size_t i, std::size_t n, double radius) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
  return {radius * std::sin(angle), -radius * std::cos(angle)};  // the first on top, then clockwise
}

VertexLayout lay_out(const Topology& topology, const Shape* shape) {
  auto layout = place(topology, shape != nullptr && shape->npus() == topology.npus() ? shape : nullptr);
  bend_links(topology, layout);
  return layout;
}

}  // namespace tenex
