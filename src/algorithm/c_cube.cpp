// C-Cube: All-Reduce on a DGX-1 along two binary trees, each of which carries half of the data. A chunk's way down
// begins as soon as the chunk is complete at the root, so that reduction and broadcast overlap chunk by chunk
// (chained).
//
// The two trees use different pairs of NPUs of the hybrid cube mesh, so they share no link. Every NPU is a leaf of one
// of them, and at most 4 of its 6 links are used. The layout is this project's own choice among all pairs of binary
// trees of depth 3 with these properties. Numbering: NVIDIA's, as in experiments/machines/dgx1.toml.
//
// Encoding: forest.hpp. Source: Cho, Son and Kim, "Logical/physical topology-aware collective communication in deep
// learning training" (C-Cube), HPCA 2023; a baseline of TACOS, section VI-B.5.
#include <fmt/format.h>

#include "algorithm/forest.hpp"
#include "algorithm/link_graph.hpp"
#include "algorithm/textbook.hpp"

namespace tenex {
namespace {

std::vector<Tree> trees() {
  return {Tree{0, {{0, 2}, {0, 4}, {2, 3}, {4, 5}, {4, 7}, {5, 1}, {5, 6}}},
          Tree{3, {{3, 1}, {3, 7}, {1, 0}, {7, 5}, {7, 6}, {6, 2}, {6, 4}}}};
}

bool linked(const Topology& topology, std::uint32_t from, std::uint32_t to) {
  for (const auto link : topology.out_links(VertexId(from)))
    if (topology.target(link) == VertexId(to)) return true;
  return false;
}

}  // namespace

Status fits_c_cube(std::string_view name, const Topology& topology, const Collective& collective) {
  if (auto everyone = check_everyone(name, collective); !everyone) return everyone.errors();
  constexpr std::string_view kWhy = "its two trees are laid out by hand on the links of a DGX-1";
  constexpr std::string_view kInstead = "choose the machine dgx1, or another algorithm";
  if (topology.npus() != 8)
    return input_error({}, fmt::format("algorithm \"{}\" for {} NPUs", name, topology.npus()), std::string(kWhy),
                       std::string(kInstead));
  for (const auto& tree : trees())
    for (const auto& [parent, child] : tree.edges)
      if (!linked(topology, parent, child) || !linked(topology, child, parent))
        return input_error(
            {}, fmt::format("algorithm \"{}\" on 8 NPUs of which {} and {} are not linked", name, parent, child),
            std::string(kWhy), std::string(kInstead));
  return success();
}

Result<std::shared_ptr<const Program>> make_c_cube(const Topology& topology, const Collective& collective,
                                                   const AlgorithmOptions& /*options*/) {
  if (auto fits = check_fits("c_cube", topology, collective); !fits) return fits.errors();
  return make_forest(collective, {std::make_shared<const Forest>(8, trees(), equal_shares(8, 2))});
}

}  // namespace tenex
