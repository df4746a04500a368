// Regions, their event wheels, and the loop over rounds of rows.
#include "synthesis/tacos/coarse/streams.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <bit>
#include <optional>
#include <utility>

#include "synthesis/tacos/coarse/tight_npus.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/base/random.hpp"

namespace tenex {
namespace {

constexpr std::uint32_t kRegionNpus = 2048;  ///< about
constexpr std::uint32_t kRoundRows = 32;
constexpr std::size_t kAhead = 8;  ///< links whose memory is prefetched before they are served

/// A link as its target's region sees it.
struct Slot {
  std::uint32_t source;
  std::uint32_t target;
  std::uint32_t cursor;  ///< entries of the source's row before this one are held by the target or under way there
  std::uint16_t port;
  bool foreign;   ///< the source is in another region
  bool sleeping;  ///< not in the wheel: its source has nothing that its target lacks
};

/// Shared by all regions. A region writes only the entries of its own NPUs.
struct Shared {
  const StreamProblem& problem;
  Streams streams;
  std::uint32_t most_blocks;  ///< of any group
  std::uint32_t words;
  std::vector<std::uint64_t> has;  ///< per NPU `words` words: blocks of its group that it has or is receiving
  std::vector<std::uint32_t> count;
  std::vector<std::uint32_t> wanted;        ///< blocks of the group
  std::vector<std::uint32_t> first;         ///< the group's first block
  std::vector<std::uint32_t> published[2];  ///< counts when the round began, by its parity
  std::vector<Slot> slots;
  std::vector<std::uint32_t> out_begin;
  std::vector<std::uint32_t> out_slot;
  std::vector<std::uint16_t> sleepers;  ///< per NPU: sleeping out-links inside its region
  std::uint32_t wheel_rows;
  std::uint32_t last_stream_row;
  TightNpus tight;

  explicit Shared(const StreamProblem& given);
  /// `block` is one of the NPU's group.
  bool lacks(std::uint32_t npu, std::uint32_t block) const {
    block -= first[npu];
    return ((has[std::size_t{npu} * words + block / 64] >> (block % 64)) & 1U) == 0;
  }
  void take(std::uint32_t npu, std::uint32_t block) {
    block -= first[npu];
    has[std::size_t{npu} * words + block / 64] |= std::uint64_t{1} << (block % 64);
  }
};

std::uint32_t wheel_rows_of(const StreamProblem& problem) {
  std::uint32_t most = std::max(kRoundRows, problem.hop_rows);
  for (const auto column : {&problem.length, &problem.free_row, &problem.stream_row})
    for (const auto rows : *column) most = std::max(most, rows);
  return std::bit_ceil(most + 2);
}

std::uint32_t widest_group(const StreamProblem& problem) {
  std::uint32_t most = 0;
  for (std::size_t group = 0; group + 1 < problem.group_begin.size(); ++group)
    most = std::max(most, problem.group_begin[group + 1] - problem.group_begin[group]);
  return most;
}

Shared::Shared(const StreamProblem& given)
    : problem(given),
      most_blocks(widest_group(given)),
      words((most_blocks + 63) / 64),
      wheel_rows(wheel_rows_of(given)),
      last_stream_row(*std::max_element(given.stream_row.begin(), given.stream_row.end())),
      tight(find_tight_npus(given, kRegionNpus)) {
  const std::size_t npus = given.block_of.size();
  streams.stride = most_blocks;
  streams.longest = *std::max_element(given.length.begin(), given.length.end());
  streams.port_bits = port_bits_of(given.slot_begin);
  streams.block = RawArray<std::uint16_t>(npus * most_blocks);
  streams.when = RawArray<std::uint32_t>(npus * most_blocks);
  has.assign(npus * words, 0);
  count.assign(npus, 1);
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    wanted.push_back(given.blocks_for(npu));
    first.push_back(given.group_begin[given.group_of[npu]]);
  }
  sleepers.assign(npus, 0);
  published[0].assign(npus, 1);
  published[1].assign(npus, 1);
  slots.resize(given.source.size());
  out_begin.assign(npus + 1, 0);
  for (const auto source : given.source) ++out_begin[source + 1];
  for (std::size_t npu = 0; npu < npus; ++npu) out_begin[npu + 1] += out_begin[npu];
  out_slot.resize(given.source.size());
  auto at = out_begin;
  for (std::uint32_t npu = 0; npu < npus; ++npu)
    for (auto slot = given.slot_begin[npu]; slot < given.slot_begin[npu + 1]; ++slot) {
      const auto source = given.source[slot];
      slots[slot] = {source,
                     npu,
                     0,
                     static_cast<std::uint16_t>(slot - given.slot_begin[npu]),
                     tight.region_of[source] != tight.region_of[npu],
                     false};
      out_slot[at[source]++] = slot;
    }
}

/// A hash of the three arguments.
std::uint64_t mixed(std::uint64_t salt, std::uint32_t slot, std::uint32_t row) {
  return mix_bits(salt * 0x9e3779b97f4a7c15U + (std::uint64_t{slot} << 32 | row));
}

class BlockRegion {
 public:
  BlockRegion(Shared& shared, std::uint32_t begin, std::uint32_t end)
      : shared_(shared), begin_(begin), end_(end), mask_(shared.wheel_rows - 1), wheel_(shared.wheel_rows) {}

  /// Enters own blocks and the first events. Called by the thread that will run the region, so that its memory is near.
  void start() {
    for (auto npu = begin_; npu < end_; ++npu) {
      const auto own = shared_.problem.block_of[npu];
      shared_.take(npu, own);
      shared_.streams.block[std::size_t{npu} * shared_.streams.stride] = static_cast<std::uint16_t>(own);
      shared_.streams.when[std::size_t{npu} * shared_.streams.stride] = 0;
      missing_ += shared_.wanted[npu] - 1;
    }
    if (missing_ == 0) return;
    for (auto slot = shared_.problem.slot_begin[begin_]; slot < shared_.problem.slot_begin[end_]; ++slot) {
      const auto source = shared_.slots[slot].source;
      if (!shared_.problem.joins_group(source, shared_.slots[slot].target)) continue;
      push(slot, std::max(shared_.problem.free_row[slot], shared_.problem.stream_row[source]));
    }
  }

  void run_round(std::uint32_t round) {
    const std::uint32_t first = round * kRoundRows;
    published_ = shared_.published[round % 2].data();
    // From here on, all that an NPU received before the round can be forwarded.
    settled_ = shared_.problem.hop_rows == 1 && first >= shared_.last_stream_row;
    wake_foreign(first);
    for (std::uint32_t row = first; row < first + kRoundRows; ++row) {
      auto& due = wheel_[row & mask_];
      for (std::size_t i = 0; i < due.size(); ++i) {  // serving never adds to this row
        if (i + 2 * kAhead < due.size()) __builtin_prefetch(&shared_.slots[due[i + 2 * kAhead]]);
        if (i + kAhead < due.size()) prefetch(shared_.slots[due[i + kAhead]]);
        serve(due[i], row);
      }
      due.clear();
    }
    publish(round + 1);
  }

  /// Publishes the counts that other regions see in a round. A region that is done must publish them for both
  /// parities.
  void publish(std::uint32_t round) {
    std::copy(shared_.count.begin() + begin_, shared_.count.begin() + end_,
              shared_.published[round % 2].begin() + begin_);
    told_ = missing_ == 0 ? told_ + 1 : 0;
  }
  bool all_told() const { return told_ >= 2; }

  std::uint64_t missing() const { return missing_; }

 private:
  void push(std::uint32_t slot, std::uint32_t row) { wheel_[row & mask_].push_back(slot); }

  /// Wakes sleeping links whose source, in another region, received something before this round.
  void wake_foreign(std::uint32_t row) {
    std::size_t kept = 0;
    for (const auto slot : sleeping_foreign_) {
      auto& link = shared_.slots[slot];
      if (published_[link.source] > link.cursor) {
        link.sleeping = false;
        push(slot, row);
      } else {
        sleeping_foreign_[kept++] = slot;
      }
    }
    sleeping_foreign_.resize(kept);
  }

  /// The row from which the source can send its entry.
  std::uint32_t ready_row(std::uint32_t source, std::uint32_t entry) const {
    if (entry == 0) return shared_.problem.stream_row[source];
    const auto when = shared_.streams.when[std::size_t{source} * shared_.streams.stride + entry];
    return (when >> shared_.streams.port_bits) + shared_.problem.hop_rows;
  }

  /// Prefetches the memory for serving a link: what it reads at its source and writes at its target.
  void prefetch(const Slot& link) const {
    __builtin_prefetch(shared_.streams.block.data() + std::size_t{link.source} * shared_.streams.stride + link.cursor);
    __builtin_prefetch(shared_.has.data() + std::size_t{link.target} * shared_.words);
    const std::size_t at = std::size_t{link.target} * shared_.streams.stride + shared_.count[link.target];
    __builtin_prefetch(shared_.streams.block.data() + at, 1);
    __builtin_prefetch(shared_.streams.when.data() + at, 1);
  }

  /// The first entry of the link's source in [entry, limit) that the link's target lacks; `limit` if there is none.
  std::uint32_t first_lacking(const Slot& link, std::uint32_t entry, std::uint32_t limit) const {
    const std::uint16_t* held = held_by(link.source);
    const std::uint64_t* has = shared_.has.data() + std::size_t{link.target} * shared_.words;
    const std::uint32_t base = shared_.first[link.target];
    while (entry < limit && ((has[(held[entry] - base) / 64] >> ((held[entry] - base) % 64)) & 1U) != 0) ++entry;
    return entry;
  }
  const std::uint16_t* held_by(std::uint32_t npu) const {
    return shared_.streams.block.data() + std::size_t{npu} * shared_.streams.stride;
  }

  void serve(std::uint32_t slot, std::uint32_t row) {
    Slot& link = shared_.slots[slot];
    if (shared_.count[link.target] == shared_.wanted[link.target]) return;
    const std::uint32_t limit = link.foreign ? published_[link.source] : shared_.count[link.source];
    const std::uint16_t* held = held_by(link.source);
    const std::uint32_t entry = first_lacking(link, link.cursor, limit);
    link.cursor = entry;
    if (entry == limit) {
      link.sleeping = true;
      if (link.foreign)
        sleeping_foreign_.push_back(slot);
      else
        ++shared_.sleepers[link.source];
      return;
    }
    if (!settled_ || entry >= published_[link.source]) {
      const std::uint32_t ready = ready_row(link.source, entry);
      if (ready > row) return push(slot, ready);
    }
    const std::uint32_t chosen = shared_.problem.choices > 1 ? choose(slot, row, entry, limit) : entry;
    link.cursor = chosen == entry ? entry + 1 : entry;
    deliver(link.target, held[chosen], row, link.port);
    push(slot, row + shared_.problem.length[held[chosen]]);
  }

  /// How many of the NPUs around `npu` have the block or are receiving it.
  std::uint32_t holders_around(std::uint32_t npu, std::uint16_t block) const {
    std::uint32_t holders = 0;
    for (auto i = shared_.tight.around_begin[npu]; i < shared_.tight.around_begin[npu + 1]; ++i)
      holders += shared_.lacks(shared_.tight.around[i], block) ? 0U : 1U;
    return holders;
  }

  /// One of the first `choices` entries that can be sent. An NPU that has no link to spare gets the block that the
  /// fewest NPUs around it hold, so that it can pass it on while they deliver others. Otherwise two such NPUs side by
  /// side would fetch the same blocks from outside at the same time, and then have nothing for each other.
  std::uint32_t choose(std::uint32_t slot, std::uint32_t row, std::uint32_t entry, std::uint32_t limit) const {
    const Slot& link = shared_.slots[slot];
    const std::uint16_t* held = held_by(link.source);
    const std::uint32_t choices = shared_.problem.choices;
    const auto drawn = static_cast<std::uint32_t>(mixed(shared_.problem.salt, slot, row) % choices);
    const bool tight = shared_.tight.is_tight(link.target);
    std::uint32_t best = entry;
    std::pair<std::uint32_t, std::uint32_t> best_rank{~0U, 0};
    for (std::uint32_t i = 0; i <= (tight ? choices - 1 : drawn); ++i) {
      const std::pair rank{tight ? holders_around(link.target, held[entry]) : 0, (drawn + choices - i) % choices};
      if (rank < best_rank) best_rank = rank, best = entry;
      entry = first_lacking(link, entry + 1, limit);
      if (entry == limit || ready_row(link.source, entry) > row) break;
    }
    return best;
  }

  void deliver(std::uint32_t npu, std::uint16_t block, std::uint32_t row, std::uint16_t port) {
    const std::uint32_t entry = shared_.count[npu]++;
    const std::size_t at = std::size_t{npu} * shared_.streams.stride + entry;
    shared_.streams.block[at] = block;
    shared_.streams.when[at] = row << shared_.streams.port_bits | port;
    shared_.take(npu, block);
    --missing_;
    if (shared_.sleepers[npu] == 0) return;
    for (auto i = shared_.out_begin[npu]; i < shared_.out_begin[npu + 1]; ++i) {
      Slot& out = shared_.slots[shared_.out_slot[i]];
      if (!out.sleeping || out.foreign || !shared_.lacks(out.target, block)) continue;
      out.sleeping = false;
      --shared_.sleepers[npu];
      push(shared_.out_slot[i], row + shared_.problem.hop_rows);
    }
  }

  Shared& shared_;
  std::uint32_t begin_;
  std::uint32_t end_;
  std::uint32_t mask_;
  const std::uint32_t* published_ = nullptr;
  std::uint64_t missing_ = 0;
  int told_ = 0;
  bool settled_ = false;
  std::vector<std::vector<std::uint32_t>> wheel_;
  std::vector<std::uint32_t> sleeping_foreign_;
};

/// Runs regions round by round on a team of threads until nothing is missing. One barrier per round, which sleeps
/// while other programs hold the cores.
class RegionTeam {
 public:
  RegionTeam(std::vector<BlockRegion>& regions, std::uint32_t wheel_rows)
      : regions_(regions), patience_(2 + wheel_rows / kRoundRows) {}

  void run(int threads) {
    const int most = std::min(std::max(1, threads), static_cast<int>(regions_.size()));
#pragma omp parallel num_threads(most) if (most > 1)
    {
#pragma omp single
      barrier_.emplace(omp_get_num_threads(), EndOfRound{this});
      work([](BlockRegion& region, std::uint32_t) { region.start(); }, 0);
      for (std::uint32_t round = 0; !done_; ++round) work(run_region, round);
    }
  }

 private:
  struct EndOfRound {
    RegionTeam* team;
    void operator()() const noexcept { team->end_round(); }
  };

  static void run_region(BlockRegion& region, std::uint32_t round) {
    if (region.missing() > 0)
      region.run_round(round);
    else if (!region.all_told())
      region.publish(round + 1);
  }

  template <class Step>
  void work(Step&& step, std::uint32_t round) {
    for (std::size_t r = next_.fetch_add(1); r < regions_.size(); r = next_.fetch_add(1)) {
      step(regions_[r], round);
      missing_ += regions_[r].missing();
    }
    barrier_->arrive_and_wait();
  }

  /// Called by one thread while the others wait.
  void end_round() {
    const std::uint64_t now = missing_.exchange(0);
    quiet_ = now == left_ ? quiet_ + 1 : 0;
    left_ = now;
    next_ = 0;
    done_ = left_ == 0 || quiet_ > patience_;  // the latter: some block cannot be reached
  }

  std::vector<BlockRegion>& regions_;
  std::uint32_t patience_;
  std::uint32_t quiet_ = 0;
  std::uint64_t left_ = 0;
  bool done_ = false;
  std::atomic<std::size_t> next_{0};
  std::atomic<std::uint64_t> missing_{0};
  std::optional<std::barrier<EndOfRound>> barrier_;
};

}  // namespace

std::uint32_t port_bits_of(const std::vector<std::uint32_t>& slot_begin) {
  std::uint32_t ports = 1;
  for (std::size_t npu = 0; npu + 1 < slot_begin.size(); ++npu)
    ports = std::max(ports, slot_begin[npu + 1] - slot_begin[npu]);
  return static_cast<std::uint32_t>(std::bit_width(ports - 1));
}

Streams make_streams(const StreamProblem& problem, int threads) {
  Shared shared(problem);
  std::vector<BlockRegion> regions;
  const auto& begin = shared.tight.region_begin;
  for (std::size_t r = 0; r + 1 < begin.size(); ++r) regions.emplace_back(shared, begin[r], begin[r + 1]);
  RegionTeam(regions, shared.wheel_rows).run(threads);
  std::uint64_t undelivered = 0;
  for (const auto& region : regions) undelivered += region.missing();
  ensure(undelivered == 0, "make_streams: an NPU that cannot be reached");
  shared.streams.entries.assign(shared.wanted.begin(), shared.wanted.end());
  return std::move(shared.streams);
}

}  // namespace tenex
