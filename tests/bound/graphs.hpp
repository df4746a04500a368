// Graphs of the tests of bounds with certificates: links without alpha, so that times are those of bandwidth.
#pragma once

#include <fmt/format.h>
#include <rapidcheck.h>

#include <cstdint>
#include <string>
#include <utility>
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

/// A ring of all vertices, and more links: some have no opposite, bandwidths differ, and some are parallel.
inline Topology random_graph(std::uint32_t npus, std::uint32_t switches, SwitchProperties properties = {}) {
  TopologyBuilder builder(npus);
  for (std::uint32_t s = 0; s < switches; ++s) builder.add_switch(properties);
  const auto vertices = npus + switches;
  for (std::uint32_t v = 0; v < vertices; ++v) builder.add_link_pair(link(v, (v + 1) % vertices, 25));
  const auto more = *rc::gen::inRange<std::uint32_t>(0, 2 * vertices);
  for (std::uint32_t i = 0; i < more; ++i) {
    const auto from = *rc::gen::inRange<std::uint32_t>(0, vertices);
    const auto step = *rc::gen::inRange<std::uint32_t>(1, vertices);
    builder.add_link(link(from, (from + step) % vertices, *rc::gen::element<std::int64_t>(25, 50, 300)));
  }
  return std::move(builder).build().value();
}

/// A product of up to three lines, rings and fully connected blocks, whose speeds differ by up to a factor of 60.
inline Topology random_product() {
  const auto dimensions = *rc::gen::inRange<std::size_t>(1, 4);
  std::string text;
  std::vector<Bandwidth> bandwidths;
  for (std::size_t i = 0; i < dimensions; ++i) {
    text += text.empty() ? "" : "_";
    text += *rc::gen::element<std::string>("LI", "RI", "FC") + fmt::format("({})", *rc::gen::inRange(2, 6));
    bandwidths.push_back(gigabytes_per_second(*rc::gen::element<std::int64_t>(5, 10, 25, 50, 300)));
  }
  return shape(text, {SimTime::zero()}, bandwidths);
}

}  // namespace tenex::support
