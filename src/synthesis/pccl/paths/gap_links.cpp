// Gaps are cut where a send is taken. Where sends are dropped, all gaps are made anew from the sends that stay: gaps
// that were too short to keep come back.
#include "synthesis/pccl/paths/gap_links.hpp"

#include <utility>

namespace tenex {

void GapLinks::take(std::uint32_t link, Time start, std::size_t size, std::uint32_t chunk, std::size_t shared) {
  for_each_interval(link, start, size, [&](const Interval& interval) {
    if (shared == 0)
      cut(interval);
    else
      --shared;
  });
  hops_.push_back({start, link, chunk});
}

std::size_t GapLinks::shares(std::uint32_t signal, std::uint32_t link, Time start, std::size_t size) const {
  const auto path = network_->uses(link);
  const auto other = network_->uses(signal);
  const Time serialization = network_->serialization(link, size);
  if (network_->serialization(signal, size) != serialization) return 0;
  std::size_t shared = 0;
  while (shared < path.size() && shared < other.size() && path[shared].link == other[shared].link) ++shared;
  if (shared == 0 || shared == path.size() || !network_->copies_after(path[shared - 1].link)) return 0;
  for (const PhysicalUse& use : path.subspan(shared)) {
    const Time begin = start + use.offset;
    if (gaps_[use.link].first(begin, serialization + use.extra) != begin) return 0;
  }
  return shared;
}

void GapLinks::cut(const Interval& interval) {
  if (trial_) undo_.push_back({interval.link, gaps_[interval.link], load_[interval.link]});
  gaps_[interval.link].take(interval.begin, interval.end, network_->least_busy(interval.link));
  load_[interval.link] += interval.end - interval.begin;
}

void GapLinks::begin_trial() {
  trial_ = true;
  undo_.clear();
  hops_before_ = hops_.size();
}

void GapLinks::undo_trial() {
  for (auto before = undo_.rbegin(); before != undo_.rend(); ++before) {
    gaps_[before->link] = std::move(before->gaps);
    load_[before->link] = before->load;
  }
  undo_.clear();
  hops_.resize(hops_before_);
}

void GapLinks::rebuild() {
  std::vector<Interval> intervals;
  intervals.reserve(hops_.size());
  for (const auto& hop : hops_)
    for_each_interval(hop.link, hop.start, collective_->size_class(ChunkId(hop.chunk)),
                      [&](const Interval& interval) { intervals.push_back(interval); });
  std::sort(intervals.begin(), intervals.end(),
            [](const auto& a, const auto& b) { return std::pair(a.link, a.begin) < std::pair(b.link, b.begin); });
  std::fill(load_.begin(), load_.end(), Time{0});
  std::size_t next = 0;
  std::vector<FreeGaps::Gap> gaps;
  for (std::uint32_t link = 0; link < gaps_.size(); ++link) {
    const Time least = network_->least_busy(link);
    Time free_since = 0;
    gaps.clear();
    for (; next < intervals.size() && intervals[next].link == link; ++next) {
      const auto& [physical, begin, end] = intervals[next];
      if (begin < free_since) continue;  // one signal with the send before
      if (begin - free_since >= least) gaps.push_back({free_since, begin});
      free_since = end;
      load_[link] += end - begin;
    }
    gaps.push_back({free_since, FreeGaps::kNoEnd});
    gaps_[link].assign(gaps);
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

void GapLinks::close_gaps() {
  auto sorted = hops();
  const auto size = [&](const auto& hop) { return collective_->size_class(ChunkId(hop.chunk)); };
  retime_hops(
      *network_, collective_->chunks(), sorted, [&](const auto& hop) { return busy(hop.link, size(hop)); },
      [&](const auto& hop) { return latency(hop.link, size(hop)); });
  assign(sorted);
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
