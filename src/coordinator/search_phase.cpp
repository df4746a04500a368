#include "search_phase.hpp"

#include <algorithm>

#include "worker.hpp"

namespace tenex {

namespace {

constexpr std::size_t most_rows_in_hand = 4096;  // a row in the committer's queue takes one to two KiB

}  // namespace

SearchPhase::SearchPhase(const Study& study, const RankSetup& setup) : study_(study), setup_(setup), halving_(study) {}

bool SearchPhase::is_ready() {
  if (!estimates_) {
    const auto fidelity = study_.search.rounds[halving_.round()].fidelity;
    estimates_.emplace(
        study_, [this, fidelity](const DesignPoint& point) { return setup_.runner.estimate_early(point, fidelity); });
    estimates_->start_all(halving_.points(), setup_.runner.threads);
  }
  return estimates_->all_known();
}

void SearchPhase::mark(Lease& lease) const { lease.round = static_cast<std::uint8_t>(halving_.round() + 1); }

void SearchPhase::learn(const RankReport& report) {
  if (over()) return;
  for (const auto& value : report.early_values) halving_.take(value);
}

void SearchPhase::cut(std::vector<bool>& done) {
  estimates_.reset();
  for (const auto& pruned : halving_.cut()) {
    if (!done[pruned.point]) rows_.push_back(pruned);
    done[pruned.point] = true;
  }
}

bool SearchPhase::write_some(Committer& committer) {
  if (rows_.empty()) return false;
  const auto waiting = committer.waiting();
  const auto now = unix_milliseconds();
  for (auto i = waiting; i < most_rows_in_hand && !rows_.empty(); ++i) {
    FinishedPoint finished;
    finished.point = rows_.front().point;
    finished.output.row.status = PointStatus::pruned;
    finished.output.row.reason = halving_.reason_of(rows_.front());
    finished.finished_unix_ms = now;
    committer.put(std::move(finished));
    rows_.pop_front();
    ++rows_written_;
  }
  return true;
}

}  // namespace tenex
