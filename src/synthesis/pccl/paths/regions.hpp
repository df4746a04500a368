// Regions: what is left of a network without its scarce links, in connected parts, such as the boxes of NPUs that rails
// join.
//
// Idea: a tree that grows by the earliest arrival enters a box over several rails, since a slow link that is free now
// delivers sooner than a fast one that is busy. But where slow links are what all chunks wait for, each chunk should
// enter every box once and be passed on inside. (Orderings of fast and slow ports in one NPU's plan for all do the
// same: Ranking, synthesis/orbit/orbit_setup.hpp.) The scarce links are those whose class a first plan loads most.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "synthesis/pccl/paths/network.hpp"

namespace tenex {

/// Scarce links, and the regions that the other links connect.
class Regions {
 public:
  /// `load(link)` of a plan: any measure. O(links * log vertices).
  template <class Load>
  Regions(const PathNetwork& network, Load&& load) : scarce_(network.links()), region_(network.vertices()) {
    std::vector<double> sum(network.link_classes(), 0);
    std::vector<double> links(network.link_classes(), 0);
    for (std::uint32_t link = 0; link < network.links(); ++link) {
      sum[network.link_class(link)] += static_cast<double>(load(link));
      ++links[network.link_class(link)];
    }
    double most = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) most = std::max(most, sum[i] /= std::max(1.0, links[i]));
    std::iota(region_.begin(), region_.end(), 0U);
    for (std::uint32_t link = 0; link < network.links(); ++link) {
      scarce_[link] = sum[network.link_class(link)] > kScarce * most;
      if (!scarce_[link]) region_[find(network.source(link))] = find(network.target(link));
    }
    std::vector<std::uint32_t> npus(network.vertices(), 0);
    for (std::uint32_t vertex = 0; vertex < network.vertices(); ++vertex) {
      region_[vertex] = find(vertex);
      if (vertex < network.npus()) ++npus[region_[vertex]];
    }
    const std::uint32_t largest = *std::max_element(npus.begin(), npus.end());
    useful_ = largest > 1 && largest < network.npus() && leads_both_ways(network);
  }

  /// Whether there are several regions, one of them with several NPUs, and each is strongly connected: a tree that has
  /// entered it can go on inside.
  [[nodiscard]] bool useful() const { return useful_; }
  [[nodiscard]] bool scarce(std::uint32_t link) const { return scarce_[link]; }
  /// A number below that of the vertices, equal for all vertices of a region.
  [[nodiscard]] std::uint32_t of(std::uint32_t vertex) const { return region_[vertex]; }

 private:
  static constexpr double kScarce = 0.75;  ///< of the load of the busiest class

  /// Whether every link that is not scarce has such a link back.
  [[nodiscard]] bool leads_both_ways(const PathNetwork& network) const {
    for (std::uint32_t link = 0; link < network.links(); ++link) {
      if (scarce_[link]) continue;
      const auto back = network.out(network.target(link));
      if (std::none_of(back.begin(), back.end(),
                       [&](const PathHop& hop) { return hop.vertex == network.source(link) && !scarce_[hop.link]; }))
        return false;
    }
    return true;
  }

  std::uint32_t find(std::uint32_t vertex) {
    for (; region_[vertex] != vertex; vertex = region_[vertex]) region_[vertex] = region_[region_[vertex]];
    return vertex;
  }

  std::vector<bool> scarce_;           ///< by link
  std::vector<std::uint32_t> region_;  ///< by vertex
  bool useful_ = false;
};

}  // namespace tenex
