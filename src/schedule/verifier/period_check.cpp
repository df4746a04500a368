#include "schedule/verifier/period_check.hpp"

#include <algorithm>

namespace tenex::verifier {

std::optional<TreeClasses> TreeClasses::of(const Context& context, const Schedule& schedule) {
  const PeriodFrame* const frame = schedule.period_frame();
  const Collective& collective = context.collective();
  if (frame == nullptr || frame->period <= SimTime::zero() || frame->trees == 0) return std::nullopt;
  const std::size_t chunks = collective.chunks();
  if (frame->chunks != chunks || chunks == 0 || collective.groups().size() != 1 || collective.chunk_sizes().size() != 1)
    return std::nullopt;
  if (collective.kind() != CollectiveKind::all_reduce)
    for (std::size_t c = frame->trees; c < chunks; ++c)
      if (collective.owner(ChunkId::at(c)) != collective.owner(ChunkId::at(c - frame->trees))) return std::nullopt;
  TreeClasses classes;
  classes.frame_ = *frame;
  classes.trees_ = std::min<std::size_t>(frame->trees, chunks);
  classes.owned_ = Csr<ChunkId>::group(
      context.topology().npus(), classes.trees_,
      [&](std::size_t tree) { return collective.owner(ChunkId::at(tree)).index(); },
      [](std::size_t tree) { return ChunkId::at(tree); });
  return classes;
}

PeriodCheck::PeriodCheck(const Context& context, const Schedule& schedule, const TreeClasses& classes)
    : context_(context),
      schedule_(schedule),
      classes_(classes),
      ledger_(context.collective().kind(), classes.trees(), classes.owned()) {}

bool PeriodCheck::check(NpuId npu, Tally& tally) {
  ledger_.begin(npu, 0, context_.collective().group_of(npu).exists() ? classes_.trees() : 0);
  arrived_ = copies_arrived_ = 0;
  last_sum_ = 0;
  Tally own;
  for (const LinkId link : context_.topology().in_links(vertex_of(npu)))
    if (!receive(link, own)) return false;
  for (const LinkId link : context_.topology().out_links(vertex_of(npu)))
    if (!send(link)) return false;
  Tally trees;
  if (!ledger_.finish(arrived_, copies_arrived_, last_sum_, trees)) return false;
  trees.sends = own.sends;
  tally.add(trees);
  return true;
}

/// Reads the link's uses, without those whose tree has no chunk. Returns false if one cannot be judged: its first send
/// would start before time zero, its last one late enough to overflow, or its stage is not one of the collective's.
bool PeriodCheck::read(LinkId link) {
  constexpr Time kLatest = NpuLedger<Time>::kLatest;
  schedule_.read_uses(link, uses_);
  if (std::ranges::any_of(uses_, [&](const LinkUse& use) { return use.tree >= classes_.period_trees(); })) return false;
  std::erase_if(uses_, [&](const LinkUse& use) { return use.tree >= classes_.trees(); });
  const Time period = classes_.period();
  const Time most_periods = kLatest / period - 1;
  return std::ranges::all_of(uses_, [&](const LinkUse& use) {
    return use.residue >= SimTime::zero() && use.residue.count() < period && use.periods >= 0 &&
           use.periods <= most_periods - classes_.chunks_of(use.tree) &&
           (use.stage == Stage::copy ? ledger_.copies() : ledger_.sums());
  });
}

/// Whether no two sends of the link overlap: its uses lie at least `busy` apart, in every period and over its end.
bool PeriodCheck::exclusive(Time busy) const {
  if (uses_.empty()) return true;
  Time before = uses_.back().residue.count() - classes_.period();
  for (const LinkUse& use : uses_) {
    if (use.residue.count() - before < busy) return false;
    before = use.residue.count();
  }
  return true;
}

/// The start of the last chunk of the use's tree.
PeriodCheck::Time PeriodCheck::last_start(const LinkUse& use) const {
  return use.residue.count() + classes_.period() * (use.periods + classes_.chunks_of(use.tree) - 1);
}

/// Enters the deliveries of an in-link. Returns false if two of its sends overlap.
bool PeriodCheck::receive(LinkId link, Tally& own) {
  const HopTime hop = context_.hop(context_.topology().class_of(link), 0);
  if (!read(link) || hop.latency.count() > NpuLedger<Time>::kLatest || !exclusive(hop.busy.count())) return false;
  arrived_ += uses_.size();
  for (const LinkUse& use : uses_) {
    own.sends += static_cast<std::uint64_t>(classes_.chunks_of(use.tree));
    const Time arrival = last_start(use) + hop.latency.count();
    if (use.stage == Stage::copy) {
      ++copies_arrived_;
      Time& copied = ledger_.copied()[use.tree];
      copied = std::min(copied, arrival);
    } else {
      last_sum_ = std::max(last_sum_, arrival);
      Time& summed = ledger_.summed()[use.tree];
      summed = std::max(summed, arrival);
    }
  }
  return true;
}

/// Enters the sends of an out-link. Where there are no sums, compares them with what the NPU held at once.
bool PeriodCheck::send(LinkId link) {
  if (!read(link)) return false;
  for (const LinkUse& use : uses_) {
    const Time start = last_start(use);
    if (use.stage == Stage::reduce) {
      Time& left = ledger_.sum_left()[use.tree];
      if (left != NpuLedger<Time>::kNever) return false;  // a sum leaves once
      left = start;
      continue;
    }
    if (ledger_.may_relay()) ledger_.forwarded()[use.tree] = 1;  // it needs none
    if (ledger_.sums()) {
      Time& left = ledger_.copy_left()[use.tree];
      left = std::min(left, start);
    } else if (ledger_.copied()[use.tree] > start) {
      return false;
    }
  }
  return true;
}

}  // namespace tenex::verifier
