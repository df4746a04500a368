// Gaps are cut where a send is taken. Where sends are dropped, all gaps are made anew from the sends that stay: gaps
// that were too short to keep come back.
#include "synthesis/pccl/paths/gap_links.hpp"

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
  load_[link] += stop - start;
}

void GapLinks::rebuild() {
  std::sort(hops_.begin(), hops_.end(),
            [](const auto& a, const auto& b) { return std::pair(a.link, a.start) < std::pair(b.link, b.start); });
  std::fill(load_.begin(), load_.end(), Time{0});
  std::size_t next = 0;
  for (std::uint32_t link = 0; link < gaps_.size(); ++link) {
    const Time least = network_->least_busy(link).count();
    Time free_since = 0;
    gaps_[link].clear();
    for (; next < hops_.size() && hops_[next].link == link; ++next) {
      const auto& hop = hops_[next];
      if (hop.start - free_since >= least) gaps_[link].push_back({free_since, hop.start});
      free_since = hop.start + busy_of(hop);
      load_[link] += busy_of(hop);
    }
    gaps_[link].push_back({free_since, kNoEnd});
  }
}

void GapLinks::drop(const Bitset& chunks) {
  std::erase_if(hops_, [&](const auto& hop) { return chunks.test(hop.chunk); });
  rebuild();
}

std::vector<PlannedHop<GapLinks::Time>> GapLinks::hops() const {
  auto sorted = hops_;
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

void GapLinks::assign(const std::vector<PlannedHop<Time>>& hops) {
  hops_ = hops;
  rebuild();
}

GapLinks::Time GapLinks::end() const {
  Time end = 0;
  for (const auto& hop : hops_)
    end = std::max(end, hop.start + latency(hop.link, collective_->size_class(ChunkId(hop.chunk))));
  return end;
}

Schedule GapLinks::finish() && {
  gaps_ = {};
  std::sort(hops_.begin(), hops_.end());
  return schedule_of(std::move(hops_));
}

}  // namespace tenex
