// Counts what each link by itself can have delivered, and nothing faster.
#include "bound/checked_time.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace tenex {

namespace {

/// What one link can have delivered by a time: chunks, in bytes where they may be cut.
CheckedSum delivered(const BoundProblem& problem, std::size_t link_class, Bytes size, CheckedSum time) {
  const LinkClass& link = problem.topology.classes()[link_class];
  if (!problem.single_chunks) {
    const CheckedSum busy = std::max<CheckedSum>(0, time - link.alpha.count());
    const CheckedSum in_bytes = busy * link.effective_bandwidth().count() / 1'000'000'000'000;
    return problem.divisible ? in_bytes : in_bytes / size.count();
  }
  const auto hop = problem.hop(link_class, size);
  return time < hop.latency.count() ? 0 : (time - hop.latency.count()) / hop.busy.count() + 1;
}

/// The first positive time at which `enough` holds; SimTime::max() where it never does.
template <class Enough>
SimTime first_time(const Enough& enough) {
  CheckedSum low = 0;
  CheckedSum high = SimTime::max().count();
  if (!enough(high)) return SimTime::max();
  while (high - low > 1) {
    const CheckedSum middle = (low + high) / 2;
    (enough(middle) ? high : low) = middle;
  }
  return picoseconds(static_cast<std::int64_t>(high));
}

/// Zero unless all links with a weight are alike: then all sends, one after another on each, before the last alpha.
SimTime checked_busy_time(const BoundProblem& problem, std::span<const std::uint32_t> weights,
                          const std::map<Bytes, CheckedSum>& needed) {
  CheckedSum weight = 0;
  std::optional<std::size_t> only;
  for (std::size_t l = 0; l < weights.size(); ++l) {
    const std::size_t its = problem.topology.class_of(LinkId::at(l));
    if (weights[l] > 0 && only.value_or(its) != its) return SimTime::zero();
    if (weights[l] > 0) only = its;
    weight += weights[l];
  }
  if (!only) return SimTime::zero();
  CheckedSum busy = 0;
  CheckedSum last = 0;
  for (const auto& [size, amount] : needed) {
    const auto hop = problem.hop(*only, size);
    busy += amount * hop.busy.count();
    last = (hop.latency - hop.busy).count();
  }
  return first_time([&](CheckedSum time) { return weight * std::max<CheckedSum>(0, time - last) >= busy; });
}

}  // namespace

SimTime checked_time(const BoundProblem& problem, std::span<const std::uint32_t> weights, Bytes size,
                     CheckedSum needed) {
  if (needed == 0) return SimTime::zero();
  if (problem.divisible) needed *= size.count();
  std::vector<CheckedSum> weight_of(problem.topology.classes().size(), 0);
  for (std::size_t l = 0; l < weights.size(); ++l) weight_of[problem.topology.class_of(LinkId::at(l))] += weights[l];
  const auto carried = [&](CheckedSum time) {
    CheckedSum sum = 0;
    for (std::size_t k = 0; k < weight_of.size(); ++k)
      if (weight_of[k] > 0) sum += weight_of[k] * delivered(problem, k, size, time);
    return sum;
  };
  return first_time([&](CheckedSum time) { return carried(time) >= needed; });
}

SimTime checked_time_of_sizes(const BoundProblem& problem, std::span<const std::uint32_t> weights,
                              const std::map<Bytes, CheckedSum>& needed) {
  std::map<Bytes, CheckedSum> real;
  CheckedSum bytes = 0;
  for (const auto& [size, amount] : needed) {
    if (amount > 0) real[size] = amount;
    bytes += amount * size.count();
  }
  if (real.empty()) return SimTime::zero();
  BoundProblem in_bytes = problem;
  in_bytes.single_chunks = false;
  in_bytes.divisible = true;
  const SimTime of_bytes = checked_time(in_bytes, weights, tenex::bytes(1), bytes);
  if (problem.divisible) return of_bytes;
  SimTime time;
  if (real.size() > 1) time = of_bytes;
  if (real.size() > 1 && problem.single_chunks) time = std::max(time, checked_busy_time(problem, weights, real));
  CheckedSum as_large = 0;
  for (auto each = real.rbegin(); each != real.rend(); ++each) {
    as_large += each->second;
    time = std::max(time, checked_time(problem, weights, each->first, as_large));
  }
  return time;
}

}  // namespace tenex
