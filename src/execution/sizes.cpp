// Sizes of a point, counted in one go: from its settings, or of what was built.
#include "tenex/execution/sizes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "tenex/design/point_collective.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/family.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

/// Adds groups one by one.
class Counter {
 public:
  explicit Counter(CollectiveKind kind) : kind_(kind) {}

  void add(const GroupSizes& group) {
    sizes_.members += group.members;
    sizes_.chunks += group.chunks;
    // Groups that differ have passes of their own; else the point's passes count.
    sizes_.sends += group.deliveries * (kind_ == CollectiveKind::mixed ? passes_of(group.kind) : 1);
    sizes_.smallest_chunk = groups_ == 0 ? group.smallest_chunk : std::min(sizes_.smallest_chunk, group.smallest_chunk);
    sizes_.largest_chunk = std::max(sizes_.largest_chunk, group.largest_chunk);
    sizes_.conditions += static_cast<double>(group.conditions);
    ++groups_;
  }
  CollectiveSizes take(bool everyone) {
    sizes_.everyone = everyone;
    return sizes_;
  }

 private:
  CollectiveKind kind_;
  std::size_t groups_ = 0;
  CollectiveSizes sizes_;
};

CollectiveSizes count_groups(const DesignPoint& point, std::uint64_t npus) {
  Counter counter(point.collective().kind);
  const Groups& groups = point.collective().groups;
  if (groups.everyone()) counter.add(group_sizes(point, {}, npus));
  for (const ProcessGroup& group : groups.list()) counter.add(group_sizes(point, group, group.members.size()));
  return counter.take(groups.everyone());
}

bool in_order(const std::vector<NpuId>& members) {
  for (std::size_t i = 0; i < members.size(); ++i)
    if (members[i].index() != i) return false;
  return true;
}

/// Mean distance of two positions drawn at random, equal ones included.
double mean_distance(const Block& block, std::uint32_t unwind) {
  if (block.rule->through_switch && unwind > 0) return std::max(1.0, static_cast<double>(block.size) / (2 * unwind));
  return block.rule->mean_hops(block);
}

/// Mean hops between two positions, there and back.
double hops_both_ways(const Block& block, std::uint32_t a, std::uint32_t b) {
  return (static_cast<double>(block.rule->hops(a, b, block)) + block.rule->hops(b, a, block)) / 2;
}

/// Mean hops between neighbouring positions, and from the last to the first, both ways.
struct RingHops {
  double step = 1;
  double wrap = 1;
};

RingHops ring_hops(const Block& block, std::uint32_t unwind) {
  if (block.rule->through_switch && unwind > 0) {
    const double round = (1 + std::max(1.0, (static_cast<double>(block.size) - 1) / unwind)) / 2;  // one way only
    return {round, round};
  }
  return {hops_both_ways(block, 0, 1), hops_both_ways(block, 0, block.size - 1)};
}

/// Mean hops from each NPU to the next and back: dimension 1 always moves, dimension 2 whenever dimension 1 wraps, and
/// so on.
double mean_ring_hops(const Shape& shape, std::uint32_t unwind) {
  double hops = 0;
  double share = 1;  // of the pairs that move in this dimension
  for (const auto& block : shape.blocks) {
    if (block.size == 1) continue;
    const double size = block.size;
    const auto [step, wrap] = ring_hops(block, unwind);
    hops += share * ((size - 1) * step + wrap) / size;
    share /= size;
  }
  return hops;
}

double mean_pair_hops(const DesignPoint& point, double npus) {
  double hops = 0;
  for (const auto& block : point.topology.shape.blocks) hops += mean_distance(block, unwinding_degree(point));
  return hops * npus / std::max(1.0, npus - 1);
}

/// A wire over a product's switches has the latencies of its links: of two, or of the longest way through a tree.
void add_paths(const Shape& shape, std::vector<LinkClass>& classes) {
  for (std::size_t i = 0; i < classes.size(); ++i)
    if (shape.is_product() && shape.blocks[i].rule->wired != nullptr)
      classes[i].alpha = classes[i].alpha * std::int64_t{shape.blocks[i].rule->diameter_hops(shape.blocks[i])};
}

double count_serialised_hops(const DesignPoint& point, const PointSizes& sizes) {
  const auto vertices = static_cast<double>(sizes.topology.vertices());
  const auto chunks = static_cast<double>(sizes.collective.chunks);
  const double each_once = passes_of(point.collective().kind) * chunks;
  // A synthesizer sends a chunk over a link once in each pass.
  if (!is_program(point)) return each_once + vertices;
  if (!sizes.product || !sizes.collective.everyone)
    return passes_of(point.collective().kind) * sizes.collective.sends + vertices;
  // With routes in dimension order, at most four pairs of ring neighbours share a link of a product shape. Other pairs
  // share a link of a dimension of k positions if the destination agrees with the link in the earlier dimensions and
  // the source in the later ones: n/k cases, with up to k^2/4 pairs of positions each. A bundle between switches has
  // fewer links for the pairs over it where it is oversubscribed.
  double share = 4;
  const auto* algorithm = find_algorithm(point.algorithm);
  for (const auto& block : point.topology.shape.blocks)
    if (algorithm == nullptr || !algorithm->along_rings) {
      double sharers = block.size;
      for (const SwitchLevel& level : block.levels) sharers *= level.oversubscription;
      share = std::max(share, sharers);
    }
  return share * each_once + 2 * vertices;
}

constexpr double kMachineHops = 3;

/// Mean hops of messages between any two NPUs, and between neighbours in the order of ids.
struct MeanHops {
  double pair;
  double neighbour;
};

MeanHops mean_hops(const DesignPoint& point, const PointSizes& sizes) {
  if (!point.topology.machine_file.empty()) return {kMachineHops, kMachineHops};
  if (const Shape& shape = point.topology.shape; !shape.is_product()) {
    const auto degree = unwinding_degree(point);
    if (degree > 0 && shape.family->switches != nullptr) {
      const double round = std::max(1.0, static_cast<double>(sizes.topology.npus) / (2.0 * degree));
      return {round, round};
    }
    const auto [pair, neighbour] = shape.family->hops(shape.arguments);
    return {std::max(1.0, pair), std::max(1.0, neighbour)};
  }
  const double pair = std::max(1.0, mean_pair_hops(point, static_cast<double>(sizes.topology.npus)));
  if (!sizes.collective.everyone) return {pair, pair};
  return {pair, std::max(1.0, mean_ring_hops(point.topology.shape, unwinding_degree(point)))};
}

/// Steps of an NPU that sends to all others of each dimension of a shape, one dimension after another.
double steps_by_dimension(const DesignPoint& point, double members) {
  if (!point.topology.machine_file.empty() || !point.topology.shape.is_product()) return members;
  double steps = 0;
  for (const auto& block : point.topology.shape.blocks) steps += block.size - 1;
  return std::max(steps, 1.0);
}

/// Adds an exchange among `size` positions, each message of which takes `hops` on average. `left`: the share of all
/// chunks that an NPU's slice still has after the exchanges before it; an All-to-All moves all in each.
void add_exchange(DimensionSends& sends, double size, double hops, double& left, bool all_to_all) {
  const double moved = (all_to_all ? 1 : left) * (size - 1) / size;
  sends.messages += size - 1;
  sends.hops += (size - 1) * hops;
  sends.moves += moved;
  sends.stages += 1;
  left /= size;
}

/// What a pass over the dimensions of a shape sends: round a ring in each, or (`by_blocks`) straight where the block
/// has straight links, and by halves (but All-to-Alls) where an NPU has one port to a power of two of others.
DimensionSends dimension_sends(const DesignPoint& point, const ProgramScale& scale, bool by_blocks) {
  if (!point.topology.machine_file.empty() || !point.topology.shape.is_product())
    return {scale.dimension_steps, scale.dimension_steps * scale.step_hops, 1, scale.dimensions};
  const auto unwind = unwinding_degree(point);
  DimensionSends sends{0, 0, 0, 0};
  double left = 1;
  for (const auto& block : point.topology.shape.blocks) {
    if (block.size == 1) continue;
    const double size = block.size;
    const auto [step, wrap] = ring_hops(block, unwind);
    if (by_blocks && block.rule->one_port && std::has_single_bit(block.size) && !scale.all_to_all) {
      for (std::uint32_t bit = 1; bit < block.size; bit *= 2)
        add_exchange(sends, 2, unwind > 0 ? std::max<double>(1, bit / unwind) : hops_both_ways(block, 0, bit), left,
                     scale.all_to_all);
    } else if (by_blocks && !block.rule->stepwise) {
      add_exchange(sends, size, mean_distance(block, unwind) * size / (size - 1), left, scale.all_to_all);
    } else {
      add_exchange(sends, size, ((size - 1) * step + wrap) / size, left, scale.all_to_all);
    }
  }
  const double npus = static_cast<double>(point.topology.npus());
  sends.moves *= npus / std::max(1.0, npus - 1);
  return sends;
}

/// Hops from one NPU to all NPUs whose number differs from its own in one bit; nullopt unless every bit lies within one
/// dimension.
std::optional<double> halving_hops(const DesignPoint& point, const PointSizes& sizes) {
  if (!sizes.product || !sizes.collective.everyone) return std::nullopt;
  double hops = 0;
  for (const auto& block : point.topology.shape.blocks) {
    if (!std::has_single_bit(block.size)) return std::nullopt;
    for (std::uint32_t bit = 1; bit < block.size; bit *= 2) hops += hops_both_ways(block, 0, bit);
  }
  return hops;
}

double last_dimension(const Shape& shape) {
  double size = 1;
  for (const auto& block : shape.blocks)
    if (block.size > 1) size = block.size;
  return size;
}

ProgramScale scale_of(const DesignPoint& point, const PointSizes& sizes) {
  ProgramScale scale;
  scale.members = static_cast<double>(sizes.collective.members);
  scale.slices = static_cast<double>(point.chunks) * scale.members;
  scale.passes = passes_of(point.collective().kind);
  scale.sends = scale.passes * sizes.collective.sends;
  scale.pair_hops = sizes.pair_hops;
  scale.neighbour_hops = sizes.neighbour_hops;
  scale.step_hops = sizes.topology.switches > 0 ? 2 : 1;
  scale.dimension_steps = steps_by_dimension(point, scale.members);
  scale.dimensions = static_cast<double>(std::max<std::size_t>(1, point.topology.shape.dimensions()));
  scale.halving_hops = halving_hops(point, sizes);
  scale.all_to_all = point.collective().kind == CollectiveKind::all_to_all;
  if (sizes.product && !point.topology.shape.blocks.empty())
    scale.last_dimension = last_dimension(point.topology.shape);
  scale.by_rings = dimension_sends(point, scale, false);
  scale.by_blocks = dimension_sends(point, scale, true);
  scale.radix = point.collective().radix;
  return scale;
}

/// The most equal routes between two NPUs that can be told from the sizes; nullopt where they cannot.
std::optional<std::uint64_t> most_routes(const DesignPoint& point) {
  if (!point.topology.machine_file.empty()) return std::nullopt;
  const Shape& shape = point.topology.shape;
  if (!shape.is_product())
    return shape.family->most_routes != nullptr ? std::optional(shape.family->most_routes(shape.arguments))
                                                : std::nullopt;
  std::uint64_t routes = 1;
  for (const Block& block : shape.blocks) {
    std::uint64_t lanes = 1;
    std::uint32_t below = 1;
    for (const SwitchLevel& level : block.levels) {  // every lane up and every lane down
      lanes = level.npus / below * lanes / level.oversubscription;
      below = level.npus;
      routes = std::min<std::uint64_t>(kMostRoutes, routes * lanes * lanes);
    }
  }
  return routes;
}

double most_pieces(const DesignPoint& point) {
  if (point.collective().routes.rule != RouteRule::sprayed) return 1;
  return static_cast<double>(std::min<std::uint64_t>(kMostPieces, most_routes(point).value_or(kMostPieces)));
}

/// The programs that a point may run.
std::vector<SizedProgram> sizes_of_programs(const DesignPoint& point, const PointSizes& sizes) {
  const auto scale = scale_of(point, sizes);
  const auto sized = [&](const Algorithm& algorithm) -> SizedProgram {
    const ProgramSizes whole = algorithm.sizes(scale);
    return {{whole.messages * sizes.pieces, whole.hops * sizes.pieces, whole.carried, whole.least_busy, whole.moves},
            &algorithm};
  };
  if (const auto* named = find_algorithm(point.algorithm)) return {sized(*named)};
  std::vector<SizedProgram> programs;
  for (const auto& algorithm : algorithms()) {
    const bool able = algorithm.makes(point.collective().kind) && sizes.topology.npus <= algorithm.candidate_npus &&
                      !(algorithm.direct_only && sizes.topology.switches > 0);
    if (able) programs.push_back(sized(algorithm));
  }
  if (programs.empty()) programs.emplace_back();
  return programs;
}

ProgramSizes most_of(const std::vector<SizedProgram>& programs) {
  ProgramSizes most;
  for (const auto& one : programs)
    most = {std::max(most.messages, one.messages), std::max(most.hops, one.hops), std::max(most.carried, one.carried)};
  return most;
}

/// Adds what follows from the topology and the collective.
PointSizes completed(const DesignPoint& point, PointSizes sizes) {
  sizes.serialised_hops = count_serialised_hops(point, sizes);
  const auto [pair, neighbour] = mean_hops(point, sizes);
  sizes.pair_hops = pair;
  sizes.neighbour_hops = neighbour;
  sizes.pieces = most_pieces(point);
  const auto* synthesizer = find_synthesizer(point.algorithm);
  if (!is_program(point) && (synthesizer == nullptr || !synthesizer->starts_from_all)) return sizes;
  sizes.programs = sizes_of_programs(point, sizes);
  sizes.most = most_of(sizes.programs);
  return sizes;
}

}  // namespace

PointSizes sizes_of_shape(const DesignPoint& point) {
  const auto& choice = point.topology;
  PointSizes sizes;
  const auto degree = unwinding_degree(point);
  sizes.topology = sizes_of(choice.shape, degree);
  const bool wired = degree == 0 && has_wires(point);
  if (wired) sizes.topology = {sizes.topology.npus, 0, count_wires(choice.shape).wires};
  sizes.topology.links -= std::min<std::uint64_t>(sizes.topology.links, 2 * choice.without.size());
  sizes.classes = link_classes(choice.shape, choice.links, degree);
  if (wired) add_paths(choice.shape, sizes.classes);
  sizes.product = choice.shape.is_product() && choice.without.empty() && choice.faults.empty() &&
                  (wired || sizes.topology == sizes_of(choice.shape));
  sizes.collective = count_groups(point, sizes.topology.npus);
  sizes.network = sizes.topology;
  return completed(point, std::move(sizes));
}

CollectiveSizes sizes_of_collective(const Collective& collective) {
  Counter counter(collective.kind());
  for (std::size_t g = 0; g < collective.groups().size(); ++g) counter.add(group_sizes(collective, GroupId::at(g)));
  return counter.take(false);
}

PointSizes sizes_of_built(const DesignPoint& point, const Topology& seen, const Topology& network,
                          const Collective& collective) {
  PointSizes sizes;
  sizes.topology = {seen.npus(), seen.switches(), seen.links()};
  sizes.network = {network.npus(), network.switches(), network.links()};
  sizes.classes.assign(seen.classes().begin(), seen.classes().end());
  sizes.product = seen.shape() && seen.shape()->is_product();
  sizes.collective = sizes_of_collective(collective);
  const auto& first = collective.groups().front().members;
  sizes.collective.everyone = first.size() == seen.npus() && in_order(first);
  return completed(point, std::move(sizes));
}

ProgramSizes deciding_sizes(const DesignPoint& point, const PointSizes& sizes) {
  auto scale = scale_of(point, sizes);
  // What decides stays coarse: each step along a dimension is a message, of two hops where there are switches.
  const double steps = scale.dimension_steps;
  scale.by_rings = scale.by_blocks = {steps, steps * scale.step_hops, 1, scale.dimensions};
  scale.last_dimension = 1;
  if (const auto* named = find_algorithm(point.algorithm)) return named->sizes(scale);
  std::vector<SizedProgram> programs;
  for (const auto& algorithm : algorithms())
    if (sizes.topology.npus <= algorithm.candidate_npus) programs.push_back({algorithm.sizes(scale), &algorithm});
  return most_of(programs);
}

}  // namespace tenex
