// Graphs of the tests of bounds with certificates: links without alpha, so that times are those of bandwidth.
#pragma once

#include <cstdint>
#include <vector>

#include "support/topologies.hpp"

namespace tenex::support {

/// A chunk of 1 MB takes 20 us at the default of 50 GB/s.
inline Link link(std::uint32_t from, std::uint32_t to, std::int64_t gigabytes = 50) {
  return {VertexId(from), VertexId(to), SimTime::zero(), gigabytes_per_second(gigabytes)};
}

/// NPUs 0-3 and 4-7, each box fully connected; a pair of links between 0 and 4, of 10 GB/s (100 us per chunk).
inline Topology two_boxes() {
  std::vector<Link> links;
  for (const std::uint32_t box : {0U, 4U})
    for (std::uint32_t a = 0; a < 4; ++a)
      for (std::uint32_t b = 0; b < 4; ++b)
        if (a != b) links.push_back(link(box + a, box + b));
  links.push_back(link(0, 4, 10));
  links.push_back(link(4, 0, 10));
  return graph(8, links);
}

}  // namespace tenex::support
