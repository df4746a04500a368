// The tiles of the step engine, and the two ways in which a link looks for chunks.
//
// Encoding: a set of bits per NPU in the order of the walk (the chunks that it lacks) and, per level from 1 on, per
// cluster (the chunks that all NPUs in it lack).
#include "synthesis/tacos/exact/step_engine.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "synthesis/tacos/exact/bands.hpp"
#include "synthesis/tacos/exact/finishing.hpp"
#include "synthesis/tacos/exact/rounds.hpp"
#include "synthesis/tacos/exact/scan.hpp"
#include "synthesis/tacos/exact/tile_clock.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/random.hpp"

namespace tenex {
namespace {

constexpr std::size_t kCursorsAhead = 8;  ///< in NPUs
constexpr std::size_t kListsAhead = 4;
constexpr std::size_t kPortsPerLine = 2;
constexpr std::size_t kEntriesPerRow = 4;  ///< entries that a link tests, roughly

/// The memory of one thread.
template <class Slot>
struct Scratch {
  Scratch(const StepSetup& setup, std::uint32_t widest_tile)
      : found(widest_tile + kEntriesPerCount), finishing(setup) {}
  std::vector<Slot> found;
  FinishingTile<Slot> finishing;
  std::uint64_t delivered = 0;
  SimTime finish;
  std::size_t last_tile = 0;  ///< the last tile with a send
};

/// The state of one NPU during a run.
template <class Slot>
struct Visited {
  Slot* list = nullptr;
  std::uint64_t* lacks = nullptr;  ///< a bit per chunk
  std::uint32_t npu = 0;
  std::uint32_t first_port = 0;
  std::uint32_t end_port = 0;
  std::uint32_t length = 0;  ///< length of the list
  std::uint32_t left = 0;    ///< chunks that it lacks
};

/// What a port is asked for.
struct Asked {
  std::size_t port = 0;
  std::size_t tile = 0;
  std::uint32_t npu = 0;    ///< its target
  std::uint32_t limit = 0;  ///< entries of the source's list that have arrived
  std::uint32_t want = 0;   ///< chunks, at most
};

inline void clear_bit(std::uint64_t* bits, std::size_t i) { bits[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }

/// Links are alike: a link takes what its source received first and its target lacks.
template <class Slot>
class FirstCome {
 public:
  FirstCome(const StepSetup& setup, const StepAttempt& attempt)
      : setup_(setup), attempt_(attempt), bands_(find_bands(setup, attempt.band_depth)) {}

  [[nodiscard]] const StepSetup& steps() const { return setup_; }
  [[nodiscard]] const Bands& bands() const { return bands_; }

  void arrange(std::vector<StepPort>& ports, Random& random) {
    for (std::size_t npu = 0; attempt_.shuffled && npu < setup_.npus(); ++npu)
      random.shuffle(
          std::span(ports).subspan(setup_.port_begin[npu], setup_.port_begin[npu + 1] - setup_.port_begin[npu]));
    scatter_key_ = random.bits64();
  }
  void set_cursors(const std::vector<Cursor<Slot>>& /*cursors*/) {}
  void open_tile() {}

  /// Calls visit(i) for a thread's share of a band, as positions in the walk.
  template <class Visit>
  void for_each(std::size_t first, std::size_t end, Visit&& visit) const {
    for (std::size_t i = first; i < end; ++i) visit(i);
  }

  /// Writes to `out` what the port brings, takes it out of `lacks`, and returns its number.
  std::uint32_t bring(const Asked& asked, const StepPort& /*port*/, Cursor<Slot>& cursor, std::uint64_t* lacks,
                      Slot* out, Slot* found) const {
    const std::uint32_t count = attempt_.scattered ? scan_scattered(asked, cursor, lacks, found)
                                                   : scan(cursor, asked.limit, asked.want, lacks, found);
    for (std::uint32_t i = 0; i < count; ++i) {
      clear_bit(lacks, found[i]);
      out[i] = found[i];
    }
    return count;
  }

 private:
  /// Like scan(), but starts at a random entry, and if that is not enough, goes on from the first entry up to it.
  std::uint32_t scan_scattered(const Asked& asked, Cursor<Slot>& cursor, const std::uint64_t* lacks,
                               Slot* found) const {
    const auto& [port, tile, npu, limit, want] = asked;
    // Own chunks are rotated already.
    if (cursor.rotation != 0) return scan(cursor, limit, want, lacks, found);
    while (cursor.next < limit && bit_of(lacks, cursor.list[cursor.next]) == 0) ++cursor.next;
    const std::uint32_t backlog = limit - cursor.next;
    if (backlog <= want) return scan(cursor, limit, want, lacks, found);
    auto late = cursor;
    late.next += static_cast<std::uint32_t>((mix_bits(scatter_key_ ^ (port << 32 | tile)) >> 32) * backlog >> 32);
    const std::uint32_t start = late.next;
    const std::uint32_t count = scan(late, limit, want, lacks, found);
    if (count == want) return count;
    late.next = cursor.next;
    return scan(late, start, want, lacks, found, count);
  }

  const StepSetup& setup_;
  const StepAttempt& attempt_;
  Bands bands_;
  std::uint64_t scatter_key_ = 0;
};

/// Links differ: a slow link first takes what the target's whole cluster lacks.
template <class Slot>
class SlowForOthers {
 public:
  SlowForOthers(const LevelSetup& setup, const StepAttempt& attempt)
      : setup_(setup),
        attempt_(attempt),
        bands_{setup.order, {0, setup.order.size()}},
        words_((setup.steps.widest_group + 63) / 64),
        missing_(setup.chunks_in),
        family_full_(setup.order.size(), 0) {
    const StepSetup& steps = setup.steps;
    for (const auto& clusters : setup.chunks_in) lacked_by_.emplace_back(clusters.size() * words_, ~std::uint64_t{0});
    for (std::uint32_t npu = 0; npu < steps.npus(); ++npu)
      for (std::uint32_t k = 0; k < steps.own[npu]; ++k) enter(npu, steps.own_chunk(npu, k), setup.levels);
  }

  [[nodiscard]] const StepSetup& steps() const { return setup_.steps; }
  [[nodiscard]] const Bands& bands() const { return bands_; }

  void arrange(std::vector<StepPort>& ports, Random& random) {
    const auto& begin = steps().port_begin;
    for (std::size_t npu = 0; attempt_.shuffled && npu < steps().npus(); ++npu)
      for (std::size_t p = begin[npu], end = p; p < begin[npu + 1]; p = end) {
        while (end < begin[npu + 1] && ports[end].level == ports[p].level) ++end;
        random.shuffle(std::span(ports).subspan(p, end - p));
      }
  }
  void set_cursors(const std::vector<Cursor<Slot>>& cursors) { fresh_ = cursors; }

  /// Finds the families that have everything. Called by one thread.
  void open_tile() {
    for (std::size_t begin = 0; begin < setup_.order.size(); begin = setup_.family_end[begin])
      if (family_full_[begin] == 0 && is_full(begin))
        std::fill(family_full_.begin() + static_cast<std::ptrdiff_t>(begin),
                  family_full_.begin() + setup_.family_end[begin], std::uint8_t{1});
  }

  /// Calls visit(i) for NPUs of full families in a thread's share, and for all other families that begin there.
  template <class Visit>
  void for_each(std::size_t first, std::size_t end, Visit&& visit) const {
    for (std::size_t i = first; i < end; ++i) {
      if (family_full_[i] != 0)
        visit(i);
      else
        for (std::size_t member = i; member < setup_.family_end[i]; ++member) visit(member);
    }
  }

  /// Writes to `out` what the port brings, takes it out of `lacks`, and returns its number.
  std::uint32_t bring(const Asked& asked, const StepPort& port, Cursor<Slot>& cursor, std::uint64_t* lacks, Slot* out,
                      Slot* found) {
    std::uint32_t total = 0;
    const auto take = [&](std::uint32_t count) {
      for (std::uint32_t i = 0; i < count; ++i) {
        clear_bit(lacks, found[i]);
        enter(asked.npu, found[i], port.shared_from);
        out[total++] = found[i];
      }
    };
    if (port.level > 0) {
      const std::uint32_t cluster = setup_.cluster[port.level][asked.npu];
      if (missing_[port.level][cluster] > 0)
        take(
            scan(fresh_[asked.port], asked.limit, asked.want, lacked_by_[port.level].data() + cluster * words_, found));
    }
    if (total < asked.want) take(scan(cursor, asked.limit, asked.want - total, lacks, found));
    return total;
  }

 private:
  /// Records that the chunk is in the clusters of `npu` at levels 1 .. end - 1.
  void enter(std::uint32_t npu, std::uint32_t chunk, std::size_t end) {
    for (std::size_t level = 1; level < end; ++level) {
      const std::uint32_t cluster = setup_.cluster[level][npu];
      std::uint64_t* const lacks = lacked_by_[level].data() + cluster * words_;
      missing_[level][cluster] -= static_cast<std::uint32_t>(bit_of(lacks, chunk));
      clear_bit(lacks, chunk);
    }
  }
  [[nodiscard]] bool is_full(std::size_t begin) const {
    for (std::size_t place = begin; place < setup_.family_end[begin]; ++place)
      for (std::size_t level = 1; level < setup_.levels; ++level)
        if (missing_[level][setup_.cluster[level][setup_.order[place]]] > 0) return false;
    return true;
  }

  const LevelSetup& setup_;
  const StepAttempt& attempt_;
  Bands bands_;  ///< one: all NPUs, family by family
  std::size_t words_;
  std::vector<Cursor<Slot>> fresh_;                    ///< per port: for chunks that the target's whole cluster lacks
  std::vector<std::vector<std::uint64_t>> lacked_by_;  ///< per level: bits of each cluster
  std::vector<std::vector<std::uint32_t>> missing_;    ///< per level: chunks that each cluster lacks
  std::vector<std::uint8_t> family_full_;              ///< per position in the walk
};

/// Supply: how a link looks for chunks.
template <class Slot, class Supply>
class StepEngine {
 public:
  StepEngine(Supply supply, const StepAttempt& attempt, Random random, int threads)
      : supply_(std::move(supply)),
        setup_(supply_.steps()),
        bands_(supply_.bands()),
        threads_(threads),
        attempt_(attempt),
        clock_(setup_.lanes, attempt.widest_tile, attempt.ramp),
        words_((setup_.widest_group + 63) / 64),
        lacks_(setup_.npus() * words_),
        ports_(setup_.ports) {
    set_table();
    supply_.arrange(ports_, random);
    set_cursors(attempt.shuffled, random);
    supply_.set_cursors(cursors_);
  }

  StepRun<Slot> run() {
    std::vector<Scratch<Slot>> scratches(static_cast<std::size_t>(threads_), {setup_, attempt_.widest_tile});
    run_rounds(
        setup_, table_, scratches, [&](std::size_t thread, const Team& team) { touch(thread, team.size); },
        [&] { open_sweep(); }, [&](std::size_t thread, Team& team) { sweep(thread, team, scratches[thread]); });
    StepRun<Slot> run;
    std::size_t last = 0;
    for (const auto& scratch : scratches) {
      run.finish = std::max(run.finish, scratch.finish);
      last = std::max(last, scratch.last_tile);
    }
    if (setup_.deliveries > 0)
      end_table(table_, tiles_[last - tiles_.front().index]);
    else
      for (auto& rows : table_.lane_rows) rows.push_back(0);
    run.table = std::move(table_);
    return run;
  }

 private:
  void set_table() {
    table_ = empty_table<Slot>(setup_);
    for (const std::uint32_t npu : bands_.npus)
      visited_.push_back({table_.lists.data() + table_.list_begin[npu], lacks_.data() + visited_.size() * words_, npu,
                          setup_.port_begin[npu], setup_.port_begin[npu + 1], setup_.own[npu],
                          setup_.chunks[npu] - setup_.own[npu]});
  }

  void set_cursors(bool shuffled, Random& random) {
    cursors_.resize(ports_.size());
    std::vector<std::uint32_t> outs(setup_.npus(), 0);
    for (const auto& port : ports_) ++outs[port.source];
    std::vector<std::uint32_t> seen(setup_.npus(), 0);
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      const auto& port = ports_[p];
      const std::uint32_t own = setup_.own[port.source];
      const std::uint32_t turn = seen[port.source]++ * own / outs[port.source];
      cursors_[p] = {table_.lists.data() + table_.list_begin[port.source], port.source, 0,
                     shuffled && own > 1 ? random.below(own) : turn,       own,         port.lane};
      table_.port_link.push_back(port.link);
      table_.port_lane.push_back(port.lane);
    }
  }

  /// Calls visit(first, end) for a thread's part of a band, as positions in the walk. The parts never change.
  template <class Visit>
  void for_share(std::size_t band, std::size_t thread, std::size_t team, Visit&& visit) const {
    const std::size_t first = bands_.begin[band];
    const std::size_t count = bands_.begin[band + 1] - first;
    visit(first + count * thread / team, first + count * (thread + 1) / team);
  }

  /// Writes own chunks and marks all others as lacking. Each thread does so for the NPUs that it will visit. Bits lie
  /// in the order of the walk.
  void touch(std::size_t thread, std::size_t team) {
    for (std::size_t band = 0; band < bands_.count(); ++band)
      for_share(band, thread, team, [&](std::size_t first, std::size_t end) {
        for (std::size_t i = first; i < end; ++i) {
          const auto& [list, lacks, npu, first_port, end_port, length, left] = visited_[i];
          std::fill_n(lacks, words_, ~std::uint64_t{0});
          for (std::uint32_t k = 0; k < length; ++k) {
            const std::uint32_t chunk = setup_.own_chunk(npu, k);
            clear_bit(lacks, chunk);
            list[k] = static_cast<Slot>(chunk);
          }
        }
      });
  }

  /// Opens the next tiles and makes room for them. Called by one thread.
  void open_sweep() {
    tiles_.clear();
    while (tiles_.size() < attempt_.sweep_tiles) {
      tiles_.push_back(clock_.next());
      supply_.open_tile();
      for (std::size_t l = 0; l < setup_.lanes.size(); ++l)
        table_.lane_rows[l].push_back(tiles_.back().lanes[l].first_row);
      table_.lengths.emplace_back(setup_.npus());
      table_.counts.emplace_back(ports_.size());
    }
  }

  /// Passes the tiles over the bands, one behind the other. Called by all threads. Tile i reaches a band two waves
  /// after tile i - 1, when that has passed the next band too. The caller waits for all threads.
  void sweep(std::size_t thread, Team& team, Scratch<Slot>& scratch) {
    const auto visit_band = [&](std::size_t band, const Tile& tile) {
      for_share(band, thread, team.size, [&](std::size_t first, std::size_t end) {
        supply_.for_each(first, end, [&](std::size_t i) {
          prefetch(i, end, tile);
          visit(visited_[i], tile, scratch);
        });
      });
    };
    if (tiles_.size() == 1) {
      for (std::size_t band = 0; band < bands_.count(); ++band) visit_band(band, tiles_[0]);
      return;
    }
    for (std::size_t wave = 0; wave < bands_.count() + 2 * (tiles_.size() - 1); ++wave) {
      for (std::size_t i = 0; i < tiles_.size() && 2 * i <= wave; ++i)
        if (wave - 2 * i < bands_.count()) visit_band(wave - 2 * i, tiles_[i]);
      team.barrier.arrive_and_wait();
    }
  }

  /// Prefetches the memory of the NPUs after the i-th of the walk: the nearer they are, the more of it.
  void prefetch(std::size_t i, std::size_t end, const Tile& tile) const {
    if (i + kCursorsAhead < end) {
      const auto& visited = visited_[i + kCursorsAhead];
      for (std::size_t p = visited.first_port; p < visited.end_port; p += kPortsPerLine)
        __builtin_prefetch(&cursors_[p], 1);
    }
    if (i + kListsAhead < end && visited_[i + kListsAhead].left > 0) prefetch_lists(visited_[i + kListsAhead], tile);
    if (i + 1 < end && visited_[i + 1].left > 0) {
      const auto& visited = visited_[i + 1];
      for (std::size_t word = 0; word < words_; word += 8) __builtin_prefetch(visited.lacks + word, 1);
    }
  }

  void prefetch_lists(const Visited<Slot>& visited, const Tile& tile) const {
    constexpr std::size_t kLine = 64 / sizeof(Slot);
    __builtin_prefetch(visited.list + visited.length, 1);
    for (std::size_t p = visited.first_port; p < visited.end_port; ++p) {
      const auto entries = static_cast<std::size_t>(tile.lanes[cursors_[p].lane].rows) * kEntriesPerRow;
      for (std::size_t entry = 0; entry < entries + kLine; entry += kLine)
        __builtin_prefetch(cursors_[p].list + cursors_[p].next + entry);
    }
  }

  void visit(Visited<Slot>& visited, const Tile& tile, Scratch<Slot>& scratch) {
    std::uint8_t* const counts = table_.counts[tile.index].data();
    Slot& length_after = table_.lengths[tile.index + 1][visited.npu];
    length_after = static_cast<Slot>(visited.length);
    if (visited.left == 0) {
      std::fill(counts + visited.first_port, counts + visited.end_port, std::uint8_t{0});
      return;
    }
    std::uint32_t total = 0;
    std::int64_t rows = 0;
    for (std::size_t p = visited.first_port; p < visited.end_port; ++p) rows += tile.lanes[cursors_[p].lane].rows;
    if (rows >= visited.left) {
      total = finish(visited, tile, scratch);
    } else {
      Slot* const out = visited.list + visited.length;
      for (std::size_t p = visited.first_port; p < visited.end_port; ++p) {
        const auto want = static_cast<std::uint32_t>(tile.lanes[cursors_[p].lane].rows);
        const std::uint32_t count = bring(p, want, tile, visited, out + total, scratch);
        counts[p] = static_cast<std::uint8_t>(count);
        total += count;
      }
    }
    if (total == 0) return;
    visited.length += total;
    visited.left -= total;
    length_after = static_cast<Slot>(visited.length);
    scratch.delivered += total;
    scratch.last_tile = std::max(scratch.last_tile, tile.index);
  }

  /// Writes up to `want` chunks over port p to `out`, and returns their number.
  std::uint32_t bring(std::size_t p, std::uint32_t want, const Tile& tile, const Visited<Slot>& visited, Slot* out,
                      Scratch<Slot>& scratch) {
    auto& cursor = cursors_[p];
    const std::uint32_t limit = table_.lengths[tile.lanes[cursor.lane].visible][cursor.source];
    return supply_.bring({p, tile.index, visited.npu, limit, want}, ports_[p], cursor, visited.lacks, out,
                         scratch.found.data());
  }

  /// Visits an NPU that may be finished in this tile.
  std::uint32_t finish(const Visited<Slot>& visited, const Tile& tile, Scratch<Slot>& scratch) {
    const std::size_t first = visited.first_port;
    const std::uint32_t left = scratch.finishing.gather(
        tile, visited.end_port - first, visited.left, [&](std::size_t i) { return cursors_[first + i].lane; },
        [&](std::size_t i, std::uint32_t want, Slot* out) {
          return bring(first + i, want, tile, visited, out, scratch);
        });
    const SimTime last =
        scratch.finishing.write(tile, visited.list + visited.length, table_.counts[tile.index].data() + first);
    if (left == 0) scratch.finish = std::max(scratch.finish, last);
    return visited.left - left;
  }

  Supply supply_;
  const StepSetup& setup_;
  const Bands& bands_;
  int threads_;
  StepAttempt attempt_;
  TileClock clock_;
  std::size_t words_;
  RawArray<std::uint64_t> lacks_;
  std::vector<StepPort> ports_;
  std::vector<Cursor<Slot>> cursors_;
  std::vector<Visited<Slot>> visited_;  ///< in order of the walk
  std::vector<Tile> tiles_;             ///< of this sweep
  StepTable<Slot> table_;
};

}  // namespace

template <class Slot>
StepRun<Slot> run_steps(const StepSetup& setup, const StepAttempt& attempt, Random random, int threads) {
  return StepEngine<Slot, FirstCome<Slot>>({setup, attempt}, attempt, random, threads).run();
}

template <class Slot>
StepRun<Slot> run_steps(const LevelSetup& setup, const StepAttempt& attempt, Random random, int threads) {
  return StepEngine<Slot, SlowForOthers<Slot>>({setup, attempt}, attempt, random, threads).run();
}

template StepRun<std::uint16_t> run_steps(const StepSetup&, const StepAttempt&, Random, int);
template StepRun<std::uint32_t> run_steps(const StepSetup&, const StepAttempt&, Random, int);
template StepRun<std::uint16_t> run_steps(const LevelSetup&, const StepAttempt&, Random, int);
template StepRun<std::uint32_t> run_steps(const LevelSetup&, const StepAttempt&, Random, int);

}  // namespace tenex
