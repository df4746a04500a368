// The table of textbook algorithms.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "algorithm/textbook.hpp"
#include "tenex/algorithm/algorithm.hpp"

namespace tenex {

namespace {

/// The entries with what follows from what they say.
std::vector<Algorithm> completed(std::vector<Algorithm> entries) {
  for (auto& entry : entries) {
    entry.family = AlgorithmFamily::textbook;
    entry.reads.switches = !entry.direct_only;
    entry.reads.phases = entry.makes(CollectiveKind::reduce_scatter) && entry.makes(CollectiveKind::all_gather);
  }
  return entries;
}

}  // namespace

const std::vector<Algorithm>& algorithms() {
  using Kinds = std::vector<CollectiveKind>;
  constexpr auto ag = CollectiveKind::all_gather;
  constexpr auto rs = CollectiveKind::reduce_scatter;
  constexpr auto ar = CollectiveKind::all_reduce;
  constexpr auto a2a = CollectiveKind::all_to_all;
  constexpr auto broadcast = CollectiveKind::broadcast;
  constexpr auto reduce = CollectiveKind::reduce;
  constexpr auto gather = CollectiveKind::gather;
  constexpr auto scatter = CollectiveKind::scatter;
  constexpr std::string_view shape = "an intact shape; groups that are boxes of it";
  constexpr std::string_view messages = "messages that an NPU has under way";
  constexpr std::string_view in_stage = "an NPU's chunks in one stage";
  constexpr std::string_view begun = "an NPU's chunks in one stage, of those that begin in one dimension";
  constexpr std::string_view in_dimension = "an NPU's chunks in one dimension";
  constexpr std::size_t most_for_trees = 256;   // for candidates()
  constexpr std::size_t most_for_inputs = 128;  // their checks keep what each NPU has of each chunk from each other one
  static const std::vector<Algorithm> table = completed({
      {{.name = "ring",
        .description = "every chunk goes both ways round the group, each way about half of it",
        .source = "Chan et al., Collective communication: theory, practice, and experience, 2007",
        .collectives = Kinds{ag, rs, ar}},
       {.make = make_ring, .sizes = sizes_of_ring, .moves_with = MovesWith::one_dimension, .along_rings = true}},
      {{.name = "ring_unidirectional",
        .description = "every chunk goes once round the group, one way",
        .source = "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms, 2009",
        .collectives = Kinds{ag, rs, ar}},
       {.make = make_ring_unidirectional,
        .sizes = sizes_of_ring,
        .moves_with = MovesWith::one_dimension,
        .along_rings = true}},
      {{.name = "ring_per_dimension",
        .description = "rings over all dimensions of a shape at once, each chunk beginning in another one",
        .source =
            "Jain and Sabharwal, Optimal bucket algorithms for large MPI collectives on torus interconnects, 2010",
        .collectives = Kinds{ag, rs, ar},
        .reads = {.window = begun}},
       {.make = make_ring_per_dimension,
        .sizes = sizes_by_rings,
        .single_chunks = false,
        .requirement = shape,
        .fits = fits_boxes,
        .moves_with = MovesWith::all,
        .along_rings = true}},
      {{.name = "direct",
        .description = "every chunk goes straight to all its destinations at once",
        .source = "Thakur et al., Optimization of collective communication operations in MPICH, 2005",
        .collectives = Kinds{ag, rs, ar, a2a, broadcast, reduce, gather, scatter, CollectiveKind::all_to_allv,
                             CollectiveKind::halo_exchange, CollectiveKind::conditions, CollectiveKind::mixed},
        .reads = {.window = messages, .order = true}},
       {.make = make_direct, .sizes = sizes_of_direct, .moves_with = MovesWith::all, .straight = true}},
      {{.name = "rhd",
        .description = "recursive halving and doubling",
        .source = "Thakur et al., Optimization of collective communication operations in MPICH, 2005",
        .long_name = "halving_doubling",
        .collectives = Kinds{ag, rs, ar}},
       {.make = make_rhd,
        .sizes = sizes_of_rhd,
        .single_chunks = false,
        .requirement = "groups of powers of two",
        .fits = fits_powers_of_two}},
      {{.name = "dbt",
        .description = "two binary trees, each for half of the data",
        .source =
            "Sanders, Speck and Traeff, Two-tree algorithms for full bandwidth broadcast, reduction and scan, 2009",
        .long_name = "double_binary_tree",
        .collectives = Kinds{ar}},
       {.make = make_dbt, .sizes = sizes_of_forest, .single_chunks = false}},
      {{.name = "bruck",
        .description = "distances double from step to step, any number of NPUs",
        .source = "Bruck et al., Efficient algorithms for all-to-all communications in multiport message-passing "
                  "systems, 1997",
        .collectives = Kinds{ag, a2a},
        .reads = {.radix = true}},
       {.make = make_bruck, .sizes = sizes_of_bruck, .single_chunks = false, .moves_with = MovesWith::one_dimension}},
      {{.name = "hierarchical",
        .description = "up the dimensions of a shape and down, each by the algorithm made for its block",
        .source = "Won et al., LIBRA, 2024, section II-C",
        .collectives = Kinds{ag, rs, ar, a2a},
        .reads = {.window = in_stage, .order = true}},
       {.make = make_hierarchical,
        .sizes = sizes_by_blocks,
        .single_chunks = false,
        .requirement = shape,
        .fits = fits_boxes,
        .moves_with = MovesWith::all}},
      {{.name = "blueconnect",
        .description = "up the dimensions of a shape and down, a ring in each",
        .source = "Cho et al., BlueConnect, 2019",
        .collectives = Kinds{ag, rs, ar},
        .reads = {.window = in_stage}},
       {.make = make_blueconnect,
        .sizes = sizes_by_rings,
        .single_chunks = false,
        .requirement = shape,
        .fits = fits_boxes,
        .moves_with = MovesWith::all}},
      {{.name = "themis",
        .description = "hierarchical with the order of dimensions chosen chunk by chunk to balance their loads",
        .source = "Rashidi et al., Themis, 2022",
        .collectives = Kinds{ag, rs, ar},
        .reads = {.window = in_dimension, .order = true}},
       {.make = make_themis,
        .sizes = sizes_by_blocks,
        .single_chunks = false,
        .requirement = shape,
        .fits = fits_boxes,
        .moves_with = MovesWith::all}},
      {{.name = "multitree",
        .description = "a tree per NPU, all grown together in lock step",
        .source = "Huang et al., Communication algorithm-architecture co-design for distributed deep learning, 2021",
        .collectives = Kinds{ag, rs, ar}},
       {.make = make_multitree,
        .sizes = sizes_of_multitree,
        .requirement = "one process group of all NPUs, links both ways between NPUs, no switches, at most 2048 NPUs",
        .fits = fits_multitree,
        .direct_only = true,
        .candidate_npus = most_for_trees,
        .tree_per_npu = true}},
      {{.name = "c_cube",
        .description = "two chained binary trees",
        .source = "Cho, Son and Kim, C-Cube, 2023",
        .collectives = Kinds{ar}},
       {.make = make_c_cube,
        .sizes = sizes_of_forest,
        .single_chunks = false,
        .requirement = "the 8 NPUs of a DGX-1, or others with its links",
        .fits = fits_c_cube,
        .direct_only = true}},
      {{.name = "tto",
        .description = "three edge-rooted trees",
        .source = "Laskar et al., TTO, 2024",
        .collectives = Kinds{ar}},
       {.make = make_tto,
        .sizes = sizes_of_forest,
        .single_chunks = false,
        .requirement = "an intact two-dimensional mesh, one process group of all NPUs",
        .fits = fits_tto,
        .direct_only = true}},
      {{.name = "blink",
        .description = "spanning trees from one root packed over the links",
        .source = "Wang et al., Blink, 2020",
        .collectives = Kinds{ar}},
       {.make = make_blink,
        .sizes = sizes_of_forest,
        .single_chunks = false,
        .requirement = "one process group of all NPUs, links both ways between NPUs, no switches",
        .fits = fits_blink,
        .direct_only = true,
        .candidate_npus = most_for_trees}},
      {{.name = "binomial",
        .description = "a binomial tree from the root; the chunks of a subtree go as one message",
        .source = "Thakur et al., Optimization of collective communication operations in MPICH, 2005",
        .collectives = Kinds{broadcast, reduce, gather, scatter, ar}},
       {.make = make_binomial, .sizes = sizes_of_binomial, .single_chunks = false}},
      {{.name = "rings",
        .description = "Hamiltonian cycles packed on the machine, each with its share of the chunks, one way",
        .source = "Wang et al., Blink, 2020, section 2, for a DGX-1; Patarasuk and Yuan 2009 for one ring",
        .collectives = Kinds{ag, rs, ar}},
       {.make = make_rings,
        .sizes = sizes_of_ring,
        .requirement = "groups of at most 1024 NPUs",
        .fits = fits_rings,
        .candidate_npus = most_for_trees,
        .joins_pairs = true}},
      {{.name = "one_shot",
        .description = "every NPU sends its whole input to all others, and each sums: one hop, for small sizes",
        .source = "Microsoft, MSCCL++, 2024, one-shot All-Reduce of all pairs",
        .collectives = Kinds{ar},
        .reads = {.order = true}},
       {.make = make_one_shot,
        .sizes = sizes_of_one_shot,
        .single_chunks = false,
        .candidate_npus = most_for_inputs,
        .moves_with = MovesWith::one_dimension,
        .states_contributors = true}},
      {{.name = "one_shot_per_dimension",
        .description = "one-shot in each dimension of a shape in turn, for small sizes",
        .source = "Won et al., LIBRA, 2024, section II-C, for the dimensions",
        .collectives = Kinds{ar},
        .reads = {.order = true}},
       {.make = make_one_shot_per_dimension,
        .sizes = sizes_of_one_shot_per_dimension,
        .single_chunks = false,
        .requirement = shape,
        .fits = fits_boxes,
        .candidate_npus = most_for_inputs,
        .moves_with = MovesWith::all,
        .states_contributors = true,
        .plays_jointly = false}},
      {{.name = "recursive_doubling",
        .description = "whole sums are exchanged at distances that double, any number of NPUs, for small sizes",
        .source = "Thakur et al., Optimization of collective communication operations in MPICH, 2005; Ruefenacht et "
                  "al., Generalisation of recursive doubling for AllReduce, 2017",
        .collectives = Kinds{ar},
        .reads = {.order = true}},
       {.make = make_recursive_doubling,
        .sizes = sizes_of_recursive_doubling,
        .single_chunks = false,
        .candidate_npus = most_for_inputs,
        .states_contributors = true,
        .plays_jointly = false}},
      {{.name = "pxn",
        .description = "messages between boxes leave by the NIC of the neighbour on the destination's leaf",
        .source = "NVIDIA, Doubling all2all Performance with NCCL 2.12, 2022",
        .collectives = Kinds{a2a},
        .reads = {.order = true}},
       {.make = make_pxn, .sizes = sizes_of_pxn, .candidate_npus = 0}},
      {{.name = "one_shot_across",
        .description = "reduces and gathers within boxes, one shot between them",
        .source = "Microsoft, MSCCL++, 2024, All-Reduce of two boxes",
        .collectives = Kinds{ar},
        .reads = {.order = true}},
       {.make = make_one_shot_across,
        .sizes = sizes_of_one_shot_across,
        .single_chunks = false,
        .requirement = shape,
        .fits = fits_boxes,
        .candidate_npus = most_for_inputs,
        .moves_with = MovesWith::all,
        .states_contributors = true,
        .plays_jointly = false}},
      {{.name = "swing",
        .description = "recursive halving and doubling whose partners stay near on a torus",
        .source = "De Sensi et al., Swing: short-cutting rings for higher bandwidth allreduce, 2024",
        .collectives = Kinds{ag, rs, ar}},
       {.make = make_swing,
        .sizes = sizes_of_swing,
        .single_chunks = false,
        .requirement = "groups of even numbers, or of at most 255 NPUs",
        .fits = fits_swing}},
      {{.name = "swing_whole",
        .description = "whole sums are exchanged at the distances of swing, for small sizes",
        .source = "De Sensi et al., Swing, 2024, the latency-optimal variant",
        .collectives = Kinds{ar}},
       {.make = make_swing_whole,
        .sizes = sizes_of_swing_whole,
        .single_chunks = false,
        .requirement = "groups of powers of two",
        .fits = fits_whole_swing,
        .candidate_npus = most_for_inputs,
        .states_contributors = true,
        .plays_jointly = false}},
      {{.name = "pat",
        .description = "a binomial tree per NPU, the trees of a step in one message, far children first",
        .source = "Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale, 2025",
        .collectives = Kinds{ag, rs, ar}},
       {.make = make_pat, .sizes = sizes_of_pat, .single_chunks = false, .moves_with = MovesWith::one_dimension}},
      {{.name = "bine",
        .description = "a binomial tree over negabinary numbers, whose children are nearer",
        .source = "De Sensi et al., Bine trees: enhancing collective operations by optimizing communication locality, "
                  "2025",
        .collectives = Kinds{broadcast, reduce, gather, scatter}},
       {.make = make_bine,
        .sizes = sizes_of_binomial,
        .single_chunks = false,
        .requirement = "groups of even numbers",
        .fits = fits_even}},
      {{.name = "k_ary_tree",
        .description = "a tree in the order of ranks in which an NPU has `radix` children",
        .source = "Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, 2007",
        .collectives = Kinds{broadcast, reduce},
        .reads = {.radix = true}},
       {.make = make_k_ary_tree, .sizes = sizes_of_binomial}},
      {{.name = "chain",
        .description = "from rank to rank, chunk by chunk",
        .source = "Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, 2007",
        .collectives = Kinds{broadcast, reduce}},
       {.make = make_chain, .sizes = sizes_of_chain}},
  });
  return table;
}

const AlgorithmTraits& auto_algorithm() {
  static const AlgorithmTraits traits = [] {
    AlgorithmTraits any{
        .name = kAutoAlgorithm,
        .description = "the fastest of these for the point, by simulation",
        .family = AlgorithmFamily::any_textbook,
        .reads = {.window = "messages", .order = true, .switches = true, .phases = true, .radix = true}};
    for (const auto& algorithm : algorithms())
      for (const auto kind : algorithm.collectives)
        if (std::ranges::find(any.collectives, kind) == any.collectives.end()) any.collectives.push_back(kind);
    return any;
  }();
  return traits;
}

const Algorithm& default_algorithm(CollectiveKind kind) {
  const auto first = std::ranges::find_if(algorithms(), [&](const Algorithm& entry) { return entry.makes(kind); });
  ensure(first != algorithms().end(), "some algorithm makes every collective");
  return *first;
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
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const auto group = GroupId::at(g);
    const auto kind = collective.kind(group);
    const std::uint64_t members = collective.groups()[g].members.size();
    std::uint64_t of_slice = 0;
    if (stores_conditions(kind))
      for (const auto& condition : collective.conditions(group)) of_slice += condition.destinations.size();
    else
      of_slice = (has_root(kind) ? 1 : members) * (members - 1) * (kind == CollectiveKind::all_reduce ? 2 : 1);
    total += of_slice * static_cast<std::uint64_t>(collective.chunks_per_npu(group));
  }
  return total;
}

Status check_fits(std::string_view name, const Topology& topology, const Collective& collective) {
  const auto* algorithm = find_algorithm(name);
  ensure(algorithm != nullptr, "an algorithm checks itself under a name that the registry lacks");
  return check_fits(*algorithm, topology, collective);
}

Diagnostic no_halves(std::string_view algorithm) {
  return unsupported_error({}, fmt::format("algorithm \"{}\" without overlap", algorithm),
                           "its All-Reduce is no Reduce-Scatter followed by an All-Gather", "use overlap = true");
}

Status check_fits(const Algorithm& algorithm, const Topology& topology, const Collective& collective) {
  if (!algorithm.makes(collective.kind())) {
    std::string known;
    for (const auto kind : algorithm.collectives) known += (known.empty() ? "" : ", ") + std::string(to_string(kind));
    return input_error({}, fmt::format("algorithm \"{}\" does not do {}", algorithm.name, to_string(collective.kind())),
                       fmt::format("it is defined for {}", known), "choose one of these or a synthesizer");
  }
  if (collective.npus() != topology.npus())
    return input_error({}, fmt::format("the collective is for {} NPUs", collective.npus()),
                       fmt::format("the topology has {}", topology.npus()), "make both for the same number of NPUs");
  return algorithm.fits == nullptr ? success() : algorithm.fits(algorithm.name, topology, collective);
}

}  // namespace tenex
