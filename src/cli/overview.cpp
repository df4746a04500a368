#include "overview.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "search_outlook.hpp"
#include "tenex/coordinator/cost_model.hpp"
#include "tenex/coordinator/resources.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex::cli {
namespace {

std::int64_t now_unix_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Seconds from the start of the run to another moment. At least a millisecond, because clocks of hosts differ.
double seconds_since_begin(const FolderStatus& status, std::int64_t unix_ms) {
  return std::max(1e-3, static_cast<double>(unix_ms - status.run_began_unix_ms) / 1e3);
}

void count_rows(const FolderStatus& status, Overview& overview) {
  for (const bool mine : status.mine) overview.points += mine ? 1 : 0;
  std::size_t of_this_run = 0;
  std::int64_t last = 0;
  std::vector<std::size_t> evaluated(status.ranks.size(), 0);  // of a rank's rows; pruned points take no time
  for (const auto& rank : status.ranks) overview.ranks.push_back({rank});
  for (const auto& row : status.rows) {
    if (status.mine[row.point]) ++overview.done;
    const bool pruned = row.status == PointStatus::pruned;
    if (status.mine[row.point] && pruned) ++overview.pruned;
    if (status.mine[row.point] && !pruned && !is_final(row.status)) ++overview.failed;
    if (row.incarnation != status.identity.incarnation) continue;
    if (!pruned) ++of_this_run, last = std::max(last, row.finished_unix_ms);
    for (std::size_t r = 0; r < overview.ranks.size(); ++r) {
      auto& tally = overview.ranks[r];
      if (tally.rank.rank != row.rank) continue;
      ++tally.rows;
      if (!pruned) ++evaluated[r], tally.last_unix_ms = std::max(tally.last_unix_ms, row.finished_unix_ms);
    }
  }
  if (of_this_run > 0)
    overview.points_per_second = static_cast<double>(of_this_run) / seconds_since_begin(status, last);
  for (std::size_t r = 0; r < overview.ranks.size(); ++r)
    if (auto& tally = overview.ranks[r]; evaluated[r] > 0)
      tally.points_per_second = static_cast<double>(evaluated[r]) / seconds_since_begin(status, tally.last_unix_ms);
  for (const auto& crash : status.crashes) {
    const auto row = std::ranges::lower_bound(status.rows, crash.point, {}, &CommittedRow::point);
    const bool given_up = row != status.rows.end() && row->point == crash.point && row->status == PointStatus::failed;
    if (crash.times >= most_crashes && given_up) ++overview.quarantined;
  }
}

/// An older report of a run says nothing about its present state.
constexpr double kFreshSeconds = 60;

const ToldProgress* told_just_now(const FolderStatus& status) {
  return status.told && status.told->age_seconds <= kFreshSeconds ? &*status.told : nullptr;
}

/// Adds points that run according to the run's report, with their times. Some were never announced.
void add_told_points(const FolderStatus& status, const Study& study, std::vector<BegunPoint>& running) {
  const auto* told = told_just_now(status);
  if (told == nullptr) return;
  for (const auto& note : told->progress.running) {
    const auto point = study.points.find(note.key);
    if (!point) continue;
    const auto row = std::ranges::lower_bound(status.rows, *point, {}, &CommittedRow::point);
    if (row != status.rows.end() && row->point == *point && row->incarnation == status.identity.incarnation) continue;
    auto begun = std::ranges::find(running, *point, [](const BegunPoint& each) { return each.point.point; });
    if (begun == running.end()) begun = running.insert(begun, {{*point, status.identity.incarnation, note.rank}});
    begun->seconds = note.seconds + told->age_seconds;
    begun->left_seconds = std::max(0.0, note.left_seconds - told->age_seconds);
  }
}

/// Points that were begun are running if the run is live, else they were interrupted.
void sort_begun(const FolderStatus& status, const Study& study, Overview& overview) {
  for (const auto& point : status.announced) {
    const bool now = status.is_live() && point.incarnation == status.identity.incarnation;
    if (now)
      overview.running.push_back({point});
    else
      overview.interrupted.push_back(point);
  }
  add_told_points(status, study, overview.running);
  std::ranges::stable_sort(overview.running, std::greater(), &BegunPoint::left_seconds);
  for (const auto& begun : overview.running)
    for (auto& tally : overview.ranks)
      if (tally.rank.rank == begun.point.rank) ++tally.running;
}

/// The run's own report takes precedence over the forecast from committed rows: it includes running points.
void take_told(const FolderStatus& status, Overview& overview) {
  overview.finished = overview.done;
  const auto* told = told_just_now(status);
  if (told == nullptr) return;
  const auto& progress = told->progress;
  overview.told = true;
  overview.draining = progress.draining;
  overview.phase = progress.phase;
  overview.finished = std::clamp<std::size_t>(progress.finished, overview.done, overview.points);
  if (overview.pruned == 0) {
    std::size_t before = 0;
    for (const auto& row : status.rows)
      before += status.mine[row.point] && row.incarnation != status.identity.incarnation ? 1 : 0;
    overview.points_per_second =
        static_cast<double>(overview.finished - std::min(before, overview.finished)) /
        seconds_since_begin(status, now_unix_ms() - static_cast<std::int64_t>(1e3 * told->age_seconds));
  }
  if (progress.fraction >= 0) overview.fraction = std::min(progress.fraction, 1.0);
  if (progress.seconds_left < 0) return;
  auto& left = overview.left;
  const double seconds = std::max(0.0, progress.seconds_left - told->age_seconds);
  const bool has_interval = left.low >= 0 && left.seconds > 0;  // the interval keeps its width relative to the forecast
  left = {seconds, has_interval ? left.low / left.seconds * seconds : -1,
          has_interval ? left.high / left.seconds * seconds : -1};
}

/// For each competition, the fraction of the points without a row that will not get a pruned row. Rows of pruned points
/// are written once a round is cut and committed within a minute; until then fewer points are left to evaluate than
/// have no row.
class PrunedRowsToCome {
 public:
  PrunedRowsToCome(const FolderStatus& status, const Study& study) : outlook_(study) {
    if (!study.search.prunes()) return;
    std::int64_t last_news = 0;
    struct Counts {
      double expected = 0;  ///< pruned rows that are still to come
      double missing = 0;
    };
    std::vector<Counts> counts(outlook_.competitions());
    for (std::size_t point = 0; point < study.points.size(); ++point)
      if (status.mine[point]) {
        auto& mine = counts[outlook_.competition(point)];
        mine.expected += 1 - outlook_.share_in_full(point);
        mine.missing += 1;
      }
    for (const auto& row : status.rows) {
      if (row.incarnation == status.identity.incarnation && row.status != PointStatus::pruned)
        begin_ = std::min(begin_, row.finished_unix_ms - static_cast<std::int64_t>(row.evaluation_seconds * 1e3));
      if (row.incarnation == status.identity.incarnation && row.status == PointStatus::pruned)
        last_news = std::max(last_news, row.finished_unix_ms);
      if (!status.mine[row.point]) continue;
      auto& mine = counts[outlook_.competition(row.point)];
      mine.missing -= 1;
      if (row.status == PointStatus::pruned) mine.expected -= 1;
    }
    constexpr std::int64_t kCommitted = 60'000;
    const bool all_here = now_unix_ms() - std::max(last_news, begin_) > kCommitted;
    for (const auto& [expected, missing] : counts)
      left_.push_back(all_here || missing <= 0 ? 1 : 1 - std::clamp(expected / missing, 0.0, 1.0));
  }

  [[nodiscard]] double share_left(std::size_t point) const {
    return left_.empty() ? 1 : left_[outlook_.competition(point)];
  }
  /// The moment at which this run began to evaluate points; `otherwise` if that is when it opened the folder.
  [[nodiscard]] std::int64_t begin(std::int64_t otherwise) const {
    return left_.empty() ? otherwise : std::clamp(begin_, otherwise, std::max(otherwise, now_unix_ms()));
  }

 private:
  SearchOutlook outlook_;
  std::vector<double> left_;  ///< per competition
  std::int64_t begin_ = std::numeric_limits<std::int64_t>::max();
};

/// Expected times of all points left, corrected by the times that points of their kind took in this run.
Forecast time_left(const FolderStatus& status, const Study& study) {
  const PrunedRowsToCome to_come(status, study);
  Estimator estimator(resolve_memory_limit(0, 1));
  struct Known {
    double expected = 0;
    double share = 1;  ///< fraction that is left to be evaluated
    std::uint32_t kind = 0;
    bool threaded = false;
  };
  const auto know = [&](std::uint64_t point) {
    const DesignPoint built = study.points[point];
    const auto cost = estimator(built);
    return Known{std::max(cost.seconds, 1e-6), to_come.share_left(point), kind_of(built), cost.threaded};
  };
  LearnedCosts model;
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
    const double seconds = known.expected * model.factor(known.kind);
    left.push_back(known.share * seconds);
    if (!known.threaded && known.share > 0) longest = std::max(longest, seconds);
  }
  const auto begin = to_come.begin(status.run_began_unix_ms);
  const double elapsed = std::max(1e-3, static_cast<double>(last - begin) / 1e3);
  auto answer = forecast(done, left, longest, work / elapsed);
  // The forecast begins at the last committed row. Later rows may be finished and wait for their commit, but for a
  // limited time.
  const double since = std::clamp(static_cast<double>(now_unix_ms() - last) / 1e3, 0.0, std::max(60.0, elapsed / 50));
  for (auto* seconds : {&answer.seconds, &answer.low, &answer.high})
    if (*seconds >= 0) *seconds = std::max(0.0, *seconds - since);
  return answer;
}

}  // namespace

Overview overview_of(const FolderStatus& status, const Study& study) {
  Overview overview;
  count_rows(status, overview);
  sort_begun(status, study, overview);
  if (status.is_live()) overview.left = time_left(status, study);
  take_told(status, overview);
  return overview;
}

std::vector<Best> best_rows(const FolderStatus& status) {
  const double none = -1;
  std::vector<Best> best{{"efficiency", none, nullptr},
                         {"algbw_bytes_per_s", none, nullptr},
                         {"training_time_ps", none, nullptr},
                         {"perf_per_cost_per_s_usd", none, nullptr}};
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
