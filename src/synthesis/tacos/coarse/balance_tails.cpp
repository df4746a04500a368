// Evens out the ends of an NPU's in-links, the latest NPUs first.
#include "synthesis/tacos/coarse/balance_tails.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace tenex {
namespace {

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

}  // namespace

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

std::vector<TailPart> balance_tails(const StreamProblem& problem, Streams& streams) {
  return Balancer(problem, streams).run();
}

}  // namespace tenex
