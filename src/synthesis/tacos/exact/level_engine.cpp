// The tiles of the levels engine.
//
// Encoding: a row of bits per NPU (its chunks) and, per level from 1 on, per cluster (the chunks of any NPU in it). The
// inner loop tests entries without branches, and the count after every eighth.
#include "synthesis/tacos/exact/level_engine.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "synthesis/tacos/exact/finishing.hpp"
#include "synthesis/tacos/exact/rounds.hpp"
#include "synthesis/tacos/exact/tile_clock.hpp"
#include "tenex/base/diagnostic.hpp"

namespace tenex {
namespace {

constexpr std::uint32_t kBlock = 8;  ///< entries tested between two tests of the count

/// The state of one port during a run.
template <class Slot>
struct Walk {
  const Slot* list = nullptr;  ///< of the source
  std::uint32_t source = 0;
  std::uint32_t next = 0;      ///< the next entry to test for chunks that the target lacks
  std::uint32_t fresh = 0;     ///< the same for chunks that the target's whole cluster lacks
  std::uint32_t rotation = 0;  ///< which own chunk of the source comes first
  std::uint32_t own = 0;       ///< how many own chunks the source has

  [[nodiscard]] Slot at(std::uint32_t position) const {
    if (position >= own) return list[position];
    position += rotation;
    return list[position < own ? position : position - own];
  }
};

/// Appends to `out` at most `want` of the chunks at `at` .. limit - 1 that `lacks` selects, and returns their number.
/// `out` has room for want + kBlock. Moves `at` past the entries tested.
template <class Slot, class Lacks>
std::uint32_t scan(const Walk<Slot>& walk, std::uint32_t& at, std::uint32_t limit, std::uint32_t want, Lacks&& lacks,
                   std::pair<std::uint32_t, Slot>* out) {
  std::uint32_t count = 0;
  const auto test = [&](std::uint32_t position, Slot chunk) {
    out[count] = {position, chunk};
    count += static_cast<std::uint32_t>(lacks(chunk));
  };
  for (; count < want && at < walk.own && at < limit; ++at) test(at, walk.at(at));
  while (count < want && at + kBlock <= limit) {
    for (std::uint32_t i = 0; i < kBlock; ++i) test(at + i, walk.list[at + i]);
    at += kBlock;
  }
  for (; count < want && at < limit; ++at) test(at, walk.list[at]);
  if (count > want) {
    count = want;
    at = out[want - 1].first + 1;
  }
  return count;
}

/// The memory of one thread.
template <class Slot>
struct Scratch {
  Scratch(const StepSetup& setup, std::uint32_t widest_tile) : found(widest_tile + kBlock), finishing(setup) {}
  std::vector<std::pair<std::uint32_t, Slot>> found;
  FinishingTile<Slot> finishing;
  std::uint64_t delivered = 0;
  SimTime finish;
};

template <class Slot>
class LevelEngine {
 public:
  LevelEngine(const LevelSetup& setup, const LevelAttempt& attempt, Random random, int threads)
      : setup_(setup),
        steps_(setup.steps),
        threads_(threads),
        attempt_(attempt),
        clock_(steps_.lanes, attempt.widest_tile, attempt.ramp),
        words_((steps_.widest_group + 63) / 64),
        have_(steps_.npus() * words_),
        port_(steps_.ports.size()),
        left_(steps_.npus()) {
    for (std::uint32_t level = 0; level < setup.levels; ++level) {
      held_by_.emplace_back(setup.chunks_in[level].size() * words_, std::uint64_t{0});
      missing_.push_back(setup.chunks_in[level]);
    }
    family_full_.assign(setup.order.size(), 0);
    set_table();
    set_walks(random);
  }

  StepRun<Slot> run() {
    std::vector<Scratch<Slot>> scratches(static_cast<std::size_t>(threads_), {steps_, attempt_.widest_tile});
    const auto begin_of = [&](std::size_t thread, const Team& team) {
      return setup_.order.size() * thread / team.size;
    };
    run_rounds(
        steps_, table_, scratches,
        [&](std::size_t thread, const Team& team) { touch(begin_of(thread, team), begin_of(thread + 1, team)); },
        [&] { open_tile(); },
        [&](std::size_t thread, const Team& team) {
          visit_share(begin_of(thread, team), begin_of(thread + 1, team), scratches[thread]);
        });
    StepRun<Slot> run;
    for (const auto& scratch : scratches) run.finish = std::max(run.finish, scratch.finish);
    // The last tile that was opened is the last one with a send.
    if (steps_.deliveries > 0)
      end_table(table_, tile_);
    else
      for (auto& rows : table_.lane_rows) rows.push_back(0);
    run.table = std::move(table_);
    return run;
  }

 private:
  void set_table() {
    table_ = empty_table<Slot>(steps_);
    for (std::uint32_t npu = 0; npu < steps_.npus(); ++npu) {
      left_[npu] = steps_.chunks[npu] - steps_.own[npu];
      for (std::uint32_t k = 0; k < steps_.own[npu]; ++k) enter(npu, own_chunk(npu, k), 1, setup_.levels);
    }
  }

  /// Sets the order of ports (attempts shuffle those of one level) and the walks over their sources' lists.
  void set_walks(Random& random) {
    for (std::size_t p = 0; p < port_.size(); ++p) port_[p] = static_cast<std::uint32_t>(p);
    for (std::size_t npu = 0; attempt_.shuffled && npu < steps_.npus(); ++npu)
      for (std::size_t p = steps_.port_begin[npu], end = p; p < steps_.port_begin[npu + 1]; p = end) {
        for (end = p; end < steps_.port_begin[npu + 1] && setup_.port_level[end] == setup_.port_level[p];) ++end;
        random.shuffle(std::span(port_).subspan(p, end - p));
      }
    walks_.resize(port_.size());
    std::vector<std::uint32_t> outs(steps_.npus(), 0);
    for (const auto& port : steps_.ports) ++outs[port.source];
    std::vector<std::uint32_t> seen(steps_.npus(), 0);
    for (std::size_t p = 0; p < port_.size(); ++p) {
      const auto& port = steps_.ports[port_[p]];
      const std::uint32_t own = steps_.own[port.source];
      const std::uint32_t turn = seen[port.source]++ * own / outs[port.source];
      walks_[p] = {table_.lists.data() + table_.list_begin[port.source],    port.source, 0, 0,
                   attempt_.shuffled && own > 1 ? random.below(own) : turn, own};
      table_.port_link.push_back(port.link);
      table_.port_lane.push_back(port.lane);
    }
  }

  [[nodiscard]] std::uint32_t own_chunk(std::uint32_t npu, std::uint32_t k) const {
    return steps_.rank[npu] * steps_.own[npu] + k;
  }
  [[nodiscard]] std::size_t lane_of(std::size_t p) const { return table_.port_lane[p]; }
  [[nodiscard]] std::size_t level_of(std::size_t p) const { return setup_.port_level[port_[p]]; }

  /// Records that the chunk is in the clusters of `npu` at levels first .. end - 1.
  void enter(std::uint32_t npu, std::uint32_t chunk, std::size_t first, std::size_t end) {
    for (std::size_t level = first; level < end; ++level) {
      const std::uint32_t cluster = setup_.cluster[level][npu];
      auto& word = held_by_[level][cluster * words_ + chunk / 64];
      const std::uint64_t bit = std::uint64_t{1} << (chunk % 64);
      missing_[level][cluster] -= (word & bit) == 0 ? 1 : 0;
      word |= bit;
    }
  }

  /// Writes own chunks and clears bits. Each thread does so for the NPUs that it will mostly visit.
  void touch(std::size_t begin, std::size_t end) {
    for (std::size_t place = begin; place < end; ++place) {
      const std::uint32_t npu = setup_.order[place];
      std::uint64_t* const have = have_.data() + npu * words_;
      std::fill_n(have, words_, std::uint64_t{0});
      for (std::uint32_t k = 0; k < steps_.own[npu]; ++k) {
        const std::uint32_t chunk = own_chunk(npu, k);
        have[chunk / 64] |= std::uint64_t{1} << (chunk % 64);
        table_.lists[table_.list_begin[npu] + k] = static_cast<Slot>(chunk);
      }
    }
  }

  /// Chunks under way may take many tiles to arrive, but fewer than kMostIdleTiles.
  /// Opens the next tile: makes room for it and finds the families that have everything. Called by one thread.
  void open_tile() {
    tile_ = clock_.next();
    for (std::size_t l = 0; l < steps_.lanes.size(); ++l) table_.lane_rows[l].push_back(tile_.lanes[l].first_row);
    table_.lengths.emplace_back(steps_.npus());
    table_.counts.emplace_back(port_.size());
    for (std::size_t begin = 0; begin < setup_.order.size(); begin = setup_.family_end[begin])
      if (family_full_[begin] == 0 && is_full(begin))
        std::fill(family_full_.begin() + static_cast<std::ptrdiff_t>(begin),
                  family_full_.begin() + setup_.family_end[begin], std::uint8_t{1});
  }

  [[nodiscard]] bool is_full(std::size_t begin) const {
    for (std::size_t place = begin; place < setup_.family_end[begin]; ++place)
      for (std::size_t level = 1; level < setup_.levels; ++level)
        if (missing_[level][setup_.cluster[level][setup_.order[place]]] > 0) return false;
    return true;
  }

  /// A thread's part of a tile: NPUs of full families in its range, and all other families that begin there.
  void visit_share(std::size_t begin, std::size_t end, Scratch<Slot>& scratch) {
    for (std::size_t place = begin; place < end; ++place) {
      if (family_full_[place] != 0) {
        if (place + 1 < end) prefetch(setup_.order[place + 1]);
        visit(setup_.order[place], scratch);
      } else {
        for (std::size_t member = place; member < setup_.family_end[place]; ++member)
          visit(setup_.order[member], scratch);
      }
    }
  }

  void prefetch(std::uint32_t npu) const {
    if (left_[npu] == 0) return;
    const std::uint64_t* const have = have_.data() + npu * words_;
    for (std::size_t word = 0; word < words_; word += 8) __builtin_prefetch(have + word, 1);
    for (std::size_t p = steps_.port_begin[npu]; p < steps_.port_begin[npu + 1]; ++p)
      __builtin_prefetch(walks_[p].list + walks_[p].next);
  }

  void visit(std::uint32_t npu, Scratch<Slot>& scratch) {
    const std::size_t first = steps_.port_begin[npu];
    const std::size_t end = steps_.port_begin[npu + 1];
    std::uint8_t* const counts = table_.counts[tile_.index].data();
    const std::uint32_t length = table_.lengths[tile_.index][npu];
    std::uint32_t total = 0;
    std::int64_t rows = 0;
    for (std::size_t p = first; p < end; ++p) rows += tile_.lanes[lane_of(p)].rows;
    if (left_[npu] == 0) {
      std::fill(counts + first, counts + end, std::uint8_t{0});
    } else if (rows >= left_[npu]) {
      total = finish(npu, scratch);
    } else {
      Slot* const out = table_.lists.data() + table_.list_begin[npu] + length;
      for (std::size_t p = first; p < end; ++p) {
        const auto want = static_cast<std::uint32_t>(tile_.lanes[lane_of(p)].rows);
        const std::uint32_t count = bring(npu, p, want, out + total, scratch);
        counts[p] = static_cast<std::uint8_t>(count);
        total += count;
      }
    }
    table_.lengths[tile_.index + 1][npu] = static_cast<Slot>(length + total);
    left_[npu] -= total;
    scratch.delivered += total;
  }

  /// Writes up to `want` chunks over port p to `out`, and returns their number.
  std::uint32_t bring(std::uint32_t npu, std::size_t p, std::uint32_t want, Slot* out, Scratch<Slot>& scratch) {
    auto& walk = walks_[p];
    const std::uint32_t limit = table_.lengths[tile_.lanes[lane_of(p)].visible][walk.source];
    std::uint64_t* const have = have_.data() + npu * words_;
    const std::size_t level = level_of(p);
    std::uint32_t total = 0;
    const auto take = [&](std::uint32_t count) {
      const std::size_t shared = setup_.shared_from[port_[p]];
      for (std::uint32_t i = 0; i < count; ++i) {
        const Slot chunk = scratch.found[i].second;
        have[chunk / 64] |= std::uint64_t{1} << (chunk % 64);
        if (shared > 1) enter(npu, chunk, 1, shared);
        out[total++] = chunk;
      }
    };
    if (level > 0 && missing_[level][setup_.cluster[level][npu]] > 0) {
      const std::uint64_t* const held = held_by_[level].data() + setup_.cluster[level][npu] * words_;
      take(scan(
          walk, walk.fresh, limit, want, [&](Slot chunk) { return ~(held[chunk / 64] >> (chunk % 64)) & 1U; },
          scratch.found.data()));
    }
    if (total < want)
      take(scan(
          walk, walk.next, limit, want - total, [&](Slot chunk) { return ~(have[chunk / 64] >> (chunk % 64)) & 1U; },
          scratch.found.data()));
    return total;
  }

  /// Visits an NPU that may be finished in this tile.
  std::uint32_t finish(std::uint32_t npu, Scratch<Slot>& scratch) {
    const std::size_t first = steps_.port_begin[npu];
    const std::uint32_t left = scratch.finishing.gather(
        tile_, steps_.port_begin[npu + 1] - first, left_[npu], [&](std::size_t i) { return lane_of(first + i); },
        [&](std::size_t i, std::uint32_t want, Slot* out) { return bring(npu, first + i, want, out, scratch); });
    const SimTime last =
        scratch.finishing.write(tile_, table_.lists.data() + table_.list_begin[npu] + table_.lengths[tile_.index][npu],
                                table_.counts[tile_.index].data() + first);
    if (left == 0) scratch.finish = std::max(scratch.finish, last);
    return left_[npu] - left;
  }

  const LevelSetup& setup_;
  const StepSetup& steps_;
  int threads_;
  LevelAttempt attempt_;
  TileClock clock_;
  std::size_t words_;
  RawArray<std::uint64_t> have_;
  std::vector<std::uint32_t> port_;                  ///< the ports of the setup, in the order of the attempt
  std::vector<Walk<Slot>> walks_;                    ///< per port
  std::vector<std::uint32_t> left_;                  ///< per NPU: chunks that it lacks
  std::vector<std::vector<std::uint64_t>> held_by_;  ///< per level: bits of each cluster
  std::vector<std::vector<std::uint32_t>> missing_;  ///< per level: chunks that each cluster lacks
  std::vector<std::uint8_t> family_full_;            ///< per position in the setup's order
  Tile tile_;
  StepTable<Slot> table_;
};

}  // namespace

template <class Slot>
StepRun<Slot> run_levels(const LevelSetup& setup, const LevelAttempt& attempt, Random random, int threads) {
  return LevelEngine<Slot>(setup, attempt, random, threads).run();
}

template StepRun<std::uint16_t> run_levels(const LevelSetup&, const LevelAttempt&, Random, int);
template StepRun<std::uint32_t> run_levels(const LevelSetup&, const LevelAttempt&, Random, int);

}  // namespace tenex
