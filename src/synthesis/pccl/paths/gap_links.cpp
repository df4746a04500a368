// Gaps are cut where a send is taken, and joined with their neighbours where one is dropped.
#include "synthesis/pccl/paths/gap_links.hpp"

#include <iterator>
#include <utility>

namespace tenex {

void GapLinks::take(std::uint32_t link, Time start, std::size_t size, std::uint32_t chunk) {
  const Time stop = start + network_->hop(link, size).busy.count();
  const Time least = network_->least_busy(link).count();
  auto& gaps = gaps_[link];
  const auto gap = std::upper_bound(gaps.begin(), gaps.end(), start, [](Time t, const Gap& g) { return t < g.end; });
  const Gap before{gap->begin, start};
  const Gap after{stop, gap->end};
  const bool keeps_before = before.end - before.begin >= least;
  const bool keeps_after = after.end - after.begin >= least;
  if (keeps_before && keeps_after) {
    *gap = after;
    gaps.insert(gap, before);
  } else if (keeps_before || keeps_after) {
    *gap = keeps_before ? before : after;
  } else {
    gaps.erase(gap);
  }
  hops_.push_back({start, link, chunk});
}

void GapLinks::free(std::uint32_t link, Gap gap) {
  auto& gaps = gaps_[link];
  auto next = std::lower_bound(gaps.begin(), gaps.end(), gap.end, [](const Gap& g, Time t) { return g.begin < t; });
  if (next != gaps.begin() && std::prev(next)->end == gap.begin) {
    --next;
    gap.begin = next->begin;
    next = gaps.erase(next);
  }
  if (next != gaps.end() && next->begin == gap.end) {
    next->begin = gap.begin;
  } else {
    gaps.insert(next, gap);
  }
}

std::vector<PlannedHop<GapLinks::Time>> GapLinks::drop(const Bitset& chunks) {
  std::vector<PlannedHop<Time>> dropped;
  const auto stays = [&](const auto& hop) { return !chunks.test(hop.chunk); };
  const auto first = std::stable_partition(hops_.begin(), hops_.end(), stays);
  dropped.assign(first, hops_.end());
  hops_.erase(first, hops_.end());
  for (const auto& hop : dropped) {
    const Time busy = network_->hop(hop.link, collective_->size_class(ChunkId(hop.chunk))).busy.count();
    free(hop.link, {hop.start, hop.start + busy});
  }
  return dropped;
}

GapLinks::Time GapLinks::end() const {
  Time end = 0;
  for (const auto& hop : hops_)
    end = std::max(end, hop.start + latency(hop.link, collective_->size_class(ChunkId(hop.chunk))));
  return end;
}

Schedule GapLinks::finish() && {
  gaps_ = {};
  std::sort(hops_.begin(), hops_.end(),
            [](const auto& a, const auto& b) { return std::pair(a.start, a.link) < std::pair(b.start, b.link); });
  std::vector<Send> sends;
  sends.reserve(hops_.size());
  for (const auto& hop : hops_)
    sends.push_back({.start = picoseconds(hop.start), .link = LinkId(hop.link), .chunk = ChunkId(hop.chunk)});
  hops_ = {};
  return make_list_schedule(std::move(sends));
}

}  // namespace tenex
