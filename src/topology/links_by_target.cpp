// The rows of in-links, one vertex after the other, give every source its links in order of target and id.
#include "topology/links_by_target.hpp"

#include <algorithm>

namespace tenex {

LinksByTarget::LinksByTarget(const Topology& topology)
    : begin_(topology.vertices() + 1, 0), links_(topology.links()), targets_(topology.links()) {
  for (std::size_t v = 0; v < topology.vertices(); ++v)
    begin_[v + 1] = begin_[v] + topology.out_links(VertexId::at(v)).size();
  auto next = begin_;
  for (std::size_t v = 0; v < topology.vertices(); ++v)
    for (const LinkId link : topology.in_links(VertexId::at(v))) {
      const std::size_t place = next[topology.source(link).index()]++;
      links_[place] = link;
      targets_[place] = VertexId::at(v);
    }
}

std::span<const LinkId> LinksByTarget::between(VertexId from, VertexId to) const {
  const auto row = std::span(targets_).subspan(begin_[from.index()], begin_[from.index() + 1] - begin_[from.index()]);
  const auto [first, end] = std::equal_range(row.begin(), row.end(), to);
  return std::span(links_).subspan(begin_[from.index()] + static_cast<std::size_t>(first - row.begin()),
                                   static_cast<std::size_t>(end - first));
}

}  // namespace tenex
