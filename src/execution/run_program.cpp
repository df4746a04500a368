// A textbook algorithm's program through the simulator. An All-Reduce is simulated as one program, where each chunk's
// gather begins when its sum is complete (with overlap), and as its two halves one after the other (without).
//
// `auto` simulates every textbook algorithm that supports the point and keeps the fastest, like a communication library
// that chooses by measuring.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "execution/concatenate.hpp"
#include "execution/link_imbalance.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/base/stopwatch.hpp"
#include "tenex/execution/algorithm_table.hpp"
#include "tenex/execution/execution_cache.hpp"
#include "tenex/execution/plan.hpp"
#include "tenex/execution/prepared_point.hpp"
#include "tenex/execution/timed_stream.hpp"

namespace tenex {
namespace {

void add_loads(std::vector<LinkLoad>& into, const std::vector<LinkLoad>& from) {
  for (std::size_t link = 0; link < into.size(); ++link) {
    into[link].bytes += from[link].bytes;
    into[link].busy += from[link].busy;
  }
}

/// The options for a simulation that begins at `time`: delays are counted from there, and an NPU that has started by
/// then has none.
SimulationOptions from(SimTime time, SimulationOptions options) {
  std::erase_if(options.start_delays, [&](const StartDelay& delay) { return delay.time <= time; });
  for (auto& delay : options.start_delays) delay.time -= time;
  return options;
}

/// Simulates algorithms for one point.
class ProgramRunner {
 public:
  ProgramRunner(const PreparedPoint& prepared, const ExecutionOptions& options, const PointPlan& plan,
                ProgramParts& parts)
      : plan_(plan),
        point_(prepared.point),
        topology_(prepared.topology()),
        collective_(*prepared.collective),
        bins_(options.utilization_bins) {
    const DesignPoint& point = prepared.point;
    const bool aware = point.collective().backend == Backend::congestion_aware;
    full_.occupancy = point.occupancy;
    full_.backend = point.collective().backend;
    full_.engine = point.collective().simulation_engine;
    full_.routes = point.collective().routes;
    full_.threads = options.threads;
    full_.start_delays = prepared.start_delays;
    quick_ = full_;
    full_.record_sends = aware && plan.records;
    compares_links_ = has_link_levels(topology_);
    keeps_links_ = options.link_loads;
    plays_jointly_ = options.plays_jointly;
    full_.record_links = compares_links_ || keeps_links_;
    full_.record_arrivals = options.arrivals;
    full_.utilization_bins = aware ? options.utilization_bins : 0;
    settings_ = {point.collective().window, point.collective().order, point.seed,
                 point.collective().routes, point.collective().radix, &parts};
  }

  /// Returns the time of one algorithm and records nothing.
  [[nodiscard]] Result<SimTime> time(const Algorithm& algorithm) const {
    if (collective_.kind() == CollectiveKind::all_reduce && !point_.collective().overlap) {
      auto reduction = simulate_as(algorithm, CollectiveKind::reduce_scatter, quick_);
      if (!reduction) return reduction.errors();
      auto gather = simulate_as(algorithm, CollectiveKind::all_gather, from(reduction->finish, quick_));
      if (!gather) return gather.errors();
      return reduction->finish + gather->finish;
    }
    auto whole = simulate_as(algorithm, collective_.kind(), quick_);
    if (!whole) return whole.errors();
    return whole->finish;
  }

  /// Runs one algorithm with all that the options ask for.
  [[nodiscard]] Result<TimedStream> run(const Algorithm& algorithm) const {
    auto stream = collective_.kind() == CollectiveKind::all_reduce ? run_all_reduce(algorithm) : run_one(algorithm);
    if (!stream) return stream;
    stream->engine = std::string(to_string(full_.backend));
    stream->has_schedule = full_.record_sends;
    stream->physical = full_.backend == Backend::congestion_aware;
    stream->single_chunks = algorithm.single_chunks;
    if (compares_links_) stream->link_imbalance = link_imbalance(topology_, stream->link_loads);
    if (!keeps_links_) stream->link_loads.clear();
    if (sums_overlap()) stream->time_with_overlap_ps = stream->finish.count();
    return stream;
  }

  /// Runs the fastest of all algorithms that support the point, and counts these.
  [[nodiscard]] Result<TimedStream> run_best() {
    auto able = candidates(topology_, collective_, settings_);
    if (collective_.kind() == CollectiveKind::all_reduce && !point_.collective().overlap)
      std::erase_if(able, [](const Algorithm* algorithm) { return !algorithm->reads.phases; });
    if (plays_jointly_) std::erase_if(able, [](const Algorithm* algorithm) { return !algorithm->plays_jointly; });
    const Algorithm* best = nullptr;
    SimTime least;
    std::int64_t tried = 0;
    Diagnostics unable;
    for (const auto* algorithm : able) {
      const auto finish = time(*algorithm);
      if (!finish && is_for_another_engine(finish.errors())) {
        unable = finish.errors();
        continue;
      }
      if (!finish) return finish.errors();
      ++tried;
      if (best != nullptr && *finish >= least) continue;
      best = algorithm;
      least = *finish;
    }
    if (best == nullptr && !unable.empty()) return unable;
    if (best == nullptr)
      return input_error({},
                         fmt::format("no textbook algorithm supports {} of this point", to_string(collective_.kind())),
                         "", "name an algorithm or a synthesizer");
    const bool planned = std::ranges::find(plan_.unexpected, best) == plan_.unexpected.end();
    full_.record_sends = full_.record_sends && planned;
    auto stream = run(*best);
    if (!stream) return stream;
    if (!planned) stream->left_out = fmt::format("{} is the fastest, whose sends were not planned for", best->name);
    stream->chosen_algorithm = std::string(best->name);
    stream->candidates = tried;
    return stream;
  }

 private:
  /// Whether groups that share NPUs run All-Reduces, which have no common halves.
  [[nodiscard]] bool sums_overlap() const {
    return point_.collective().kind == CollectiveKind::all_reduce && collective_.kind() == CollectiveKind::mixed;
  }

  /// Whether the errors only say that the named engine cannot run the algorithm, which is then no candidate of `auto`.
  [[nodiscard]] bool is_for_another_engine(const Diagnostics& errors) const {
    return full_.engine != SimulationEngine::automatic &&
           std::ranges::all_of(errors, [](const Diagnostic& error) { return error.fault == Fault::unsupported; });
  }

  [[nodiscard]] Result<Simulation> simulate_as(const Algorithm& algorithm, CollectiveKind kind,
                                               const SimulationOptions& options) const {
    const auto part = kind == collective_.kind() ? std::optional<Collective>() : collective_.as(kind);
    const auto& collective = part ? *part : collective_;
    const auto program = algorithm.make(topology_, collective, settings_);
    if (!program) return program.errors();
    return simulate(topology_, collective, **program, options);
  }

  static TimedStream take(Simulation simulation) {
    TimedStream stream;
    stream.finish = simulation.finish;
    stream.sends = static_cast<std::int64_t>(simulation.hops);
    stream.simulation_engine = name_of(simulation);
    stream.destination_order = std::string(simulation.destination_order);
    stream.schedule = std::move(simulation.sends);
    stream.link_loads = std::move(simulation.links);
    stream.utilization = std::move(simulation.utilization);
    stream.arrivals = std::move(simulation.arrivals);
    return stream;
  }

  /// Empty if no engine was needed.
  static std::string name_of(const Simulation& simulation) {
    if (simulation.engine == SimulationEngine::automatic) return {};
    return std::string(to_string(simulation.engine));
  }

  [[nodiscard]] Result<TimedStream> run_one(const Algorithm& algorithm) const {
    auto simulation = simulate_as(algorithm, collective_.kind(), full_);
    if (!simulation) return simulation.errors();
    return take(*std::move(simulation));
  }

  /// Simulates with and without overlap; the variant that the point does not ask for gives its time only. An algorithm
  /// without halves (trees) is timed as one program only.
  [[nodiscard]] Result<TimedStream> run_all_reduce(const Algorithm& algorithm) const {
    if (!algorithm.reads.phases && !point_.collective().overlap) return no_halves(algorithm.name);
    auto whole = simulate_as(algorithm, CollectiveKind::all_reduce, point_.collective().overlap ? full_ : quick_);
    if (!whole) return whole.errors();
    const auto with_overlap = whole->finish.count();
    if (!algorithm.reads.phases) {
      auto stream = take(*std::move(whole));
      stream.time_with_overlap_ps = with_overlap;
      return stream;
    }
    const auto& options = point_.collective().overlap ? quick_ : full_;
    auto reduction = simulate_as(algorithm, CollectiveKind::reduce_scatter, options);
    if (!reduction) return reduction.errors();
    auto gather = simulate_as(algorithm, CollectiveKind::all_gather, from(reduction->finish, options));
    if (!gather) return gather.errors();
    const auto without_overlap = reduction->finish + gather->finish;
    auto stream =
        point_.collective().overlap ? Result<TimedStream>(take(*std::move(whole))) : join(*reduction, *gather);
    if (!stream) return stream;
    stream->time_with_overlap_ps = with_overlap;
    stream->time_without_overlap_ps = without_overlap.count();
    return stream;
  }

  [[nodiscard]] Result<TimedStream> join(Simulation& reduction, Simulation& gather) const {
    TimedStream stream;
    stream.finish = reduction.finish + gather.finish;
    stream.sends = static_cast<std::int64_t>(reduction.hops + gather.hops);
    stream.simulation_engine = name_of(gather);
    stream.destination_order = std::string(gather.destination_order);
    if (full_.record_sends) {
      auto halves = concatenate(collective_, reduction, gather);
      if (!halves) return halves.errors();
      stream.schedule = *std::move(halves);
      if (bins_ > 0)
        stream.utilization =
            utilization_of({topology_, collective_, point_.occupancy}, stream.schedule, stream.finish, bins_);
    } else if (bins_ > 0) {
      stream.left_out = "utilization of two halves that were not recorded";
    }
    stream.link_loads = std::move(reduction.links);
    if (full_.record_links) add_loads(stream.link_loads, gather.links);
    stream.arrivals = std::move(reduction.arrivals);
    for (auto delivery : gather.arrivals) {
      delivery.time += reduction.finish;
      stream.arrivals.push_back(delivery);
    }
    return stream;
  }

  const PointPlan& plan_;
  const DesignPoint& point_;
  const Topology& topology_;
  const Collective& collective_;
  std::uint32_t bins_;
  AlgorithmOptions settings_;
  SimulationOptions full_;   ///< records all that the options ask for
  SimulationOptions quick_;  ///< records nothing: for times
  bool compares_links_ = false;
  bool keeps_links_ = false;
  bool plays_jointly_ = false;
};

}  // namespace

Result<TimedStream> run_program(const PreparedPoint& prepared, const ExecutionOptions& options, const PointPlan& plan,
                                ExecutionCache& cache) {
  const Stopwatch watch;
  const DesignPoint& point = prepared.point;
  ProgramRunner runner(prepared, options, plan, cache.program_parts);
  const auto* algorithm = find_algorithm(point.algorithm);
  ensure(algorithm != nullptr || tries_all(point), "run_program needs a registered algorithm");
  auto stream = algorithm != nullptr ? runner.run(*algorithm) : runner.run_best();
  if (stream) stream->simulation_seconds = watch.seconds();
  return stream;
}

}  // namespace tenex
