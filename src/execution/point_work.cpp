// Units of work of a point: what is told follows how a point runs, what decides is a frozen model.
#include "execution/point_work.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "execution/point_traits.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/verifier/symmetric_verifier.hpp"

namespace tenex {
namespace {

/// Of any point: its tables, its network, and its bounds. `one_for_all`: one NPU's sends stand for all.
Work work_of_any(const DesignPoint& point, const PointSizes& sizes, bool one_for_all) {
  constexpr double kMostVisits = 0x1p27;  // bounds without certificates have limits of their own
  const auto links = static_cast<double>(sizes.topology.links);
  Work work(WorkUnit::point, 1);
  work.add(WorkUnit::link, links);
  const double npus = one_for_all ? 1 : static_cast<double>(sizes.topology.npus);
  work.add(WorkUnit::bound_visit, std::min(kMostVisits, npus * links));
  const std::uint64_t most = bound_work(point, sizes, one_for_all);
  if (2 * sizes.topology.links > most) return work;
  for (const auto& method : bound_methods())
    if (method.certify != nullptr && method.concerns(point.collective().kind))
      work.add(WorkUnit::certificate_visit, static_cast<double>(std::min(most, method.full_work)));
  return work;
}

/// What the check counts where sends are read one by one in time order.
WorkUnit unit_of_check(const DesignPoint& point) {
  return reduces(point.collective().kind) ? WorkUnit::verified_sum : WorkUnit::verified_send;
}

/// A simulation of which nothing is kept. `part`: the point's kind, or that of a half.
Work work_of_timing(const DesignPoint& point, const PointSizes& sizes, const SizedProgram& program,
                    CollectiveKind part) {
  if (point.collective().backend == Backend::congestion_unaware) return {WorkUnit::formula_message, program.messages};
  if (goes_by_orbit(point, sizes, program.algorithm))
    return {WorkUnit::simulated_hop, program.hops / static_cast<double>(sizes.topology.npus)};
  // Of the programs of `auto`, most do not go in trains.
  const bool trains = !tries_all(point) && goes_in_trains(point, sizes, part);
  return {trains ? WorkUnit::train_hop : WorkUnit::simulated_hop, program.hops};
}

/// What programs take to be made that keep more than a few numbers for each NPU.
Work work_of_making(const DesignPoint& point, const PointSizes& sizes) {
  const auto npus = static_cast<double>(sizes.topology.npus);
  Work work;
  if (may_run(point, sizes.topology.npus, &Algorithm::tree_per_npu)) work.add(WorkUnit::tree_place, npus * npus);
  // Cycles are searched for where the dimensions of a shape differ.
  const bool unlike = std::ranges::any_of(sizes.classes, [&](const LinkClass& one) { return one != sizes.classes[0]; });
  if (unlike && point.topology.machine_file.empty() && may_run(point, sizes.topology.npus, &Algorithm::joins_pairs))
    work.add(WorkUnit::joined_pair, npus * npus);
  return work;
}

Work told_of_program(const DesignPoint& point, const PointSizes& sizes, bool records) {
  const auto kind = point.collective().kind;
  const auto& programs = sizes.programs;
  // `auto` times each, and runs the fastest: often the one with the fewest hops.
  const auto chosen = *std::ranges::min_element(programs, {}, &ProgramSizes::hops);
  Work work = work_of_any(point, sizes, moves_by_orbit(point, sizes)) + work_of_making(point, sizes);
  if (tries_all(point))
    for (const auto& program : programs) work += work_of_timing(point, sizes, program, kind);
  // An All-Reduce runs as a whole and as two halves, of which one is kept. Trees have no halves.
  const auto* named = find_algorithm(point.algorithm);
  const bool twice = kind == CollectiveKind::all_reduce && (named == nullptr || named->reads.phases);
  const bool keeps_whole = records && (!twice || point.collective().overlap);
  if (!keeps_whole) work += work_of_timing(point, sizes, chosen, kind);
  if (twice && (keeps_whole || !records)) work += work_of_timing(point, sizes, chosen, CollectiveKind::reduce_scatter);
  if (!records) return work;
  work.add(WorkUnit::recorded_hop, chosen.hops);
  work.add(unit_of_check(point), chosen.hops);
  work.add(WorkUnit::hashed_send, chosen.hops);
  work.add(WorkUnit::recorded_chunk, chosen.moves);
  work.add(WorkUnit::verified_chunk, chosen.moves);
  return work;
}

double weight_of_program(const DesignPoint& point, const PointSizes& sizes, bool records) {
  const auto [messages, hops, carried, least_busy, moves] = deciding_sizes(point, sizes);
  const double tried = tries_all(point) ? 3 : 1;
  const double repeats = tried * (point.collective().kind == CollectiveKind::all_reduce ? 2 : 1);
  const Work links(WorkUnit::link, static_cast<double>(sizes.topology.links));
  if (point.collective().backend == Backend::congestion_unaware)
    return (Work(WorkUnit::formula_message, repeats * messages) + links).weight();
  if (records)
    return (Work(WorkUnit::recorded_hop, repeats * hops) + Work(WorkUnit::verified_send, hops) + links).weight();
  const bool by_orbit = goes_by_orbit(point, sizes, find_algorithm(point.algorithm));
  const double simulated = by_orbit ? hops / static_cast<double>(sizes.topology.npus) : hops;
  return (Work(WorkUnit::simulated_hop, repeats * simulated) + links).weight();
}

double weight_of_synthesis(const Work& made, std::optional<double> of_period, double sends, const PointSizes& sizes,
                           bool by_link, bool by_orbit) {
  const double checked = by_orbit ? sends / static_cast<double>(sizes.topology.npus) : sends;
  const double hashed = sends <= static_cast<double>(kMostReplayedSends) ? sends : 0;
  const double checking =
      of_period
          ? (Work(WorkUnit::send_of_period, std::min(*of_period, sends)) + Work(WorkUnit::hashed_send, hashed)).weight()
          : Work(by_link ? WorkUnit::send_by_link : WorkUnit::verified_send, checked).weight();
  return made.weight() + checking + Work(WorkUnit::link, static_cast<double>(sizes.topology.links)).weight();
}

}  // namespace

CountedWork count_program(const DesignPoint& point, const PointSizes& sizes, bool records) {
  return {told_of_program(point, sizes, records), weight_of_program(point, sizes, records)};
}

CountedWork count_synthesis(const DesignPoint& point, const Synthesizer& synthesizer, const SynthesisProblem& problem,
                            const PointSizes& sizes, const ScheduleReading& reading, double played_hops) {
  const double sends = scheduled_sends(point, sizes);
  const bool by_orbit = reading.symmetric && is_checked_by_orbit(point, sizes, sends);
  const auto of_period =
      synthesizer.estimate_period_sends != nullptr ? synthesizer.estimate_period_sends(problem) : std::nullopt;
  const Work made = synthesizer.count_work(problem);
  const Work played(WorkUnit::switched_hop, played_hops);
  Work told = made + work_of_any(point, sizes, reading.symmetric) + played;
  if (of_period)
    told.add(WorkUnit::send_of_period, std::min(*of_period, sends));
  else if (reading.by_link)
    told.add(WorkUnit::send_by_link, sends);
  else
    told.add(unit_of_check(point), by_orbit ? sends / static_cast<double>(sizes.topology.npus) : sends);
  if (sends <= static_cast<double>(kMostReplayedSends))
    told.add(reading.by_link ? WorkUnit::hashed_cell : WorkUnit::hashed_send, sends);
  return {told, weight_of_synthesis(made + played, of_period, sends, sizes, reading.by_link, by_orbit), made};
}

}  // namespace tenex
