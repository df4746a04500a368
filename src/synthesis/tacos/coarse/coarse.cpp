// Runs attempts, makes the schedule of the best one, and estimates the engine's cost.

#include "synthesis/tacos/coarse/coarse.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "synthesis/relays.hpp"
#include "synthesis/tacos/coarse/coarse_setup.hpp"
#include "synthesis/tacos/coarse/streams.hpp"
#include "tenex/schedule/storage/block_schedule.hpp"

namespace tenex {
namespace {

// Balances tails: the last block into an NPU is split over its in-links, so that none is idle while another still
// sends.
//
// Idea: if an NPU's in-links end at different rows, the end of the stream that finishes last moves to the in-link that
// finishes first and whose source holds these chunks. Every chunk then arrives no later than before, so NPUs that
// forward it are not delayed, and NPUs can be balanced one by one: the latest first, until no other can end later than
// those done.
//
// Evens out the ends of an NPU's in-links, the latest NPUs first.

/// A part of a block that an NPU receives in place of a stream removed from `streams`. BlockRun::first counts from the
/// first chunk of the block `block` here.
/// The first row after the last stream into the NPU. O(ports), about.
std::uint32_t end_of_streams(const StreamProblem& problem, const Streams& streams, std::uint32_t npu) {
  const std::uint16_t* block = streams.block.data() + std::size_t{npu} * streams.stride;
  const std::uint32_t* when = streams.when.data() + std::size_t{npu} * streams.stride;
  std::uint32_t end = 0;
  for (std::uint32_t i = streams.entries[npu]; i-- > 1;) {
    const std::uint32_t start = when[i] >> streams.port_bits;
    if (start + streams.longest <= end) break;
    end = std::max(end, start + problem.length[block[i]]);
  }
  return end;
}

struct TailPart {
  std::uint32_t npu = 0;
  std::uint16_t block = 0;
  BlockRun run;
};

constexpr std::uint32_t kNever = std::numeric_limits<std::uint32_t>::max();

/// The last stream or part of a stream that a port receives.
struct Tail {
  std::uint32_t entry = 0;  ///< in the NPU's row; 0: none, the port received nothing
  std::uint16_t block = 0;
  std::uint32_t start = 0;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  std::uint32_t idle_from = 0;
  bool whole = true;  ///< still the untouched stream
  [[nodiscard]] std::uint32_t end() const { return count > 0 ? start + count : idle_from; }
};

class Balancer {
 public:
  Balancer(const StreamProblem& problem, Streams& streams) : problem_(problem), streams_(streams) {}

  std::vector<TailPart> run() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;  // latest first, then by NPU
    for (std::uint32_t npu = 0; npu < problem_.block_of.size(); ++npu)
      ends.emplace_back(~end_of_streams(problem_, streams_, npu), npu);
    std::sort(ends.begin(), ends.end());
    std::uint32_t latest = 0;
    for (const auto& [inverse, npu] : ends) {
      if (~inverse <= latest) break;
      latest = std::max(latest, balance(npu));
    }
    std::sort(parts_.begin(), parts_.end(), [](const TailPart& a, const TailPart& b) {
      return std::tuple(a.npu, a.run.start, a.run.port) < std::tuple(b.npu, b.run.start, b.run.port);
    });
    return std::move(parts_);
  }

 private:
  std::size_t row_of(std::uint32_t npu) const { return std::size_t{npu} * streams_.stride; }
  std::uint32_t start_of(std::uint32_t npu, std::uint32_t entry) const {
    return streams_.when[row_of(npu) + entry] >> streams_.port_bits;
  }
  std::uint32_t port_of(std::uint32_t npu, std::uint32_t entry) const {
    return streams_.when[row_of(npu) + entry] & ((1U << streams_.port_bits) - 1);
  }

  std::vector<Tail> tails_of(std::uint32_t npu) const {
    const std::uint32_t slot = problem_.slot_begin[npu];
    std::vector<Tail> tails(problem_.slot_begin[npu + 1] - slot);
    for (std::size_t p = 0; p < tails.size(); ++p) tails[p].idle_from = problem_.free_row[slot + p];
    std::size_t found = 0;
    for (std::uint32_t i = streams_.entries[npu]; i-- > 1 && found < tails.size();) {
      Tail& tail = tails[port_of(npu, i)];
      if (tail.entry != 0) continue;
      const auto block = streams_.block[row_of(npu) + i];
      tail = {i, block, start_of(npu, i), 0, problem_.length[block], 0, true};
      ++found;
    }
    return tails;
  }

  /// The first row from which `npu` can send the block's chunks from `first` on, back to back.
  std::uint32_t ready(std::uint32_t npu, std::uint16_t block, std::uint32_t first) const {
    if (problem_.block_of[npu] == block) return problem_.stream_row[npu] + first;
    for (std::uint32_t i = 1; i < streams_.entries[npu]; ++i)
      if (streams_.block[row_of(npu) + i] == block) return start_of(npu, i) + problem_.hop_rows + first;
    return kNever;  // it receives the block in parts too
  }

  /// Moves work from the latest port to others until that no longer helps. Returns the row in which the NPU is done.
  std::uint32_t balance(std::uint32_t npu) {
    auto tails = tails_of(npu);
    std::vector<TailPart> done;  // parts that lie before a port's tail
    for (std::size_t round = 0; round < 4 * tails.size(); ++round) {
      const auto last =
          std::max_element(tails.begin(), tails.end(), [](const Tail& a, const Tail& b) { return a.end() < b.end(); });
      if (!move_end(npu, tails, static_cast<std::size_t>(last - tails.begin()), done)) break;
    }
    std::uint32_t end = 0;
    for (const auto& tail : tails) end = std::max(end, tail.end());
    replace(npu, tails, done);
    return end;
  }

  /// Moves the end of port `from`'s tail to the port where it ends earliest. Returns false if nothing is gained.
  bool move_end(std::uint32_t npu, std::vector<Tail>& tails, std::size_t from, std::vector<TailPart>& done) const {
    Tail& late = tails[from];
    if (late.count < 2) return false;
    std::uint32_t best_end = late.end();
    std::uint32_t best_start = 0, best_count = 0;
    std::size_t best_port = tails.size();
    for (std::size_t p = 0; p < tails.size(); ++p) {
      if (p == from || tails[p].end() >= best_end) continue;
      const std::uint32_t source = problem_.source[problem_.slot_begin[npu] + p];
      const std::uint32_t first_ready = ready(source, late.block, 0);
      if (first_ready == kNever) continue;
      // `count` chunks from the end: they leave from row max(end, ready + first chunk moved) on.
      const std::uint32_t room = late.end() - tails[p].end();
      std::uint32_t count = std::min(room / 2, late.count - 1);
      while (count > 0) {
        const std::uint32_t start = std::max(tails[p].end(), first_ready + late.first + late.count - count);
        const std::uint32_t end = std::max(start + count, late.end() - count);
        if (end < best_end) {
          best_end = end, best_start = start, best_count = count, best_port = p;
        }
        if (start <= tails[p].end()) break;
        --count;
      }
    }
    if (best_port == tails.size()) return false;
    Tail& host = tails[best_port];
    if (host.count > 0 && !host.whole) done.push_back({npu, host.block, run_of(host, best_port)});
    const std::uint32_t moved = late.first + late.count - best_count;
    late.count -= best_count;
    late.whole = false;
    host = {0, late.block, best_start, moved, best_count, 0, false};
    return true;
  }

  static BlockRun run_of(const Tail& tail, std::size_t port) {
    return {tail.start, tail.first, static_cast<std::uint16_t>(port), static_cast<std::uint16_t>(tail.count)};
  }

  /// Removes the split streams from the row and keeps their parts.
  void replace(std::uint32_t npu, const std::vector<Tail>& tails, const std::vector<TailPart>& done) {
    std::vector<TailPart> fresh = done;
    for (std::size_t p = 0; p < tails.size(); ++p)
      if (!tails[p].whole) fresh.push_back({npu, tails[p].block, run_of(tails[p], p)});
    if (fresh.empty()) return;
    std::uint32_t kept = 1;
    for (std::uint32_t i = 1; i < streams_.entries[npu]; ++i) {
      const auto block = streams_.block[row_of(npu) + i];
      const bool split = std::any_of(fresh.begin(), fresh.end(), [&](const auto& part) { return part.block == block; });
      if (split) continue;
      streams_.block[row_of(npu) + kept] = block;
      streams_.when[row_of(npu) + kept++] = streams_.when[row_of(npu) + i];
    }
    streams_.entries[npu] = static_cast<std::uint16_t>(kept);
    parts_.insert(parts_.end(), fresh.begin(), fresh.end());
  }

  const StreamProblem& problem_;
  Streams& streams_;
  std::vector<TailPart> parts_;
};

/// Shortens `streams` and returns the parts that replace the removed streams, sorted by (npu, start). O(npus log npus +
/// parts).
std::vector<TailPart> balance_tails(const StreamProblem& problem, Streams& streams) {
  return Balancer(problem, streams).run();
}

constexpr std::uint64_t kMostBlocks = 65'535;
constexpr std::uint64_t kMostRows = std::numeric_limits<std::uint32_t>::max() / 2;

constexpr std::uint32_t kIrregularChoices = 8;
constexpr std::uint32_t kIntactChoices = 2;

HopTime hop_of(const SynthesisProblem& problem) {
  return hop_time(problem.topology.classes()[0], problem.collective.chunk_sizes()[0], problem.occupancy);
}

/// About the number of streams: every NPU gets the blocks of its group.
double streams_of(const SynthesisProblem& problem) {
  return static_cast<double>(problem.topology.npus()) * static_cast<double>(largest_group(problem.collective)) /
         static_cast<double>(block_size_for(problem));
}

/// Lays out the gathers inside blocks, once per kind, and the part of them that each NPU takes.
void place_ramps(const CoarseSetup& setup, BlockSchedule& data) {
  std::vector<std::uint32_t> kind_begin;
  for (const auto& gather : setup.gathers) {
    kind_begin.push_back(static_cast<std::uint32_t>(data.ramps.size()));
    data.ramps.insert(data.ramps.end(), gather.sends.begin(), gather.sends.end());
  }
  data.inner_port.resize(setup.streams.source.size());
  for (std::size_t npu = 0; npu < setup.partition.block_of.size(); ++npu) {
    const auto block = setup.partition.block_of[npu];
    const auto kind = setup.gather_of[block];
    const auto place = setup.place_in_block[npu];
    data.ramp_of.emplace_back(kind_begin[kind] + setup.gathers[kind].send_begin[place],
                              kind_begin[kind] + setup.gathers[kind].send_begin[place + 1]);
    const auto first_slot = setup.streams.slot_begin[npu];
    std::size_t inner = 0;
    for (auto slot = first_slot; slot < setup.streams.slot_begin[npu + 1]; ++slot)
      if (setup.partition.block_of[setup.streams.source[slot]] == block)
        data.inner_port[first_slot + inner++] = static_cast<std::uint16_t>(slot - first_slot);
  }
}

void place_tails(const CoarseSetup& setup, const std::vector<TailPart>& tails, BlockSchedule& data) {
  data.runs_begin.assign(setup.partition.block_of.size() + 1, 0);
  for (const auto& part : tails) {
    ++data.runs_begin[part.npu + 1];
    data.runs.push_back(part.run);
    data.runs.back().first += setup.block_begin[part.block];
  }
  std::partial_sum(data.runs_begin.begin(), data.runs_begin.end(), data.runs_begin.begin());
}

struct Attempt {
  CoarseSetup setup;
  Streams streams;
  std::vector<TailPart> tails;
  std::uint32_t rows = 0;  ///< rows until the last send has left
};

/// First in, first out if all NPUs have as many in-links, as on tori: there it meets the bound or comes close in a part
/// of the time. A choice of two if some NPUs have fewer in-links and need those all the time; of more if blocks differ
/// in shape. Later attempts take other numbers of choices.
std::uint32_t first_choices(const CoarseSetup& setup, const SynthesisProblem& problem) {
  if (!problem.topology.shape() || problem.collective.groups().size() > 1) return kIrregularChoices;
  const auto& begin = setup.streams.slot_begin;
  const auto uneven =
      std::adjacent_find(begin.begin(), begin.end(), [&](const auto& a, const auto& b) { return b - a != begin[1]; });
  return uneven == begin.end() ? 1 : kIntactChoices;
}

Attempt stream(CoarseSetup setup, const SynthesisProblem& problem, std::uint32_t attempt) {
  setup.streams.choices = attempt == 0 ? first_choices(setup, problem) : 2U << (attempt % 3);
  setup.streams.salt = problem.seed * 1'000'003 + attempt;
  Attempt made;
  made.streams = make_streams(setup.streams, std::max(1, problem.threads));
  made.tails = balance_tails(setup.streams, made.streams);
  for (std::uint32_t npu = 0; npu < setup.streams.block_of.size(); ++npu)
    made.rows = std::max(made.rows, end_of_streams(setup.streams, made.streams, npu));
  for (const auto& part : made.tails) made.rows = std::max(made.rows, part.run.start + part.run.count);
  for (const auto& gather : setup.gathers)
    for (const auto& send : gather.sends) made.rows = std::max(made.rows, send.start + 1);
  made.setup = std::move(setup);
  return made;
}

}  // namespace

std::string coarse_unsuitable(const SynthesisProblem& problem) {
  const Topology& topology = problem.topology;
  const Collective& collective = problem.collective;
  if (!topology.direct()) return "its blocks send over direct links between NPUs, and the topology has switches";
  if (!topology.homogeneous()) return "its rows need links that all have one latency and bandwidth";
  if (collective.kind() != CollectiveKind::all_gather)
    return "it makes only All-Gathers and collectives composed of them";
  if (collective.chunk_sizes().size() > 1)
    return "its rows need chunks of one size, and the process groups have different ones";
  for (std::size_t npu = 0; npu < topology.npus(); ++npu)
    if (!collective.group_of(NpuId::at(npu)).exists()) return "its blocks need every NPU in some process group";
  if (collective.groups().size() > 1) {
    const auto participants = find_participants(topology, collective);
    if (!participants) return to_string(participants.errors());
    if (any_relays(*participants))
      return "some process group is not connected by itself and needs NPUs outside it as relays";
  }
  const HopTime hop = topology.links() > 0 ? hop_of(problem) : HopTime{};
  if (hop.busy <= SimTime::zero()) return "a row needs a positive length, and chunks take no time on these links";
  const auto hop_rows = ceil_div(hop.latency.count(), hop.busy.count());
  // Rows and ports share 32 bits. No schedule takes longer than all chunks one after the other over the longest path.
  std::uint64_t ports = 1;
  for (std::size_t npu = 0; npu < topology.npus(); ++npu)
    ports = std::max<std::uint64_t>(ports, topology.in_links(VertexId::at(npu)).size());
  const auto most = static_cast<double>(collective.chunks()) +
                    2.0 * static_cast<double>(hop_rows) * static_cast<double>(topology.npus());
  if (most * static_cast<double>(ports) * 2 > static_cast<double>(kMostRows))
    return "its rows are counted in 32 bits, and alpha is too long compared with the time of a chunk";
  return {};
}

Result<Gathered> gather_coarse(const SynthesisProblem& problem) {
  const auto& topology = problem.topology;
  const int threads = std::max(1, problem.threads);
  if (const auto lost = find_disconnected_pair(topology); lost && problem.collective.groups().size() == 1)
    return input_error({},
                       fmt::format("NPU {} cannot be reached from NPU {}", lost->second.value(), lost->first.value()),
                       "no path of links leads there, and the collective needs one", "add links");
  const HopTime hop = hop_of(problem);
  const auto hop_rows = static_cast<std::uint32_t>(ceil_div(hop.latency.count(), hop.busy.count()));
  const auto size = block_size_for(problem);
  CoarseSetup setup = plan_coarse(problem, hop_rows, size);
  if (setup.partition.members.size() > kMostBlocks)
    return resource_error(fmt::format("the coarse engine finds {} blocks", setup.partition.members.size()),
                          "it can number 65,535 at most; links without a link back belong to no block",
                          "leave the engine to `auto`");
  Attempt best = stream(std::move(setup), problem, 0);
  std::uint32_t best_attempt = 0;
  for (std::uint32_t attempt = 1; attempt < problem.attempts; ++attempt) {
    // Later attempts also cut other blocks: other draws do not make up for an unlucky cut.
    const std::size_t other =
        std::max<std::size_t>(size - size * (attempt % 4) / 8, 1 + problem.topology.npus() / kMostBlocks);
    CoarseSetup again = plan_coarse(problem, hop_rows, other);
    if (again.partition.members.size() > kMostBlocks) continue;
    Attempt next = stream(std::move(again), problem, attempt);
    if (next.rows >= best.rows) continue;
    best = std::move(next);
    best_attempt = attempt;
  }
  BlockSchedule data;
  data.period = hop.busy;
  data.chunks = best.setup.chunks;
  data.block_begin = best.setup.block_begin;
  data.stride = best.streams.stride;
  data.port_bits = best.streams.port_bits;
  data.entries = std::move(best.streams.entries);
  data.block = std::move(best.streams.block);
  data.when = std::move(best.streams.when);
  place_ramps(best.setup, data);
  place_tails(best.setup, best.tails, data);
  Gathered gathered;
  gathered.schedule = make_block_schedule(topology, std::move(data), threads);
  gathered.time = hop.busy * std::int64_t{best.rows - 1} + hop.latency;
  gathered.best_attempt = best_attempt;
  return gathered;
}

std::size_t coarse_bytes(const SynthesisProblem& problem) {
  const auto npus = static_cast<double>(problem.topology.npus());
  const auto size = static_cast<double>(block_size_for(problem));
  const auto links = static_cast<double>(problem.topology.links());
  const auto chunks = static_cast<double>(problem.collective.chunks());
  // Streams of 6 bytes, the bits of the blocks that each NPU has, the index of tiles; a ramp per kind of block (some
  // dozen kinds; on irregular topologies one per block); a gather's working memory.
  const double streams = streams_of(problem) * 6.2 + npus * chunks / 256 * 2;
  const double kinds =
      problem.topology.shape() && problem.collective.groups().size() == 1 ? std::min(30.0, npus / size) : npus / size;
  const double ramps = kinds * size * size * static_cast<double>(problem.collective.chunks_per_npu()) * 24;
  const double passes = problem.collective.kind() == CollectiveKind::all_reduce ? 2 : 1;
  return static_cast<std::size_t>(passes * (streams + ramps + 80 * links + 8 * chunks));
}

Work coarse_work(const SynthesisProblem& problem) {
  const double passes = problem.collective.kind() == CollectiveKind::all_reduce ? 2 : 1;
  return passes * (Work(WorkUnit::coarse_stream, streams_of(problem)) +
                   Work(WorkUnit::coarse_link, static_cast<double>(problem.topology.links())));
}

}  // namespace tenex
