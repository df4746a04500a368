// Re-timing of an All-Reduce of billions of sends: one pass over the plan, a time per NPU and chunk, runs per link.
//
// Idea: where each NPU sends its partial sum of a chunk once, after all that it adds to it, a chunk at an NPU has one
// time at a time: when its sum so far is there; then, once the sum has left, when the final value is. A send starts
// when its link is free and what it takes is there; what it brings is entered at once, because nothing looks at it
// before the plan lets it arrive. One thread does this, others read the plan ahead of it.
//
// Encoding: times in units of the greatest common divisor of all hop times, in 32 bits where the plan's time fits,
// NPU by NPU; the two largest values say that there is nothing. A link's sends keep their order, so runs of sends at
// equal distances are kept: back to back on a busy link, one hop apart where each chunk is awaited, as on a ring.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/retimed_storage.hpp"
#include "tenex/schedule/raw_array.hpp"
#include "tenex/schedule/retime.hpp"

namespace tenex {
namespace {

constexpr std::size_t kAhead = 24;                          ///< sends whose entries are fetched early
constexpr std::size_t kWindowsAtOnce = 8;                   ///< read before they are played
constexpr std::size_t kLeastRowsPerTile = 512;              ///< of step tables; others have fewer tiles
constexpr std::size_t kBytesPerLink = 400;                  ///< state, windows that are read ahead, some runs
constexpr std::size_t kRunBytesPerSend = 4;                 ///< one send in 14 begins a run on large meshes and grids
constexpr std::size_t kRunBytes = sizeof(LinkRun) * 5 / 4;  ///< with the room for more that add_run() leaves
constexpr std::size_t kBytesOfWindows = 5'000'000;

/// The greatest common divisor of all hop times; zero where sends of one link take unequally long.
std::int64_t time_unit(const Topology& topology, const Collective& collective, Occupancy occupancy) {
  if (collective.chunk_sizes().size() != 1) return 0;
  std::int64_t unit = 0;
  for (const auto& link_class : topology.classes()) {
    const HopTime hop = hop_time(link_class, collective.chunk_sizes()[0], occupancy);
    unit = std::gcd(std::gcd(unit, hop.busy.count()), hop.latency.count());
  }
  return unit;
}

template <class Tick>
class TreeRetimer {
 public:
  TreeRetimer(const Topology& topology, const Collective& collective, Occupancy occupancy, const Schedule& schedule,
              std::int64_t unit, std::size_t most_run_bytes)
      : topology_(topology),
        collective_(collective),
        schedule_(schedule),
        unit_(unit),
        most_runs_(most_run_bytes / kRunBytes),
        chunks_(collective.chunks()),
        there_(topology.npus() * chunks_),
        free_(topology.links(), 0),
        sent_(topology.links(), 0) {
    for (const auto& link_class : topology.classes()) {
      const HopTime hop = hop_time(link_class, collective.chunk_sizes()[0], occupancy);
      busy_.push_back(static_cast<Tick>(hop.busy.count() / unit));
      latency_.push_back(static_cast<Tick>(hop.latency.count() / unit));
    }
    times_.runs.resize(topology.links());
  }

  /// False where the plan is not of the kind, or has too many runs. One thread plays what the others have read.
  bool run(int threads) {
    const std::size_t windows = schedule_.windows();
    std::vector<SendBuffer> played(kWindowsAtOnce);
    std::vector<SendBuffer> read(kWindowsAtOnce);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (std::size_t npu = 0; npu < topology_.npus(); ++npu) begin(npu);
    for (std::size_t first = 0; first < windows + kWindowsAtOnce && sound_; first += kWindowsAtOnce) {
#pragma omp parallel num_threads(threads) if (threads > 1)
      {
#pragma omp single nowait
        for (std::size_t i = 0; first >= kWindowsAtOnce && i < kWindowsAtOnce && first - kWindowsAtOnce + i < windows;
             ++i)
          play(played[i].batch);
#pragma omp for schedule(dynamic, 1)
        for (std::size_t i = 0; i < kWindowsAtOnce; ++i)
          if (first + i < windows) schedule_.read(first + i, read[i]);
      }
      played.swap(read);
    }
    return sound_;
  }

  [[nodiscard]] SimTime time() const { return SimTime::of(static_cast<std::int64_t>(end_) * unit_); }
  LinkTimes take_times() { return std::move(times_); }

 private:
  static constexpr Tick kNothing = std::numeric_limits<Tick>::max();  ///< no part of a sum, no value
  static constexpr Tick kSent = kNothing - 1;                         ///< the sum has left

  void begin(std::size_t npu) {
    Tick* const own = there_.data() + npu * chunks_;
    std::fill_n(own, chunks_, kNothing);
    const GroupId group = collective_.group_of(NpuId::at(npu));
    if (group.exists())
      std::fill_n(own + collective_.first_chunk(group).index(), collective_.chunks_in(group), Tick{0});
  }

  Tick* entry(VertexId vertex, ChunkId chunk) { return there_.data() + vertex.index() * chunks_ + chunk.index(); }

  void play(const SendBatch& batch) {
    const std::size_t size = batch.size();
    for (std::size_t i = 0; i < size; ++i) {
      if (i + kAhead < size) {
        const LinkId ahead = batch.link[i + kAhead];
        __builtin_prefetch(entry(topology_.source(ahead), batch.chunk[i + kAhead]));
        __builtin_prefetch(entry(topology_.target(ahead), batch.chunk[i + kAhead]), 1);
      }
      sound_ = send(batch.link[i], batch.chunk[i], batch.stage_of(i) == Stage::copy) && sound_;
    }
    sound_ = sound_ && runs_ <= most_runs_;
  }

  bool send(LinkId link, ChunkId chunk, bool copy) {
    const std::size_t l = link.index();
    const auto link_class = topology_.class_of(link);
    Tick& from = *entry(topology_.source(link), chunk);
    const Tick ready = from;
    if (ready >= kSent) return false;
    if (!copy) from = kSent;
    const Tick start = std::max(free_[l], ready);
    note_start(l, SimTime::of(static_cast<std::int64_t>(start) * unit_));
    ++sent_[l];
    free_[l] = start + busy_[link_class];
    const Tick arrival = start + latency_[link_class];
    end_ = std::max(end_, arrival);
    Tick& to = *entry(topology_.target(link), chunk);
    if (copy) return std::exchange(to, arrival) >= kSent;
    if (to == kSent) return false;
    to = to == kNothing ? arrival : std::max(to, arrival);
    return true;
  }

  /// The link's next send continues its last run, or begins one. The second send of a run says how far apart they are.
  void note_start(std::size_t link, SimTime start) {
    auto& runs = times_.runs[link];
    if (runs.empty()) return add_run(runs, {sent_[link], start, SimTime()});
    auto& run = runs.back();
    const std::int64_t within = sent_[link] - run.position;
    if (within == 1) run.step = start - run.start;
    if (start - run.start != run.step * within) add_run(runs, {sent_[link], start, SimTime()});
  }
  /// Lists grow by a quarter: together they may be large.
  void add_run(std::vector<LinkRun>& runs, LinkRun run) {
    if (runs.size() == runs.capacity()) runs.reserve(runs.size() + runs.size() / 4 + 4);
    runs.push_back(run);
    ++runs_;
  }

  const Topology& topology_;
  const Collective& collective_;
  const Schedule& schedule_;
  std::int64_t unit_;
  std::uint64_t most_runs_;
  std::size_t chunks_;
  RawArray<Tick> there_;    ///< NPU by NPU, chunk by chunk
  std::vector<Tick> busy_;  ///< per class
  std::vector<Tick> latency_;
  std::vector<Tick> free_;           ///< per link
  std::vector<std::uint32_t> sent_;  ///< per link
  LinkTimes times_;
  Tick end_ = 0;
  std::uint64_t runs_ = 0;
  bool sound_ = true;
};

/// Whether this many units, and a hop more, fit into 32 bits.
bool are_few(std::int64_t units) { return units < std::int64_t{std::numeric_limits<std::uint32_t>::max()} / 2; }

template <class Tick>
std::optional<Retimed> retime(const Topology& topology, const Collective& collective, Occupancy occupancy,
                              const Schedule& schedule, std::int64_t unit, int threads, std::size_t run_bytes) {
  TreeRetimer<Tick> retimer(topology, collective, occupancy, schedule, unit, run_bytes);
  if (!retimer.run(threads)) return std::nullopt;
  const SimTime time = retimer.time();
  return Retimed{make_retimed_schedule(schedule, retimer.take_times(), threads), time};
}

}  // namespace

std::size_t retime_in_trees_bytes(const Topology& topology, const Collective& collective, Occupancy occupancy) {
  // Where each hop takes equally long and keeps its link as long, times are whole hops. Elsewhere they may be anything.
  const bool whole_hops = occupancy == Occupancy::transfer && topology.homogeneous();
  const std::size_t places = 2 * collective.chunks() / kLeastRowsPerTile + 2;
  return topology.npus() * collective.chunks() * ((whole_hops ? 4 : 8) + 2 * kRunBytesPerSend) +
         topology.links() * (places * sizeof(std::uint32_t) + kBytesPerLink) + kBytesOfWindows;
}

std::optional<Retimed> retime_in_trees(const Topology& topology, const Collective& collective, Occupancy occupancy,
                                       const Schedule& schedule, int threads, std::size_t memory_limit_bytes) {
  if (topology.switches() > 0 || schedule.may_carry_messages() || schedule.tiles() == 0 ||
      collective.kind() != CollectiveKind::all_reduce)
    return std::nullopt;
  const std::int64_t unit = time_unit(topology, collective, occupancy);
  if (unit == 0) return std::nullopt;
  const std::size_t entries = topology.npus() * collective.chunks();
  const bool few = are_few(last_arrival(topology, collective, occupancy, schedule).count() / unit);
  const std::size_t fixed =
      entries * (few ? 4 : 8) + topology.links() * ((schedule.tiles() + 1) * sizeof(std::uint32_t) + kBytesPerLink / 2);
  if (fixed > memory_limit_bytes) return std::nullopt;
  const std::size_t run_bytes = memory_limit_bytes - fixed;
  threads = std::max(1, threads);
  return few ? retime<std::uint32_t>(topology, collective, occupancy, schedule, unit, threads, run_bytes)
             : retime<std::uint64_t>(topology, collective, occupancy, schedule, unit, threads, run_bytes);
}

}  // namespace tenex
