// Guided self-scheduling over points sorted longest first, with learned speeds. See the header for the rules.
#include "coordinator/lease_queue.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

namespace {

constexpr double fading = 0.7;  ///< weight that a report keeps when the next one arrives
constexpr double share_of_the_end = 0.75;
constexpr double slow = 0.5;            ///< of the fastest rank's speed
constexpr double least_seconds = 1e-9;  ///< an expectation of zero would allow leases without end

}  // namespace

LeaseQueue::LeaseQueue(const std::vector<PointCost>& points, const std::vector<int>& threads_of_rank,
                       LeaseOptions options)
    : options_(options), ranks_(threads_of_rank.size()), next_id_(options.first_id) {
  ensure(!ranks_.empty(), "a lease queue needs a rank");
  for (std::size_t r = 0; r < ranks_.size(); ++r) ranks_[r].threads = std::max(1, threads_of_rank[r]);
  add(points);
}

void LeaseQueue::add(const std::vector<PointCost>& points) {
  drop_taken();
  points_.reserve(points_.size() + points.size());
  for (const auto& point : points) {
    points_.push_back(waiting_of(point));
    waiting_seconds_ += seconds_of(points_.back());
  }
  waiting_points_ += points.size();
  sort_and_link();
}

LeaseQueue::Waiting LeaseQueue::waiting_of(const PointCost& cost) {
  const auto next_index = static_cast<std::uint32_t>(factors_.size());
  const auto kind = kind_index_.emplace(cost.kind, next_index).first->second;
  if (kind == next_index) factors_.push_back(1.0);
  const bool sound = cost.seconds >= least_seconds && std::isfinite(cost.seconds);
  Waiting point;
  point.point = cost.point;
  point.kind = kind & 0x7fffffffU;
  point.threaded = cost.threaded ? 1U : 0U;
  point.seconds = sound ? cost.seconds : least_seconds;
  return point;
}

/// Leaves in points_ what waits there. Call sort_and_link() after it.
void LeaseQueue::drop_taken() {
  if (next_free_.empty()) return;
  std::vector<Waiting> left;
  left.reserve(waiting_points_);
  for (auto p = free_from(0); p < points_.size(); p = free_from(p + 1)) left.push_back(points_[p]);
  points_ = std::move(left);
}

void LeaseQueue::sort_and_link() {
  std::ranges::sort(points_, [this](const Waiting& a, const Waiting& b) {
    const double x = seconds_of(a);
    const double y = seconds_of(b);
    return x != y ? x > y : a.point < b.point;
  });
  next_free_.resize(points_.size() + 1);
  std::iota(next_free_.begin(), next_free_.end(), 0U);
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
  const auto found = std::ranges::partition_point(points_, [&](const Waiting& p) { return seconds_of(p) > seconds; });
  return static_cast<std::size_t>(found - points_.begin());
}

double LeaseQueue::speed_of(std::size_t rank) const {
  const Rank& r = ranks_[rank];
  return known(r) ? r.expected / r.busy : static_cast<double>(r.threads);
}

double LeaseQueue::sum_of_speeds() const {
  // The guess for a rank without measurements has no common scale with measured speeds, so it counts as their mean.
  double measured = 0;
  double guessed = 0;
  std::size_t known_ranks = 0;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (ranks_[r].lost) continue;
    (known(ranks_[r]) ? measured : guessed) += speed_of(r);
    known_ranks += known(ranks_[r]) ? 1 : 0;
  }
  if (known_ranks == 0) return guessed;
  return measured * static_cast<double>(live_ranks()) / static_cast<double>(known_ranks);
}

double LeaseQueue::fastest() const {
  double best = 0;
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    if (known(ranks_[r]) && !ranks_[r].lost) best = std::max(best, speed_of(r));
  return best;
}

std::size_t LeaseQueue::live_ranks() const {
  return static_cast<std::size_t>(std::ranges::count(ranks_, false, &Rank::lost));
}

double LeaseQueue::duration_on(std::size_t rank, const Waiting& point) const {
  const auto threads = static_cast<double>(ranks_[rank].threads);
  // The rank's speed is that of all its threads; a point on one thread takes `threads` times as long.
  return seconds_of(point) * (point.threaded != 0 ? 1.0 : threads) / speed_of(rank);
}

double LeaseQueue::seconds_left() const {
  double work = waiting_seconds();
  for (const auto& rank : ranks_) work += rank.backlog;
  return work / sum_of_speeds();
}

PointCost LeaseQueue::longest_waiting() const {
  const auto longest = free_from(0);
  if (longest >= points_.size()) return {};
  const Waiting& point = points_[longest];
  PointCost cost{point.point, point.seconds};
  cost.threaded = point.threaded != 0;
  return cost;
}

std::size_t LeaseQueue::leases_out() const {
  std::size_t total = 0;
  for (const auto& rank : ranks_) total += rank.leases.size();
  return total;
}

std::size_t LeaseQueue::probe_start(double budget) const {
  const auto fitting = free_from(first_at_most(budget));
  if (fitting < points_.size()) return fitting;
  // All points left are longer than a probe, so the probe is the shortest of them.
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

Lease LeaseQueue::take_from(std::size_t position, const Allowance& allowed, std::size_t rank) {
  Lease lease;
  double uncorrected = 0;
  const auto threads = static_cast<std::size_t>(ranks_[rank].threads);
  for (auto p = position; p < points_.size() && lease.points.size() < options_.most_points; p = free_from(p + 1)) {
    if (duration_on(rank, points_[p]) > allowed.time_left) continue;
    const double sum = lease.seconds + seconds_of(points_[p]);
    const bool idle_threads = lease.points.size() < threads;
    const bool fits = sum <= allowed.cap && (sum <= allowed.budget || idle_threads);
    if (!lease.points.empty() && !fits) break;
    lease.points.push_back(points_[p].point);
    lease.seconds = sum;
    uncorrected += points_[p].seconds;
    next_free_[p] = static_cast<std::uint32_t>(p + 1);
  }
  lease.scale = uncorrected > 0 ? lease.seconds / uncorrected : 1.0;
  return lease;
}

Lease LeaseQueue::hand_out(std::size_t rank, Lease lease) {
  Rank& r = ranks_[rank];
  lease.id = next_id_++;
  waiting_points_ -= lease.points.size();
  waiting_seconds_ -= lease.seconds;
  r.backlog += lease.seconds;
  r.leases.push_back({lease.id, lease.seconds, lease.careful});
  return lease;
}

std::optional<Lease> LeaseQueue::next_suspect(std::size_t rank, double time_left) {
  const Rank& r = ranks_[rank];
  const bool spared = options_.spare_first && rank == 0 && live_ranks() > 1;
  if (suspects_.empty() || spared || r.backlog > 0 || !r.leases.empty()) return std::nullopt;
  const Waiting point = suspects_.back();
  if (duration_on(rank, point) > time_left) return std::nullopt;
  suspects_.pop_back();
  Lease lease{0, {point.point}, seconds_of(point), factors_[point.kind]};
  lease.careful = true;
  return hand_out(rank, std::move(lease));
}

std::optional<Lease> LeaseQueue::next_returned(std::size_t rank, double budget) {
  if (returned_.empty()) return std::nullopt;
  Lease lease;
  double uncorrected = 0;
  while (!returned_.empty() && lease.points.size() < options_.most_points) {
    const Waiting point = returned_.back();
    if (!lease.points.empty() && lease.seconds + seconds_of(point) > budget) break;
    returned_.pop_back();
    lease.points.push_back(point.point);
    lease.seconds += seconds_of(point);
    uncorrected += point.seconds;
  }
  lease.scale = uncorrected > 0 ? lease.seconds / uncorrected : 1.0;
  return hand_out(rank, std::move(lease));
}

std::optional<Lease> LeaseQueue::next(std::size_t rank, double backlog_seconds, double time_left) {
  Rank& r = ranks_[rank];
  r.backlog = std::max(0.0, backlog_seconds);
  if (empty() || r.lost || has_suspect(rank)) return std::nullopt;
  const double speed = speed_of(rank);
  time_left -= r.backlog / speed;
  if (time_left <= 0) return std::nullopt;
  if (auto lease = next_suspect(rank, time_left)) return lease;
  const double target = std::min(options_.target_seconds, time_left) * speed;
  if (auto lease = next_returned(rank, target)) return lease;
  double budget = target;
  const double ordinary = ordinary_seconds();
  double cap = ordinary;  // no other rank to share with: only the target counts
  auto start = free_from(0);
  if (const auto live = live_ranks(); live > 1) {
    cap = ordinary / (2.0 * static_cast<double>(live));
    if (!known(r)) {
      if (r.backlog > 0 || !r.leases.empty()) return std::nullopt;
      budget = target * options_.probe_fraction;
      start = probe_start(budget);
    } else {
      cap = std::min(cap, ordinary * speed / (2.0 * sum_of_speeds()));
      start = first_for(r, speed);
    }
  }
  if (start >= points_.size()) return std::nullopt;
  Lease lease = take_from(start, {budget, cap, time_left}, rank);
  if (lease.points.empty()) return std::nullopt;
  return hand_out(rank, std::move(lease));
}

double LeaseQueue::ordinary_seconds() const {
  double seconds = waiting_seconds();
  for (const auto* list : {&suspects_, &returned_})
    for (const auto& point : *list) seconds -= seconds_of(point);
  return std::max(0.0, seconds);
}

void LeaseQueue::put_back(const std::vector<PointCost>& points, bool suspects) {
  auto& list = suspects ? suspects_ : returned_;
  for (const auto& cost : points) {
    list.push_back(waiting_of(cost));
    waiting_seconds_ += seconds_of(list.back());
    ++waiting_points_;
  }
  sort_returned();
}

void LeaseQueue::sort_returned() {
  for (auto* list : {&suspects_, &returned_}) {
    std::ranges::sort(*list, [this](const Waiting& a, const Waiting& b) {
      const double x = seconds_of(a);
      const double y = seconds_of(b);
      return x != y ? x < y : a.point > b.point;
    });
  }
}

void LeaseQueue::lose(std::size_t rank) {
  ranks_[rank].lost = true;
  ranks_[rank].leases.clear();
  ranks_[rank].backlog = 0;
}

void LeaseQueue::rescale(const std::function<double(std::uint32_t)>& factor_of_kind) {
  const double before = waiting_seconds();
  for (const auto& [kind, index] : kind_index_) {
    const double factor = factor_of_kind(kind);
    if (factor > 0 && std::isfinite(factor)) factors_[index] = factor;
  }
  drop_taken();
  sort_and_link();
  sort_returned();
  waiting_seconds_ = 0;
  for (const auto* list : {&points_, &suspects_, &returned_})
    for (const auto& point : *list) waiting_seconds_ += seconds_of(point);
  if (before <= 0 || waiting_points_ == 0) return;
  // Learned speeds are in units of the old expectations: convert them.
  const double ratio = waiting_seconds_ / before;
  for (auto& rank : ranks_) {
    rank.expected *= ratio;
    rank.backlog *= ratio;
    for (auto& held : rank.leases) held.seconds *= ratio;
  }
}

std::size_t LeaseQueue::withdraw(double time_left) {
  const auto in_vain = [&](const Waiting& point) {
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      if (!ranks_[r].lost && duration_on(r, point) <= time_left) return false;
    return true;
  };
  double fastest_thread = 0;  // a point that this thread finishes in time need not be checked
  for (std::size_t r = 0; r < ranks_.size(); ++r)
    if (!ranks_[r].lost) fastest_thread = std::max(fastest_thread, speed_of(r) / ranks_[r].threads);
  std::size_t taken_out = 0;
  const auto forget = [&](const Waiting& point) {
    ++taken_out;
    --waiting_points_;
    waiting_seconds_ -= seconds_of(point);
  };
  for (auto p = free_from(0); p < points_.size(); p = free_from(p + 1)) {
    if (seconds_of(points_[p]) <= time_left * fastest_thread) break;
    if (!in_vain(points_[p])) continue;
    forget(points_[p]);
    next_free_[p] = static_cast<std::uint32_t>(p + 1);
  }
  for (auto* list : {&suspects_, &returned_}) {
    for (const auto& point : *list)
      if (in_vain(point)) forget(point);
    std::erase_if(*list, in_vain);
  }
  return taken_out;
}

void LeaseQueue::learn(std::size_t rank, const RankProgress& progress) {
  Rank& r = ranks_[rank];
  const double expected = progress.expected_done - r.last.expected_done;
  const double busy = progress.busy_seconds - r.last.busy_seconds;
  if (expected <= 0 || busy <= 0) return;  // nothing has finished since: the next report may tell more
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
