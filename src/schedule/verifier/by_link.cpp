#include "schedule/verifier/by_link.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "schedule/verifier/npu_check.hpp"
#include "tenex/base/diagnostic.hpp"

namespace tenex::verifier {
namespace {

constexpr int kNpusAtOnce = 16;  ///< taken by a thread at once: neighbours share links that are in the cache

/// Checks all NPUs, or stops at one that does not obey the rules.
std::optional<LinkTally> check_npus(const Context& context, const Schedule& schedule, int threads) {
  const auto& collective = context.collective();
  const auto owned = Csr<ChunkId>::group(
      context.topology().npus(), collective.chunks(),
      [&](std::size_t c) { return collective.owner(ChunkId::at(c)).index(); },
      [](std::size_t c) { return ChunkId::at(c); });
  const auto npus = static_cast<std::int64_t>(context.topology().npus());
  std::atomic<bool> sound = true;
  LinkTally total;
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    NpuCheck check(context, schedule, owned);
    LinkTally tally;
#pragma omp for schedule(dynamic, kNpusAtOnce) nowait
    for (std::int64_t npu = 0; npu < npus; ++npu)
      if (sound.load(std::memory_order_relaxed) && !check.check(NpuId(static_cast<std::uint32_t>(npu)), tally))
        sound.store(false, std::memory_order_relaxed);
#pragma omp critical(tenex_verify_by_link)
    total.add(tally);
  }
  if (!sound.load()) return std::nullopt;
  return total;
}

/// Whether every member needs every chunk of its group, or its own sums: what NpuCheck assumes.
bool goes_to_all_or_owners(const Collective& collective) {
  switch (collective.kind()) {
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
    case CollectiveKind::all_reduce:
    case CollectiveKind::broadcast:
    case CollectiveKind::reduce:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::optional<Verdict> verify_by_link(const Context& context, const Schedule& schedule, const VerifyOptions& options) {
  if (schedule.tiles() == 0 || !context.topology().direct() || !goes_to_all_or_owners(context.collective()))
    return std::nullopt;
  const bool sums = reduces(context.collective().kind());
  if (sums && options.reduction_check == ReductionCheck::exact_sets) return std::nullopt;
  const auto tally = check_npus(context, schedule, std::max(1, options.threads));
  if (!tally || tally->sends != schedule.sends()) return std::nullopt;  // otherwise some are on links that do not exist
  // Every chunk has a sum that stays: following the sends of a sum leads to ever later ones. So each has exactly one.
  if (sums && tally->roots != context.collective().chunks()) return std::nullopt;
  Verdict verdict;
  verdict.outcome = Verification::valid;
  verdict.sends = tally->sends;
  verdict.waste = tally->waste;
  verdict.collective_time = tally->last_useful;
  verdict.reduction_check = sums ? "in_tree" : "none";
  return verdict;
}

}  // namespace tenex::verifier
