// The table of textbook algorithms.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "algorithm/textbook.hpp"
#include "tenex/algorithm/algorithm.hpp"

namespace tenex {

const std::vector<Algorithm>& algorithms() {
  static const std::vector<CollectiveKind> gathers_and_sums = {
      CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce};
  static const std::vector<Algorithm> table = {
      {"ring", "every chunk goes both ways round the group, each way about half of it",
       "Chan et al., Collective communication: theory, practice, and experience, 2007", gathers_and_sums, make_ring},
      {"ring_unidirectional", "every chunk goes once round the group, one way",
       "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms, 2009", gathers_and_sums, make_ring_unidirectional},
      {"direct", "every NPU talks to every other one at once",
       "Thakur et al., Optimization of collective communication operations in MPICH, 2005", gathers_and_sums,
       make_direct},
  };
  return table;
}

const Algorithm* find_algorithm(std::string_view name) {
  const auto& table = algorithms();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Algorithm& a) { return a.name == name; });
  return found == table.end() ? nullptr : &*found;
}

std::uint64_t messages_of_all_pairs(const Collective& collective) {
  std::uint64_t total = 0;
  for (const auto& group : collective.groups()) {
    const std::uint64_t members = group.members.size();
    total += members * (members - 1) * static_cast<std::uint64_t>(collective.chunks_per_npu());
  }
  return collective.kind() == CollectiveKind::all_reduce ? 2 * total : total;
}

Status check_fits(std::string_view name, const Topology& topology, const Collective& collective) {
  const auto* algorithm = find_algorithm(name);
  ensure(algorithm != nullptr, "an algorithm checks itself under a name that the registry lacks");
  const auto& kinds = algorithm->collectives;
  if (std::find(kinds.begin(), kinds.end(), collective.kind()) == kinds.end()) {
    std::string known;
    for (const auto kind : kinds) known += (known.empty() ? "" : ", ") + std::string(to_string(kind));
    return input_error({}, fmt::format("algorithm \"{}\" does not do {}", name, to_string(collective.kind())),
                       fmt::format("it is defined for {}", known), "choose one of these or a synthesizer");
  }
  if (collective.npus() != topology.npus())
    return input_error({}, fmt::format("the collective is for {} NPUs", collective.npus()),
                       fmt::format("the topology has {}", topology.npus()), "make both for the same number of NPUs");
  return success();
}

}  // namespace tenex
