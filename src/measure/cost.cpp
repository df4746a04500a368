// What the algorithms of fits do per collective: steps one after the other, and bytes through the busiest port.
#include <algorithm>
#include <bit>

#include "tenex/measure/fit.hpp"

namespace tenex {

const std::vector<std::string_view>& fitted_algorithms() {
  static const std::vector<std::string_view> names{"ring", "tree", "direct"};
  return names;
}

std::optional<AlgorithmCost> cost_of(std::string_view algorithm, CollectiveKind kind, std::size_t ranks) {
  const auto n = static_cast<double>(ranks);
  const double part = (n - 1) / n;
  if (algorithm == "ring") {
    switch (kind) {
      case CollectiveKind::all_reduce:
        return AlgorithmCost{2 * (n - 1), 2 * part};
      case CollectiveKind::all_gather:
      case CollectiveKind::reduce_scatter:
        return AlgorithmCost{n - 1, part};
      case CollectiveKind::broadcast:
      case CollectiveKind::reduce:
        return AlgorithmCost{n - 1, 1};  // a chain, in slices
      default:
        return std::nullopt;
    }
  }
  if (algorithm == "tree") {
    if (kind != CollectiveKind::all_reduce) return std::nullopt;
    // An NPU is inner in one tree and a leaf of the other. It sends half of S up in each, and half to each of its two
    // children: S + S. Two NPUs have one edge: S/2 each way and back.
    const double share = ranks == 2 ? 1 : ranks == 3 ? 1.5 : 2;
    return AlgorithmCost{2 * static_cast<double>(std::bit_width(ranks - 1)), share};
  }
  if (algorithm != "direct") return std::nullopt;
  switch (kind) {
    case CollectiveKind::all_reduce:
      return AlgorithmCost{2, 2 * part};
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_to_all:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
      return AlgorithmCost{1, part};
    default:
      return std::nullopt;
  }
}

std::string_view usual_algorithm(CollectiveKind kind) {
  const bool straight =
      kind == CollectiveKind::all_to_all || kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
  return straight ? "direct" : "ring";
}

}  // namespace tenex
