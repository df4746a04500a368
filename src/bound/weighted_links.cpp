// Exact times by bisection of weighted floor counts (capacity.hpp has the counts).
#include "bound/weighted_links.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tenex {

namespace {

Bytes smallest_chunk(const BoundProblem& problem) {
  return *std::ranges::min_element(problem.collective.chunk_sizes());
}

}  // namespace

LinkWeights rounded(std::span<const double> weights, std::uint32_t heaviest) {
  const double most = weights.empty() ? 0 : *std::ranges::max_element(weights);
  LinkWeights whole;
  if (most <= 0) return whole;
  for (const double weight : weights) whole.push_back(static_cast<std::uint32_t>(weight / most * heaviest + 0.5));
  return whole;
}

LinkWeights weights_of_class(const Topology& topology, std::size_t link_class) {
  LinkWeights weights;
  for (std::size_t l = 0; l < topology.links(); ++l)
    weights.push_back(topology.class_of(LinkId::at(l)) == link_class ? 1 : 0);
  return weights;
}

std::vector<double> rates(const BoundProblem& problem) {
  const auto size = smallest_chunk(problem);
  std::vector<double> rates;
  const auto classes = problem.topology.classes();
  for (std::size_t k = 0; k < classes.size(); ++k)
    rates.push_back(problem.single_chunks ? 1 / static_cast<double>(problem.hop(k, size).busy.count())
                                          : static_cast<double>(classes[k].effective_bandwidth().count()) / 1e12 /
                                                static_cast<double>(size.count()));
  return rates;
}

std::vector<double> relative_capacities(const BoundProblem& problem) {
  const auto of_class = rates(problem);
  const double fastest = *std::ranges::max_element(of_class);
  std::vector<double> capacities;
  for (std::size_t l = 0; l < problem.topology.links(); ++l)
    capacities.push_back(of_class[problem.topology.class_of(LinkId::at(l))] / fastest);
  return capacities;
}

std::vector<std::int64_t> whole_capacities(const BoundProblem& problem) {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  const auto classes = problem.topology.classes();
  std::vector<std::int64_t> capacities;
  std::int64_t divisor = 0;
  for (const auto& link : classes) divisor = std::gcd(divisor, link.effective_bandwidth().count());
  for (const auto& link : classes) capacities.push_back(link.effective_bandwidth().count() / divisor);
  const bool pure = !problem.single_chunks || problem.occupancy == Occupancy::serialization || classes.size() < 2;
  if (pure && *std::ranges::max_element(capacities) <= kMost) return capacities;
  const auto of_class = rates(problem);
  const double fastest = *std::ranges::max_element(of_class);
  for (std::size_t k = 0; k < capacities.size(); ++k)
    capacities[k] = std::max<std::int64_t>(1, std::llround(of_class[k] / fastest * static_cast<double>(kMost)));
  return capacities;
}

SimTime time_to_carry(const BoundProblem& problem, std::span<const std::uint32_t> weights, Exact needed) {
  if (needed == 0) return SimTime::zero();
  const auto classes = problem.topology.classes();
  const auto size = smallest_chunk(problem);
  if (problem.divisible) needed *= size.count();
  std::vector<Exact> of_class(classes.size(), 0);
  for (std::size_t l = 0; l < weights.size(); ++l) of_class[problem.topology.class_of(LinkId::at(l))] += weights[l];
  const auto enough = [&](std::int64_t time) {
    Exact carried = 0;
    for (std::size_t k = 0; k < classes.size(); ++k)
      carried += of_class[k] * problem.delivered(k, size, picoseconds(time));
    return carried >= needed;
  };
  std::int64_t low = 0;
  std::int64_t high = SimTime::max().count();
  if (!enough(high)) return SimTime::max();
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return picoseconds(high);
}

}  // namespace tenex
