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

namespace tenex {
namespace {

constexpr std::size_t kCursorsAhead = 8;  ///< in NPUs
constexpr std::size_t kListsAhead = 4;
constexpr std::size_t kPortsPerLine = 2;
constexpr std::size_t kEntriesPerRow = 4;  ///< entries that a link tests, roughly

/// A hash of 64 bits (the finalizer of splitmix64).
std::uint64_t mix(std::uint64_t key) {
  key = (key ^ key >> 30) * 0xBF58476D1CE4E5B9ULL;
  key = (key ^ key >> 27) * 0x94D049BB133111EBULL;
  return key ^ key >> 31;
}

/// The memory of one thread.
template <class Slot>
struct Scratch {
  Scratch(const StepSetup& setup, std::uint32_t widest_tile) : found(widest_tile + kScanBlock), finishing(setup) {}
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

template <class Slot>
class StepEngine {
 public:
  StepEngine(const StepSetup& setup, const Bands& bands, const StepAttempt& attempt, Random random, int threads)
      : setup_(setup),
        bands_(bands),
        threads_(threads),
        attempt_(attempt),
        clock_(setup.lanes, attempt.widest_tile, attempt.ramp),
        words_((setup.widest_group + 63) / 64),
        lacks_(setup.npus() * words_),
        ports_(setup.ports) {
    set_table();
    if (attempt.shuffled) shuffle_ports(random);
    scatter_key_ = random.bits64();
    set_cursors(attempt.shuffled, random);
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

  void shuffle_ports(Random& random) {
    for (std::size_t npu = 0; npu < setup_.npus(); ++npu)
      random.shuffle(
          std::span(ports_).subspan(setup_.port_begin[npu], setup_.port_begin[npu + 1] - setup_.port_begin[npu]));
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
            const std::uint32_t chunk = setup_.rank[npu] * length + k;
            lacks[chunk / 64] &= ~(std::uint64_t{1} << (chunk % 64));
            list[k] = static_cast<Slot>(chunk);
          }
        }
      });
  }

  /// Chunks under way may take many tiles to arrive, but fewer than kMostIdleTiles.
  /// Opens the next tiles and makes room for them. Called by one thread.
  void open_sweep() {
    tiles_.clear();
    while (tiles_.size() < std::max<std::uint32_t>(1, attempt_.sweep_tiles)) {
      tiles_.push_back(clock_.next());
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
        for (std::size_t i = first; i < end; ++i) {
          prefetch(i, end, tile);
          visit(visited_[i], tile, scratch);
        }
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
        const std::uint32_t count = bring(p, want, tile, visited.lacks, out + total, scratch);
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

  /// Like scan(), but starts at a random entry, and if that is not enough, goes on from the first entry up to it.
  /// `tile` distinguishes calls for one port.
  std::uint32_t scan_scattered(std::size_t p, std::size_t tile, std::uint32_t limit, std::uint32_t want,
                               const std::uint64_t* lacks, Slot* found) {
    auto& cursor = cursors_[p];
    // Own chunks are rotated already.
    if (cursor.rotation != 0) return scan(cursor, limit, want, lacks, found);
    while (cursor.next < limit && bit_of(lacks, cursor.list[cursor.next]) == 0) ++cursor.next;
    const std::uint32_t backlog = limit - cursor.next;
    if (backlog <= want) return scan(cursor, limit, want, lacks, found);
    auto late = cursor;
    late.next += static_cast<std::uint32_t>((mix(scatter_key_ ^ (p << 32 | tile)) >> 32) * backlog >> 32);
    const std::uint32_t start = late.next;
    const std::uint32_t count = scan(late, limit, want, lacks, found);
    if (count == want) return count;
    late.next = cursor.next;
    return scan(late, start, want, lacks, found, count);
  }

  /// Writes up to `want` chunks over port p to `out`, and returns their number.
  std::uint32_t bring(std::size_t p, std::uint32_t want, const Tile& tile, std::uint64_t* lacks, Slot* out,
                      Scratch<Slot>& scratch) {
    auto& cursor = cursors_[p];
    const std::uint32_t limit = table_.lengths[tile.lanes[cursor.lane].visible][cursor.source];
    const std::uint32_t count = attempt_.scattered
                                    ? scan_scattered(p, tile.index, limit, want, lacks, scratch.found.data())
                                    : scan(cursor, limit, want, lacks, scratch.found.data());
    for (std::uint32_t i = 0; i < count; ++i) {
      const Slot chunk = scratch.found[i];
      lacks[chunk / 64] &= ~(std::uint64_t{1} << (chunk % 64));
      out[i] = chunk;
    }
    return count;
  }

  /// Visits an NPU that may be finished in this tile.
  std::uint32_t finish(const Visited<Slot>& visited, const Tile& tile, Scratch<Slot>& scratch) {
    const std::size_t first = visited.first_port;
    const std::uint32_t left = scratch.finishing.gather(
        tile, visited.end_port - first, visited.left, [&](std::size_t i) { return cursors_[first + i].lane; },
        [&](std::size_t i, std::uint32_t want, Slot* out) {
          return bring(first + i, want, tile, visited.lacks, out, scratch);
        });
    const SimTime last =
        scratch.finishing.write(tile, visited.list + visited.length, table_.counts[tile.index].data() + first);
    if (left == 0) scratch.finish = std::max(scratch.finish, last);
    return visited.left - left;
  }

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
  std::uint64_t scatter_key_ = 0;
  StepTable<Slot> table_;
};

}  // namespace

template <class Slot>
StepRun<Slot> run_steps(const StepSetup& setup, const StepAttempt& attempt, Random random, int threads) {
  const Bands bands = find_bands(setup, attempt.band_levels);
  return StepEngine<Slot>(setup, bands, attempt, random, threads).run();
}

template StepRun<std::uint16_t> run_steps(const StepSetup&, const StepAttempt&, Random, int);
template StepRun<std::uint32_t> run_steps(const StepSetup&, const StepAttempt&, Random, int);

}  // namespace tenex
