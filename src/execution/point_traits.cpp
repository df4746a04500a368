// What follows from sizes about how a point runs: which engine of the simulator, and how its schedule is read.
#include "execution/point_traits.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "tenex/algorithm/algorithm.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/build.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"
#include "tenex/synthesis/synthesizer.hpp"
#include "tenex/topology/block.hpp"
#include "tenex/topology/family.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {

namespace {

/// Whether all NPUs of a symmetric network do alike.
bool treats_all_alike(const DesignPoint& point, const PointSizes& sizes) {
  const auto kind = point.collective().kind;
  const bool alike = !has_root(kind) && !stores_conditions(kind) && kind != CollectiveKind::mixed;
  return alike && sizes.collective.everyone && point.collective().order == DestinationOrder::relative &&
         point.collective().stragglers.empty() && point.collective().window == 0;
}

/// Whether messages of the part form an open loop.
bool is_open(const DesignPoint& point, const PointSizes& sizes, CollectiveKind part) {
  return part != CollectiveKind::all_reduce && part != CollectiveKind::mixed && point.collective().window == 0 &&
         start_delays_of(point).empty() && sizes.collective.smallest_chunk == sizes.collective.largest_chunk;
}

}  // namespace

bool moves_by_orbit(const DesignPoint& point, const PointSizes& sizes) {
  const auto& blocks = point.topology.shape.blocks;
  const bool symmetric = std::ranges::all_of(blocks, [](const Block& block) {
    return block.size == 1 || (block.rule->translations != nullptr && !block.rule->translations(block.size).empty());
  });
  return sizes.product && symmetric && treats_all_alike(point, sizes);
}

bool goes_by_orbit(const DesignPoint& point, const PointSizes& sizes, const Algorithm* algorithm) {
  const SimulationEngine engine = point.collective().simulation_engine;
  const auto dimensions = std::ranges::count_if(point.topology.shape.blocks, [](const Block& b) { return b.size > 1; });
  const bool moves = algorithm == nullptr || algorithm->moves_with == MovesWith::all ||
                     (algorithm->moves_with == MovesWith::one_dimension && dimensions <= 1);
  return moves && moves_by_orbit(point, sizes) &&
         (engine == SimulationEngine::automatic || engine == SimulationEngine::orbit);
}

bool goes_in_trains(const DesignPoint& point, const PointSizes& sizes, CollectiveKind part) {
  const auto& runs = point.collective();
  const auto& blocks = point.topology.shape.blocks;
  const bool one_block = std::ranges::count_if(blocks, [](const Block& block) { return block.size > 1; }) == 1;
  const bool tree = std::ranges::any_of(blocks, [](const Block& block) { return !block.levels.empty(); });
  const bool waits = point.topology.switches.forwarding != SwitchForwarding::cut_through;
  const bool asked =
      runs.simulation_engine == SimulationEngine::automatic || runs.simulation_engine == SimulationEngine::trains;
  return may_run(point, sizes.topology.npus, &Algorithm::straight) && asked && one_block && sizes.product &&
         is_open(point, sizes, part) && waits && !tree;
}

bool waits_little(const DesignPoint& point, const PointSizes& sizes, CollectiveKind part) {
  const TopologyChoice& network = point.topology;
  if (!network.machine_file.empty() || network.shape.is_product() || !network.without.empty() ||
      !network.faults.empty() || unwinding_degree(point) > 0 ||
      network.switches.forwarding == SwitchForwarding::cut_through)
    return false;
  const FamilyRule& family = *network.shape.family;
  if (family.next_links == nullptr || family.domains(network.shape.arguments).size() != 1) return false;
  const auto levels = family.levels(network.shape.arguments);
  const bool enough =
      std::ranges::all_of(levels, [&](const FamilyLevel& each) { return each.links >= levels[0].links; });
  const bool one_pace =
      std::ranges::all_of(sizes.classes, [&](const LinkClass& one) { return one == sizes.classes[0]; });
  const RouteRule rule = point.collective().routes.rule;
  return enough && one_pace && (rule == RouteRule::per_destination || rule == RouteRule::sprayed) &&
         may_run(point, sizes.topology.npus, &Algorithm::straight) && treats_all_alike(point, sizes) &&
         is_open(point, sizes, part);
}

bool walks(const DesignPoint& point) {
  const auto kind = point.collective().kind;
  return kind == CollectiveKind::all_to_all || kind == CollectiveKind::gather || kind == CollectiveKind::scatter ||
         kind == CollectiveKind::all_to_allv || kind == CollectiveKind::halo_exchange;
}

double scheduled_sends(const DesignPoint& point, const PointSizes& sizes) {
  const double hops = walks(point) ? sizes.pair_hops : 1;
  return sizes.collective.sends * passes_of(point.collective().kind) * hops;
}

bool is_symmetric(const PreparedPoint& prepared) {
  const auto* synthesizer = prepared.synthesizer;
  if (synthesizer == nullptr || synthesizer->translations_engine.empty()) return false;
  const auto& engine = prepared.point.engine;
  const bool may = engine == kAutomaticEngine || engine == synthesizer->translations_engine;
  return may && !has_root(prepared.collective->kind()) && prepared.sizes.collective.everyone &&
         prepared.topology_of_algorithm().wires() == nullptr &&
         TranslationGroup::of(prepared.topology_of_algorithm(), LinkPorts::shared).has_value();
}

bool competes_with_textbooks(const PreparedPoint& prepared) {
  const auto* synthesizer = prepared.synthesizer;
  return synthesizer != nullptr && synthesizer->starts_from_all && prepared.point.solver.priorities == Priorities{} &&
         !prepared.topology().varies();
}

DesignPoint as_best_textbook(DesignPoint point) {
  const auto best = std::ranges::find(algorithm_traits(), AlgorithmFamily::any_textbook, &AlgorithmTraits::family);
  name_algorithm(point, **best);
  return point;
}

bool is_kept_by_link(const PreparedPoint& prepared) {
  const auto* synthesizer = prepared.synthesizer;
  return synthesizer != nullptr && synthesizer->uses_threads != nullptr &&
         synthesizer->uses_threads(prepared.problem(0));
}

bool is_checked_by_orbit(const DesignPoint& point, const PointSizes& sizes, double sends) {
  return sends > static_cast<double>(kMostReplayedSends) ||
         (walks(point) &&
          static_cast<double>(sizes.topology.vertices()) * static_cast<double>(sizes.collective.chunks) >
              static_cast<double>(kMostReplayedPairs));
}

std::uint64_t bound_work(const DesignPoint& point, const PointSizes& sizes, bool one_for_all) {
  if (point.collective().bounds == BoundSearch::full) return std::numeric_limits<std::uint64_t>::max();
  const bool direct = sizes.topology.switches == 0;
  const double sends =
      direct ? scheduled_sends(point, sizes) : sizes.collective.sends * passes_of(point.collective().kind);
  return bound_work(sends / (one_for_all ? static_cast<double>(sizes.topology.npus) : 1), direct);
}

std::uint64_t bound_work(double sends, bool direct) {
  // On direct links a tenth of what a send takes to be planned. Over switches searches gain less and take longer, as
  // they list pairs of links.
  const double visits_per_send = direct ? 2 : 0.25;
  constexpr double kLeast = 0x1p16;              // a millisecond
  const double most = direct ? 0x1p27 : 0x1p25;  // two seconds, half a second
  return std::bit_floor(static_cast<std::uint64_t>(std::clamp(sends * visits_per_send, kLeast, most)));
}

}  // namespace tenex
