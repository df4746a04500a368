// Connects the parts of the open work: decides to which of them a point belongs, and moves points between them when a
// rank dies.
#include "coordinator/open_work.hpp"

#include <algorithm>
#include <utility>

namespace tenex {

namespace {

NodeMap or_nodes_of_their_own(const NodeMap& nodes, std::size_t ranks) {
  if (!nodes.node_of_rank.empty()) return nodes;
  NodeMap map;
  for (std::size_t r = 0; r < ranks; ++r) map.node_of_rank.push_back(static_cast<std::uint32_t>(r));
  map.share_of_rank.assign(ranks, 0);
  return map;
}

}  // namespace

OpenWork::OpenWork(Estimates& estimates, const std::vector<std::uint32_t>& points,
                   const std::vector<int>& threads_of_rank, const NodeMap& nodes, Quarantine& quarantine,
                   LeaseOptions options, ThreadsKept threads_kept)
    : estimates_(estimates),
      threads_(threads_of_rank),
      threads_kept_(std::move(threads_kept)),
      nodes_(
          or_nodes_of_their_own(nodes, threads_of_rank.size()), {},
          [this](const PointCost& cost) {
            const int threads = cost.threaded ? std::max(1, *std::ranges::max_element(threads_)) : 1;
            return cost.seconds * costs_.factor(cost.kind) / threads;
          },
          options.first_id),
      queue_({}, threads_of_rank, options),
      ledger_(threads_of_rank.size(), options.safe_when_finished),
      quarantine_(quarantine),
      exclusive_(threads_of_rank.size(), 0) {
  add(points);
}

void OpenWork::add(const std::vector<std::uint32_t>& points) {
  std::vector<PointCost> ordinary;
  std::vector<std::uint32_t> others;
  ordinary.reserve(points.size());
  for (const auto point : points) {
    if (quarantine_.is_guilty(point)) {
      guilty_.push_back(point);
      continue;
    }
    expect(point);
    if (is_ordinary(point))
      ordinary.push_back(cost_of(point));
    else
      others.push_back(point);
  }
  queue_.add(ordinary);
  for (const auto point : others) put_back({point}, quarantine_.is_suspect(point));
}

bool OpenWork::is_ordinary(std::uint32_t point) { return !quarantine_.is_suspect(point) && !is_large(point); }

PointCost OpenWork::cost_of(std::uint32_t point) {
  const auto estimate = estimates_.of(point);
  return {point, estimate.seconds, estimates_.kind(point), estimate.threaded};
}

void OpenWork::expect(std::uint32_t point) {
  const auto estimate = estimates_.of(point);
  work_.add(estimates_.kind(point), estimate.seconds, threads_kept_ ? threads_kept_(estimate) : 1);
}

PointAtWork OpenWork::longest_waiting() const {
  const auto cost = queue_.longest_waiting();
  PointAtWork point;
  if (cost.seconds <= 0) return point;
  point.kind = estimates_.kind(cost.point);
  point.expected = cost.seconds;
  point.threaded = cost.threaded;
  point.threads = *std::ranges::max_element(threads_);
  return point;
}

bool OpenWork::is_large(std::uint32_t point) { return nodes_.is_large(estimates_.of(point).bytes); }

void OpenWork::put_back(const std::vector<std::uint32_t>& points, bool suspects) {
  std::vector<PointCost> ordinary;
  for (const auto point : points) {
    if (is_large(point))
      nodes_.put_back({cost_of(point), estimates_.of(point).bytes}, suspects);
    else
      ordinary.push_back(cost_of(point));
  }
  queue_.put_back(ordinary, suspects);
}

bool OpenWork::is_idle(std::size_t rank) const { return queue_.leases_with(rank) == 0 && exclusive_[rank] == 0; }

std::optional<Lease> OpenWork::next(std::size_t rank, double backlog_seconds, double time_left) {
  std::optional<Lease> lease;
  if (nodes_.holds_back(rank)) {
    lease = nodes_.next(
        rank, [this](std::size_t r) { return is_idle(r); }, time_left);
    if (!lease) return std::nullopt;
    lease->scale = costs_.factor(estimates_.kind(lease->points.front()));
    lease->seconds *= lease->scale;
    ++exclusive_[rank];
  } else {
    lease = queue_.next(rank, backlog_seconds, time_left);
  }
  if (lease) ledger_.give(rank, *lease);
  return lease;
}

void OpenWork::learn(std::size_t rank, const RankReport& report) {
  for (const auto id : report.finished_leases) {
    ledger_.finish(rank, id);
    if (nodes_.finish(id))
      --exclusive_[rank];
    else
      queue_.finish(rank, id);
  }
  queue_.learn(rank, report.progress);
  for (const auto& cost : report.costs) {
    costs_.add(cost);
    work_.end(cost.kind, cost.ended);
  }
  if (report.costs.empty() || !costs_.has_news()) return;
  queue_.rescale([this](std::uint32_t kind) { return costs_.factor(kind); });
  costs_.mark_used();
}

Death OpenWork::lose(std::size_t rank, const WriterTrace& trace, bool memory_kill) {
  return tenex::lose({this}, rank, trace, memory_kill);
}

std::size_t OpenWork::inherit(const HeldPoints& held, const WriterTrace& trace) {
  const auto left = sort_out(trace, held);
  for (const auto point : left.uncommitted) expect(point);  // these points had ended and are expected again
  std::vector<std::uint32_t> suspects;
  for (const auto point : left.suspects) {
    const bool guilty = quarantine_.is_guilty(point);
    (guilty ? guilty_ : suspects).push_back(point);
    if (guilty) work_.end(estimates_.kind(point), estimates_.of(point).seconds);
  }
  put_back(suspects, true);
  put_back(left.uncommitted, false);
  return suspects.size() + left.uncommitted.size();
}

Death lose(const std::vector<OpenWork*>& works, std::size_t rank, const WriterTrace& trace, bool memory_kill) {
  std::vector<HeldPoints> held_by_work;
  HeldPoints all;
  for (auto* work : works) {
    held_by_work.push_back(work->ledger_.take(rank));
    work->queue_.lose(rank);
    work->nodes_.lose(rank);
    work->exclusive_[rank] = 0;
    all.at_hand.insert(all.at_hand.end(), held_by_work.back().at_hand.begin(), held_by_work.back().at_hand.end());
  }
  std::ranges::sort(all.at_hand);
  Death death;
  if (works.empty()) return death;
  auto& quarantine = works.front()->quarantine_;
  for (const auto& crash : trace.crashes)
    quarantine.accuse(static_cast<std::uint32_t>(crash.point), crash.reason, crash.times);
  if (trace.crashes.empty() && memory_kill) death.killed_for_memory = blame_for_memory(trace, all);
  if (death.killed_for_memory) quarantine.accuse(*death.killed_for_memory, "out_of_memory");
  for (std::size_t i = 0; i < works.size(); ++i) death.leased_again += works[i]->inherit(held_by_work[i], trace);
  return death;
}

std::vector<std::uint32_t> OpenWork::take_guilty() { return std::exchange(guilty_, {}); }

std::size_t OpenWork::withdraw(double time_left) { return queue_.withdraw(time_left) + nodes_.withdraw(time_left); }

}  // namespace tenex
