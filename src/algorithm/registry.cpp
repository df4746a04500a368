// The table of textbook algorithms.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "algorithm/dimensionwise.hpp"
#include "algorithm/textbook.hpp"
#include "tenex/algorithm/algorithm.hpp"

namespace tenex {

const std::vector<Algorithm>& algorithms() {
  using Kinds = std::vector<CollectiveKind>;
  constexpr auto ag = CollectiveKind::all_gather;
  constexpr auto rs = CollectiveKind::reduce_scatter;
  constexpr auto ar = CollectiveKind::all_reduce;
  constexpr auto a2a = CollectiveKind::all_to_all;
  constexpr std::string_view shape = "an intact shape; groups that are boxes of it";
  constexpr std::size_t most_for_trees = 256;  // candidates
  static const std::vector<Algorithm> table = {
      {"ring", "every chunk goes both ways round the group, each way about half of it",
       "Chan et al., Collective communication: theory, practice, and experience, 2007", Kinds{ag, rs, ar}, make_ring},
      {"ring_unidirectional", "every chunk goes once round the group, one way",
       "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms, 2009", Kinds{ag, rs, ar},
       make_ring_unidirectional},
      {"ring_per_dimension",
       "rings over all dimensions of a shape at once, each chunk beginning in another one",
       "Jain and Sabharwal, Optimal bucket algorithms for large MPI collectives on torus interconnects, 2010",
       Kinds{ag, rs, ar},
       make_ring_per_dimension,
       {.window = true},
       false,
       shape,
       [](const Topology& t, const Collective& c) -> Status {
         return status_of(grids_of("ring_per_dimension", t, c));
       }},
      {"direct",
       "every NPU talks to every other one at once",
       "Thakur et al., Optimization of collective communication operations in MPICH, 2005",
       Kinds{ag, rs, ar, a2a},
       make_direct,
       {.window = true, .order = true}},
      {"rhd",
       "recursive halving and doubling",
       "Thakur et al., Optimization of collective communication operations in MPICH, 2005",
       Kinds{ag, rs, ar},
       make_rhd,
       {},
       false,
       "groups of powers of two",
       fits_powers_of_two},
      {"dbt",
       "two binary trees, each for half of the data",
       "Sanders, Speck and Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009",
       Kinds{ar},
       make_dbt,
       {},
       false},
      {"bruck",
       "distances double from step to step, any number of NPUs",
       "Bruck et al., Efficient algorithms for all-to-all communications in multiport message-passing systems, 1997",
       Kinds{ag, a2a},
       make_bruck,
       {},
       false},
      {"hierarchical",
       "up the dimensions of a shape and down, each by the algorithm made for its block",
       "Won et al., LIBRA, 2024, section II-C",
       Kinds{ag, rs, ar, a2a},
       make_hierarchical,
       {.window = true, .order = true},
       false,
       shape,
       [](const Topology& t, const Collective& c) -> Status { return status_of(grids_of("hierarchical", t, c)); }},
      {"blueconnect",
       "up the dimensions of a shape and down, a ring in each",
       "Cho et al., BlueConnect, 2019",
       Kinds{ag, rs, ar},
       make_blueconnect,
       {.window = true},
       false,
       shape,
       [](const Topology& t, const Collective& c) -> Status { return status_of(grids_of("blueconnect", t, c)); }},
      {"themis",
       "hierarchical with the order of dimensions chosen chunk by chunk to balance their loads",
       "Rashidi et al., Themis, 2022",
       Kinds{ag, rs, ar},
       make_themis,
       {.window = true, .order = true},
       false,
       shape,
       [](const Topology& t, const Collective& c) -> Status { return status_of(grids_of("themis", t, c)); }},
      {"multitree",
       "a tree per NPU, all grown together in lock step",
       "Huang et al., Communication algorithm-architecture co-design for distributed deep learning, 2021",
       Kinds{ag, rs, ar},
       make_multitree,
       {},
       true,
       "everyone at once, links both ways between NPUs, no switches, at most 2048 NPUs",
       fits_multitree,
       most_for_trees},
      {"c_cube",
       "two chained binary trees",
       "Cho, Son and Kim, C-Cube, 2023",
       Kinds{ar},
       make_c_cube,
       {},
       false,
       "the 8 NPUs of a DGX-1, or others with its links",
       fits_c_cube},
      {"tto",
       "three edge-rooted trees",
       "Laskar et al., TTO, 2024",
       Kinds{ar},
       make_tto,
       {},
       false,
       "an intact two-dimensional mesh, everyone at once",
       fits_tto},
      {"blink",
       "spanning trees from one root packed over the links",
       "Wang et al., Blink, 2020",
       Kinds{ar},
       make_blink,
       {},
       false,
       "everyone at once, links both ways between NPUs, no switches",
       fits_blink,
       most_for_trees},
  };
  return table;
}

const Algorithm* find_algorithm(std::string_view name) {
  const auto& table = algorithms();
  const auto found = std::find_if(table.begin(), table.end(), [&](const Algorithm& a) { return a.name == name; });
  return found == table.end() ? nullptr : &*found;
}

std::vector<const Algorithm*> candidates(const Topology& topology, const Collective& collective,
                                         const AlgorithmOptions& options) {
  std::vector<const Algorithm*> able;
  for (const auto& algorithm : algorithms())
    if (topology.npus() <= algorithm.candidate_npus && algorithm.make(topology, collective, options).ok())
      able.push_back(&algorithm);
  return able;
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
  return check_fits(*algorithm, topology, collective);
}

bool does(const Algorithm& algorithm, CollectiveKind kind) {
  return std::ranges::find(algorithm.collectives, kind) != algorithm.collectives.end();
}

Status check_fits(const Algorithm& algorithm, const Topology& topology, const Collective& collective) {
  if (!does(algorithm, collective.kind())) {
    std::string known;
    for (const auto kind : algorithm.collectives) known += (known.empty() ? "" : ", ") + std::string(to_string(kind));
    return input_error({}, fmt::format("algorithm \"{}\" does not do {}", algorithm.name, to_string(collective.kind())),
                       fmt::format("it is defined for {}", known), "choose one of these or a synthesizer");
  }
  if (collective.npus() != topology.npus())
    return input_error({}, fmt::format("the collective is for {} NPUs", collective.npus()),
                       fmt::format("the topology has {}", topology.npus()), "make both for the same number of NPUs");
  return algorithm.fits == nullptr ? success() : algorithm.fits(topology, collective);
}

}  // namespace tenex
