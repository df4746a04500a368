// Reversal, sequence and overlap.

#include "synthesis/compose.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "synthesis/merge_phases.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/storage/storage_parts.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/views/views.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/transform.hpp"

namespace tenex {
namespace {

// A proof that the two halves of an All-Reduce cannot overlap, in O(links) memory.
//
// Re-timing keeps the order of the sends on each link, so a link that carries sends from time zero to the schedule's
// end without a pause takes as long however its sends are timed. If the last partial sum over such a link completes the
// chunk that the receiver, its owner, sends first over another such link of the gather, then the second link cannot
// begin before the first has ended, and nothing can be gained. One such pair of links is enough. So it is with one
// chunk per NPU where the reduction is the mirror image of a gather that meets its bound.

/// A summary of a link's sends.
struct LinkSummary {
  ChunkId first_chunk;
  ChunkId last_chunk;
  SimTime last_arrival;
  SimTime least;  ///< the last arrival is not before this, however the sends are timed
  SimTime busy;   ///< of all sends together
};

class FullLinks {
 public:
  FullLinks(const Instance& instance, const Schedule& schedule)
      : instance_(instance),
        times_(instance.topology, instance.collective.chunk_sizes(), instance.occupancy),
        schedule_(schedule),
        end_(last_arrival(instance, schedule)) {
    if (schedule.tiles() > 0) return;
    all_.resize(instance.topology.links());
    for (std::size_t segment = 0; segment < schedule.segments(); ++segment) {
      schedule.read(segment, buffer_);
      for (std::size_t i = 0; i < buffer_.batch.size(); ++i) add(all_[buffer_.batch.link[i].index()], i);
    }
  }

  /// The link's sends if they follow each other from time zero to the schedule's end.
  std::optional<LinkSummary> find(LinkId link) {
    LinkSummary use;
    if (schedule_.tiles() == 0) {
      use = all_[link.index()];
    } else {
      for (std::size_t tile = schedule_.tiles(); tile-- > 0 && !use.last_chunk.exists();) add_tile(use, tile, link);
      if (use.last_arrival != end_) return std::nullopt;  // most links, after one tile
      use = {};
      for (std::size_t tile = 0; tile < schedule_.tiles(); ++tile) add_tile(use, tile, link);
    }
    return use.last_chunk.exists() && use.least == end_ ? std::optional(use) : std::nullopt;
  }

 private:
  /// Adds a send of the buffer.
  void add(LinkSummary& use, std::size_t i) const {
    const ChunkId chunk = buffer_.batch.chunk[i];
    const HopTime& hop =
        times_.at(instance_.topology.class_of(buffer_.batch.link[i]), instance_.collective.size_class(chunk));
    if (!use.first_chunk.exists()) use.first_chunk = chunk;
    use.last_chunk = chunk;
    use.last_arrival = buffer_.batch.start_of(i) + hop.latency;
    use.least = use.busy + hop.latency;
    use.busy += hop.busy;
  }
  void add_tile(LinkSummary& use, std::size_t tile, LinkId link) {
    schedule_.read_link(tile, link, buffer_);
    for (std::size_t i = 0; i < buffer_.batch.size(); ++i) add(use, i);
  }

  const Instance& instance_;
  HopTimes times_;
  const Schedule& schedule_;
  SimTime end_;
  std::vector<LinkSummary> all_;  ///< of all links, if links cannot be read one by one
  SendBuffer buffer_;
};

/// Whether it is proven that no re-timing (tenex/schedule/timing/retime.hpp) of `reduction`, then `gather`, ends sooner
/// than the one after the other. False: not known. For topologies without switches. One pass over all sends, or over
/// few of them if the schedules offer link-major access.
bool gains_nothing(const Instance& instance, const Schedule& reduction, const Schedule& gather) {
  const Topology& topology = instance.topology;
  if (!topology.direct() || topology.varies()) return false;
  if (reduction.may_carry_messages() || gather.may_carry_messages()) return false;
  FullLinks reducing(instance, reduction);
  FullLinks gathering(instance, gather);
  for (std::size_t l = 0; l < topology.links(); ++l) {
    const auto out = gathering.find(LinkId::at(l));
    if (!out) continue;
    const VertexId owner = topology.source(LinkId::at(l));
    if (vertex_of(instance.collective.owner(out->first_chunk)) != owner) continue;
    for (const LinkId in : topology.in_links(owner))
      if (const auto sum = reducing.find(in); sum && sum->last_chunk == out->first_chunk) return true;
  }
  return false;
}

constexpr std::size_t kBytesPerSendMerged = 100;     ///< for timing chunks of both halves side by side
constexpr std::size_t kBytesPerSendOfSignals = 600;  ///< for timing signals of wires side by side
constexpr std::uint64_t kMostSendsOfSignals = std::uint64_t{1} << 19;

/// The copying collective whose time reversal is the reduction.
CollectiveKind partner_of(CollectiveKind reduction) {
  return reduction == CollectiveKind::reduce ? CollectiveKind::broadcast : CollectiveKind::all_gather;
}

/// A gather whose time is near its bound does not prove an All-Reduce to be near its own.
SynthesisProblem with(const SynthesisProblem& problem, const Topology& topology, const Collective& collective) {
  SynthesisProblem part{{topology, collective, problem.occupancy}, problem, problem.threads};
  if (problem.collective.kind() == CollectiveKind::all_reduce) part.good_enough = {};
  part.memory_limit_bytes = problem.memory_limit_bytes;
  part.solver_progress = problem.solver_progress;
  return part;
}

/// The opposite links, if exchanging them turns a gather on the topology into a gather on its mirror image: switches
/// must do for a gather what they do for a reduction, and wires go back over the links of others.
std::optional<std::vector<LinkId>> mirror_links(const Topology& topology) {
  if (topology.wires() != nullptr) return std::nullopt;
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v) {
    const SwitchProperties& properties = topology.switch_properties(VertexId::at(v));
    if (properties.copy != properties.reduce) return std::nullopt;
  }
  return opposite_links(topology);
}

/// Reverses the order of each owner's chunks, so that the chunk that the gather sends first is the one that the
/// reduction completes first.
std::vector<ChunkId> turned_chunks(const Collective& collective) {
  std::vector<ChunkId> turned(collective.chunks());
  const auto per_owner = static_cast<std::size_t>(collective.chunks_per_npu());
  for (std::size_t c = 0; c < turned.size(); ++c)  // an owner's chunks have consecutive numbers
    turned[c] = ChunkId::at(c - c % per_owner + per_owner - 1 - c % per_owner);
  return turned;
}

/// Turns a gather on the topology into the reduction on the same topology.
Schedule turn_round(const SynthesisProblem& problem, const Schedule& gather, std::vector<LinkId> opposite) {
  auto chunks = problem.collective.chunks_per_npu() > 1 ? turned_chunks(problem.collective) : std::vector<ChunkId>();
  return reversed(problem, relabelled(gather, std::move(opposite), std::move(chunks)));
}

Result<Gathered> reduce_by_reversal(const SynthesisProblem& problem, const Collective& reduction, Gatherer gather) {
  const Collective partner = reduction.as(partner_of(reduction.kind()));
  if (auto opposite = mirror_links(problem.topology)) {
    auto gathered = gather(with(problem, problem.topology, partner));
    if (gathered)
      gathered->schedule =
          turn_round(with(problem, problem.topology, reduction), gathered->schedule, *std::move(opposite));
    return gathered;
  }
  const Topology turned = problem.topology.mirrored();
  auto gathered = gather(with(problem, turned, partner));
  if (gathered) gathered->schedule = reversed({problem.topology, reduction, problem.occupancy}, gathered->schedule);
  return gathered;
}

Synthesis from(Gathered part, std::string_view engine) {
  Synthesis synthesis;
  synthesis.without_overlap = part.schedule;
  synthesis.schedule = std::move(part.schedule);
  synthesis.time = synthesis.time_without_overlap = part.time;
  static_cast<RunMetrics&>(synthesis) = std::move(part.run);
  synthesis.engine = std::string(part.engine.empty() ? engine : part.engine);
  synthesis.best_attempt = part.best_attempt;
  synthesis.pruned_waste = part.pruned_waste;
  synthesis.solver = part.solver;
  synthesis.rate_time = part.rate_time;
  synthesis.left_out = std::move(part.left_out);
  return synthesis;
}

/// Bytes of both halves, one after the other: those of the gather once where the reduction is a view of it.
std::size_t bytes_in_turn(const Schedule& reduction, const Schedule& gather) {
  Schedule base = reduction;
  if (const auto parts = parts_as<ReversedParts>(base)) base = parts->base;
  if (const auto parts = parts_as<RelabelledParts>(base)) base = parts->base;
  return reduction.memory_bytes() + (base.storage() == gather.storage() ? 0 : gather.memory_bytes());
}

/// Begins each chunk's gather as soon as its reduction and the order on links allow. `held`: bytes of both halves.
void overlap(const SynthesisProblem& problem, std::size_t held, Synthesis& synthesis) {
  const Schedule& in_turn = synthesis.without_overlap;
  const std::size_t bytes = held + retime_bytes(problem, in_turn.sends());
  if (bytes > problem.memory_limit_bytes) {
    synthesis.overlap_method = "no_memory";
    synthesis.left_out +=
        fmt::format("{}the reduction and the gather were not overlapped: with overlap, the synthesis may need {} bytes",
                    synthesis.left_out.empty() ? "" : "; ", bytes);
    return;
  }
  const Schedule sooner = retime(problem, in_turn);
  const SimTime time = last_arrival(problem, sooner);
  const bool gains = time < synthesis.time;
  synthesis.overlap_method = gains ? "retimed" : "no_gain";
  synthesis.time = time;
  if (gains || in_turn.tiles() == 0) synthesis.schedule = sooner;  // a list is no smaller in turn
}

/// The sends that merge_halves() is expected to time over wires; 0: it leaves the halves as they are.
double sends_of_signals(const SynthesisProblem& problem) {
  if (problem.collective.kind() != CollectiveKind::all_reduce || problem.topology.wires() == nullptr) return 0;
  if (!may_merge_phases(problem.topology)) return 0;
  const double sends = 2 * sends_of_one_pass(problem.collective);
  const bool fits =
      sends * static_cast<double>(kBytesPerSendOfSignals) <= static_cast<double>(problem.memory_limit_bytes);
  return fits && sends <= static_cast<double>(kMostSendsOfSignals) ? sends : 0;
}

/// Builds reduction and gather in sequence, then overlaps them.
void sequence(const SynthesisProblem& problem, const Schedule& reduction, Synthesis& synthesis) {
  const Schedule gather = synthesis.schedule;
  const SimTime reduced = last_arrival(problem, reduction);
  synthesis.time_without_overlap = reduced + synthesis.time;
  synthesis.without_overlap = then_gather(problem, reduction, gather);
  synthesis.schedule = synthesis.without_overlap;
  synthesis.time = synthesis.time_without_overlap;
  if (limits_buffers(problem.topology))  // what arrives sooner could wait too long
    synthesis.overlap_method = "no_room";
  else if (gains_nothing(problem, reduction, gather))
    synthesis.overlap_method = "no_gain";
  else
    overlap(problem, bytes_in_turn(reduction, gather), synthesis);
  merge_halves(problem, synthesis);
}

/// The problem whose solvers go on where those of a first half ended: in the seconds that it left.
SynthesisProblem after(const SynthesisProblem& problem, const std::optional<SolverReport>& first) {
  constexpr double kPicosecondsPerSecond = 1e12;
  SynthesisProblem rest = problem;
  if (!first) return rest;
  if (rest.solver.time_limit > SimTime::zero()) {
    const auto used = SimTime::of(static_cast<std::int64_t>(first->seconds * kPicosecondsPerSecond));
    rest.solver.time_limit = std::max(picoseconds(1), rest.solver.time_limit - used);
  }
  if (problem.solver_progress)
    rest.solver_progress = [tell = problem.solver_progress, earlier = *first](SolverMoment moment) {
      moment.nodes += earlier.nodes;
      moment.seconds += earlier.seconds;
      tell(moment);
    };
  return rest;
}

/// Adds what the solvers of the second half took.
void add(std::optional<SolverReport>& whole, const std::optional<SolverReport>& second) {
  if (!whole || !second) return;
  whole->nodes += second->nodes;
  whole->seconds += second->seconds;
  whole->clock_ended = whole->clock_ended || second->clock_ended;
}

Result<Synthesis> all_reduce(const SynthesisProblem& problem, Gatherer gather, std::string_view engine) {
  const Collective scattering = problem.collective.as(CollectiveKind::reduce_scatter);
  const Collective gathering = problem.collective.as(CollectiveKind::all_gather);
  auto gathered = gather(with(problem, problem.topology, gathering));
  if (!gathered) return gathered.errors();
  Synthesis synthesis = from(std::move(*gathered), engine);
  if (auto opposite = mirror_links(problem.topology)) {
    const auto part = with(problem, problem.topology, scattering);
    sequence(problem, turn_round(part, synthesis.schedule, *std::move(opposite)), synthesis);
    return synthesis;
  }
  auto reduction = reduce_by_reversal(after(problem, synthesis.solver), scattering, gather);
  if (!reduction) return reduction.errors();
  add(synthesis.solver, reduction->solver);
  synthesis.pruned_waste += reduction->pruned_waste;
  sequence(problem, reduction->schedule, synthesis);
  return synthesis;
}

}  // namespace

Result<Synthesis> compose(const SynthesisProblem& problem, Gatherer gather, std::string_view engine) {
  const auto kind = problem.collective.kind();
  if (kind == CollectiveKind::all_reduce) return all_reduce(problem, gather, engine);
  auto part = reduces(kind) ? reduce_by_reversal(problem, problem.collective, gather) : gather(problem);
  if (!part) return part.errors();
  return from(std::move(*part), engine);
}

void merge_halves(const SynthesisProblem& problem, Synthesis& synthesis) {
  if (!may_merge_phases(problem.topology) || synthesis.overlap_method == "no_memory") return;
  const Schedule& in_turn = synthesis.without_overlap;
  const bool wired = problem.topology.wires() != nullptr;
  if (wired && in_turn.sends() > kMostSendsOfSignals) return;
  const std::size_t per_send = wired ? kBytesPerSendOfSignals : kBytesPerSendMerged;
  const std::size_t bytes = in_turn.memory_bytes() + static_cast<std::size_t>(in_turn.sends()) * per_send;
  if (bytes > problem.memory_limit_bytes) {
    synthesis.left_out += fmt::format(
        "{}the reduction and the gather were not timed side by side: with that, the synthesis may need {} bytes",
        synthesis.left_out.empty() ? "" : "; ", bytes);
    return;
  }
  const auto merged = merge_phases(problem, in_turn);
  if (!merged || last_arrival(problem, *merged) >= synthesis.time) return;
  synthesis.schedule = *merged;
  synthesis.time = last_arrival(problem, synthesis.schedule);
  synthesis.overlap_method = "reordered";
}

std::size_t merge_bytes(const SynthesisProblem& problem) {
  return static_cast<std::size_t>(sends_of_signals(problem) * static_cast<double>(kBytesPerSendOfSignals));
}

Work merge_work(const SynthesisProblem& problem) { return {WorkUnit::signal_send, sends_of_signals(problem)}; }

bool limits_buffers(const Topology& topology) {
  for (std::size_t v = topology.npus(); v < topology.vertices(); ++v)
    if (topology.switch_properties(VertexId::at(v)).buffer != kUnlimitedBuffer) return true;
  return false;
}

Gathered without_waste(const SynthesisProblem& problem, const Schedule& schedule) {
  Gathered gathered;
  gathered.schedule = prune_waste(problem, schedule);
  gathered.time = last_arrival(problem, gathered.schedule);
  gathered.pruned_waste = schedule.sends() - gathered.schedule.sends();
  return gathered;
}

}  // namespace tenex
