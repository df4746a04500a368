// export of a point: its schedule in the format, in as many chunks as the format's executor takes.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "report.hpp"
#include "study_report.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/evaluate/kept_schedule.hpp"
#include "tenex/execution/algorithm_table.hpp"

namespace tenex::cli {
namespace {

using Settings = std::vector<std::pair<std::string, std::string>>;

constexpr std::string_view kAuto = "auto";  // the number of chunks is chosen

/// Makes schedules of the point of the options, under other algorithms and numbers of chunks.
class PointMaker {
 public:
  PointMaker(Settings settings, const EvaluateOptions& options) : settings_(std::move(settings)), options_(options) {
    const auto found = std::ranges::find(settings_, "algorithm", &Settings::value_type::first);
    names_algorithm_ = found != settings_.end();
    names_solver_ = names_algorithm_ && std::ranges::any_of(algorithm_traits(), [&](const AlgorithmTraits* traits) {
                      return traits->name == found->second && traits->reads.solves;
                    });
  }
  [[nodiscard]] bool names_algorithm() const { return names_algorithm_; }
  [[nodiscard]] bool names_solver() const { return names_solver_; }

  /// `algorithm`: where the options name none.
  Result<MadeSchedule> make(std::string_view algorithm, const std::string& chunks) {
    auto settings = settings_;
    if (!names_algorithm_) settings.emplace_back("algorithm", std::string(algorithm));
    if (!chunks.empty()) settings.emplace_back("chunks", chunks);
    const auto point = point_of_words(settings);
    if (!point) return point.errors();
    return make_schedule(*point, cache_, options_);
  }

 private:
  Settings settings_;
  EvaluateOptions options_;
  bool names_algorithm_ = false;
  bool names_solver_ = false;
  Cache cache_;
};

bool exceeds_limits(const Status& status) {
  return !status &&
         std::ranges::all_of(status.errors(), [](const Diagnostic& error) { return error.fault == Fault::resource; });
}

Report report_of(const ExportArguments& arguments, const MadeSchedule& made, const Evaluation& unlimited,
                 std::int64_t unlimited_chunks) {
  const Evaluation& row = made.row;
  Report report;
  report.add("format", arguments.format);
  report.add("algorithm", row.chosen_algorithm.empty() ? made.file.algorithm : row.chosen_algorithm);
  report.add("chunks", made.file.collective.chunks_per_npu());
  report.add("sends", static_cast<std::int64_t>(made.file.schedule.sends()));
  report.add("verified", row.verified == Verified::yes);
  report.add("collective_time_ps", row.collective_time_ps);
  report.add("bound_ps", row.bound_ps);
  if (unlimited.collective_time_ps != row.collective_time_ps) {
    report.add("without_limits_ps", unlimited.collective_time_ps);
    report.add("without_limits_chunks", unlimited_chunks);
    report.add(
        "longer_by_percent",
        100 * (static_cast<double>(row.collective_time_ps) / static_cast<double>(unlimited.collective_time_ps) - 1));
  }
  return report;
}

/// The schedule within the executor's limits that is written: of fewer and fewer chunks, by powers of two, since longer
/// lists of operations need more threadblocks than there are; where `best` loses much by that, that of `auto` in as
/// many chunks as fit, if it is faster. `made` is what has exceeded the limits.
Status write_within_limits(PointMaker& maker, const std::function<Status(const ScheduleFile&)>& write,
                           MadeSchedule& made, Status exceeded) {
  constexpr double kMuch = 1.02;
  const auto unlimited = static_cast<double>(made.row.collective_time_ps);
  const auto most = static_cast<std::uint64_t>(made.file.collective.chunks_per_npu());
  Status written = std::move(exceeded);
  for (auto chunks = std::bit_ceil(most) / 2; chunks > 0 && exceeds_limits(written); chunks /= 2) {
    auto fewer = maker.make(kBestOfAll, std::to_string(chunks));
    if (!fewer) return fewer.errors();
    written = write(fewer->file);
    made = *std::move(fewer);
  }
  if (maker.names_algorithm()) return written;
  for (auto chunks = std::bit_ceil(most); chunks > 0; chunks /= 2) {
    const auto least = written ? static_cast<double>(made.row.collective_time_ps) : std::numeric_limits<double>::max();
    if (least <= kMuch * unlimited) break;
    auto textbook = maker.make(kAutoAlgorithm, std::to_string(chunks));
    if (!textbook || static_cast<double>(textbook->row.collective_time_ps) >= least) continue;
    if (const auto status = write(textbook->file); !status) continue;
    written = success();
    made = *std::move(textbook);
  }
  return written;
}

}  // namespace

ExitCode export_point(const ExportArguments& arguments, const std::function<Status(const ScheduleFile&)>& write) {
  const auto limit = memory_limit(arguments.memory, EvaluateOptions{}.memory_limit_bytes);
  if (!limit) return refuse(limit.errors());
  EvaluateOptions options;
  options.threads = arguments.threads;
  options.memory_limit_bytes = *limit;
  PointMaker maker(arguments.settings, options);
  // A solver takes minutes for each number of chunks.
  const bool chooses = arguments.chunks == kAuto || (arguments.chunks.empty() && !maker.names_solver());
  auto made = maker.make(kBestOfAll, chooses ? std::string(kAuto) : arguments.chunks);
  if (!made) return refuse(made.errors());
  const Evaluation unlimited = made->row;
  const auto unlimited_chunks = made->file.collective.chunks_per_npu();
  auto written = write(made->file);
  if (exceeds_limits(written) && chooses) written = write_within_limits(maker, write, *made, std::move(written));
  if (!written) return refuse(written.errors(), exit_of_once(written.errors()));
  const auto report = report_of(arguments, *made, unlimited, unlimited_chunks);
  std::fputs((arguments.json ? to_json(report) : to_text(report)).c_str(), stdout);
  return ExitCode::done;
}

}  // namespace tenex::cli
