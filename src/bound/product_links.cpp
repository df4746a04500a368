#include "bound/product_links.hpp"

namespace tenex {

bool is_plain_product(const BoundProblem& problem) {
  const auto& shape = problem.topology.shape();
  return shape && shape->is_product() && problem.topology.switches() == 0 && problem.collective.groups().size() == 1 &&
         problem.collective.groups()[0].members.size() == problem.topology.npus();
}

std::size_t dimension_of(const Topology& topology, LinkId link) {
  const Shape& shape = *topology.shape();
  std::size_t a = topology.source(link).index();
  std::size_t b = topology.target(link).index();
  std::size_t dimension = 0;
  for (; a % shape.blocks[dimension].size == b % shape.blocks[dimension].size; ++dimension) {
    a /= shape.blocks[dimension].size;
    b /= shape.blocks[dimension].size;
  }
  return dimension;
}

std::vector<std::vector<std::int64_t>> links_by_dimension(const Topology& topology) {
  std::vector<std::vector<std::int64_t>> links(topology.shape()->dimensions(),
                                               std::vector<std::int64_t>(topology.classes().size(), 0));
  for (std::size_t i = 0; i < topology.links(); ++i)
    ++links[dimension_of(topology, LinkId::at(i))][topology.class_of(LinkId::at(i))];
  return links;
}

}  // namespace tenex
