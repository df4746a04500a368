#include "search_phase.hpp"

#include <algorithm>
#include <utility>

#include "worker.hpp"

namespace tenex {

namespace {

constexpr std::size_t most_rows_in_hand = 4096;  // a row in the committer's queue takes one to two KiB

}  // namespace

SearchPhase::SearchPhase(const Study& study, const RankSetup& setup, Estimates& full)
    : study_(study), setup_(setup), full_(full), halving_(study), estimates_(study.search.rounds.size()) {}

Estimates& SearchPhase::estimates(std::size_t stage) {
  if (stage == rounds()) return full_;
  auto& estimates = estimates_[stage];
  if (!estimates) {
    const auto fidelity = study_.search.rounds[stage].fidelity;
    estimates = std::make_unique<Estimates>(
        study_, [this, fidelity](const DesignPoint& point) { return setup_.runner.estimate_early(point, fidelity); });
  }
  return *estimates;
}

std::vector<std::uint32_t> SearchPhase::sure_points() {
  if (over() || halving_.complete() || halving_.missing() > looked_at_ / 2) return {};
  looked_at_ = halving_.missing();
  return halving_.sure();
}

void SearchPhase::learn(const RankReport& report) {
  for (const auto& value : report.early_values)
    if (value.round == stage() + 1)
      next_values_.push_back(value);
    else if (!over())
      halving_.take(value);
}

void SearchPhase::cut(std::vector<bool>& done) {
  estimates_[stage()].reset();
  for (const auto& pruned : halving_.cut()) {
    if (!done[pruned.point]) rows_.push_back(pruned);
    done[pruned.point] = true;
  }
  looked_at_ = std::numeric_limits<std::size_t>::max();
  for (const auto& value : std::exchange(next_values_, {}))
    if (!over()) halving_.take(value);
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
