// The registry entry `te_ccl`.
//
// The other synthesizers go first: their best schedule bounds the number of epochs from above, and where its time
// equals a proven bound, it is optimal and no solver starts; nor where it is good enough (`good_enough`, the early stop
// of TE-CCL, Table 8). Otherwise the formulation is searched, its plan in epochs
// is re-timed in picoseconds (so that rounding of alpha to epochs is not paid), and the better schedule is kept.
// Reductions are gathers backwards, and an All-Reduce is a reduction and a gather (compose.hpp; TE-CCL, section VIII).
#include "synthesis/synthesizers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "synthesis/compose.hpp"
#include "synthesis/te_ccl/epochs.hpp"
#include "synthesis/te_ccl/model.hpp"
#include "synthesis/te_ccl/search.hpp"
#include "synthesis/trees/tree_network.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/schedule/views/views.hpp"
#include "tenex/topology/slow_windows.hpp"

namespace tenex {
namespace {

using namespace te_ccl;  // NOLINT: the parts of this synthesizer

/// Whether the synthesizer, which has no solvers, can make this collective on this network.
bool can_make(const Synthesizer& other, const SynthesisProblem& problem) {
  if (other.reads.solves || (!other.reads.switches && !problem.topology.direct())) return false;
  return other.makes(problem.collective.kind());
}

/// Takes the halves of an All-Reduce from the other schedule where it has none or they take longer.
void take_halves(Synthesis& synthesis, const Synthesis& other) {
  if (other.without_overlap.sends() == 0) return;
  if (synthesis.without_overlap.sends() > 0 && synthesis.time_without_overlap <= other.time_without_overlap) return;
  synthesis.without_overlap = other.without_overlap;
  synthesis.time_without_overlap = other.time_without_overlap;
}

/// The problem as other synthesizers get it: on links at their bandwidth outside all windows.
class ProblemOfOthers {
 public:
  explicit ProblemOfOthers(const SynthesisProblem& problem)
      : outside_(problem.topology), asked_{{outside_.topology(), problem.collective, problem.occupancy}} {
    asked_.seed = problem.seed;
    asked_.attempts = problem.attempts;
    asked_.threads = problem.threads;
    asked_.memory_limit_bytes = problem.memory_limit_bytes;
  }
  [[nodiscard]] const SynthesisProblem& get() const { return asked_; }

 private:
  OutsideWindows outside_;
  SynthesisProblem asked_;
};

/// The schedule on the problem's links, whose bandwidth varies: its sends, in their order, as soon as they can start.
/// `outside`: the problem without windows.
Result<Synthesis> on_varying_links(const SynthesisProblem& problem, const Instance& outside, Synthesis made) {
  std::vector<PlannedSend> plan;
  for (const Send& send : list_sends(prune_waste(outside, made.schedule)))
    plan.push_back({static_cast<int>(plan.size()), send.link, send.chunk});
  auto schedule = play_plan(problem, plan);
  if (!schedule)
    return unsupported_error({}, "te_ccl cannot play the best known schedule where bandwidth varies",
                             "some of its sends wait for each other", "remove the windows from stragglers");
  made.schedule = *std::move(schedule);
  made.time = last_arrival(problem, made.schedule);
  return made;
}

/// The best schedule of the synthesizers without solvers, the first among equals, with the best halves of an All-Reduce
/// that any of them made; errors: those of the last one.
Result<Synthesis> best_known(const SynthesisProblem& problem, SimTime bound) {
  std::optional<Result<Synthesis>> best;
  Synthesis halves;  // trees have none
  const bool has_halves = problem.collective.kind() == CollectiveKind::all_reduce;
  const ProblemOfOthers others(problem);
  const SynthesisProblem& asked = others.get();
  for (const Synthesizer& other : synthesizers()) {
    if (!can_make(other, problem) || other.estimate_bytes(asked) > problem.memory_limit_bytes) continue;
    auto made = other.synthesize(asked);
    if (made && problem.topology.varies()) made = on_varying_links(problem, asked, *std::move(made));
    if (made && has_halves) take_halves(halves, *made);
    if (!best || (made && (!*best || made->time < (*best)->time))) best = std::move(made);
    if (*best && problem.good_enough.reached((*best)->time, bound) &&
        (!has_halves || halves.without_overlap.sends() > 0))
      break;
  }
  if (!best)
    return unsupported_error({}, "no other synthesizer makes this collective here", "te_ccl starts from one of theirs",
                             "choose another algorithm");
  if (*best && has_halves) take_halves(**best, halves);
  return *std::move(best);
}

/// The order in which formulations are tried.
Formulation formulation_for(const SynthesisProblem& problem, const EpochGrid& grid, SimTime known) {
  if (problem.solver.formulation != Formulation::automatic) return problem.solver.formulation;
  if (problem.collective.is_unicast()) return Formulation::lp;
  if (problem.topology.varies()) return Formulation::milp;  // rounds begin at any epoch
  const double epochs = static_cast<double>(known.count()) / static_cast<double>(grid.length.count());
  const double columns =
      epochs * static_cast<double>(problem.topology.links()) * static_cast<double>(problem.collective.chunks());
  // A link that waits for its chunk has a row in each epoch of all its sends so far.
  const double terms = columns * epochs / 2;
  const bool small = columns <= static_cast<double>(kMostColumns) / 2 && terms <= static_cast<double>(kMostTerms);
  return small || limits_buffers(problem.topology) ? Formulation::milp : Formulation::a_star;
}

std::string_view maker_of(Formulation formulation) {
  switch (formulation) {
    case Formulation::lp:
      return te_ccl_maker::lp;
    case Formulation::a_star:
      return te_ccl_maker::a_star;
    case Formulation::automatic:
    case Formulation::milp:
    case Formulation::unbuffered:
      break;
  }
  return te_ccl_maker::milp;
}

/// A schedule with what is proven of it.
struct Proven {
  Gathered gathered;
  SolverReport report;
  SimTime bound;
};

void close(const SynthesisProblem& problem, Proven& proven, const SolverBudget& budget) {
  SolverReport report = report_of(budget);
  report.epochs = proven.report.epochs;
  report.epoch = proven.report.epoch;
  state_proof(report, proven.gathered.time, proven.bound);
  proven.report = report;
  tell_end(problem.solver_progress, report, proven.gathered.time);
}

Found search_epochs(const SynthesisProblem& problem, Formulation formulation, const EpochGrid& grid,
                    const Proven& known, SolverBudget& budget) {
  switch (formulation) {
    case Formulation::lp:
      return search_rates(problem, grid, known.gathered.time, known.bound, budget, problem.good_enough);
    case Formulation::a_star:
      return search_in_rounds(problem, grid, budget);
    case Formulation::automatic:
    case Formulation::milp:
    case Formulation::unbuffered:
      break;
  }
  return search_whole_chunks(problem, grid, known.gathered.schedule, known.bound, budget, problem.good_enough);
}

/// The schedule without waste, re-timed; nullopt where it does not keep the limits of buffers.
std::optional<Schedule> retimed(const SynthesisProblem& problem, const Schedule& schedule) {
  const Schedule pruned = prune_waste(problem, schedule);
  if (!limits_buffers(problem.topology)) return retime(problem, pruned);
  if (!verify(problem, pruned).valid()) return std::nullopt;
  return pruned;  // what arrives sooner could wait too long
}

/// Keeps what a search found if it is better, re-timed.
void take(const SynthesisProblem& problem, const Found& found, Formulation formulation, SimTime epoch, Proven& proven,
          SolverBudget& budget) {
  if (found.solved) proven.report.epoch = epoch;
  proven.bound = std::max(proven.bound, found.bound);
  budget.learn_bound(proven.bound);
  if (!found.schedule) return;
  const auto schedule = retimed(problem, *found.schedule);
  if (!schedule) return;
  const SimTime time = last_arrival(problem, *schedule);
  if (time >= proven.gathered.time) return;
  proven.gathered = {.schedule = *schedule, .time = time, .engine = maker_of(formulation)};
  proven.report.epochs = found.epochs;
  budget.learn_time(time, found.epochs);
}

/// Keeps a plan by priorities if its schedule is better by the weights, and so of no more epochs than the known one.
/// Its time may be longer by less than an epoch.
void weigh(const SynthesisProblem& problem, const EpochGrid& grid, int horizon, Proven& proven, SolverBudget& budget) {
  const Priorities& priorities = problem.solver.priorities;
  const Weighed found = search_by_priority(problem, grid, horizon, priorities, budget);
  proven.gathered.left_out = found.left_out;
  if (found.solved) proven.report.epoch = grid.length;
  const auto schedule = found.schedule ? retimed(problem, *found.schedule) : std::nullopt;
  if (!schedule || weighed_finish(problem, grid.length, *schedule, priorities) >=
                       weighed_finish(problem, grid.length, proven.gathered.schedule, priorities))
    return;
  proven.gathered.schedule = *schedule;
  proven.gathered.time = last_arrival(problem, *schedule);
  proven.gathered.engine = te_ccl_maker::milp;
  proven.report.epochs = found.epochs;
}

/// A search over epochs of one length. `epochs` becomes those of a plan of whole chunks. Returns whether models were
/// too large to be built.
bool improve_with(const SynthesisProblem& problem, Formulation formulation, const EpochGrid& grid, Proven& proven,
                  SolverBudget& budget, int& epochs) {
  const Found found = search_epochs(problem, formulation, grid, proven, budget);
  const bool whole = formulation == Formulation::milp;
  if (whole && found.schedule) epochs = found.epochs;
  bool too_large = found.too_large;
  take(problem, found, formulation, grid.length, proven, budget);
  if (whole && !grid.exact && !problem.good_enough.reached(proven.gathered.time, proven.bound)) {
    const Found rounded =
        search_rounded_down(problem, grid.length, proven.gathered.time, proven.bound, budget, problem.good_enough);
    too_large = too_large || rounded.too_large;
    take(problem, rounded, formulation, grid.length, proven, budget);
  }
  return too_large;
}

/// Searches for a schedule that ends sooner, over epochs four times as long (the largest factor of TE-CCL, Table 4)
/// again and again while models are too large to be built: so where alpha is much longer than a chunk. Returns the
/// epochs of the plan of whole chunks that it found with the first length, or kNoEpoch.
int improve_epochs(const SynthesisProblem& problem, EpochGrid grid, Proven& proven, SolverBudget& budget) {
  constexpr std::int64_t kLonger = 4;
  const Formulation formulation = formulation_for(problem, grid, proven.gathered.time);
  int epochs = kNoEpoch;
  bool too_large = improve_with(problem, formulation, grid, proven, budget, epochs);
  while (too_large && !budget.spent() && grid.length <= proven.gathered.time &&
         !problem.good_enough.reached(proven.gathered.time, proven.bound)) {
    int ignored = kNoEpoch;  // epochs of another length
    grid = epoch_grid(problem, grid.length * kLonger, Rounding::up);
    too_large = improve_with(problem, formulation, grid, proven, budget, ignored);
  }
  return epochs;
}

/// A collective that copies, or whose chunks have one destination each.
Result<Proven> prove(const SynthesisProblem& problem, SolverBudget& budget) {
  Proven proven;
  proven.bound = quick_bound(problem);
  auto known = best_known(problem, proven.bound);
  if (!known) return known.errors();
  proven.gathered = without_waste(problem, known->schedule);
  proven.gathered.engine = te_ccl_maker::incumbent;
  budget.known.bound = proven.bound;
  budget.learn_time(proven.gathered.time, -1);
  const bool needs_lp = problem.solver.formulation == Formulation::lp && !problem.collective.is_unicast();
  const auto enough = [&] { return problem.good_enough.reached(proven.gathered.time, proven.bound); };
  const bool weighs = problem.solver.priorities != Priorities{};
  if ((enough() && !weighs) || needs_lp) {
    close(problem, proven, budget);
    return proven;
  }
  const EpochGrid grid = epoch_grid(problem, epoch_length(problem, problem.solver.epoch), Rounding::up);
  if (!weighs) {
    improve_epochs(problem, grid, proven, budget);
  } else {
    int horizon = epochs_of(problem, grid, proven.gathered.schedule);
    if (!enough()) {
      SolverBudget half = budget.share(2);
      horizon = std::min(horizon, improve_epochs(problem, grid, proven, half));
      budget.use(half);
      horizon = std::min(horizon, epochs_of(problem, grid, proven.gathered.schedule));
    }
    weigh(problem, grid, horizon, proven, budget);
  }
  close(problem, proven, budget);
  return proven;
}

/// The best schedule in which no NPU keeps what it passes on, however fast the known ones with buffers are.
Result<Proven> prove_unbuffered(const SynthesisProblem& problem, SolverBudget& budget) {
  constexpr std::int64_t kMostTimes = 4;  // as long as the best known schedule with buffers
  Proven proven;
  proven.bound = quick_bound(problem);
  budget.known.bound = proven.bound;
  const auto known = best_known(problem, proven.bound);
  if (!known) return known.errors();
  const EpochGrid grid = epoch_grid(problem, epoch_length(problem, problem.solver.epoch), Rounding::up);
  const std::int64_t most = known->time * kMostTimes / grid.length + 1;
  const Found found =
      search_unbuffered(problem, grid, static_cast<int>(std::min<std::int64_t>(most, kNoEpoch)), budget);
  if (!found.schedule)
    return unsupported_error({}, "te_ccl found no schedule without buffers",
                             "its model is too large, or its nodes or seconds are used up",
                             "allow more solver_nodes or longer epochs, or choose another formulation");
  proven.gathered = without_waste(problem, *found.schedule);
  proven.gathered.engine = te_ccl_maker::milp;
  proven.report.epochs = found.epochs;
  proven.report.epoch = grid.length;
  close(problem, proven, budget);
  return proven;
}

Result<Gathered> gather_by_te_ccl(const SynthesisProblem& problem) {
  SolverBudget budget = SolverBudget::of(problem);
  const bool unbuffered = problem.solver.formulation == Formulation::unbuffered;
  auto proven = unbuffered ? prove_unbuffered(problem, budget) : prove(problem, budget);
  if (!proven) return proven.errors();
  proven->gathered.solver = proven->report;
  return std::move(proven->gathered);
}

/// What te_ccl does not do on links whose bandwidth varies.
std::optional<Diagnostic> refusal_where_bandwidth_varies(const SynthesisProblem& problem) {
  if (!problem.topology.varies()) return std::nullopt;
  const char* const remedy = "choose another collective or formulation, or remove the windows from stragglers";
  if (reduces(problem.collective.kind()) || problem.collective.has_sums())
    return unsupported_error({}, "te_ccl makes no sums where bandwidth varies",
                             "a reduction is a gather reversed in time, and windows are not", remedy);
  if (problem.solver.formulation == Formulation::a_star)
    return unsupported_error({}, "the formulation a_star takes no bandwidth that varies",
                             "its rounds are alike, and windows are not", remedy);
  if (limits_buffers(problem.topology))
    return unsupported_error({}, "te_ccl takes no limited buffers of switches where bandwidth varies",
                             "known schedules could wait too long in them", remedy);
  return std::nullopt;
}

/// What te_ccl does not do, by name.
std::optional<Diagnostic> refusal(const SynthesisProblem& problem) {
  const auto& weights = problem.solver.priorities.weights;
  const auto groups = problem.collective.groups().size();
  if (!weights.empty() && weights.size() != groups)
    return input_error({}, fmt::format("{} priorities for {} process groups", weights.size(), groups),
                       "each group has one", "give as many as there are groups");
  if (problem.collective.kind() == CollectiveKind::mixed && problem.collective.has_sums())
    return unsupported_error({}, "te_ccl takes groups that differ or share NPUs only where none forms sums",
                             "it reverses a reduction as a whole", "choose another algorithm, such as pccl");
  if (!weights.empty() && problem.collective.has_sums())
    return unsupported_error({}, "priorities of groups that form sums",
                             "finish epochs are weighed where chunks are only copied",
                             "choose a collective that copies, or remove the priorities");
  if (limits_buffers(problem.topology) && problem.solver.formulation == Formulation::a_star)
    return unsupported_error({}, "the formulation a_star takes no limited buffers of switches",
                             "a round does not know what the next one leaves in them",
                             "set formulation = \"milp\", or switch_buffer = \"unlimited\"");
  const bool unbuffered = problem.solver.formulation == Formulation::unbuffered;
  if (unbuffered && (reduces(problem.collective.kind()) || problem.topology.wires() != nullptr))
    return unsupported_error({}, "the formulation unbuffered takes no reductions and no cut-through switches",
                             "it is an ablation of TE-CCL's model of gathers (Fig. 11)",
                             "choose another formulation, collective or forwarding");
  if (unbuffered && !weights.empty())
    return unsupported_error({}, "the formulation unbuffered takes no priorities of groups",
                             "it is an ablation of TE-CCL's model of gathers (Fig. 11)",
                             "choose another formulation, or remove the priorities");
  if (auto refused = refusal_where_bandwidth_varies(problem)) return refused;
  if (problem.collective.chunk_sizes().size() != 1)
    return unsupported_error({}, "te_ccl takes chunks of one size", "an epoch is the time of a chunk",
                             "choose another algorithm");
  if (problem.solver.formulation == Formulation::lp && !problem.collective.is_unicast())
    return unsupported_error({}, "the formulation lp takes chunks with one destination each",
                             "rates of copies do not add up (TE-CCL, section IV.1)",
                             "set formulation = \"milp\", or \"auto\"");
  return std::nullopt;
}

/// The problem, telling what the moments of its gathers say of the reduction, of which a schedule takes `time` and none
/// less than `bound`: a reduction is one gather, while gathers prove nothing of an All-Reduce.
SynthesisProblem telling_of_whole(const SynthesisProblem& problem, SimTime time, SimTime bound) {
  SynthesisProblem telling = problem;
  if (!problem.solver_progress) return telling;
  const bool is_gather = problem.collective.kind() != CollectiveKind::all_reduce;
  telling.solver_progress = [progress = problem.solver_progress, is_gather, time, bound](SolverMoment moment) {
    if (!is_gather || moment.time == SimTime::zero() || moment.time >= time) {
      moment.epochs = -1;
      moment.time = time;
    }
    moment.bound = is_gather ? std::max(moment.bound, bound) : bound;
    moment.gap = proven_gap(moment.time, moment.bound);
    progress(moment);
  };
  return telling;
}

/// An All-Reduce, or another reduction, beside the best known one: the halves of an All-Reduce prove nothing of it.
Result<Synthesis> reduce(const SynthesisProblem& problem) {
  const SimTime bound = quick_bound(problem);
  auto known = best_known(problem, bound);
  if (!known) return known;
  Synthesis best = *std::move(known);
  best.engine = te_ccl_maker::incumbent;
  SolverReport report;
  SimTime proven = bound;
  if (!problem.good_enough.reached(best.time, bound)) {
    auto made = compose(telling_of_whole(problem, best.time, bound), gather_by_te_ccl, te_ccl_maker::milp);
    if (!made) return made;
    report = made->solver.value_or(SolverReport());
    // A reduction is a gather backwards, so what is proven of the one holds for the other.
    if (problem.collective.kind() != CollectiveKind::all_reduce) proven = std::max(proven, report.bound);
    take_halves(*made, best);
    take_halves(best, *made);
    if (made->time < best.time)
      best = *std::move(made);
    else
      report.epochs = -1;
  }
  state_proof(report, best.time, proven);
  tell_end(problem.solver_progress, report, best.time);
  best.solver = report;
  return best;
}

}  // namespace

Result<Synthesis> synthesize_te_ccl(const SynthesisProblem& problem) {
  if (const auto refused = refusal(problem)) return *refused;
  if (const auto pair = find_unreachable_npus(problem))
    return input_error({},
                       fmt::format("NPU {} cannot be reached from NPU {}", pair->second.value(), pair->first.value()),
                       "no path of links leads there", "add links, or put the NPUs into different process groups");
  if (reduces(problem.collective.kind())) return reduce(problem);
  return compose(problem, gather_by_te_ccl, te_ccl_maker::milp);
}

namespace {

/// Columns of a model of 10 epochs: many have fewer, some have up to three times as many.
double columns_of_ten_epochs(const SynthesisProblem& problem) {
  return static_cast<double>(problem.topology.links()) * static_cast<double>(problem.collective.chunks()) * 10;
}

}  // namespace

std::size_t te_ccl_bytes(const SynthesisProblem& problem) {
  // A column with its cuts, a term with its copies in the solver, and the schedules.
  constexpr double kBytesPerColumn = 4000;
  constexpr double kBytesPerTerm = 300;
  constexpr double kMostEpochs = 3;  // tens
  constexpr double kTermsPerColumn = 8;
  const double columns = std::min(kMostEpochs * columns_of_ten_epochs(problem), static_cast<double>(kMostColumns));
  const double terms = std::min(kTermsPerColumn * columns, static_cast<double>(kMostTerms));
  // A chunk with one destination may pass every NPU on its way, others come to each NPU once, or twice in vain.
  const double hops = problem.collective.is_unicast() ? static_cast<double>(problem.topology.npus()) : 2;
  const double sends = 2 * hops * static_cast<double>(problem.collective.required_deliveries());
  std::size_t others = 0;
  const ProblemOfOthers asked(problem);
  for (const Synthesizer& other : synthesizers())
    if (can_make(other, problem))
      others = std::max(others, std::min(other.estimate_bytes(asked.get()), problem.memory_limit_bytes / 2));
  return static_cast<std::size_t>(kBytesPerColumn * columns + kBytesPerTerm * terms + 280 * sends) + others;
}

Work te_ccl_work(const SynthesisProblem& problem) {
  const double most = std::min(columns_of_ten_epochs(problem), static_cast<double>(kMostColumns));
  // A pivot for each of so many columns looks at so many rows.
  Work work = within_limit(problem, Work(WorkUnit::te_ccl_column, most) + Work(WorkUnit::te_ccl_cell, most * most));
  const ProblemOfOthers asked(problem);
  for (const Synthesizer& other : synthesizers())  // the search starts from the best of their schedules
    if (can_make(other, problem)) work += other.count_work(asked.get());
  return work;
}

}  // namespace tenex
