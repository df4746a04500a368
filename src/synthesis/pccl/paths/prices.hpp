// Prices of links, which lead chunks with one destination around those that many paths want.
//
// Idea: the time of a plan is that of its busiest link, but shortest paths count hops. On a dragonfly a way over two
// links between groups is shorter than one over a link between groups and two inside them, and takes twice as much of
// what is scarce. Links that a first plan loads most are dear, others are cheap, and a second plan keeps to cheapest
// paths. Prices have few levels, so that links of equal parts stay equal and many paths stay cheapest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "synthesis/pccl/paths/distances.hpp"
#include "synthesis/pccl/paths/planner.hpp"

namespace tenex {

/// Prices of all links and the least sums of prices to the destinations of all chunks that have only one.
class LinkPrices {
 public:
  /// `load(link)` of a plan: any measure. Empty where no chunk has one destination, or rows would take more than
  /// kMostDistanceBytes. O(destinations * links * log vertices).
  template <class Load>
  LinkPrices(const PathsSetup& setup, Load&& load) : rows_(setup.network.vertices()) {
    const std::size_t links = setup.network.links();
    double most = 0;
    for (std::uint32_t link = 0; link < links; ++link) most = std::max(most, static_cast<double>(load(link)));
    if (most == 0) return;
    for (std::uint32_t link = 0; link < links; ++link)
      price_.push_back(price_of(static_cast<double>(load(link)) / most));
    rows_ = rows_of_destinations<std::uint32_t>(setup);
    for (const auto& [key, index] : rows_.index())
      if (!rows_.empty())
        fill(setup.network, key.destination, setup.members.empty() ? nullptr : &setup.members[key.group],
             rows_.row(index));
  }

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] const std::vector<std::uint32_t>& prices() const { return price_; }
  [[nodiscard]] const std::uint32_t* row(const DistanceTable<std::uint32_t>::Key& key) const { return rows_.find(key); }

 private:
  static constexpr double kBusy = 0.75;  ///< of the load of the busiest link
  static constexpr double kHalfBusy = 0.5;

  /// A hop costs something everywhere, so that there are no useless ones.
  static std::uint32_t price_of(double share) { return share > kBusy ? 16 : share > kHalfBusy ? 4 : 1; }

  void fill(const PathNetwork& network, std::uint32_t destination, const Bitset* allowed,
            std::span<std::uint32_t> row) {
    paths_.begin(row);
    paths_.reach(destination, 0);
    while (const auto at = paths_.next())
      for (const PathHop& hop : network.in(at->vertex))
        if (allowed == nullptr || allowed->test(hop.vertex)) paths_.reach(hop.vertex, at->cost + price_[hop.link]);
  }

  std::vector<std::uint32_t> price_;  ///< by link
  DistanceTable<std::uint32_t> rows_;
  BestPaths<std::uint32_t> paths_;
};

}  // namespace tenex
