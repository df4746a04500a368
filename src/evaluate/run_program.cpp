// A textbook algorithm's program through the simulator. An All-Reduce is simulated as one program, where each chunk's
// gather begins when its sum is complete (with overlap), and as its two halves one after the other (without).
#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "clock.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "timed_stream.hpp"

namespace tenex {
namespace {

Result<Simulation> simulate_as(const Algorithm& algorithm, const Topology& topology, const Collective& collective,
                               const SimulationOptions& options) {
  const auto program = algorithm.make(topology, collective);
  if (!program) return program.errors();
  return simulate(topology, collective, **program, options);
}

void add_loads(std::vector<LinkLoad>& into, const std::vector<LinkLoad>& from) {
  for (std::size_t link = 0; link < into.size(); ++link) {
    into[link].bytes += from[link].bytes;
    into[link].busy += from[link].busy;
  }
}

TimedStream take(Simulation simulation) {
  TimedStream stream;
  stream.finish = simulation.finish;
  stream.sends = simulation.hops;
  stream.schedule = std::move(simulation.sends);
  stream.link_loads = std::move(simulation.links);
  return stream;
}

Result<TimedStream> run_all_reduce(const DesignPoint& point, const Algorithm& algorithm, const Topology& topology,
                                   const Collective& collective, const SimulationOptions& options) {
  // The half that is not the point's own answer only needs its time.
  auto whole_options = options;
  auto halves_options = options;
  (point.overlap ? halves_options : whole_options).record_sends = false;
  (point.overlap ? halves_options : whole_options).record_links = false;

  auto whole = simulate_as(algorithm, topology, collective, whole_options);
  if (!whole) return whole.errors();
  auto reduction = simulate_as(algorithm, topology, collective.as(CollectiveKind::reduce_scatter), halves_options);
  if (!reduction) return reduction.errors();
  auto gather = simulate_as(algorithm, topology, collective.as(CollectiveKind::all_gather), halves_options);
  if (!gather) return gather.errors();

  const auto with_overlap = whole->finish;
  const auto without_overlap = reduction->finish + gather->finish;
  TimedStream stream;
  if (point.overlap) {
    stream = take(*std::move(whole));
  } else {
    if (options.record_sends) {
      auto halves = concatenate(*reduction, *gather);
      if (!halves) return halves.errors();
      stream.schedule = *std::move(halves);
    }
    stream.finish = without_overlap;
    stream.sends = reduction->hops + gather->hops;
    stream.link_loads = std::move(reduction->links);
    if (options.record_links) add_loads(stream.link_loads, gather->links);
  }
  stream.with_overlap_ps = with_overlap.count();
  stream.without_overlap_ps = without_overlap.count();
  return stream;
}

}  // namespace

Result<Schedule> concatenate(const Simulation& reduction, const Simulation& gather) {
  auto sends = list_sends(reduction.sends);
  const bool numbered = reduction.messages > 0 && !sends.empty() && sends.front().message.exists();
  const std::uint64_t first = numbered ? reduction.messages : 0;
  constexpr std::uint64_t most = MessageId::none().value();
  if (numbered && first + gather.messages > most) {
    return resource_error(fmt::format("an All-Reduce without overlap of {} messages", first + gather.messages),
                          fmt::format("at most {} are numbered", most), "use fewer chunks, or overlap = true");
  }
  for (auto send : list_sends(gather.sends)) {
    send.start += reduction.finish;
    if (send.message.exists()) send.message = MessageId(static_cast<std::uint32_t>(send.message.value() + first));
    sends.push_back(send);
  }
  return make_list_schedule(std::move(sends));
}

Result<TimedStream> run_program(const DesignPoint& point, const Topology& topology, const Collective& collective,
                                bool link_loads) {
  const auto* algorithm = find_algorithm(point.algorithm);
  ensure(algorithm != nullptr, "run_program needs a registered algorithm");
  const Stopwatch watch;
  const bool aware = point.backend == to_string(Backend::congestion_aware);
  SimulationOptions options;
  options.occupancy = point.occupancy;
  options.backend = aware ? Backend::congestion_aware : Backend::congestion_unaware;
  options.record_sends = aware;
  options.record_links = link_loads;

  Result<TimedStream> stream = [&]() -> Result<TimedStream> {
    if (point.collective == CollectiveKind::all_reduce)
      return run_all_reduce(point, *algorithm, topology, collective, options);
    auto simulation = simulate_as(*algorithm, topology, collective, options);
    if (!simulation) return simulation.errors();
    return take(*std::move(simulation));
  }();
  if (!stream) return stream;
  stream->engine = std::string(to_string(options.backend));
  stream->has_schedule = options.record_sends;
  stream->simulation_seconds = watch.seconds();
  return stream;
}

}  // namespace tenex
