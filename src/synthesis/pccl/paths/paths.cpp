// Multi-start, and the passes that improve its best plan.
//
// The best attempt is the earliest of those that end first, for any number of threads. Each thread keeps its best plan.
#include "synthesis/pccl/paths/paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <memory>
#include <utility>

#include "synthesis/pccl/paths/gap_links.hpp"
#include "synthesis/pccl/paths/planner.hpp"
#include "synthesis/pccl/paths/prices.hpp"
#include "synthesis/pccl/paths/reroute.hpp"
#include "synthesis/pccl/paths/slot_links.hpp"
#include "tenex/bound/bound.hpp"

namespace tenex {
namespace {

constexpr std::int64_t kCloseToBound = 100;  ///< a plan within bound / 100 of the bound is not made in whole hops

constexpr std::uint64_t kLeastRerouted = 4096;  ///< conditions, where trees grow destination by destination,
constexpr std::uint64_t kLeastReroutedSends = std::uint64_t{1} << 19;  ///< unless they have more sends than these
constexpr std::uint32_t kInRounds = std::numeric_limits<std::uint32_t>::max() - 1;   ///< more than any attempt
constexpr std::uint32_t kRerouteStream = std::numeric_limits<std::uint32_t>::max();  ///< no attempt has this number

/// An attempt's plan.
template <class Links>
struct PathsAttempt {
  SimTime time = SimTime::max();
  std::uint32_t attempt = std::numeric_limits<std::uint32_t>::max();
  std::unique_ptr<PathPlanner<Links>> planner;

  void keep_better(PathsAttempt other) {
    if (std::pair(other.time, other.attempt) < std::pair(time, attempt)) *this = std::move(other);
  }
};

template <class Links>
class PathsMultiStart {
 public:
  PathsMultiStart(const PathsSetup& setup, std::int64_t close_to_bound)
      : setup_(setup),
        close_to_bound_(close_to_bound),
        table_(distances_to_destinations<typename Links::Cell>(setup)),
        key_(synthesis_key(setup.problem)),
        bound_(best_cheap_bound({setup.problem, true}).time) {
    const Conditions conditions(setup.problem.collective);
    has_ways_ = std::any_of(setup.order.chunks.begin(), setup.order.chunks.end(),
                            [&](std::uint32_t chunk) { return conditions.only_destination(ChunkId(chunk)).exists(); });
  }

  PathsAttempt<Links> run(PathsReport& report) {
    const bool switched = !setup_.problem.topology.direct();  // rounds are mostly the best there, and soon made
    if (switched) best_ = in_rounds(kInRounds);
    if (is_far_from_bound(best_.time) && switched) keep_to_regions();
    if (is_far_from_bound(best_.time)) best_.keep_better(attempt(0, PathRange::shortest));
    if (is_far_from_bound(best_.time) && has_ways_) {
      auto other = attempt(0, PathRange::any);
      if (other.time < best_.time) {
        range_ = PathRange::any;
        best_ = std::move(other);
      }
    }
    if (is_far_from_bound(best_.time) && !switched) best_.keep_better(in_rounds(kInRounds));
    if (is_far_from_bound(best_.time) && !setup_.network.has_limits()) keep_to_cheap_links();
    if (is_far_from_bound(best_.time)) try_multiples();
    run_others();
    report.range = range_;
    return std::move(best_);
  }

  [[nodiscard]] SimTime bound() const { return bound_; }
  [[nodiscard]] bool is_far_from_bound(SimTime time) const { return time > bound_ + bound_ / close_to_bound_; }

 private:
  PathsAttempt<Links> attempt(std::uint32_t number, PathRange range) const {
    PathsAttempt<Links> made{SimTime::max(), number, std::make_unique<PathPlanner<Links>>(setup_, table_)};
    if (regions_) made.planner->keep_to_regions(*regions_);
    Random random = attempt_stream(setup_.problem.seed, key_, number);
    const auto order = setup_.order.shuffled(random);
    if (made.planner->plan(order, range, random))
      made.time = made.planner->links().time_of(made.planner->links().end());
    return made;
  }

  /// Plans again in rounds with the regions that the best plan suggests. Keeps to them if that is better.
  void keep_to_regions() {
    if (!setup_.network.grows_trees() || setup_.network.has_limits() || !setup_.members.empty()) return;
    const Links& links = best_.planner->links();
    regions_ = std::make_unique<Regions>(setup_.network, [&](std::uint32_t link) { return links.load(link); });
    if (!regions_->useful()) return regions_.reset();
    auto made = in_rounds(kInRounds);
    if (made.time < best_.time)
      best_ = std::move(made);
    else
      regions_.reset();  // no plan that is kept refers to them
  }

  /// Plans again with the prices that the best plan suggests, in random order and in rounds.
  void keep_to_cheap_links() {
    const Links& links = best_.planner->links();
    prices_ = std::make_unique<LinkPrices>(setup_, [&](std::uint32_t link) { return links.load(link); });
    if (prices_->empty()) return;
    PathsAttempt<Links> made{SimTime::max(), kInRounds, std::make_unique<PathPlanner<Links>>(setup_, table_)};
    made.planner->keep_to(*prices_);
    Random random = attempt_stream(setup_.problem.seed, key_, 0);
    if (made.planner->plan(setup_.order.shuffled(random), PathRange::shortest, random))
      made.time = made.planner->links().time_of(made.planner->links().end());
    best_.keep_better(std::move(made));
    best_.keep_better(in_rounds(kInRounds));
  }

  /// A plan in rounds: in turn, which counts as an attempt after all others, or in random order.
  PathsAttempt<Links> in_rounds(std::uint32_t number) const {
    PathsAttempt<Links> made{SimTime::max(), number, std::make_unique<PathPlanner<Links>>(setup_, table_)};
    PathPlanner<Links>& planner = *made.planner;
    if (prices_ && !prices_->empty()) planner.keep_to(*prices_);
    if (regions_) planner.keep_to_regions(*regions_);
    Random random = attempt_stream(setup_.problem.seed, key_, number);
    Random* order = number == kInRounds ? nullptr : &random;
    planner.links().start_at_multiples_of(static_cast<typename Links::Time>(quantum_));
    if (!planner.plan_in_rounds(setup_.order.in_rounds(setup_.problem.collective, order), order)) return made;
    planner.links().start_at_multiples_of(0);
    if (quantum_ > 0) planner.links().close_gaps();
    made.time = planner.links().time_of(planner.links().end());
    return made;
  }

  /// Plans in rounds at multiples of the time for which the fastest links are busy; these plans are re-timed. Keeps to
  /// that if it is better.
  void try_multiples() {
    const PathNetwork& network = setup_.network;
    if (network.slotted() || network.has_limits() || network.shares_signals()) return;
    quantum_ = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t link = 0; link < network.links(); ++link)
      for (std::size_t size = 0; size < network.sizes(); ++size)
        quantum_ = std::min(quantum_,
                            network.wired() ? network.serialization(link, size) : network.hop(link, size).busy.count());
    auto made = in_rounds(kInRounds);
    if (made.time < best_.time)
      best_ = std::move(made);
    else
      quantum_ = 0;
  }

  /// Attempts after one that meets the bound cannot matter.
  void run_others() {
    const std::uint32_t attempts = std::max<std::uint32_t>(1, setup_.problem.attempts);
    last_ = best_.time <= bound_ ? 0 : attempts - 1;
    rounds_ = best_.attempt == kInRounds;
    const int threads = static_cast<int>(std::min<std::int64_t>(std::max(1, setup_.problem.threads), last_.load()));
    if (last_.load() == 0) return;
#pragma omp parallel num_threads(threads) if (threads > 1)
    run_thread();
    if (failure_) std::rethrow_exception(failure_);
  }

  void run_thread() {
    PathsAttempt<Links> best;
    std::exception_ptr failure;
    try {
      for (std::uint32_t number = next_.fetch_add(1); number <= last_.load(); number = next_.fetch_add(1)) {
        best.keep_better(rounds_ ? in_rounds(number) : attempt(number, range_));
        std::uint32_t last = last_.load();
        while (best.time <= bound_ && number < last && !last_.compare_exchange_weak(last, number)) {
        }
      }
    } catch (...) {  // exceptions must not leave a parallel region
      failure = std::current_exception();
    }
#pragma omp critical(tenex_paths_best)
    {
      if (failure) failure_ = failure;
      best_.keep_better(std::move(best));
    }
  }

  const PathsSetup& setup_;
  std::int64_t close_to_bound_;
  DistanceTable<typename Links::Cell> table_;
  Digest key_;
  SimTime bound_;
  bool has_ways_ = false;  ///< whether a chunk has one destination: only its way depends on a range
  PathRange range_ = PathRange::shortest;
  std::int64_t quantum_ = 0;            ///< picoseconds of which starts are multiples in rounds; 0: any
  bool rounds_ = false;                 ///< whether later attempts plan in rounds
  std::unique_ptr<LinkPrices> prices_;  ///< must outlive the plans that keep to them
  std::unique_ptr<Regions> regions_;    ///< must outlive the plans that keep to them
  std::atomic<std::uint32_t> next_{1};
  std::atomic<std::uint32_t> last_{0};
  PathsAttempt<Links> best_;
  std::exception_ptr failure_;
};

/// Whether the plan is small enough for rounds that read all of it, and fits into the memory.
template <class Links>
bool may_reroute(const PathsSetup& setup, const PathsAttempt<Links>& best, Gathered& gathered) {
  const std::uint64_t sends = best.planner->links().sends();
  if (sends > kMostReroutedSends) return false;
  if (sends * kRerouteBytesPerSend <= setup.problem.memory_limit_bytes) return true;
  gathered.left_out = fmt::format("late conditions were not routed again: with that, the synthesis needs {} bytes",
                                  sends * kRerouteBytesPerSend);
  return false;
}

/// Routes conditions again that end late.
template <class Links>
PathsPass reroute_best(const PathsSetup& setup, PathsAttempt<Links>& best, PathRange range, SimTime bound,
                       std::uint32_t effort) {
  PathsPass pass{"reroute", best.time, best.time, 0};
  const Links& links = best.planner->links();
  Random random = attempt_stream(setup.problem.seed, synthesis_key(setup.problem), kRerouteStream);
  Reroute<Links> reroute(setup, *best.planner, range, random);
  // Few trees, each of many sends, are worth many rounds.
  const std::uint64_t chunks = setup.order.chunks.size();
  const std::uint64_t sends_of_each = std::max<std::uint64_t>(1, links.sends() / std::max<std::uint64_t>(1, chunks));
  const std::uint64_t least =
      setup.network.grows_trees() ? std::min(kLeastRerouted, kLeastReroutedSends / sends_of_each) : 0;
  pass.work = reroute.run({bound, effort * std::max(least, chunks)});
  best.time = pass.after = links.time_of(links.end());
  return pass;
}

/// Whether links have slots that round times up.
bool rounds_up(const PathNetwork& network) { return network.slotted() && !network.slots_are_exact(); }

/// Starts all sends, planned in slots of a given length, as soon as possible, at any picosecond. False if there is too
/// little memory.
bool retime_exactly(const PathsSetup& setup, const SlotLinks& links, SimTime slot, PathsPlan& plan) {
  auto slots = links.hops();
  const std::size_t bytes = slots.size() * kRetimeBytesPerSend;
  if (bytes > setup.problem.memory_limit_bytes) {
    plan.gathered.left_out =
        fmt::format("the plan was not re-timed: with re-timing, the synthesis needs {} bytes", bytes);
    return false;
  }
  const HopTime& hop = setup.network.hop(0, 0);
  std::vector<PlannedHop<std::int64_t>> hops;
  hops.reserve(slots.size());
  for (const auto& [start, link, chunk] : slots)
    hops.push_back({static_cast<std::int64_t>(start) * slot.count(), link, chunk});
  slots = {};
  PathsPass pass{"retime", links.time_of(links.end()), SimTime::zero(), hops.size()};
  const auto end = retime_hops(
      setup.network, setup.problem.collective.chunks(), hops, [&](const auto&) { return hop.busy.count(); },
      [&](const auto&) { return hop.latency.count(); });
  plan.gathered.time = pass.after = picoseconds(end);
  plan.gathered.schedule = schedule_of(std::move(hops));
  plan.report.passes.push_back(pass);
  return true;
}

/// Re-times what slots round up. Gaps are exact.
bool retime_slots(const PathsSetup& setup, const SlotLinks& links, PathsPlan& plan) {
  return rounds_up(setup.network) && retime_exactly(setup, links, setup.network.hop(0, 0).busy, plan);
}
bool retime_slots(const PathsSetup& /*setup*/, const GapLinks& /*links*/, PathsPlan& /*plan*/) { return false; }

/// The best attempt, its late conditions routed again.
template <class Links>
PathsAttempt<Links> best_attempt(const PathsSetup& setup, const PathsOptions& options, PathsPlan& plan) {
  PathsMultiStart<Links> starts(setup, options.close_to_bound);
  PathsAttempt<Links> best = starts.run(plan.report);
  if (best.time == SimTime::max()) return best;
  const bool moves = !setup.network.has_limits() && !setup.network.shares_signals();
  if (options.reroute_effort > 0 && moves && starts.is_far_from_bound(best.time) &&
      may_reroute(setup, best, plan.gathered))
    plan.report.passes.push_back(reroute_best(setup, best, plan.report.range, starts.bound(), options.reroute_effort));
  plan.gathered.best_attempt = std::min(best.attempt, std::max<std::uint32_t>(1, setup.problem.attempts));
  plan.gathered.engine = "paths";
  return best;
}

Diagnostic no_room() {
  return input_error({}, "no plan keeps to the buffers of the switches",
                     "a multicast would have to wait at a switch that copies and has no room left",
                     "give the switches larger buffers");
}

template <class Links>
Result<PathsPlan> plan_on(const PathsSetup& setup, const PathsOptions& options) {
  PathsPlan plan;
  const auto best = best_attempt<Links>(setup, options, plan);
  if (best.time == SimTime::max()) return no_room();
  Links& links = best.planner->links();
  if (options.retime && retime_slots(setup, links, plan)) return plan;
  plan.gathered.schedule = std::move(links).finish();
  plan.gathered.time = last_arrival(setup.problem, plan.gathered.schedule);
  return plan;
}

/// A plan in slots of whole hops, re-timed. Under `serialization` slots are as long as a link is busy, so that every
/// hop is rounded up to more than one of them; if alpha is small, that costs more than links that wait until arrival,
/// as under `transfer`. nullopt if there is too little memory.
std::optional<PathsPlan> plan_in_whole_hops(const PathsSetup& exact, const PathsOptions& options) {
  SynthesisProblem problem = exact.problem;
  problem.occupancy = Occupancy::transfer;
  const PathNetwork network(problem);
  const PathsSetup setup{problem, network, exact.order, exact.members};
  PathsPlan plan;
  const auto best = best_attempt<SlotLinks>(setup, options, plan);
  if (!retime_exactly(exact, best.planner->links(), network.hop(0, 0).busy, plan)) return std::nullopt;
  return plan;
}

/// plan_on() with slots. Where they round up, far from the bound, also in whole hops; the better plan is kept.
PathsPlan plan_in_slots(const PathsSetup& setup, const PathsOptions& options) {
  auto plan = plan_on<SlotLinks>(setup, options).value();  // slots are only where buffers have no limits
  const SimTime bound = best_cheap_bound({setup.problem, true}).time;
  const bool far = plan.gathered.time > bound + bound / kCloseToBound;
  if (!options.retime || !far || !rounds_up(setup.network)) return plan;
  auto other = plan_in_whole_hops(setup, options);
  return other && other->gathered.time < plan.gathered.time ? *std::move(other) : std::move(plan);
}

/// Per group its NPUs, and all switches.
std::vector<Bitset> members_of_groups(const SynthesisProblem& problem) {
  std::vector<Bitset> members;
  for (const ProcessGroup& group : problem.collective.groups()) {
    members.emplace_back(problem.topology.vertices());
    for (const NpuId member : group.members) members.back().set(member.index());
    for (std::size_t v = problem.topology.npus(); v < problem.topology.vertices(); ++v) members.back().set(v);
  }
  return members;
}

}  // namespace

Result<PathsPlan> plan_paths(const SynthesisProblem& problem, const PathsOptions& options) {
  const PathNetwork network(problem);
  const auto members = options.outside ? std::vector<Bitset>() : members_of_groups(problem);
  const auto order = order_conditions(problem, network, members);
  if (!order) return order.errors();
  const PathsSetup setup{problem, network, *order, members};
  if (network.slotted()) return plan_in_slots(setup, options);
  return plan_on<GapLinks>(setup, options);
}

}  // namespace tenex
