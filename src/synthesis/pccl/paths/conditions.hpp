// The conditions of a collective that copies: each chunk with its source and its destinations (the ASTRA-sim2.0 thesis,
// 6.4.1).
//
// Nothing is stored per condition beyond what the collective stores: the chunk's number gives its source and its
// destinations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/collective/collective.hpp"

namespace tenex {

/// A view of a collective that must outlive it. `collective` copies: nothing is reduced.
class Conditions {
 public:
  explicit Conditions(const Collective& collective) : collective_(collective) {
    for (std::size_t g = 0; g < collective.groups().size(); ++g) {
      const CollectiveKind kind = collective.kind(GroupId::at(g));
      const bool everywhere = kind == CollectiveKind::all_gather || kind == CollectiveKind::broadcast;
      counts_.push_back(everywhere ? Count::several : stores_conditions(kind) ? Count::stored : Count::one);
    }
  }

  [[nodiscard]] std::size_t count() const { return collective_.chunks(); }
  [[nodiscard]] VertexId source(ChunkId chunk) const { return vertex_of(collective_.source(chunk)); }
  [[nodiscard]] std::size_t size_class(ChunkId chunk) const { return collective_.size_class(chunk); }
  [[nodiscard]] GroupId group(ChunkId chunk) const { return collective_.group_of(chunk); }

  /// The only destination of a chunk whose kind of collective, or whose stored condition, has one (it may be the
  /// source); otherwise none(). O(log groups).
  [[nodiscard]] VertexId only_destination(ChunkId chunk) const {
    const GroupId group = this->group(chunk);
    const Count count = counts_[group.index()];
    if (count == Count::several || (count == Count::stored && stored_destinations(group, chunk) != 1))
      return VertexId::none();
    return vertex_of(collective_.destination(chunk));
  }

  /// Calls visit(VertexId) for every destination but the source.
  template <class Visit>
  void for_each_destination(ChunkId chunk, Visit&& visit) const {
    const VertexId from = source(chunk);
    collective_.for_each_destination(chunk, [&](NpuId npu) {
      if (vertex_of(npu) != from) visit(vertex_of(npu));
    });
  }

 private:
  enum class Count : std::uint8_t { one, several, stored };

  [[nodiscard]] std::size_t stored_destinations(GroupId group, ChunkId chunk) const {
    const std::size_t local = chunk.index() - collective_.first_chunk(group).index();
    const auto chunks = static_cast<std::size_t>(collective_.chunks_per_npu(group));
    return collective_.conditions(group)[local / chunks].destinations.size();
  }

  const Collective& collective_;
  std::vector<Count> counts_;  ///< by group: how many destinations a chunk has
};

}  // namespace tenex
