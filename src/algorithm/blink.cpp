// Blink-style tree packing: All-Reduce along spanning trees from one root that share the bandwidth of the links.
//
// Trees are laid one after the other, each over the pairs of NPUs whose bandwidth the earlier trees use least. This is
// the limit of the multiplicative weights that Blink updates. A pair of links with more bandwidth carries more trees.
// Every tree carries the same share of the data. There is a tree for each NPU, at most 64. The root is the NPU with the
// most bandwidth, the lowest id among equals. Requires links both ways between NPUs and no switches. One root serves
// All-Reduce alone.
//
// Encoding: forest.hpp. Source: Wang et al., "Blink: Fast and generic collectives for distributed ML", MLSys 2020;
// described in TACOS, section VII-C, and the ASTRA-sim2.0 thesis, sections 5.7.3 and 6.7.1.
#include <algorithm>

#include "algorithm/forest.hpp"
#include "algorithm/link_graph.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {
namespace {

constexpr std::uint32_t kMostTrees = 64;

/// The time in picoseconds that the pair would need for a kilobyte of each of its trees and of one tree more.
std::uint64_t blink_cost(const LinkPair& pair, std::uint32_t /*depth*/) {
  return static_cast<std::uint64_t>(serialization_time(bytes(1000) * (pair.load + 1), pair.bandwidth).count());
}

std::uint32_t root_of(const Topology& topology) {
  std::uint32_t root = 0;
  Bandwidth most;
  for (std::uint32_t npu = 0; npu < topology.npus(); ++npu) {
    Bandwidth total;
    for (const auto link : topology.out_links(VertexId(npu))) total += topology.bandwidth(link);
    if (total <= most) continue;
    most = total;
    root = npu;
  }
  return root;
}

}  // namespace

Status fits_blink(std::string_view name, const Topology& topology, const Collective& collective) {
  if (auto everyone = check_everyone(name, collective); !everyone) return everyone.errors();
  return status_of(link_graph(name, topology));
}

Result<std::shared_ptr<const Program>> make_blink(const Topology& topology, const Collective& collective,
                                                  const AlgorithmOptions& /*options*/) {
  if (auto fits = check_fits("blink", topology, collective); !fits) return fits.errors();
  auto graph = link_graph("blink", topology);
  if (!graph) return graph.errors();
  const auto n = static_cast<std::uint32_t>(topology.npus());
  const auto root = root_of(topology);
  std::vector<Tree> trees;
  for (std::uint32_t t = 0; t < std::min(n, kMostTrees); ++t) trees.push_back(grow_tree(*graph, root, blink_cost));
  const auto shares = equal_shares(n, static_cast<std::uint32_t>(trees.size()));
  return make_forest(collective, {std::make_shared<const Forest>(n, trees, shares)});
}

}  // namespace tenex
