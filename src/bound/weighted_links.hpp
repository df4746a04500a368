// Weights of links as certificates: what the links can carry, weighted, and the time for what they must.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tenex/bound/bound.hpp"

namespace tenex {

/// Sums of weights times chunks.
__extension__ using Exact = __int128;

/// Per link; at most kHeaviestLink, so that sums over a path are exact in a double.
using LinkWeights = std::vector<std::uint32_t>;
inline constexpr std::uint32_t kHeaviestLink = 1U << 20;

/// A multiple of all numbers up to 16: weights rounded to it are exact where they are multiples of a q-th of the
/// largest, for such a q, as on many regular networks.
inline constexpr std::uint32_t kManyFractions = 720720;

/// Weights rounded to integers, the largest to `heaviest`. Empty where none is positive.
[[nodiscard]] LinkWeights rounded(std::span<const double> weights, std::uint32_t heaviest = kHeaviestLink);

/// One for the links of a class, zero for all others.
[[nodiscard]] LinkWeights weights_of_class(const Topology& topology, std::size_t link_class);

/// Chunks of the smallest size per picosecond, per link class.
[[nodiscard]] std::vector<double> rates(const BoundProblem& problem);
/// The same per link, as a share of the fastest.
[[nodiscard]] std::vector<double> relative_capacities(const BoundProblem& problem);

/// Per link class: integers in the ratio of rates(), exactly where that is the ratio of bandwidths and fits, else
/// rounded to 2^-20 of the fastest. Rounding may miss the best cut or partition; the time of what is found is exact.
[[nodiscard]] std::vector<std::int64_t> whole_capacities(const BoundProblem& problem);

/// The least T at which the sum over links of weight * (chunks that the link can have delivered by T) reaches `needed`,
/// for chunks of the smallest size (or the same in bytes, where they may be cut). Zero for `needed` = 0,
/// SimTime::max() where it is never reached. Exact. O(links + 61 * classes).
[[nodiscard]] SimTime time_to_carry(const BoundProblem& problem, std::span<const std::uint32_t> weights, Exact needed);

/// Keeps the weights that prove most.
class BestWeights {
 public:
  void offer(SimTime time, const LinkWeights& weights) {
    if (time <= best_.time) return;
    best_.time = time;
    best_.weights = weights;
  }
  [[nodiscard]] std::optional<CertifiedBound> take() {
    if (best_.time == SimTime::zero()) return std::nullopt;
    return std::move(best_);
  }

 private:
  CertifiedBound best_;
};

}  // namespace tenex
