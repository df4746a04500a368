// Internal to exchange: how NCCL's libraries, MSCCLang and mscclpp write collectives.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "tenex/collective/collective.hpp"

namespace tenex::exchange {

inline constexpr std::array<std::pair<CollectiveKind, std::string_view>, 6> kCollectiveWords{{
    {CollectiveKind::broadcast, "broadcast"},
    {CollectiveKind::reduce, "reduce"},
    {CollectiveKind::all_gather, "allgather"},
    {CollectiveKind::reduce_scatter, "reducescatter"},
    {CollectiveKind::all_reduce, "allreduce"},
    {CollectiveKind::all_to_all, "alltoall"},
}};

/// Empty for a collective that they do not have. O(1).
[[nodiscard]] constexpr std::string_view word_of(CollectiveKind kind) {
  const auto* const found = std::ranges::find(kCollectiveWords, kind, &decltype(kCollectiveWords)::value_type::first);
  return found == kCollectiveWords.end() ? std::string_view() : found->second;
}

/// A collective in which every NPU has an input or output of its own, as programs of threadblocks have it: All-Gather,
/// Reduce-Scatter, All-Reduce, All-to-All. nullopt for other words. O(1).
[[nodiscard]] constexpr std::optional<CollectiveKind> unrooted_collective(std::string_view word) {
  const auto* const found = std::ranges::find(kCollectiveWords, word, &decltype(kCollectiveWords)::value_type::second);
  if (found == kCollectiveWords.end()) return std::nullopt;
  if (found->first == CollectiveKind::broadcast || found->first == CollectiveKind::reduce) return std::nullopt;
  return found->first;
}

}  // namespace tenex::exchange
