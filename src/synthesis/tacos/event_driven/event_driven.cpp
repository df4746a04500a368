// Multi-start around the engine: attempts side by side, of which the best is kept, for any number of threads.
//
// Idea: each thread keeps its own best sends, so memory is threads * sends, not attempts * sends. An attempt that meets
// the lower bound is as good as any, and only an earlier one is preferred to it. So later attempts are skipped and
// earlier ones are not, and the earliest best attempt is the same for every number of threads.

#include "synthesis/tacos/event_driven/event_driven.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include "synthesis/compose.hpp"
#include "synthesis/relays.hpp"
#include "synthesis/tacos/event_driven/gather_engine.hpp"
#include "tenex/base/bitset.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/schedule/timing/player.hpp"

namespace tenex {
namespace {

struct BestGather {
  SimTime time = SimTime::max();
  std::uint32_t attempt = std::numeric_limits<std::uint32_t>::max();
  std::vector<TentativeSend> sends;

  [[nodiscard]] bool is_worse_than(SimTime other_time, std::uint32_t other_attempt) const {
    return std::pair(other_time, other_attempt) < std::pair(time, attempt);
  }
};

/// Shared by the threads of a multi-start.
struct MultiStart {
  const SynthesisProblem& problem;
  const GatherSetup& setup;
  std::array<const GatherSetup*, 3> paces;  ///< by Pace; null if the pace gains nothing
  Digest key;
  SimTime bound;
  std::atomic<std::uint32_t> next{0};
  std::atomic<std::uint32_t> last{0};  ///< attempts after this one cannot matter
  BestGather best;
  std::exception_ptr failure;
};

/// The most (vertex, chunk) pairs for replaying, which keeps a time for each; with more pairs, all setups take
/// Pace::as_it_is.
constexpr std::size_t kMostReplayed = std::size_t{1} << 23;

/// Attempts alternate. A gather is limited by throughput, for which clusters are better, a broadcast by latency.
Reach reach_of(CollectiveKind kind, std::uint32_t attempt) {
  const bool first = attempt % 2 == 0;
  return first == (kind == CollectiveKind::broadcast) ? Reach::neighbour : Reach::cluster;
}

/// Attempts alternate if links are alike; otherwise pairs of attempts do, first in, first out first. Neither is always
/// better: rarity is on tori; in products of three bandwidths it gains or loses some percent.
bool rare_first(const SynthesisProblem& problem, std::uint32_t attempt) {
  if (problem.collective.kind() == CollectiveKind::broadcast) return false;
  return problem.topology.homogeneous() ? attempt % 2 == 1 : attempt / 2 % 2 == 1;
}

/// Pairs of attempts take turns.
std::size_t arrival_pace(std::uint32_t attempt) { return attempt / 2 % 3; }

void run_attempts(MultiStart& shared, BestGather& best) {
  std::array<std::optional<GatherEngine>, 3> engines;
  for (;;) {
    const std::uint32_t attempt = shared.next.fetch_add(1);
    if (attempt > shared.last.load()) return;
    std::size_t pace = arrival_pace(attempt);
    if (shared.paces[pace] == nullptr) pace = 0;
    auto& engine = engines[pace];
    if (!engine) engine.emplace(*shared.paces[pace]);
    SimTime time =
        engine->run(attempt_stream(shared.problem.seed, shared.key, attempt),
                    reach_of(shared.problem.collective.kind(), attempt), rare_first(shared.problem, attempt));
    if (pace > 0) time = replay_sends(shared.setup, engine->sends());
    if (best.is_worse_than(time, attempt)) {
      best.time = time;
      best.attempt = attempt;
      best.sends.swap(engine->sends());
    }
    if (time > shared.bound) continue;
    std::uint32_t last = shared.last.load();
    while (attempt < last && !shared.last.compare_exchange_weak(last, attempt)) {
    }
  }
}

void run_thread(MultiStart& shared) {
  BestGather best;
  std::exception_ptr failure;
  try {
    run_attempts(shared, best);
  } catch (...) {  // exceptions must not leave a parallel region
    failure = std::current_exception();
  }
#pragma omp critical(tenex_tacos_best)
  {
    if (failure) shared.failure = failure;
    if (shared.best.is_worse_than(best.time, best.attempt)) shared.best = std::move(best);
  }
}

}  // namespace

std::uint32_t event_driven_paces(const SynthesisProblem& problem) {
  if (problem.occupancy == Occupancy::transfer) return 1;
  if (problem.topology.vertices() * problem.collective.chunks() > kMostReplayed) return 1;
  return std::clamp<std::uint32_t>((problem.attempts + 1) / 2, 1, 3);
}

Result<Gathered> gather_event_driven(const SynthesisProblem& problem) {
  auto participants = find_participants(problem.topology, problem.collective);
  if (!participants) return participants.errors();
  const GatherSetup setup(problem, *participants);
  const std::uint32_t attempts = std::max<std::uint32_t>(1, problem.attempts);
  std::array<std::optional<GatherSetup>, 3> others;
  MultiStart shared{problem, setup, {&setup}, synthesis_key(problem), SimTime::zero(), 0, attempts - 1, {}, {}};
  for (std::uint32_t pace = 1; !setup.relays && pace < event_driven_paces(problem); ++pace)
    shared.paces[pace] = &others[pace].emplace(problem, *participants, static_cast<Pace>(pace));
  if (attempts > 1)
    shared.bound = best_cheap_bound({problem.topology, problem.collective, problem.occupancy, true}).time;
  const int threads = static_cast<int>(std::min<std::int64_t>(std::max(1, problem.threads), attempts));
#pragma omp parallel num_threads(threads) if (threads > 1)
  run_thread(shared);
  if (shared.failure) std::rethrow_exception(shared.failure);

  Gathered gathered{make_list_schedule(to_sends(std::move(shared.best.sends))), shared.best.time};
  if (setup.relays) gathered = without_waste(problem, gathered.schedule);
  gathered.best_attempt = shared.best.attempt;
  return gathered;
}

// Replays sends in order of start, so that the sends that a send waits for have been replayed before it.

SimTime replay_sends(const GatherSetup& setup, std::vector<TentativeSend>& sends) {
  const std::size_t chunks = setup.collective.chunks();
  SendPlayer<std::int64_t> player(setup.topology.links(), setup.topology.vertices() * chunks);
  player.begin_held(0, setup.topology.vertices() * chunks);
  std::int64_t last = 0;
  std::erase_if(sends, [](const TentativeSend& send) { return send.chunk == kSuperseded; });
  for (auto& [start, link, chunk] : sends) {
    const auto& hop = setup.hop(link, chunk);
    const std::size_t from = setup.topology.source(LinkId(link)).index() * chunks + chunk;
    const std::size_t to = setup.topology.target(LinkId(link)).index() * chunks + chunk;
    const auto times = player.send(link, from, to, hop.busy, hop.latency, Stage::copy);
    start = times.start;
    last = std::max(last, times.arrival);
  }
  std::stable_sort(sends.begin(), sends.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
  return picoseconds(last);
}

std::vector<Send> to_sends(std::vector<TentativeSend> planned) {
  std::erase_if(planned, [](const TentativeSend& send) { return send.chunk == kSuperseded; });
  for (auto begin = planned.begin(); begin != planned.end();) {
    const auto end = std::find_if(begin, planned.end(), [&](const auto& send) { return send.start != begin->start; });
    std::sort(begin, end, [](const auto& a, const auto& b) { return a.link < b.link; });
    begin = end;
  }
  std::vector<Send> sends;
  sends.reserve(planned.size());
  for (const auto& send : planned)
    sends.push_back({.start = picoseconds(send.start), .link = LinkId(send.link), .chunk = ChunkId(send.chunk)});
  return sends;
}

// The expected cost of a gather by the event-driven engine: while it is made, every pace has a setup and an engine, and
// the best sends are held beside. Then they become a list. The bytes were measured on a 2-core machine
// (MemoryPlan.* in tests/evaluate).

namespace {

constexpr double kBytesPerEngineSend = 16 + 8;  ///< the send, and its numbers in lists and queues
constexpr double kBytesPerSupersededSend = 16;  ///< where links differ, lists of sends grow beyond the deliveries
constexpr double kBytesPerBestSend = 16;
constexpr double kBytesPerSendToList = 16 + 32 + 16;  ///< as engines have it, in a list, in columns

}  // namespace

std::size_t event_driven_bytes(const SynthesisProblem& problem) {
  const double sends = sends_of_one_pass(problem.collective);
  const double bits =
      static_cast<double>(BitMatrix::bytes_for(problem.topology.vertices(), problem.collective.chunks()));
  const bool alike = problem.topology.homogeneous();
  const double matrices = alike ? 2 : 2 + 1 + 8;
  const double paces = event_driven_paces(problem);
  const double replays =
      paces > 1 ? 8.0 * static_cast<double>(problem.topology.vertices() * problem.collective.chunks()) : 0;
  const double superseded = alike ? 0 : kBytesPerSupersededSend;
  const double making = sends * (paces * (kBytesPerEngineSend + superseded) + kBytesPerBestSend);
  const double listing = sends * (kBytesPerSendToList + superseded);
  const double bytes = paces * (1 + matrices) * bits + std::max(making + replays, listing) +
                       200.0 * static_cast<double>(problem.topology.links());
  return static_cast<std::size_t>(bytes);
}

Work event_driven_work(const SynthesisProblem& problem) {
  const double sends = sends_of_one_pass(problem.collective);
  const double entries =
      static_cast<double>(problem.topology.links()) * static_cast<double>(problem.collective.chunks());
  const WorkUnit send = problem.topology.homogeneous() ? WorkUnit::event_send : WorkUnit::event_send_unlike;
  // Every link looks at every chunk once.
  const Work attempt = Work(send, sends) + Work(WorkUnit::event_look, entries);
  const Work pass = std::max<std::uint32_t>(1, problem.attempts) * attempt + Work(WorkUnit::event_send_kept, sends);
  if (problem.collective.kind() != CollectiveKind::all_reduce) return pass;
  return 2 * pass + Work(WorkUnit::event_send_retimed, 2 * sends);
}

}  // namespace tenex
