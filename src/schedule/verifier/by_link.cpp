#include "schedule/verifier/fast_checks.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "schedule/verifier/npu_check.hpp"
#include "schedule/verifier/period_check.hpp"
#include "schedule/verifier/row_check.hpp"
#include "tenex/base/diagnostic.hpp"

namespace tenex::verifier {
namespace {

constexpr int kNpusAtOnce = 16;  ///< taken by a thread at once: neighbours share links that are in the cache

/// Checks all NPUs, or stops at one that does not obey the rules. make() makes a thread's check.
template <class Check, class Make>
std::optional<typename Check::Tally> check_npus(std::size_t npus, int threads, Make&& make) {
  std::atomic<bool> sound = true;
  typename Check::Tally total;
  const auto count = static_cast<std::int64_t>(npus);
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
    Check check = make();
    typename Check::Tally tally;
#pragma omp for schedule(dynamic, kNpusAtOnce) nowait
    for (std::int64_t npu = 0; npu < count; ++npu)
      if (sound.load(std::memory_order_relaxed) && !check.check(NpuId(static_cast<std::uint32_t>(npu)), tally))
        sound.store(false, std::memory_order_relaxed);
#pragma omp critical(tenex_verify_by_link)
    total.add(tally);
  }
  if (!sound.load()) return std::nullopt;
  return total;
}

/// What the check of all NPUs counts.
struct LinkCounts {
  std::uint64_t sends = 0;
  std::uint64_t waste = 0;
  std::uint64_t roots = 0;
  SimTime last_useful;
};

std::optional<LinkCounts> check_by_rows(const Context& context, const Schedule& schedule, int threads) {
  const auto frame = RowFrame::of(context, schedule);
  if (!frame) return std::nullopt;
  const auto tally =
      check_npus<RowCheck>(context.topology().npus(), threads, [&] { return RowCheck(context, schedule, *frame); });
  if (!tally) return std::nullopt;
  return LinkCounts{tally->sends, tally->waste, tally->roots, frame->arrival(tally->last_useful)};
}

std::optional<LinkCounts> check_by_periods(const Context& context, const Schedule& schedule, int threads) {
  const auto classes = TreeClasses::of(context, schedule);
  if (!classes) return std::nullopt;
  const auto tally = check_npus<PeriodCheck>(context.topology().npus(), threads,
                                             [&] { return PeriodCheck(context, schedule, *classes); });
  // Counts of trees are those of chunks where there is no waste and each tree has one root.
  if (!tally || tally->waste > 0 || tally->roots != (reduces(context.collective().kind()) ? classes->trees() : 0))
    return std::nullopt;
  const std::uint64_t roots = tally->roots == 0 ? 0 : context.collective().chunks();
  return LinkCounts{tally->sends, 0, roots, SimTime::of(tally->last_useful)};
}

std::optional<LinkCounts> check_by_sends(const Context& context, const Schedule& schedule, int threads) {
  const auto& collective = context.collective();
  const auto npus = context.topology().npus();
  const auto owned = Csr<ChunkId>::group(
      npus, collective.chunks(), [&](std::size_t c) { return collective.owner(ChunkId::at(c)).index(); },
      [](std::size_t c) { return ChunkId::at(c); });
  const auto tally = check_npus<NpuCheck>(npus, threads, [&] { return NpuCheck(context, schedule, owned); });
  if (!tally) return std::nullopt;
  return LinkCounts{tally->sends, tally->waste, tally->roots, SimTime::of(tally->last_useful)};
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
  const int threads = std::max(1, options.threads);
  auto counts = check_by_periods(context, schedule, threads);
  if (!counts) counts = check_by_rows(context, schedule, threads);
  if (!counts) counts = check_by_sends(context, schedule, threads);
  if (!counts || counts->sends != schedule.sends())
    return std::nullopt;  // otherwise some are on links that do not exist
  // Every chunk has a sum that stays: following the sends of a sum leads to ever later ones. So each has exactly one.
  if (sums && counts->roots != context.collective().chunks()) return std::nullopt;
  Verdict verdict;
  verdict.outcome = Verification::valid;
  verdict.sends = counts->sends;
  verdict.waste = counts->waste;
  verdict.collective_time = counts->last_useful;
  verdict.reduction_check = sums ? "in_tree" : "none";
  return verdict;
}

}  // namespace tenex::verifier
