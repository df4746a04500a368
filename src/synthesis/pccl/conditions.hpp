// The conditions of a collective that copies: each chunk with its source and its destinations (the ASTRA-sim2.0 thesis,
// 6.4.1).
//
// Nothing is stored per condition: the chunk's number gives its source and its destinations.
#pragma once

#include <cstddef>

#include "tenex/base/ids.hpp"
#include "tenex/collective/collective.hpp"

namespace tenex {

/// A view of a collective that must outlive it. `collective` copies: nothing is reduced.
class Conditions {
 public:
  explicit Conditions(const Collective& collective) : collective_(collective) {}

  [[nodiscard]] std::size_t count() const { return collective_.chunks(); }
  [[nodiscard]] VertexId source(ChunkId chunk) const { return vertex_of(collective_.owner(chunk)); }
  [[nodiscard]] std::size_t size_class(ChunkId chunk) const { return collective_.size_class(chunk); }
  [[nodiscard]] GroupId group(ChunkId chunk) const { return collective_.group_of(chunk); }

  /// The only destination of a chunk whose kind of collective gives it one (it may be the source); otherwise none().
  [[nodiscard]] VertexId only_destination(ChunkId chunk) const {
    if (collective_.kind() != CollectiveKind::all_to_all) return VertexId::none();
    return vertex_of(collective_.destination(chunk));
  }

  /// Calls visit(VertexId) for every destination but the source.
  template <class Visit>
  void for_each_destination(ChunkId chunk, Visit&& visit) const {
    const VertexId from = source(chunk);
    if (const VertexId only = only_destination(chunk); only.exists()) {
      if (only != from) visit(only);
      return;
    }
    for (const NpuId member : collective_.groups()[group(chunk).index()].members)
      if (vertex_of(member) != from) visit(vertex_of(member));
  }

 private:
  const Collective& collective_;
};

}  // namespace tenex
