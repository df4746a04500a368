#include "schedule/verifier/fast_checks.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/verifier/walk_checks.hpp"

namespace tenex::verifier {
namespace {

constexpr std::size_t kLeastMemory = std::size_t{64} << 20;  ///< for all threads
constexpr std::size_t kChunksAtOnce = 256;                   ///< followed from one reading
constexpr std::uint64_t kSendsPerThread = 50'000;            ///< fewer are not shared

/// Follows every chunk on its own.
std::optional<WalkTally> follow_all(const WalkRules& rules, const Schedule& schedule, int threads) {
  const auto blocks = static_cast<std::int64_t>((rules.collective().chunks() + kChunksAtOnce - 1) / kChunksAtOnce);
  std::atomic<bool> sound = true;
  WalkTally total;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    SendBuffer buffer;
    WalkTally own;
#pragma omp for schedule(dynamic, 16) nowait
    for (std::int64_t block = 0; block < blocks; ++block) {
      if (!sound.load(std::memory_order_relaxed)) continue;
      const std::size_t first = static_cast<std::size_t>(block) * kChunksAtOnce;
      const std::size_t last = std::min(first + kChunksAtOnce, rules.collective().chunks());
      if (const auto tally = follow_chunks(rules, schedule, ChunkId::at(first), ChunkId::at(last), buffer))
        own.add(*tally);
      else
        sound.store(false, std::memory_order_relaxed);
    }
#pragma omp critical(tenex_verify_walks)
    total.add(own);
  }
  if (!sound.load()) return std::nullopt;
  return total;
}

/// Checks all links, in intervals of time.
std::optional<WalkTally> check_all_links(const WalkRules& rules, const Schedule& schedule, int threads) {
  const auto parts = static_cast<std::size_t>(threads);
  std::vector<LinkSpan> spans(parts, LinkSpan(rules.topology().links()));
  std::vector<std::optional<WalkTally>> tallies(parts);
#pragma omp parallel for num_threads(threads) schedule(static, 1) if (threads > 1)
  for (std::size_t part = 0; part < parts; ++part)
    tallies[part] = check_links(rules, schedule, schedule.segments() * part / parts,
                                schedule.segments() * (part + 1) / parts, spans[part]);
  WalkTally total;
  for (std::size_t part = 0; part < parts; ++part) {
    if (!tallies[part] || (part > 0 && !spans[0].append(spans[part]))) return std::nullopt;
    total.add(*tallies[part]);
  }
  return total;
}

std::optional<WalkTally> check_by_chunk(const WalkRules& rules, const Schedule& schedule, int threads) {
  const auto links = check_all_links(rules, schedule, threads);
  if (!links) return std::nullopt;
  const auto walks = follow_all(rules, schedule, threads);
  if (!walks || walks->sends != links->sends || walks->fingerprint != links->fingerprint) return std::nullopt;
  return walks;
}

std::optional<WalkTally> check_in_time(const WalkRules& rules, const Schedule& schedule, int threads,
                                       std::size_t memory) {
  const std::size_t chunks = rules.collective().chunks();
  const std::size_t links = rules.topology().links();
  const std::size_t at_once =
      std::max<std::size_t>(1, memory / sizeof(std::uint64_t) / static_cast<std::size_t>(threads));
  const std::size_t shares = std::max((chunks + at_once - 1) / at_once, static_cast<std::size_t>(threads));
  std::atomic<bool> sound = true;
  WalkTally total;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
  for (std::size_t share = 0; share < shares; ++share) {
    if (!sound.load(std::memory_order_relaxed)) continue;
    const auto part_of = [&](std::size_t all, std::size_t begin) { return all * begin / shares; };
    const auto tally = follow_in_time(rules, schedule,
                                      {part_of(chunks, share), part_of(chunks, share + 1) - part_of(chunks, share),
                                       part_of(links, share), part_of(links, share + 1) - part_of(links, share)});
    if (!tally) {
      sound.store(false, std::memory_order_relaxed);
      continue;
    }
#pragma omp critical(tenex_verify_walks)
    total.add(*tally);
  }
  if (!sound.load()) return std::nullopt;
  return total;
}

/// Whether no chunk moves in vain: all go shortest ways, or none comes to a vertex twice. A search from every NPU
/// counts the hops of shortest ways; few sends are sorted in less time.
bool all_useful(const WalkRules& rules, const Schedule& schedule, std::uint64_t sends, int threads,
                std::size_t memory) {
  constexpr std::uint64_t kVisitsPerSortedSend = 16;
  const bool sortable = sends <= memory / sizeof(std::uint64_t);
  const std::uint64_t visits = std::uint64_t{rules.topology().npus()} * rules.topology().links();
  if (sortable && sends < visits / kVisitsPerSortedSend) return never_returns(rules, schedule);
  return sends == least_hops(rules, threads) || (sortable && never_returns(rules, schedule));
}

}  // namespace

std::optional<Verdict> verify_by_walks(const Context& context, const Schedule& schedule, const VerifyOptions& options) {
  if (!context.collective().is_unicast()) return std::nullopt;
  if (!context.topology().direct() || schedule.payloads() != nullptr) return std::nullopt;
  const WalkRules rules(context, options.start_delays);
  const auto useful = static_cast<int>(std::min<std::uint64_t>(1024, schedule.sends() / kSendsPerThread));
  const int threads = std::clamp(options.threads, 1, std::max(1, useful));
  const std::size_t memory = std::max(options.memory_limit_bytes, kLeastMemory);
  const auto tally = schedule.offers_chunks() ? check_by_chunk(rules, schedule, threads)
                                              : check_in_time(rules, schedule, threads, memory);
  if (!tally || tally->sends != schedule.sends()) return std::nullopt;
  if (!all_useful(rules, schedule, tally->sends, threads, memory)) return std::nullopt;
  Verdict verdict;
  verdict.outcome = Verification::valid;
  verdict.sends = tally->sends;
  verdict.collective_time = tally->last_arrival;
  verdict.reduction_check = "none";
  return verdict;
}

}  // namespace tenex::verifier
