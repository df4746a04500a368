// Opens the works of stages, hands out their leases and passes them what is learned.
#include "coordinator/staged_work.hpp"

#include <malloc.h>

#include <utility>

namespace tenex {

StagedWork::StagedWork(const Study& study, const RankSetup& setup, Estimates& full, std::vector<bool>& done,
                       Quarantine quarantine, bool searches)
    : setup_(setup), full_(full), done_(done), quarantine_(std::move(quarantine)) {
  if (searches) search_.emplace(study, setup, full);
}

std::vector<std::uint32_t> StagedWork::points_to_do() const {
  std::vector<std::uint32_t> points;
  for (std::size_t i = 0; i < done_.size(); ++i)
    if (!done_[i]) points.push_back(static_cast<std::uint32_t>(i));
  return points;
}

/// Chooses the points that are opened next, and starts their estimation.
void StagedWork::find_opening() {
  if (!whole_stage_) {
    auto points = is_searching() ? search_->points() : points_to_do();
    std::erase_if(points, [this](std::uint32_t point) { return opened_ahead_.contains(point); });
    opened_ahead_.clear();
    opening_ = {stage(), std::move(points), true};
  } else if (is_searching() && work_ && work_->nothing_waits() && !withdrew_) {
    auto points = search_->sure_points();
    const bool has_rows = evaluates(stage() + 1);
    std::erase_if(points, [&](std::uint32_t point) {
      return (has_rows && done_[point]) || opened_ahead_.contains(point) || !work_->is_ordinary(point);
    });
    if (points.empty()) return;
    opened_ahead_.insert(points.begin(), points.end());
    opening_ = {stage() + 1, std::move(points), false};
  } else {
    return;
  }
  estimates_of(opening_->stage).start_all(opening_->points, setup_.runner.threads);
}

bool StagedWork::open(const std::vector<Peer>& peers) {
  if (!opening_) find_opening();
  if (!opening_ || !estimates_of(opening_->stage).all_known()) return false;
  auto& work = opening_->stage == stage() ? work_ : ahead_;
  if (work)
    work->add(opening_->points);
  else
    work = open_work(*opening_, peers);
  whole_stage_ = whole_stage_ || opening_->whole;
  opening_.reset();
  ::malloc_trim(0);  // returns the memory that sorting took beyond what the open work keeps
  return true;
}

std::unique_ptr<OpenWork> StagedWork::open_work(const Opening& opening, const std::vector<Peer>& peers) {
  std::vector<int> threads;
  for (const auto& peer : peers) threads.push_back(peer.threads);
  LeaseOptions options;
  options.spare_first = true;
  options.first_id = (std::uint64_t{opening.stage} << 40U) + 1;
  options.safe_when_finished = !evaluates(opening.stage);
  auto work = std::make_unique<OpenWork>(
      estimates_of(opening.stage), opening.points, threads, setup_.nodes, quarantine_, options,
      [this](const Estimate& estimate) { return threads_kept(estimate, setup_.runner); });
  for (std::size_t r = 0; r < peers.size(); ++r)
    if (peers[r].lost) (void)work->lose(r, {}, false);  // before any lease
  return work;
}

StagedWork::Closing StagedWork::close_round() {
  if (!is_searching() || !work_ || !whole_stage_ || !work_->all_done()) return Closing::not_yet;
  if (!search_->complete()) return Closing::lacking;
  work_ = std::move(ahead_);
  whole_stage_ = false;
  search_->cut(done_);
  return Closing::cut;
}

std::optional<Lease> StagedWork::next(std::size_t rank, double backlog_seconds, double time_left) {
  for (auto* work : works()) {
    if (work == nullptr) continue;
    const bool is_this_stage = work == work_.get();
    const auto* other = is_this_stage ? ahead_.get() : work_.get();
    if (other != nullptr && other->works_alone(rank)) continue;
    if (!is_this_stage && !work_->nothing_waits()) continue;  // what came back from a lost rank ends the round
    auto lease = work->next(rank, backlog_seconds, time_left);
    if (!lease) continue;
    const auto of = is_this_stage ? stage() : stage() + 1;
    lease->round = evaluates(of) ? std::uint8_t{0} : static_cast<std::uint8_t>(of + 1);
    return lease;
  }
  return std::nullopt;
}

void StagedWork::set_threads(std::size_t rank, int threads) {
  for (auto* work : works())
    if (work != nullptr) work->set_threads(rank, threads);
}

void StagedWork::learn(std::size_t rank, const RankReport& report) {
  if (search_) search_->learn(report);
  // Without open work no lease was given yet. Only evaluations tell what points cost.
  if (work_ && (!ahead_ || evaluates(stage()))) return work_->learn(rank, report);
  if (ahead_) ahead_->learn(rank, report);
  if (!work_) return;
  RankReport without_costs = report;
  without_costs.costs.clear();
  work_->learn(rank, without_costs);
}

Death StagedWork::lose(std::size_t rank, const WriterTrace& trace, bool memory_kill) {
  std::vector<OpenWork*> open;
  for (auto* work : works())
    if (work != nullptr) open.push_back(work);
  return tenex::lose(open, rank, trace, memory_kill);
}

std::vector<std::uint32_t> StagedWork::take_guilty() {
  std::vector<std::uint32_t> points;
  for (auto* work : works()) {
    if (work == nullptr) continue;
    for (const auto point : work->take_guilty()) points.push_back(point);
  }
  if (search_)
    for (const auto point : points) search_->give_up(point);
  return points;
}

std::size_t StagedWork::withdraw(double time_left) {
  std::size_t points = 0;
  for (auto* work : works())
    if (work != nullptr) points += work->withdraw(time_left);
  withdrew_ = withdrew_ || points > 0;
  return points;
}

void StagedWork::clear() {
  opening_.reset();
  ahead_.reset();
  work_.reset();
  search_.reset();
}

}  // namespace tenex
