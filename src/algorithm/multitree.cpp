// MultiTree: one tree per NPU, all grown together in lock step over the links of the topology.
//
// In every step each link can serve one tree. The trees take turns. In its turn a tree takes the first free link from
// an NPU that it had before the step to one that it lacks. When no tree can take a link, the next step begins. So the
// trees are low and balance the links as if one chunk took one link per step. All-Gather sends every NPU's chunks down
// its tree, Reduce-Scatter sums up it, All-Reduce does both. Only connectivity counts, not bandwidth.
//
// Encoding: forest.hpp; n trees of n NPUs are stored, so n is limited. Source: Huang et al., "Communication
// algorithm-architecture co-design for distributed deep learning", ISCA 2021; a baseline of TACOS, section VI-B.4.
#include <numeric>

#include <fmt/format.h>

#include "algorithm/forest.hpp"
#include "algorithm/link_graph.hpp"
#include "algorithm/textbook.hpp"
#include "tenex/base/bitset.hpp"

namespace tenex {
namespace {

constexpr std::size_t kMostNpus = 2048;

/// A tree while it grows.
struct Sapling {
  std::vector<VertexId> npus;    ///< in the order in which they joined the tree
  Bitset has;                    ///< by NPU
  std::size_t first_open = 0;    ///< NPUs before this index have no neighbour left that the tree lacks
  std::size_t before_step = 0;   ///< number of NPUs that had joined before this step
  std::size_t next_in_step = 0;  ///< NPUs before this index can take no link in this step
  Tree tree;
};

class Growth {
 public:
  explicit Growth(const Topology& topology) : topology_(topology), taken_in_(topology.links(), 0) {
    for (std::uint32_t root = 0; root < topology.npus(); ++root) {
      auto& sapling = saplings_.emplace_back();
      sapling.has = Bitset(topology.npus());
      sapling.has.set(root);
      sapling.npus.push_back(VertexId(root));
      sapling.tree.root = root;
      sapling.npus.reserve(topology.npus());
      sapling.tree.edges.reserve(topology.npus() - 1);
    }
  }

  /// Returns false where a tree cannot reach all NPUs.
  bool grow() {
    for (std::size_t joined = 1; joined > 0;) {
      joined = 0;
      ++step_;
      for (auto& sapling : saplings_) begin_step(sapling);
      for (bool any = true; any;) {
        any = false;
        for (auto& sapling : saplings_)
          if (take_one(sapling)) any = true, ++joined;
      }
    }
    for (const auto& sapling : saplings_)
      if (sapling.npus.size() < topology_.npus()) return false;
    return true;
  }

  [[nodiscard]] std::vector<Tree> trees() && {
    std::vector<Tree> trees;
    for (auto& sapling : saplings_) trees.push_back(std::move(sapling.tree));
    saplings_.clear();
    return trees;
  }

 private:
  void begin_step(Sapling& sapling) const {
    const auto exhausted = [&](VertexId npu) {
      for (const auto link : topology_.out_links(npu))
        if (!sapling.has.test(topology_.target(link).index())) return false;
      return true;
    };
    while (sapling.first_open < sapling.npus.size() && exhausted(sapling.npus[sapling.first_open]))
      ++sapling.first_open;
    sapling.before_step = sapling.npus.size();
    sapling.next_in_step = sapling.first_open;
  }

  bool take_one(Sapling& sapling) {
    for (; sapling.next_in_step < sapling.before_step; ++sapling.next_in_step) {
      const auto npu = sapling.npus[sapling.next_in_step];
      for (const auto link : topology_.out_links(npu)) {
        const auto target = topology_.target(link);
        if (taken_in_[link.index()] == step_ || !sapling.has.insert(target.index())) continue;
        taken_in_[link.index()] = step_;
        sapling.npus.push_back(target);
        sapling.tree.edges.push_back({npu.value(), target.value()});
        return true;
      }
    }
    return false;
  }

  const Topology& topology_;
  std::vector<Sapling> saplings_;
  std::vector<std::uint32_t> taken_in_;  ///< by link, the last step in which a tree took it
  std::uint32_t step_ = 0;
};

}  // namespace

Status fits_multitree(std::string_view name, const Topology& topology, const Collective& collective) {
  if (auto everyone = check_everyone(name, collective); !everyone) return everyone.errors();
  if (topology.npus() > kMostNpus)
    return resource_error(fmt::format("algorithm \"{}\" for {} NPUs", name, topology.npus()),
                          fmt::format("it stores a tree per NPU, for at most {} NPUs", kMostNpus),
                          "choose another algorithm");
  return status_of(link_graph(name, topology));
}

Result<std::shared_ptr<const Program>> make_multitree(const Topology& topology, const Collective& collective,
                                                      const AlgorithmOptions& /*options*/) {
  if (auto fits = check_fits("multitree", topology, collective); !fits) return fits.errors();
  Growth growth(topology);
  ensure(growth.grow(), "links both ways join all NPUs, but not their trees");
  const auto n = static_cast<std::uint32_t>(topology.npus());
  return make_forest(collective, {std::make_shared<const Forest>(n, std::move(growth).trees(), equal_shares(n, n))});
}

/// Messages go along links.
ProgramSizes sizes_of_multitree(const ProgramScale& scale) { return {scale.sends, scale.sends * scale.step_hops, 0}; }

}  // namespace tenex
