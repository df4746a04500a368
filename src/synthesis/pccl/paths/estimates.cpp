// The expected cost of a plan by paths, from sizes and the distances from a few NPUs. The bytes were measured on a
// 2-core machine with All-to-All on grid(8,8,8), mesh(32,32), and 64 chunks per pair on grid(4,4,4), and with
// All-Gather on torus(32,32).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "synthesis/pccl/paths/conditions.hpp"
#include "synthesis/pccl/paths/distances.hpp"
#include "synthesis/pccl/paths/network.hpp"
#include "synthesis/pccl/paths/paths.hpp"
#include "synthesis/pccl/paths/planner.hpp"
#include "tenex/schedule/storage/list_builder.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/topology/distance.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

constexpr double kOtherPathsFactor = 5;      ///< first attempts over all paths, in rounds, over cheap links
constexpr double kOtherTreesFactor = 2;      ///< of first attempts in rounds
constexpr double kBytesPerChunk = 12;        ///< order and distances
constexpr double kBytesPerSendBeside = 280;  ///< of reductions and copies of different groups: lists, re-timing
constexpr double kHopsOverSwitches = 2;      ///< of a delivery in a tree
constexpr double kDetours = 1.5;             ///< hops of paths around slow links
constexpr std::size_t kSamples = 4;
constexpr double kBytesOfMergedSend = 100;  ///< of a send where both halves are timed side by side

/// What a search costs on links with slots, and on links with gaps.
struct LinkCosts {
  WorkUnit path_hop, tree_visit, grown_visit, grown_look;
  double rerouted;        ///< a send that is routed again
  double bytes_per_send;  ///< of slots, if few are empty: rows, which grow by halves, and free slots
  double bytes_per_cell;  ///< of distances
};
constexpr LinkCosts kSlotCosts{
    WorkUnit::path_hop, WorkUnit::tree_visit, WorkUnit::grown_visit, WorkUnit::grown_look, 1, 14, 2};
constexpr LinkCosts kGapCosts{WorkUnit::path_hop_unequal,
                              WorkUnit::tree_visit_unequal,
                              WorkUnit::grown_visit_unequal,
                              WorkUnit::grown_look_unequal,
                              2.5,
                              56,
                              4};

/// What a plan consists of.
struct PathsSizes {
  double paths = 0;  ///< chunks with one destination
  double trees = 0;  ///< other chunks
  double path_hops = 0;
  double tree_hops = 0;
  [[nodiscard]] double sends() const { return path_hops + tree_hops; }
  [[nodiscard]] double chunks() const { return paths + trees; }
};

/// What a plan of chunks that all leave or reach one NPU takes: most rows of slots are empty. Of those that leave, the
/// last ones pass even links near the end late.
double bytes_of_rooted(const SynthesisProblem& problem, const PathsSizes& sizes) {
  constexpr double kBytesPerRootedHop = 64;
  constexpr double kShareOfRows = 0.75;  // links away from the root are used alike
  constexpr double kBytesPerSlot = 4;
  double rows = 0;
  if (problem.collective.kind() == CollectiveKind::scatter)
    for (const ProcessGroup& group : problem.collective.groups()) {
      const auto out = problem.topology.out_links(vertex_of(group.members.front())).size();
      const double away = problem.topology.direct() ? 0.5 : 1;
      rows += away * static_cast<double>(problem.topology.links()) * sizes.chunks() /
              static_cast<double>(std::max<std::size_t>(1, out));
    }
  return sizes.sends() * kBytesPerRootedHop + rows * kShareOfRows * kBytesPerSlot;
}

/// Over switches deliveries in trees take more hops than the work of searches counts, where they lie behind several.
double sends_of(const SynthesisProblem& problem, const PathsSizes& sizes) {
  const double more =
      problem.topology.switches() > 0 ? std::max(1.0, mean_hops(problem.topology) / kHopsOverSwitches) : 1;
  return sizes.path_hops + more * sizes.tree_hops;
}

/// Bytes of an All-Reduce beside the making of its gather, which is kept: the reduction, and both halves in turn,
/// re-timed or timed side by side.
double bytes_of_overlap(const SynthesisProblem& problem, double sends) {
  const double kept = (kBytesOfListedSend + kBytesOfMirroredSend) * sends;
  const double retimed = static_cast<double>(retime_bytes(problem, static_cast<std::uint64_t>(2 * sends)));
  const double merged = problem.topology.switches() > 0 ? (kBytesOfMergedSend + kBytesOfListedSend) * 2 * sends : 0;
  return kept + std::max(retimed, merged);
}

PathsSizes sizes_of(const SynthesisProblem& problem) {
  PathsSizes sizes;
  const Collective& collective = problem.collective;
  const double hops = mean_hops(problem.topology) * (problem.topology.homogeneous() ? 1 : kDetours);
  for (std::size_t g = 0; g < collective.groups().size(); ++g) {
    const CollectiveKind kind = collective.kind(GroupId::at(g));
    const auto chunks = static_cast<double>(collective.chunks_in(GroupId::at(g)));
    const auto members = static_cast<double>(collective.groups()[g].members.size());
    const double outside = std::min(2.0, std::sqrt(static_cast<double>(problem.topology.npus()) / members));
    const double switched = problem.topology.switches() > 0 ? kHopsOverSwitches : 1;
    const double passes = kind == CollectiveKind::all_reduce ? 2 : 1;
    const bool unicast = stores_conditions(kind) || kind == CollectiveKind::all_to_all ||
                         kind == CollectiveKind::gather || kind == CollectiveKind::scatter;
    (unicast ? sizes.paths : sizes.trees) += chunks;
    if (unicast)
      sizes.path_hops += chunks * hops;
    else
      sizes.tree_hops +=
          chunks * (members - 1) * outside * switched * (collective.kind() == CollectiveKind::mixed ? passes : 1);
    for (const Condition& stored : collective.conditions(GroupId::at(g))) {
      const double more = static_cast<double>(stored.destinations.size()) - 1;
      // A tree comes to a vertex once.
      sizes.path_hops += static_cast<double>(collective.chunks_per_npu(GroupId::at(g))) *
                         std::min(hops * more, static_cast<double>(problem.topology.vertices()));
    }
  }
  return sizes;
}

/// Whether all NPUs take part in the first group: links are then used about equally.
bool is_dense(const SynthesisProblem& problem) {
  return problem.collective.groups().front().members.size() == problem.topology.npus();
}

/// Whether links are those of a product of blocks, without switches.
bool is_product(const Topology& topology) {
  return topology.direct() && topology.shape() && topology.shape()->is_product();
}

}  // namespace

namespace {

/// Bytes of one gather, or of a plan of any other collective, of so many sends.
double bytes_of_plan(const SynthesisProblem& problem, const PathsSizes& sizes, double sends) {
  const PathNetwork network(problem);
  const auto vertices = static_cast<double>(problem.topology.vertices());
  const auto links = static_cast<double>(problem.topology.links());
  const LinkCosts& costs = network.slotted() ? kSlotCosts : kGapCosts;
  const double per_send = is_dense(problem) ? costs.bytes_per_send : kGapCosts.bytes_per_send;
  const CollectiveKind kind = problem.collective.kind();
  const bool gathers = kind == CollectiveKind::gather;
  const double destinations =
      gathers ? static_cast<double>(problem.collective.groups().size()) : static_cast<double>(problem.topology.npus());
  const double rows = std::min<double>(kMostDistanceBytes, destinations * vertices * costs.bytes_per_cell);
  const double shared = rows + sizes.chunks() * kBytesPerChunk + links * 100;
  if (network.slotted() && (gathers || kind == CollectiveKind::scatter))
    return shared + bytes_of_rooted(problem, sizes) + links * 200;
  const double empty = network.slotted() ? network.empty_slot_bytes() : 0;
  const double floors = network.grows_trees() ? sizes.trees * links : 0;
  const double plan = sends * per_send + empty + sizes.chunks() * 4 + links * 200 + vertices * 50 +
                      (floors <= static_cast<double>(kMostFloors) ? floors * sizeof(std::int64_t) : 0);
  double least = shared + 2 * plan;  // an attempt beside the best one
  const double limit = static_cast<double>(problem.memory_limit_bytes);
  const bool rounded = network.slotted() && !network.slots_are_exact();
  for (const auto& [wanted, bytes] : {std::pair(rounded, kRetimeBytesPerSend),
                                      std::pair(sizes.sends() <= kMostReroutedSends, kRerouteBytesPerSend)}) {
    const double passes = shared + static_cast<double>(bytes) * sends;
    if (wanted && passes <= limit) least = std::max(least, passes);
  }
  if (kind == CollectiveKind::mixed && problem.collective.has_sums()) least += kBytesPerSendBeside * sends;
  return least;
}

}  // namespace

double mean_hops(const Topology& topology) {
  double total = 0;
  double pairs = 1;
  for (std::size_t i = 0; i < kSamples; ++i) {
    const auto row = hops_from(topology, VertexId::at(i * topology.npus() / kSamples));
    for (std::size_t npu = 0; npu < topology.npus(); ++npu) {
      if (row[npu] == 0 || row[npu] == kNoHops) continue;
      total += row[npu];
      ++pairs;
    }
  }
  return std::max(1.0, total / pairs);
}

std::size_t paths_bytes(const SynthesisProblem& problem) {
  const PathsSizes sizes = sizes_of(problem);
  const double sends = sends_of(problem, sizes);
  double bytes = bytes_of_plan(problem, sizes, sends);
  if (problem.collective.kind() == CollectiveKind::all_reduce) {
    const bool twice = !opposite_links(problem.topology).has_value();  // the first gather is kept
    bytes = std::max(bytes + (twice ? sends * kBytesOfListedSend : 0), bytes_of_overlap(problem, sends));
  }
  return static_cast<std::size_t>(bytes) + merge_bytes(problem);
}

Work paths_work(const SynthesisProblem& problem) {
  const PathsSizes sizes = sizes_of(problem);
  const bool slotted = problem.topology.homogeneous() && problem.collective.chunk_sizes().size() == 1;
  const LinkCosts& costs = slotted ? kSlotCosts : kGapCosts;
  const bool grows = !problem.topology.direct() && PathNetwork(problem).grows_trees();
  const double searches = grows ? std::max(1.0, static_cast<double>(problem.topology.npus()) / 2) : 1;  // per tree
  const double visits = sizes.trees * searches * static_cast<double>(problem.topology.links());
  double attempts = std::max<std::uint32_t>(1, problem.attempts);
  double attempts_of_trees = attempts;
  Work work;
  if (!is_dense(problem) || visits > 0 || !slotted ||
      !is_product(problem.topology)) {  // likely to be far from the bound
    attempts += kOtherPathsFactor;
    if (grows) attempts_of_trees += kOtherTreesFactor;
    if (sizes.sends() <= kMostReroutedSends) work += Work(WorkUnit::rerouted_send, sizes.sends() * costs.rerouted);
  }
  work += Work(costs.path_hop, attempts * sizes.path_hops);
  if (grows) {
    // A tree grows destination by destination, and searches end early where many are near.
    const double expected = visits / searches * std::sqrt(static_cast<double>(problem.topology.npus()));
    work += Work(costs.grown_visit, attempts_of_trees * visits);
    work += Work(costs.grown_look, attempts_of_trees * expected);
  } else {
    work += Work(costs.tree_visit, attempts_of_trees * visits);
  }
  const double halves = problem.collective.kind() == CollectiveKind::all_reduce ? 2 : 1;
  return halves * work + merge_work(problem);
}

std::optional<std::string> paths_unsuitable(const SynthesisProblem& /*problem*/) { return std::nullopt; }

}  // namespace tenex
