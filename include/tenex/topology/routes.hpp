// Deterministic unicast routes: dimension order on intact product shapes, shortest paths elsewhere.
//
// Dimension order corrects dimension 1 first. A ring goes the shorter way, ties toward increasing id. A line has one
// way, a fully connected block takes one hop, a switch takes two. In a tree of switches it climbs to the lowest switch
// above both. Elsewhere (files, dragonfly, removed links) the route has the fewest hops and, among those routes, the
// lowest link id at each vertex. It comes from a breadth-first tree per destination, which is built on first use and
// kept in a bounded cache. O(links) memory per cached tree. Parallel links between two switches share messages by
// their destination (src/topology/lanes.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Finds the next link of a route. Not thread-safe (because of its cache): one per thread.
class Router {
 public:
  /// Keeps a reference to `topology`, which must outlive the router.
  explicit Router(const Topology& topology);
  ~Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;

  /// The link to take at `at` toward NPU `destination`; none() when at the destination or when it cannot be reached.
  [[nodiscard]] LinkId next_link(VertexId at, NpuId destination);
  /// The whole route; empty when source = destination or unreachable. O(hops).
  [[nodiscard]] std::vector<LinkId> route(NpuId source, NpuId destination);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tenex
