#include "overview.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "tenex/coordinator/cost_model.hpp"
#include "tenex/coordinator/quarantine.hpp"
#include "tenex/coordinator/resources.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex::cli {
namespace {

std::int64_t now_unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Seconds from the start of the run to a moment of it. Clocks of hosts differ: at least a millisecond.
double seconds_since_begin(const FolderStatus& status, std::int64_t unix_ms) {
  return std::max(1e-3, static_cast<double>(unix_ms - status.run_began_unix_ms) / 1e3);
}

void count_rows(const FolderStatus& status, Overview& overview) {
  for (const bool mine : status.mine) overview.points += mine ? 1 : 0;
  std::size_t of_this_run = 0;
  std::int64_t last = 0;
  for (const auto& rank : status.ranks) overview.ranks.push_back({rank});
  for (const auto& row : status.rows) {
    if (status.mine[row.point]) ++overview.done;
    const bool pruned = row.status == PointStatus::pruned;
    if (status.mine[row.point] && pruned) ++overview.pruned;
    if (status.mine[row.point] && !pruned && row.status != PointStatus::ok) ++overview.failed;
    if (row.incarnation != status.identity.incarnation) continue;
    ++of_this_run;
    last = std::max(last, row.finished_unix_ms);
    for (auto& tally : overview.ranks)
      if (tally.rank.rank == row.rank) {
        ++tally.rows;
        tally.last_unix_ms = std::max(tally.last_unix_ms, row.finished_unix_ms);
      }
  }
  if (of_this_run > 0)
    overview.points_per_second = static_cast<double>(of_this_run) / seconds_since_begin(status, last);
  for (auto& tally : overview.ranks)
    if (tally.rows > 0)
      tally.points_per_second = static_cast<double>(tally.rows) / seconds_since_begin(status, tally.last_unix_ms);
  for (const auto& crash : status.crashes) {
    const auto row = std::ranges::lower_bound(status.rows, crash.point, {}, &CommittedRow::point);
    const bool given_up = row != status.rows.end() && row->point == crash.point && row->status == PointStatus::failed;
    if (crash.times >= most_crashes && given_up) ++overview.quarantined;
  }
}

/// What a live run has begun is running; what a run that is over has begun was interrupted.
void sort_announced(const FolderStatus& status, Overview& overview) {
  for (const auto& point : status.announced) {
    const bool now = status.is_live() && point.incarnation == status.identity.incarnation;
    (now ? overview.running : overview.interrupted).push_back(point);
    for (auto& tally : overview.ranks)
      if (now && tally.rank.rank == point.rank) ++tally.running;
  }
}

/// Expectations of all points, corrected by what points of their kind took in this run.
Forecast time_left(const FolderStatus& status, const Study& study) {
  Estimator estimator(resolve_memory_limit(0, 1));
  struct Known {
    double expected = 0;
    std::uint32_t kind = 0;
    bool threaded = false;
  };
  const auto know = [&](std::uint64_t point) {
    const DesignPoint built = study.points[point];
    const auto cost = estimator(built);
    return Known{std::max(cost.seconds, 1e-6), kind_of(built), cost.threaded};
  };
  CostModel model;
  std::vector<std::pair<Known, double>> finished;
  std::vector<Known> missing;
  double work = 0;
  std::int64_t last = 0;
  auto row = status.rows.begin();
  for (std::uint64_t point = 0; point < study.points.size(); ++point) {
    const bool has_row = row != status.rows.end() && row->point == point;
    if (!has_row) {
      if (status.mine[point]) missing.push_back(know(point));
      continue;
    }
    if (row->incarnation == status.identity.incarnation && row->status == PointStatus::ok) {
      const auto known = know(point);
      model.add({known.kind, 1, known.expected, row->evaluation_seconds});
      finished.emplace_back(known, row->evaluation_seconds);
      work += row->evaluation_seconds;
      last = std::max(last, row->finished_unix_ms);
    }
    ++row;
  }
  std::vector<DoneWork> done;
  for (const auto& [known, measured] : finished) done.push_back({known.expected * model.factor(known.kind), measured});
  std::vector<double> left;
  double longest = 0;
  for (const auto& known : missing) {
    left.push_back(known.expected * model.factor(known.kind));
    if (!known.threaded) longest = std::max(longest, left.back());
  }
  const double elapsed = seconds_since_begin(status, last);
  auto answer = forecast(done, left, longest, work / elapsed);
  // The forecast begins at the last committed row. Finished rows wait for their commit, but not for ever.
  const double since = std::clamp(static_cast<double>(now_unix_ms() - last) / 1e3, 0.0, std::max(60.0, elapsed / 50));
  for (auto* seconds : {&answer.seconds, &answer.low, &answer.high})
    if (*seconds >= 0) *seconds = std::max(0.0, *seconds - since);
  return answer;
}

}  // namespace

Overview overview_of(const FolderStatus& status, const Study& study) {
  Overview overview;
  count_rows(status, overview);
  sort_announced(status, overview);
  if (status.is_live()) overview.left = time_left(status, study);
  return overview;
}

std::vector<Best> best_rows(const FolderStatus& status) {
  const double none = -1;
  std::vector<Best> best{{"efficiency", none, nullptr},
                         {"algbw_bytes_per_s", none, nullptr},
                         {"training_time_ps", none, nullptr},
                         {"perf_per_cost", none, nullptr}};
  for (const auto& row : status.rows) {
    if (row.status != PointStatus::ok) continue;
    const auto compete = [&](Best& leader, double value, bool ahead) {
      if (!std::isnan(value) && (leader.row == nullptr || ahead)) leader = {leader.measure, value, &row};
    };
    const bool trains = row.training_time_ps >= 0;
    if (!trains) compete(best[0], row.efficiency, row.efficiency > best[0].value);
    if (!trains) compete(best[1], row.algbw_bytes_per_s, row.algbw_bytes_per_s > best[1].value);
    const auto time = static_cast<double>(row.training_time_ps);
    if (trains) compete(best[2], time, time < best[2].value);
    if (trains) compete(best[3], row.perf_per_cost, row.perf_per_cost > best[3].value);
  }
  std::erase_if(best, [](const Best& leader) { return leader.row == nullptr; });
  return best;
}

}  // namespace tenex::cli
