// Each count raises the time by bisection only if the time so far is not enough for it: many sizes take one look each.
#include "bound/sized_needs.hpp"

#include <algorithm>
#include <vector>

#include "bound/capacity.hpp"

namespace tenex {

namespace {

/// Chunks of one size.
struct SizeNeed {
  Bytes size;
  Exact amount = 0;
};

/// Links of one class, by their weights together.
struct WeightedClass {
  std::size_t link_class = 0;
  const LinkClass* link = nullptr;
  Exact weight = 0;
};

/// The first time from `low` on at which `holds`, which is monotone.
template <class Holds>
SimTime raised(SimTime low, const Holds& holds) {
  if (holds(low)) return low;
  SimTime high = SimTime::max();
  if (!holds(high)) return high;
  while (high - low > picoseconds(1)) {
    const SimTime middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

/// Chunks of size s and more.
SimTime raise_by_chunks(const BoundProblem& problem, std::span<const WeightedClass> links, const SizeNeed& need,
                        SimTime time) {
  return raised(time, [&](SimTime by) {
    Exact missing = need.amount;
    for (std::size_t k = 0; k < links.size() && missing > 0; ++k)
      missing -= links[k].weight * problem.delivered(links[k].link_class, need.size, by);
    return missing <= 0;
  });
}

SimTime raise_by_bytes(std::span<const WeightedClass> links, Exact bytes, SimTime time) {
  return raised(time, [&](SimTime by) {
    Exact missing = bytes;
    for (const auto& each : links)
      if (by > each.link->alpha)
        missing -= each.weight * (Exact{(by - each.link->alpha).count()} * each.link->effective_bandwidth().count() /
                                  Exact{1'000'000'000'000});
    return missing <= 0;
  });
}

SimTime raise_by_busy_time(const BoundProblem& problem, const WeightedClass& links, std::span<const SizeNeed> needs,
                           SimTime time) {
  Exact busy = 0;
  for (const auto& need : needs) busy += need.amount * problem.hop(links.link_class, need.size).busy.count();
  const HopTime last = problem.hop(links.link_class, needs.front().size);
  const SimTime before = last.latency - last.busy;  // the same for every size
  return raised(time, [&](SimTime by) { return by > before && links.weight * (by - before).count() >= busy; });
}

SimTime time_of_needs(const BoundProblem& problem, std::span<const Exact> weight_of_class,
                      std::span<const SizedNeed> sized) {
  std::vector<SizeNeed> needs;
  for (const auto& [size_class, amount] : sized)
    if (amount > 0) needs.push_back({problem.collective.chunk_sizes()[size_class], amount});
  if (needs.empty()) return SimTime::zero();
  std::vector<WeightedClass> links;
  for (std::size_t k = 0; k < weight_of_class.size(); ++k)
    if (weight_of_class[k] > 0) links.push_back({k, &problem.topology.classes()[k], weight_of_class[k]});
  if (links.empty()) return SimTime::max();
  SimTime time = SimTime::zero();
  if (problem.divisible || needs.size() > 1) {
    Exact bytes = 0;
    for (const auto& need : needs) bytes += need.amount * need.size.count();
    time = raise_by_bytes(links, bytes, time);
  }
  if (problem.divisible) return time;
  if (problem.single_chunks && needs.size() > 1 && links.size() == 1)
    time = raise_by_busy_time(problem, links.front(), needs, time);
  std::ranges::sort(needs, std::ranges::greater{}, &SizeNeed::size);
  Exact as_large = 0;
  for (auto& need : needs) {
    need.amount = as_large += need.amount;
    time = raise_by_chunks(problem, links, need, time);
  }
  return time;
}

/// All as the smallest, and each size by itself.
SimTime time_of_sizes_apart(const BoundProblem& problem, std::span<const std::int64_t> links_of_class,
                            std::span<const SizedNeed> needs) {
  const auto& sizes = problem.collective.chunk_sizes();
  std::int64_t all = 0;
  SimTime time = SimTime::zero();
  for (const auto& [size_class, amount] : needs) {
    const auto chunks = static_cast<std::int64_t>(amount);
    time = std::max(time, least_time(problem, links_of_class, sizes[size_class], chunks));
    all += chunks;
  }
  if (needs.size() < 2) return time;  // chunks that count as smaller ones take no longer
  return std::max(time, least_time(problem, links_of_class, *std::ranges::min_element(sizes), all));
}

}  // namespace

SimTime least_time_of_sizes(const BoundProblem& problem, std::span<const std::int64_t> links_of_class,
                            std::span<const SizedNeed> needs) {
  if (is_classic(problem.collective)) return time_of_sizes_apart(problem, links_of_class, needs);
  return time_of_needs(problem, std::vector<Exact>(links_of_class.begin(), links_of_class.end()), needs);
}

SimTime time_to_carry_sizes(const BoundProblem& problem, std::span<const std::uint32_t> weights,
                            std::span<const SizedNeed> needs) {
  std::vector<Exact> of_class(problem.topology.classes().size(), 0);
  for (std::size_t l = 0; l < weights.size(); ++l) of_class[problem.topology.class_of(LinkId::at(l))] += weights[l];
  return time_of_needs(problem, of_class, needs);
}

}  // namespace tenex
