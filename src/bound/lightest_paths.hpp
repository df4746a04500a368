// Lightest paths through a topology, for the flow bound.
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "tenex/base/graph/shortest_paths.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Lightest paths from one vertex after another; memory O(vertices).
class LightestPaths {
 public:
  explicit LightestPaths(const Topology& topology) : topology_(topology), distance_(topology.vertices()) {}

  /// Searches from `source`. O(links log links).
  template <class Weights>
  void search(VertexId source, const Weights& weights) {
    std::ranges::fill(distance_, std::numeric_limits<double>::infinity());
    settled_.clear();
    paths_.begin(distance_);
    paths_.reach(source.value(), 0);
    while (const auto at = paths_.next()) {
      settled_.emplace_back(at->vertex);
      for (const auto link : topology_.out_links(VertexId(at->vertex)))
        paths_.reach(topology_.target(link).value(), at->cost + static_cast<double>(weights[link.index()]));
    }
  }

  [[nodiscard]] double distance(VertexId vertex) const { return distance_[vertex.index()]; }

  /// Sends one unit from the source to each of `members` that it reaches; adds what each link carries to `load`.
  void send_to(std::span<const NpuId> members, const std::vector<double>& weights, std::span<double> load) {
    clear_amounts();
    for (const auto member : members) add_amount(member, 1);
    send_amounts(weights, load);
  }

  /// Amounts to be sent from the source to NPUs, first none.
  void clear_amounts() { passing_.assign(topology_.vertices(), 0); }
  void add_amount(NpuId npu, double amount) { passing_[npu.index()] += amount; }
  /// Sends them over lightest paths, in equal parts where several links are as good; adds what each link carries to
  /// `load`. The amounts are lost.
  void send_amounts(const std::vector<double>& weights, std::span<double> load) {
    for (std::size_t i = settled_.size(); i-- > 1;) {  // the first is the source
      const auto vertex = settled_[i];
      if (passing_[vertex.index()] == 0) continue;
      last_links_.clear();
      for (const auto link : topology_.in_links(vertex)) {
        const double there = distance_[topology_.source(link).index()] + weights[link.index()];
        if (there <= distance_[vertex.index()] * (1 + 1e-9) &&
            distance_[topology_.source(link).index()] < distance_[vertex.index()])
          last_links_.push_back(link);
      }
      const double each = passing_[vertex.index()] / static_cast<double>(std::max<std::size_t>(1, last_links_.size()));
      for (const auto link : last_links_) {
        load[link.index()] += each;
        passing_[topology_.source(link).index()] += each;
      }
    }
  }

 private:
  const Topology& topology_;
  std::vector<double> distance_;
  std::vector<VertexId> settled_;  ///< by distance
  BestPaths<double> paths_;
  std::vector<double> passing_;
  std::vector<LinkId> last_links_;
};

}  // namespace tenex
