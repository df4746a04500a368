// Guided self-scheduling over points sorted longest first, with learned speeds. See the header for the rules.
#include "tenex/coordinator/lease_queue.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

namespace {

constexpr double fading = 0.7;  ///< weight that a report keeps when the next one arrives
constexpr double share_of_the_end = 0.75;
constexpr double slow = 0.5;            ///< of the fastest rank's speed
constexpr double least_seconds = 1e-9;  ///< an expectation of zero would make leases endless

}  // namespace

LeaseQueue::LeaseQueue(std::vector<PointCost> points, const std::vector<int>& threads_of_rank, LeaseOptions options)
    : options_(options), points_(std::move(points)), ranks_(threads_of_rank.size()) {
  ensure(!ranks_.empty(), "a lease queue needs a rank");
  for (auto& point : points_) {
    if (!(point.seconds >= least_seconds) || !std::isfinite(point.seconds)) point.seconds = least_seconds;
    waiting_seconds_ += point.seconds;
  }
  std::ranges::sort(points_, [](const PointCost& a, const PointCost& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.point < b.point;
  });
  waiting_points_ = points_.size();
  next_free_.resize(points_.size() + 1);
  std::iota(next_free_.begin(), next_free_.end(), 0U);
  for (std::size_t r = 0; r < ranks_.size(); ++r) ranks_[r].threads = std::max(1, threads_of_rank[r]);
}

std::size_t LeaseQueue::free_from(std::size_t position) const {
  auto p = static_cast<std::uint32_t>(position);
  while (next_free_[p] != p) {
    next_free_[p] = next_free_[next_free_[p]];
    p = next_free_[p];
  }
  return p;
}

std::size_t LeaseQueue::first_at_most(double seconds) const {
  const auto found = std::ranges::partition_point(points_, [&](const PointCost& p) { return p.seconds > seconds; });
  return static_cast<std::size_t>(found - points_.begin());
}

double LeaseQueue::speed_of(std::size_t rank) const {
  const Rank& r = ranks_[rank];
  return known(r) ? r.expected / r.busy : static_cast<double>(r.threads);
}

double LeaseQueue::sum_of_speeds() const {
  // Before the first measurement of a rank its guess has no common scale with measured ones: it counts as the mean of
  // those.
  double measured = 0;
  double guessed = 0;
  std::size_t known_ranks = 0;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    (known(ranks_[r]) ? measured : guessed) += speed_of(r);
    known_ranks += known(ranks_[r]) ? 1 : 0;
  }
  if (known_ranks == 0) return guessed;
  return measured * static_cast<double>(ranks_.size()) / static_cast<double>(known_ranks);
}

double LeaseQueue::fastest() const {
  double best = 0;
  for (std::size_t r = 0; r < ranks_.size(); ++r) best = known(ranks_[r]) ? std::max(best, speed_of(r)) : best;
  return best;
}

double LeaseQueue::seconds_left() const {
  double work = waiting_seconds();
  for (const auto& rank : ranks_) work += rank.backlog;
  return work / sum_of_speeds();
}

std::size_t LeaseQueue::leases_out() const {
  std::size_t total = 0;
  for (const auto& rank : ranks_) total += rank.leases.size();
  return total;
}

std::size_t LeaseQueue::probe_start(double budget) const {
  const auto fitting = free_from(first_at_most(budget));
  if (fitting < points_.size()) return fitting;
  // All that is left is longer than a probe: the shortest of it.
  auto shortest = free_from(0);
  for (auto p = shortest; p < points_.size(); p = free_from(p + 1)) shortest = p;
  return shortest;
}

std::size_t LeaseQueue::first_for(const Rank& rank, double speed) const {
  const auto longest = free_from(0);
  if (rank.backlog <= 0 && speed >= slow * fastest()) return longest;
  const double fits = share_of_the_end * seconds_left() * speed - rank.backlog;
  return fits <= 0 ? points_.size() : free_from(std::max(longest, first_at_most(fits)));
}

Lease LeaseQueue::take_from(std::size_t position, double budget, double cap, int threads) {
  Lease lease;
  lease.id = next_id_++;
  for (auto p = position; p < points_.size() && lease.points.size() < options_.most_points; p = free_from(p + 1)) {
    const double sum = lease.seconds + points_[p].seconds;
    const bool idle_threads = lease.points.size() < static_cast<std::size_t>(threads);
    const bool fits = sum <= cap && (sum <= budget || idle_threads);
    if (!lease.points.empty() && !fits) break;
    lease.points.push_back(points_[p].point);
    lease.seconds = sum;
    next_free_[p] = static_cast<std::uint32_t>(p + 1);
  }
  waiting_points_ -= lease.points.size();
  waiting_seconds_ -= lease.seconds;
  return lease;
}

std::optional<Lease> LeaseQueue::next(std::size_t rank, double backlog_seconds) {
  Rank& r = ranks_[rank];
  r.backlog = std::max(0.0, backlog_seconds);
  if (empty()) return std::nullopt;
  const double speed = speed_of(rank);
  const double target = options_.target_seconds * speed;
  double budget = target;
  double cap = waiting_seconds();  // nobody to share with: only the target counts
  auto start = free_from(0);
  if (ranks_.size() > 1) {
    cap = waiting_seconds() / (2.0 * static_cast<double>(ranks_.size()));
    if (!known(r)) {
      if (r.backlog > 0 || !r.leases.empty()) return std::nullopt;
      budget = target * options_.probe_fraction;
      start = probe_start(budget);
    } else {
      cap = std::min(cap, waiting_seconds() * speed / (2.0 * sum_of_speeds()));
      start = first_for(r, speed);
    }
  }
  if (start >= points_.size()) return std::nullopt;
  Lease lease = take_from(start, budget, cap, r.threads);
  r.backlog += lease.seconds;
  r.leases.push_back({lease.id, lease.seconds});
  return lease;
}

void LeaseQueue::learn(std::size_t rank, const RankProgress& progress) {
  Rank& r = ranks_[rank];
  const double expected = progress.expected_done - r.last.expected_done;
  const double busy = progress.busy_seconds - r.last.busy_seconds;
  if (expected <= 0 || busy <= 0) return;  // nothing finished since: wait for a report that says more
  r.last = progress;
  r.expected = fading * r.expected + expected;
  r.busy = fading * r.busy + busy;
}

void LeaseQueue::finish(std::size_t rank, std::uint64_t lease) {
  Rank& r = ranks_[rank];
  const auto held = std::ranges::find(r.leases, lease, &Rank::Held::id);
  if (held == r.leases.end()) return;
  r.backlog = std::max(0.0, r.backlog - held->seconds);
  r.leases.erase(held);
}

}  // namespace tenex
