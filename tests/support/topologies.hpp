// Topologies and collectives for the tests of all modules, in one call each. A factory called with impossible arguments
// throws InvariantError with the diagnostics.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tenex/base/quantity.hpp"
#include "tenex/base/random.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/shape.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex::support {

/// Defaults: alpha 500 ns, 50 GB/s.
inline constexpr SimTime kAlpha = nanoseconds(500);
inline constexpr Bandwidth kBandwidth = gigabytes_per_second(50);

/// Any shape, with one alpha and bandwidth per dimension or one for all: shape("RI(4)_FC(8)").
inline Topology shape(std::string_view text, std::vector<SimTime> alpha = {kAlpha},
                      std::vector<Bandwidth> bandwidth = {kBandwidth}, bool per_npu = false) {
  return build_topology(parse_shape(text).value(), {std::move(alpha), std::move(bandwidth), per_npu}).value();
}

/// A shape whose dimensions or levels each have a drawn alpha of 0 to 600 ns, and 25 to 100 GB/s.
inline Topology with_drawn_links(std::string_view text, Random& random) {
  std::vector<SimTime> alpha;
  std::vector<Bandwidth> bandwidth;
  for (std::size_t d = 0; d < parse_shape(text)->dimensions(); ++d) {
    alpha.push_back(nanoseconds(200 * random.below(4)));
    bandwidth.push_back(gigabytes_per_second(25 << random.below(3)));
  }
  return shape(text, std::move(alpha), std::move(bandwidth));
}

/// What the links of drawn_switches() may be.
struct DrawnLinks {
  std::vector<SimTime> alphas;
  std::vector<Bandwidth> bandwidths;
  bool paired = true;  ///< all links in both directions; otherwise only those of the ring
};

/// 2 to 5 NPUs and 1 to 3 such switches in a ring with up to as many more links, each drawn.
inline Topology drawn_switches(Random& random, SwitchProperties properties, const DrawnLinks& links) {
  const std::uint32_t npus = 2 + random.below(4);
  const std::uint32_t switches = 1 + random.below(3);
  TopologyBuilder builder(npus);
  for (std::uint32_t s = 0; s < switches; ++s) builder.add_switch(properties);
  const std::uint32_t vertices = npus + switches;
  const auto any = [&](const auto& list) { return list[random.below(static_cast<std::uint32_t>(list.size()))]; };
  const auto link = [&](std::uint32_t from, std::uint32_t to) {
    return Link{VertexId(from % vertices), VertexId(to % vertices), any(links.alphas), any(links.bandwidths)};
  };
  for (std::uint32_t v = 0; v < vertices; ++v) builder.add_link_pair(link(v, v + 1));
  for (std::uint32_t more = random.below(vertices); more > 0; --more) {
    const std::uint32_t from = random.below(vertices);
    const Link extra = link(from, from + 1 + random.below(vertices - 1));
    if (links.paired)
      builder.add_link_pair(extra);
    else
      builder.add_link(extra);
  }
  return std::move(builder).build().value();
}

/// A block by its name: block("RI", 4).
inline Block block(std::string_view name, std::uint32_t size) {
  const auto rules = block_rules();
  return {*std::find_if(rules.begin(), rules.end(), [&](const BlockRule* rule) { return rule->name == name; }), size};
}

inline Topology product(std::string_view name, const std::vector<std::uint32_t>& sizes, SimTime alpha,
                        Bandwidth bandwidth) {
  Shape product;
  for (const auto size : sizes) product.blocks.push_back(block(name, size));
  return build_topology(product, {{alpha}, {bandwidth}, false}).value();
}

/// A bidirectional ring of n NPUs.
inline Topology ring(std::uint32_t n, SimTime alpha = kAlpha, Bandwidth bandwidth = kBandwidth) {
  return product("RI", {n}, alpha, bandwidth);
}
/// A line of n NPUs.
inline Topology line(std::uint32_t n, SimTime alpha = kAlpha, Bandwidth bandwidth = kBandwidth) {
  return product("LI", {n}, alpha, bandwidth);
}
/// n NPUs, each linked to every other.
inline Topology fully_connected(std::uint32_t n, SimTime alpha = kAlpha, Bandwidth bandwidth = kBandwidth) {
  return product("FC", {n}, alpha, bandwidth);
}
/// n NPUs on one switch.
inline Topology switched(std::uint32_t n, SimTime alpha = kAlpha, Bandwidth bandwidth = kBandwidth) {
  return product("SW", {n}, alpha, bandwidth);
}
/// A two-dimensional mesh; NPU id = x + width * y.
inline Topology mesh(std::uint32_t width, std::uint32_t height, SimTime alpha = kAlpha,
                     Bandwidth bandwidth = kBandwidth) {
  return product("LI", {width, height}, alpha, bandwidth);
}
/// A two-dimensional torus.
inline Topology torus(std::uint32_t width, std::uint32_t height, SimTime alpha = kAlpha,
                      Bandwidth bandwidth = kBandwidth) {
  return product("RI", {width, height}, alpha, bandwidth);
}

/// NPUs 0..n-1 and any directed links: connectivity is not checked.
inline Topology graph(std::size_t npus, const std::vector<Link>& links) {
  TopologyBuilder builder(npus);
  for (const Link& link : links) builder.add_link(link);
  return std::move(builder).build().value();
}

/// 0 - 1 - 2, a link each way between neighbours; 0-1 is fast (alpha 1 us, 4 GB/s), 1-2 slow (alpha 2 us, 1 GB/s).
/// Links: 0 = 0->1, 1 = 1->0, 2 = 1->2, 3 = 2->1.
inline Topology line3_heterogeneous() {
  TopologyBuilder builder(3);
  builder.add_link_pair({VertexId(0), VertexId(1), microseconds(1), gigabytes_per_second(4)});
  builder.add_link_pair({VertexId(1), VertexId(2), microseconds(2), gigabytes_per_second(1)});
  return std::move(builder).build().value();
}

/// The hybrid cube mesh of a DGX-1: 8 NPUs, links of 50 GB/s (two bricks) and 25 GB/s, alpha 0.7 us.
inline Topology dgx1() {
  TopologyBuilder builder(8);
  const auto join = [&](std::uint32_t a, std::uint32_t b, std::int64_t speed) {
    builder.add_link_pair({VertexId(a), VertexId(b), nanoseconds(700), gigabytes_per_second(speed)});
  };
  for (const auto& [a, b] : {std::pair{0U, 1U}, {0U, 4U}, {1U, 3U}, {2U, 3U}, {2U, 6U}, {4U, 5U}, {5U, 7U}, {6U, 7U}})
    join(a, b, 50);
  for (const auto& [a, b] : {std::pair{0U, 2U}, {0U, 3U}, {1U, 2U}, {1U, 5U}, {3U, 7U}, {4U, 6U}, {4U, 7U}, {5U, 6U}})
    join(a, b, 25);
  return std::move(builder).build().value();
}

/// A strongly connected random digraph of 2 to max_npus NPUs without switches: a random cycle through all NPUs and up
/// to two extra links per NPU (parallel links may occur). All links alike, or each with one of three alphas and
/// bandwidths. The same seed gives the same topology everywhere.
inline Topology random_connected_topology(std::uint64_t seed, std::uint32_t max_npus, bool heterogeneous) {
  constexpr std::array alphas{nanoseconds(0), nanoseconds(300), nanoseconds(700)};
  constexpr std::array bandwidths{gigabytes_per_second(10), gigabytes_per_second(25), gigabytes_per_second(100)};
  Random random(seed, 0x746f706f);
  const std::uint32_t npus = 2 + random.below(std::max<std::uint32_t>(max_npus, 2) - 1);
  TopologyBuilder builder(npus);
  const auto join = [&](std::uint32_t from, std::uint32_t to) {
    const SimTime alpha = heterogeneous ? alphas[random.below(3)] : kAlpha;
    const Bandwidth bandwidth = heterogeneous ? bandwidths[random.below(3)] : kBandwidth;
    builder.add_link({VertexId(from), VertexId(to), alpha, bandwidth});
  };
  std::vector<std::uint32_t> cycle(npus);
  std::iota(cycle.begin(), cycle.end(), 0U);
  random.shuffle(std::span(cycle));
  for (std::uint32_t i = 0; i < npus; ++i) join(cycle[i], cycle[(i + 1) % npus]);
  for (std::uint32_t extra = random.below(2 * npus + 1); extra > 0; --extra) {
    const std::uint32_t from = random.below(npus);
    join(from, (from + 1 + random.below(npus - 1)) % npus);
  }
  return std::move(builder).build().value();
}

/// A collective over groups written as in a study ("all", "0-3; 4-7"). For Broadcast and Reduce the root is rank 0.
inline Collective collective(CollectiveKind kind, std::size_t npus, Bytes size, std::int64_t chunks = 1,
                             std::string_view groups = "all") {
  CollectiveRequest request;
  request.kind = kind;
  request.npus = npus;
  request.groups = parse_groups(groups, npus).value();
  request.chunks = chunks;
  request.size = size;
  return Collective::make(std::move(request)).value();
}

}  // namespace tenex::support
