// Synthesizers make Schedules. A new synthesizer is one file and one line of the registry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/base/work.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/algorithm_traits.hpp"
#include "tenex/schedule/run_choices.hpp"
#include "tenex/schedule/run_metrics.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/synthesis/solver_progress.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The inputs of a synthesizer; nothing else may influence its result.
struct SynthesisProblem : Instance, SynthesisChoices {
  SynthesisProblem(const Instance& instance, SynthesisChoices choices = {}, int on_threads = 1)
      : Instance(instance), SynthesisChoices(std::move(choices)), threads(on_threads) {}
  SynthesisProblem(const Topology& topology, const Collective& collective,
                   Occupancy occupancy = Occupancy::serialization, SynthesisChoices choices = {}, int on_threads = 1)
      : SynthesisProblem(Instance{topology, collective, occupancy}, std::move(choices), on_threads) {}

  int threads;  ///< shared by attempts, or by the NPUs of one; never changes the result
  /// The memory that the synthesis may take. Parts that could improve a result but do not fit (a second engine, a
  /// re-timing) are left out, and the result says so. The synthesizer itself refuses nothing for lack of memory: the
  /// planner does (estimate_bytes).
  std::size_t memory_limit_bytes = std::numeric_limits<std::size_t>::max();
  /// NPUs that send nothing, own or forwarded, before a time; at most one entry for an NPU. Only for collectives in
  /// AlgorithmTraits::delays.
  std::vector<StartDelay> start_delays = {};
  SolverProgress solver_progress = {};  ///< only for synthesizers with solvers; never changes the result
};

/// What a solver did and proved.
struct SolverReport {
  std::int64_t epochs = -1;  ///< of the schedule, in its model; -1: there is no model of epochs
  SimTime epoch;             ///< their length; zero: there is none
  double seconds = 0;        ///< in solvers: measured, it never decides
  std::int64_t nodes = 0;    ///< of branch-and-bound searches
  SimTime bound;             ///< proven: no schedule ends sooner
  bool optimal = false;      ///< the schedule's time is `bound`
  double gap = 1;            ///< proven: (time - bound) / time
  bool clock_ended = false;  ///< SolverChoice::time_limit ended a search, so another run may end elsewhere
};

/// A synthesized schedule and how it was made. Of RunMetrics a synthesizer sets `engine`, and whatever else it has to
/// tell; an All-Reduce sets `overlap_method`: "retimed", "no_gain" (proven: re-timing ends no sooner), "reordered"
/// (links take the sends of both halves in another order), "trees" (never in sequence: each chunk has its tree),
/// "no_memory" (re-timing does not fit into memory_limit_bytes), or "no_room" (switches have limited buffers, in which
/// chunks that came sooner could wait too long).
struct Synthesis : RunMetrics {
  Schedule schedule;  ///< All-Reduce: with overlap (re-timed)
  SimTime time;       ///< its last useful arrival
  /// All-Reduce: time of reduction, then gather; zero where it is not made of them. Otherwise equal to `time`.
  SimTime time_without_overlap;
  Schedule without_overlap;            ///< the schedule that takes `time_without_overlap`
  std::uint32_t best_attempt = 0;      ///< All-Reduce: best attempt of its gather part
  std::uint64_t pruned_waste = 0;      ///< deliveries removed before a time reversal
  std::optional<SolverReport> solver;  ///< of synthesizers with solvers
  /// Of trees and balanced ways: the least time in which every link carries what they put on it, without latency; zero:
  /// not known.
  SimTime rate_time;
  std::string left_out;  ///< improvements that did not fit into the memory, in words; empty: none
};

/// The second part of a registry entry: how the synthesizer makes schedules.
struct ScheduleMaker {
  /// The maker behind Synthesizer::synthesize().
  Result<Synthesis> (*make)(const SynthesisProblem&) = nullptr;
  /// Expected bytes under the problem's limit (more than the limit if even the least does not fit) and work, from sizes
  /// alone: for plans and leases. They decide what is tried (work by its weight), and so do not read the number of
  /// threads, which never changes a result.
  std::size_t (*estimate_bytes)(const SynthesisProblem&) = nullptr;
  Work (*count_work)(const SynthesisProblem&) = nullptr;
  /// The expected sends of one period, if the schedule will be equal periods, so that the verifier checks one of them
  /// in place of all sends; nullopt otherwise. Null: never.
  std::optional<double> (*estimate_period_sends)(const SynthesisProblem&) = nullptr;
  /// Whether a large problem becomes faster in about the proportion of its threads; null: never.
  bool (*uses_threads)(const SynthesisProblem&) = nullptr;
  /// Whether the best textbook algorithm's schedule stands in place of a longer one, as that of any other synthesizer
  /// does from which the search starts.
  bool starts_from_all = false;
  /// Names that RunMetrics::engine may have and no problem may ask for.
  std::vector<std::string_view> makers = {};
  /// Where all hops take equally long, the schedule for one hop time, scaled, is the schedule for another: the hop time
  /// is the only time that the synthesizer reads. (The proof for `tacos`:
  /// include/tenex/execution/shared_schedules.hpp.)
  bool scales_with_pace = false;
  /// The engine that makes one NPU's schedule, which stands for all, for collectives over all NPUs on topologies with a
  /// translation group. kAutomaticEngine prefers it there. Empty: none.
  std::string_view translations_engine = {};
};

/// A registry entry: all that other code asks of a synthesizer.
struct Synthesizer : AlgorithmTraits, ScheduleMaker {
  /// The door of all synthesizers. Errors: (input) a topology with switches that the synthesizer cannot use (unwind
  /// them), a destination that no source reaches. Expects: a collective of the topology's NPUs that the entry names
  /// (where NPUs start late, in `delays`); bandwidth that varies only where the entry has `varying`; at least one
  /// thread. Ensures: times that agree with each other, with the schedule, with what solvers proved and with the
  /// bounds, and no send of a late NPU before its time. (Large schedules are not read for that.)
  [[nodiscard]] Result<Synthesis> synthesize(const SynthesisProblem& problem) const;
};

/// The synthesizer where none is named.
inline constexpr std::string_view kDefaultSynthesizer = "tacos";

/// The explicit table: a line per synthesizer.
[[nodiscard]] const std::vector<Synthesizer>& synthesizers();
/// Those that this build lacks, as AlgorithmTraits::packages says: it refuses them by name and reads the results of
/// others. They have no functions.
[[nodiscard]] const std::vector<Synthesizer>& missing_synthesizers();
/// The synthesizer of that name, or nullptr.
[[nodiscard]] const Synthesizer* find_synthesizer(std::string_view name);

/// Hash of the synthesizer's inputs (topology, hop times relative to each other, collective, groups, chunks, options
/// except the seed): the stream key of its random numbers, so that equal problems draw equal numbers in any study.
[[nodiscard]] Digest synthesis_key(const SynthesisProblem& problem);

}  // namespace tenex
