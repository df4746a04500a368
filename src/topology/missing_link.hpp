// The message for a link that does not exist, for all that name links.
#pragma once

#include "tenex/base/diagnostic.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Names the existing neighbours of `a` that are nearest to `b`. `one_way`: no link leads from `a` to `b`. `rule`: why
/// a link is required.
[[nodiscard]] Diagnostic missing_link(const Topology& topology, VertexId a, VertexId b, bool one_way,
                                      std::string_view rule);

/// "vertex 9 does not exist (vertices are 0 to 8)".
[[nodiscard]] Diagnostic missing_vertex(const Topology& topology, VertexId vertex);

}  // namespace tenex
