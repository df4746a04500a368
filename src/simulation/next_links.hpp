// Routes for simulators: arithmetic on shapes, elsewhere the Router's answers, stored if there are few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "simulation/shape_routes.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The next link on a route. Elsewhere than on shapes, all answers are kept in a table while vertices * NPUs are few
/// (16 MiB) and routes depend on neither sources nor ways; else each call asks the Router. Not thread-safe: one per
/// thread; `shape` may be shared.
class NextLinks {
 public:
  /// `shape`: ShapeRoutes::of(topology); both must outlive this.
  NextLinks(const Topology& topology, const std::optional<ShapeRoutes>& shape, RouteChoice routes)
      : shape_(shape ? &*shape : nullptr), router_(topology, routes), npus_(topology.npus()) {
    if (shape_ == nullptr && topology.vertices() <= max_entries / npus_ && routes.rule != RouteRule::sprayed &&
        !router_.depends_on_source())
      answers_.assign(topology.vertices() * npus_, not_asked);
  }

  /// Router::equal_routes().
  [[nodiscard]] std::uint32_t equal_routes(NpuId source, NpuId destination) {
    return shape_ != nullptr ? 1 : router_.equal_routes(source, destination);
  }
  /// none() at the destination, or if it cannot be reached.
  [[nodiscard]] LinkId operator()(VertexId at, NpuId source, NpuId destination) {
    if (shape_ != nullptr) return (*shape_)(at, destination);
    if (answers_.empty()) return router_.next_link(at, source, destination);
    auto& answer = answers_[at.index() * npus_ + destination.index()];
    if (answer == not_asked) answer = router_.next_link(at, source, destination).value();
    return LinkId(answer);
  }
  /// The same for a piece; `way` becomes what remains of it.
  [[nodiscard]] LinkId operator()(VertexId at, NpuId source, NpuId destination, RouteWay& way) {
    return shape_ != nullptr ? (*shape_)(at, destination) : router_.next_link(at, source, destination, way);
  }

 private:
  static constexpr std::size_t max_entries = std::size_t{4} << 20;
  static constexpr std::uint32_t not_asked = LinkId::none().value() - 1;

  const ShapeRoutes* shape_;
  Router router_;
  std::size_t npus_;
  std::vector<std::uint32_t> answers_;
};

}  // namespace tenex
