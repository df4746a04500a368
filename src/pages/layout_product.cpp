// Products of blocks: each dimension repeats the drawing of those before it, along a line, around a circle, or in rows.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "pages/layout_parts.hpp"
#include "tenex/topology/block.hpp"

namespace tenex {
namespace {

constexpr std::size_t kMostInCircle = 24;
constexpr double kGap = 0.9;  ///< between two tiles, beside their extent

/// The drawing of the dimensions so far.
struct DrawnTile {
  std::vector<Spot> at = {{0, 0}};
  double width = 0;
  double height = 0;
  bool circles = false;  ///< it is made of circles

  [[nodiscard]] bool is_point() const { return at.size() == 1; }
};

bool is_stepwise(const Block& block) { return block.rule->stepwise && block.size > 2; }

/// Copies of the tile at `offsets`, the earlier dimensions fastest.
void repeat(DrawnTile& tile, const std::vector<Spot>& offsets, double width, double height) {
  std::vector<Spot> all;
  for (const auto& offset : offsets)
    for (const auto& spot : tile.at) all.push_back({spot.x + offset.x, spot.y + offset.y});
  tile.at = std::move(all);
  tile.width += width;
  tile.height += height;
}

void add_circle(DrawnTile& tile, std::size_t n) {
  const double radius = circle_radius(n);
  std::vector<Spot> offsets;
  for (std::size_t i = 0; i < n; ++i) {
    const auto spot = on_circle(i, n, radius);
    offsets.push_back({spot.x + radius, spot.y + radius});
  }
  repeat(tile, offsets, 2 * radius, 2 * radius);
  tile.circles = true;
}

/// `columns` copies in each row.
void add_rows(DrawnTile& tile, std::size_t n, std::size_t columns) {
  const double dx = tile.width + (tile.is_point() ? 1 : 1 + kGap * (tile.width > 0 ? 1 : 0));
  const double dy = tile.height + (tile.is_point() ? 1 : 1 + kGap * (tile.height > 0 ? 1 : 0));
  std::vector<Spot> offsets;
  for (std::size_t i = 0; i < n; ++i)
    offsets.push_back({dx * static_cast<double>(i % columns), dy * static_cast<double>(i / columns)});
  const auto rows = (n + columns - 1) / columns;
  repeat(tile, offsets, dx * static_cast<double>(std::min(n, columns) - 1), dy * static_cast<double>(rows - 1));
}

/// So many columns that n tiles are about half again as wide as high.
std::size_t columns_for(const DrawnTile& tile, std::size_t n) {
  const double ratio = 1.5 * (tile.height + 1) / (tile.width + 1);
  const auto columns = static_cast<std::size_t>(std::lround(std::sqrt(ratio * static_cast<double>(n))));
  return std::clamp<std::size_t>(columns, 1, n);
}

void add_dimension(DrawnTile& tile, const Block& block, bool other_steps) {
  const std::size_t n = block.size;
  const bool ring = block.rule->stepwise && block.rule->translations != nullptr && n > 2;
  const bool loose = block.rule->all_neighbours || block.rule->through_switch;
  if (tile.is_point() && n <= kMostInCircle && n > 2 && (loose || (ring && !other_steps))) return add_circle(tile, n);
  if (tile.is_point() && n > kMostInCircle && ring && !other_steps) return add_circle(tile, n);
  if (loose && !tile.is_point()) return add_rows(tile, n, columns_for(tile, n));
  if (loose && n > kMostInCircle) return add_rows(tile, n, columns_for(tile, n));
  add_rows(tile, n, tile.width <= tile.height ? n : 1);
}

Spot middle_of(const Topology& topology, VertexId vertex, const std::vector<Spot>& at) {
  Spot sum;
  double count = 0;
  for (const LinkId link : topology.in_links(vertex)) {
    const auto from = topology.source(link).index();
    if (from >= topology.npus()) continue;
    sum.x += at[from].x, sum.y += at[from].y;
    ++count;
  }
  return count > 0 ? Spot{sum.x / count, sum.y / count} : sum;
}

}  // namespace

std::optional<PlacedProduct> place_product(const Topology& topology, const Shape& shape) {
  for (const auto& block : shape.blocks)
    if (!block.levels.empty()) return std::nullopt;
  DrawnTile tile;
  std::size_t steps = 0;
  for (const auto& block : shape.blocks) steps += is_stepwise(block) ? 1 : 0;
  for (const auto& block : shape.blocks)
    if (block.size > 1) add_dimension(tile, block, steps > (is_stepwise(block) ? 1U : 0U));
  if (topology.vertices() > topology.npus() && topology.npus() != tile.at.size()) return std::nullopt;
  auto at = std::move(tile.at);
  // Switches follow by dimension: of the first one in the middle of their circle or over their row, others on top.
  std::size_t next = topology.npus();
  std::size_t lines_before = 0;
  double top = -1.2;
  for (std::size_t d = 0; d < shape.blocks.size() && next < topology.vertices(); ++d) {
    const auto& block = shape.blocks[d];
    const bool first = lines_before == 0;
    if (block.size > 1) ++lines_before;
    if (!block.rule->through_switch || block.size == 1) continue;
    const std::size_t lines = shape.npus() / block.size;
    const bool inside = first && block.size <= kMostInCircle && block.size > 2;
    for (std::size_t i = 0; i < lines; ++i, ++next) {
      auto spot = middle_of(topology, VertexId::at(next), at);
      if (!inside && lines > 1) spot = {tile.width * (static_cast<double>(i) + 0.5) / static_cast<double>(lines), top};
      if (!inside && lines == 1) spot = {tile.width / 2, top};
      at.push_back(spot);
    }
    if (!inside) top -= 1.2;
  }
  if (at.size() != topology.vertices()) return std::nullopt;
  return PlacedProduct{tile.circles ? "circle" : "grid", std::move(at)};
}

}  // namespace tenex
