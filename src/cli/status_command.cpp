// status: the state of a result folder, whether or not a run is at work in it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "overview.hpp"
#include "report.hpp"
#include "tenex/base/units.hpp"
#include "tenex/coordinator/progress.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/store/folder_status.hpp"
#include "tenex/store/store.hpp"

namespace tenex::cli {
namespace {

constexpr std::size_t kMostListed = 10;  // most points that are listed one by one

std::string describe_point(const DesignPoint& point) {
  if (point.trains())
    return fmt::format("{} {} {} on {}", text_setting(point, "workload"), to_string(point.training().hp),
                       text_setting(point, "scheme"), point.topology.text);
  return fmt::format("{} {} on {}, {}", text_setting(point, "collective"), point.algorithm, point.topology.text,
                     size_text(point.collective().size.count()));
}

/// "running", "done", or how the run ended without being done.
std::string state_of(const FolderStatus& status, const Overview& overview) {
  if (status.is_live()) return "running";
  if (overview.done == overview.points) return "done";
  return status.owner ? "killed" : "interrupted";
}

void add_seconds(Report& report, const char* name, double seconds) {
  report.add(name, seconds < 0 ? Report::Value(std::monostate{}) : Report::Value(seconds));
}

Report announced_report(const AnnouncedPoint& point, const Study& study) {
  Report entry;
  entry.add("key", to_string(study.points.key(point.point)));
  entry.add("point", static_cast<std::int64_t>(point.point));
  entry.add("run", static_cast<std::int64_t>(point.incarnation));
  entry.add("rank", static_cast<std::int64_t>(point.rank));
  entry.add("what", describe_point(study.points[point.point]));
  return entry;
}

std::vector<Report> points_report(const std::vector<AnnouncedPoint>& points, const Study& study) {
  std::vector<Report> entries;
  for (const auto& point : points) entries.push_back(announced_report(point, study));
  return entries;
}

std::vector<Report> points_report(const std::vector<BegunPoint>& points, const Study& study) {
  std::vector<Report> entries;
  for (const auto& begun : points) {
    auto entry = announced_report(begun.point, study);
    add_seconds(entry, "running_seconds", begun.seconds);
    add_seconds(entry, "seconds_left", begun.left_seconds);
    entries.push_back(std::move(entry));
  }
  return entries;
}

Report best_report(const Best& best, const Study& study) {
  Report entry;
  entry.add("measure", std::string(best.measure));
  entry.add("value", best.value);
  entry.add("key", to_string(study.points.key(best.row->point)));
  entry.add("what", describe_point(study.points[best.row->point]));
  return entry;
}

Report status_report(const std::filesystem::path& dir, const FolderStatus& status, const Overview& overview,
                     const Study& study) {
  Report report;
  report.add("folder", dir.string());
  report.add("study", study.name);
  report.add("state", state_of(status, overview));
  report.add("run", static_cast<std::int64_t>(status.identity.incarnation));
  report.add("version", status.identity.version);
  report.add("slice", to_string(status.identity.slice));
  if (status.owner) {
    Report owner;
    owner.add("host", status.owner->host);
    owner.add("pid", static_cast<std::int64_t>(status.owner->pid));
    owner.add("heartbeat_seconds_ago", status.owner->heartbeat_age);
    owner.add("alive", status.owner->alive);
    report.add_object("lock", std::move(owner));
  }
  report.add("points", static_cast<std::int64_t>(overview.points));
  report.add("done", static_cast<std::int64_t>(overview.done));
  report.add("finished", static_cast<std::int64_t>(overview.finished));
  report.add("failed", static_cast<std::int64_t>(overview.failed));
  report.add("pruned", static_cast<std::int64_t>(overview.pruned));
  report.add("quarantined", static_cast<std::int64_t>(overview.quarantined));
  report.add("running", static_cast<std::int64_t>(overview.running.size()));
  report.add("interrupted", static_cast<std::int64_t>(overview.interrupted.size()));
  report.add("draining", overview.draining);
  add_seconds(report, "work_fraction", overview.fraction);
  report.add("points_per_second", overview.points_per_second);
  add_seconds(report, "seconds_left", overview.left.seconds);
  add_seconds(report, "seconds_left_low", overview.left.low);
  add_seconds(report, "seconds_left_high", overview.left.high);
  std::vector<Report> ranks;
  for (const auto& tally : overview.ranks) {
    Report entry;
    entry.add("rank", static_cast<std::int64_t>(tally.rank.rank));
    entry.add("host", tally.rank.host);
    entry.add("rows", static_cast<std::int64_t>(tally.rows));
    entry.add("points_per_second", tally.points_per_second);
    entry.add("running", static_cast<std::int64_t>(tally.running));
    ranks.push_back(std::move(entry));
  }
  report.add("ranks", std::move(ranks));
  report.add("running_points", points_report(overview.running, study));
  report.add("interrupted_points", points_report(overview.interrupted, study));
  std::vector<Report> best;
  for (const auto& leader : best_rows(status)) best.push_back(best_report(leader, study));
  report.add("best", std::move(best));
  return report;
}

std::string describe_state(const FolderStatus& status, const Overview& overview) {
  const auto& owner = status.owner;
  const auto process = owner ? fmt::format("process {} on {}", owner->pid, owner->host) : std::string();
  if (status.is_live())
    return fmt::format("running: run {}, {} (heartbeat {:.0f} s ago)", status.identity.incarnation, process,
                       owner->heartbeat_age);
  if (overview.done == overview.points) return "done: every point has a row";
  if (owner)
    return fmt::format("killed: run {}, {}, left its lock behind; the same `tenex run` command continues",
                       status.identity.incarnation, process);
  return fmt::format("interrupted: run {} has ended; the same `tenex run` command continues",
                     status.identity.incarnation);
}

std::string describe_left(const Overview& overview) {
  if (overview.left.seconds < 0 && !overview.phase.empty()) return "not known yet: " + overview.phase;
  if (overview.left.seconds < 0)
    return overview.told ? "not known yet: points are being estimated"
                         : "not known yet: no row of this run is committed";
  auto text = to_clock_text(overview.left.seconds);
  if (overview.left.low >= 0)
    text += fmt::format(" ({} to {} in 9 of 10 cases)", to_clock_text(overview.left.low),
                        to_clock_text(overview.left.high));
  if (overview.fraction >= 0)
    text += fmt::format(", {:.0f} % of the work is done", std::floor(100 * overview.fraction));
  if (overview.points_per_second > 0) text += fmt::format(", at {:.3g} points/s", overview.points_per_second);
  if (!overview.phase.empty()) text += "; " + overview.phase;
  if (overview.draining) text += "; no further point begins, running points finish first";
  return text;
}

std::string best_value_text(const Best& best) {
  const std::string_view measure = best.measure;
  if (measure == "efficiency") return percent_text(best.value);
  if (measure == "algbw_bytes_per_s") return to_rounded_rate(best.value);
  if (measure == "training_time_ps") return to_rounded(picoseconds(static_cast<std::int64_t>(best.value)));
  return fmt::format("{:.4g}/(s$)", best.value);
}

std::string time_of(const AnnouncedPoint&) { return {}; }
std::string time_of(const BegunPoint& begun) {
  if (begun.seconds < 0) return {};
  return fmt::format(", for {}, about {} more", to_clock_text(begun.seconds), to_clock_text(begun.left_seconds));
}

const AnnouncedPoint& announced(const AnnouncedPoint& point) { return point; }
const AnnouncedPoint& announced(const BegunPoint& begun) { return begun.point; }

template <class Point>
std::string list_points(const char* heading, const std::vector<Point>& points, const Study& study) {
  if (points.empty()) return {};
  auto text = fmt::format("{}:\n", heading);
  for (std::size_t i = 0; i < std::min(points.size(), kMostListed); ++i) {
    const auto& point = announced(points[i]);
    text += fmt::format("  {}  rank {}{}  {}\n", to_string(study.points.key(point.point)), point.rank,
                        time_of(points[i]), describe_point(study.points[point.point]));
  }
  if (points.size() > kMostListed) text += fmt::format("  and {} more\n", points.size() - kMostListed);
  return text;
}

std::string status_text(const std::filesystem::path& dir, const FolderStatus& status, const Overview& overview,
                        const Study& study) {
  auto text = fmt::format("study    {} in {}", study.name, dir.string());
  if (status.identity.slice.count > 1) text += fmt::format(", slice {}", to_string(status.identity.slice));
  const auto share =
      overview.points == 0 ? 100.0 : 100.0 * static_cast<double>(overview.done) / static_cast<double>(overview.points);
  text += fmt::format(
      "\nstate    {}\npoints   {} of {} done ({:.0f} %){}, {} not ok{}, {} quarantined, {} begun, {} "
      "interrupted\n",
      describe_state(status, overview), overview.done, overview.points, std::floor(share),
      overview.finished > overview.done
          ? fmt::format(", {} finished and not committed yet", overview.finished - overview.done)
          : "",
      overview.failed, overview.pruned > 0 ? fmt::format(", {} pruned", overview.pruned) : "", overview.quarantined,
      overview.running.size(), overview.interrupted.size());
  if (status.is_live()) text += fmt::format("left     {}\n", describe_left(overview));
  if (!overview.ranks.empty()) {
    std::vector<std::vector<std::string>> table{{"rank", "host", "rows", "points/s", "begun"}};
    for (const auto& tally : overview.ranks)
      table.push_back({fmt::format("{}", tally.rank.rank), tally.rank.host.empty() ? "?" : tally.rank.host,
                       fmt::format("{}", tally.rows),
                       tally.points_per_second > 0 ? fmt::format("{:.3g}", tally.points_per_second) : "-",
                       fmt::format("{}", tally.running)});
    text += format_table(table);
  }
  text += list_points("begun: running, or waiting for their commit", overview.running, study);
  text += list_points("begun by an earlier run and not finished", overview.interrupted, study);
  if (const auto best = best_rows(status); !best.empty()) {
    std::vector<std::vector<std::string>> table{{"best so far", "", "", "key"}};
    for (const auto& leader : best)
      table.push_back({leader.measure, best_value_text(leader), describe_point(study.points[leader.row->point]),
                       to_string(study.points.key(leader.row->point))});
    text += format_table(table);
  }
  return text;
}

ExitCode print_status(const std::filesystem::path& dir, bool json) {
  const auto study = read_stored_study(dir, vocabulary());
  if (!study) return refuse(study.errors());
  const auto status = read_folder_status(dir, *study);
  if (!status) return refuse(status.errors());
  for (const auto& warning : status->warnings) warn(warning);
  const auto overview = overview_of(*status, *study);
  const auto text =
      json ? to_json(status_report(dir, *status, overview, *study)) : status_text(dir, *status, overview, *study);
  std::fputs(text.c_str(), stdout);
  return ExitCode::done;
}

}  // namespace

ExitCode execute(const StatusArguments& arguments) {
  auto worst = ExitCode::done;
  for (std::size_t i = 0; i < arguments.dirs.size(); ++i) {
    if (i > 0 && !arguments.json) std::fputs("\n", stdout);
    const auto code = print_status(arguments.dirs[i], arguments.json);
    if (code != ExitCode::done) worst = code;
  }
  return worst;
}

}  // namespace tenex::cli
