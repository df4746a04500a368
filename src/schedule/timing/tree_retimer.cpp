// Re-timing of an All-Reduce of billions of sends: one pass over the given schedule, a time per NPU and chunk, runs per
// link.
//
// Idea: a SchedulePass over the given schedule. One thread does this, others read the given schedule ahead of it.
//
// Encoding: times in 32 bits where the schedule's time fits. A link's sends keep their order, so runs of sends at equal
// distances are kept: back to back on a busy link, one hop apart where each chunk is awaited, as on a ring.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/timing/retimers.hpp"
#include "tenex/base/contract.hpp"
#include "tenex/schedule/timing/retime.hpp"
#include "tenex/schedule/timing/schedule_pass.hpp"

namespace tenex {
namespace {

constexpr std::size_t kAhead = 24;                          ///< sends whose entries are fetched early
constexpr std::size_t kSegmentsAtOnce = 8;                  ///< read before they are played
constexpr std::size_t kLeastRowsPerTile = 512;              ///< of step tables; others have fewer tiles
constexpr std::size_t kBytesPerLink = 400;                  ///< state, segments that are read ahead, some runs
constexpr std::size_t kRunBytesPerSend = 4;                 ///< one send in 14 begins a run on large meshes and grids
constexpr std::size_t kRunBytes = sizeof(LinkRun) * 5 / 4;  ///< with the room for more that add_run() leaves
constexpr std::size_t kBytesOfSegments = 5'000'000;

template <class Tick>
class TreeRetimer {
 public:
  TreeRetimer(const Instance& instance, const Schedule& schedule, std::int64_t unit, std::size_t most_run_bytes)
      : topology_(instance.topology),
        schedule_(schedule),
        unit_(unit),
        most_runs_(most_run_bytes / kRunBytes),
        pass_(instance, unit),
        sent_(instance.topology.links(), 0) {
    times_.runs.resize(instance.topology.links());
  }

  /// False where the given schedule is not of the kind, or has too many runs. One thread plays what the others have
  /// read.
  bool run(int threads) {
    const std::size_t segments = schedule_.segments();
    std::vector<SendBuffer> played(kSegmentsAtOnce);
    std::vector<SendBuffer> read(kSegmentsAtOnce);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (std::size_t npu = 0; npu < topology_.npus(); ++npu) pass_.begin(NpuId::at(npu));
    for (std::size_t first = 0; first < segments + kSegmentsAtOnce && sound_; first += kSegmentsAtOnce) {
#pragma omp parallel num_threads(threads) if (threads > 1)
      {
#pragma omp single nowait
        for (std::size_t i = 0;
             first >= kSegmentsAtOnce && i < kSegmentsAtOnce && first - kSegmentsAtOnce + i < segments; ++i)
          play(played[i].batch);
#pragma omp for schedule(dynamic, 1)
        for (std::size_t i = 0; i < kSegmentsAtOnce; ++i)
          if (first + i < segments) schedule_.read(first + i, read[i]);
      }
      played.swap(read);
    }
    return sound_;
  }

  [[nodiscard]] SimTime time() const { return SimTime::of(static_cast<std::int64_t>(end_) * unit_); }
  LinkTimes take_times() { return std::move(times_); }

 private:
  void play(const SendBatch& batch) {
    const std::size_t size = batch.size();
    for (std::size_t i = 0; i < size; ++i) {
      if (i + kAhead < size) pass_.prefetch(batch.link[i + kAhead], batch.chunk[i + kAhead]);
      const auto times = pass_.send(batch.link[i], batch.chunk[i], 0, batch.stage_of(i), 0);
      if (!times.sound) {
        sound_ = false;
        return;
      }
      end_ = std::max(end_, times.arrival);
      note_start(batch.link[i].index(), SimTime::of(static_cast<std::int64_t>(times.start) * unit_));
    }
    sound_ = sound_ && runs_ <= most_runs_;
  }

  /// The link's next send continues its last run, or begins one. The second send of a run says how far apart they are.
  void note_start(std::size_t link, SimTime start) {
    auto& runs = times_.runs[link];
    const std::uint32_t position = sent_[link]++;
    if (runs.empty()) return add_run(runs, {position, start, SimTime()});
    auto& run = runs.back();
    const std::int64_t within = position - run.position;
    if (within == 1) run.step = start - run.start;
    if (start - run.start != run.step * within) add_run(runs, {position, start, SimTime()});
  }
  /// Lists grow by a quarter: together they may be large.
  void add_run(std::vector<LinkRun>& runs, LinkRun run) {
    if (runs.size() == runs.capacity()) runs.reserve(runs.size() + runs.size() / 4 + 4);
    runs.push_back(run);
    ++runs_;
  }

  const Topology& topology_;
  const Schedule& schedule_;
  std::int64_t unit_;
  std::uint64_t most_runs_;
  SchedulePass<Tick> pass_;
  std::vector<std::uint32_t> sent_;  ///< per link
  LinkTimes times_;
  Tick end_ = 0;
  std::uint64_t runs_ = 0;
  bool sound_ = true;
};

/// Whether this many units, and a hop more, fit into 32 bits.
bool are_few(std::int64_t units) { return units < std::int64_t{std::numeric_limits<std::uint32_t>::max()} / 2; }

template <class Tick>
std::optional<Retimed> retime(const Instance& instance, const Schedule& schedule, std::int64_t unit, int threads,
                              std::size_t run_bytes) {
  TreeRetimer<Tick> retimer(instance, schedule, unit, run_bytes);
  if (!retimer.run(threads)) return std::nullopt;
  const SimTime time = retimer.time();
  return Retimed{make_retimed_schedule(schedule, retimer.take_times(), threads), time};
}

}  // namespace

std::size_t retime_in_trees_bytes(const Instance& instance) {
  // Where each hop takes equally long and keeps its link as long, times are whole hops. Elsewhere they may be anything.
  const bool whole_hops = instance.occupancy == Occupancy::transfer && instance.topology.homogeneous();
  const std::size_t places = 2 * instance.collective.chunks() / kLeastRowsPerTile + 2;
  return instance.topology.npus() * instance.collective.chunks() * ((whole_hops ? 4 : 8) + 2 * kRunBytesPerSend) +
         instance.topology.links() * (places * sizeof(std::uint32_t) + kBytesPerLink) + kBytesOfSegments;
}

std::optional<Retimed> retime_in_trees(const Instance& instance, const Schedule& schedule, int threads,
                                       std::size_t memory_limit_bytes) {
  if (!instance.topology.direct() || schedule.may_carry_messages() || schedule.tiles() == 0 ||
      instance.collective.kind() != CollectiveKind::all_reduce || instance.collective.chunk_sizes().size() != 1)
    return std::nullopt;
  const std::int64_t unit = time_unit(instance);
  if (unit == 0) return std::nullopt;
  const std::size_t entries = instance.topology.npus() * instance.collective.chunks();
  const bool few = are_few(last_arrival(instance, schedule).count() / unit);
  const std::size_t fixed =
      entries * (few ? 4 : 8) +
      instance.topology.links() * ((schedule.tiles() + 1) * sizeof(std::uint32_t) + kBytesPerLink / 2);
  if (fixed > memory_limit_bytes) return std::nullopt;
  const std::size_t run_bytes = memory_limit_bytes - fixed;
  threads = std::max(1, threads);
  auto retimed = few ? retime<std::uint32_t>(instance, schedule, unit, threads, run_bytes)
                     : retime<std::uint64_t>(instance, schedule, unit, threads, run_bytes);
  TENEX_ENSURES(!retimed || retimed->schedule.sends() == schedule.sends(), "as many sends");
  TENEX_ENSURES(!retimed || retimed->time <= last_arrival(instance, schedule), "no later an end");
  TENEX_ENSURES(!retimed || retimed->time == last_arrival(instance, retimed->schedule), "the time of the result");
  return retimed;
}

}  // namespace tenex
