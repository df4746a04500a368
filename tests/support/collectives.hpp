// Collectives of every kind, for tests that go through all of them. What a kind needs beside its groups is drawn:
// roots, stored conditions, and what each group of a mixture does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/topologies.hpp"
#include "tenex/base/random.hpp"
#include "tenex/collective/collective.hpp"

namespace tenex::support {

/// Every kind but `mixed`.
inline std::vector<CollectiveKind> plain_kinds() {
  std::vector<CollectiveKind> kinds;
  for (std::size_t kind = 0; kind < collective_names().size(); ++kind)
    if (static_cast<CollectiveKind>(kind) != CollectiveKind::mixed) kinds.push_back(static_cast<CollectiveKind>(kind));
  return kinds;
}

/// Conditions of a group of `members`, of up to `size` each: three of four pairs with amounts of their own
/// (all_to_allv), both neighbours of every rank (halo_exchange), or sources and sets of destinations (conditions).
inline std::vector<Condition> drawn_conditions(CollectiveKind kind, std::uint32_t members, Bytes size, Random& random) {
  std::vector<Condition> conditions;
  const auto amount = [&] { return bytes(size.count() * (1 + random.below(4)) / 4); };
  if (kind == CollectiveKind::halo_exchange) {
    for (std::uint32_t rank = 0; rank < members; ++rank) {
      conditions.push_back({rank, {(rank + 1) % members}, size});
      if (members > 2) conditions.push_back({rank, {(rank + members - 1) % members}, size});
    }
  } else if (kind == CollectiveKind::all_to_allv) {
    for (std::uint32_t pair = 0; pair < members * members; ++pair)
      if (pair / members != pair % members && (pair == 1 || random.below(4) != 0))
        conditions.push_back({pair / members, {pair % members}, amount()});
  } else {
    for (std::uint32_t drawn = 0; drawn < members + 1; ++drawn) {
      const auto source = random.below(members);
      std::vector<std::uint32_t> destinations;
      for (std::uint32_t rank = 0; rank < members; ++rank)
        if (rank != source && random.below(3) == 0) destinations.push_back(rank);
      if (destinations.empty()) destinations.push_back((source + 1) % members);
      random.shuffle(std::span(destinations));
      conditions.push_back({source, std::move(destinations), amount()});
    }
  }
  return conditions;
}

/// Up to four groups of two NPUs or more, as a study writes them, in any order; they may share NPUs.
inline std::string drawn_groups(std::uint32_t npus, Random& random) {
  std::string text;
  std::vector<std::uint32_t> order(npus);
  std::iota(order.begin(), order.end(), 0U);
  for (auto groups = 1 + random.below(4); groups > 0; --groups) {
    random.shuffle(std::span(order));
    text += text.empty() ? "" : "; ";
    const auto members = 2 + random.below(npus - 1);
    for (std::uint32_t rank = 0; rank < members; ++rank) text += (rank == 0 ? "" : ",") + std::to_string(order[rank]);
  }
  return text;
}

/// A collective over groups written as in a study. In a mixture the groups do all kinds in turn, with sizes, chunks and
/// roots of their own, and a group of all NPUs works beside them.
inline Collective any_collective(CollectiveKind kind, std::size_t npus, Bytes size, std::int64_t chunks = 1,
                                 std::string_view groups = "all", std::uint64_t seed = 0) {
  Random random(seed, 0x616e79);
  CollectiveRequest request;
  request.kind = kind;
  request.npus = npus;
  request.groups = parse_groups(groups, npus).value();
  request.chunks = chunks;
  request.size = size;
  std::size_t fewest = npus;
  for (const auto& group : request.groups) fewest = std::min(fewest, group.members.size());
  if (has_root(kind)) request.root = random.below(static_cast<std::uint32_t>(fewest));
  if (kind == CollectiveKind::mixed) {
    for (const auto& all : parse_groups("all; all", npus).value()) request.groups.push_back(all);
    for (auto& group : request.groups) {
      group.kind = plain_kinds()[random.below(static_cast<std::uint32_t>(plain_kinds().size()))];
      group.chunks = 1 + random.below(static_cast<std::uint32_t>(chunks) + 1);
      group.size = size * std::int64_t{1 + random.below(3)};
      group.root = random.below(static_cast<std::uint32_t>(group.members.size()));
    }
  }
  for (auto& group : request.groups)
    if (const auto own = group.kind.value_or(kind); stores_conditions(own))
      group.conditions = std::make_shared<const std::vector<Condition>>(
          drawn_conditions(own, static_cast<std::uint32_t>(group.members.size()), size, random));
  return Collective::make(std::move(request)).value();
}

}  // namespace tenex::support
