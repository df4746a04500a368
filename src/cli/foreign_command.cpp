// verify and simulate of schedules of other tools: the verdict in the file's own words, and on a network the time
// beside the bound and beside the best schedule that tenex knows.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "report.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/evaluate/judged_schedule.hpp"
#include "tenex/exchange/foreign_schedule.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/files/schedule_file.hpp"

namespace tenex::cli {
namespace {

/// The size for which a schedule is timed where neither an option nor the file says one.
constexpr std::int64_t kUsualSize = std::int64_t{64} << 20;

using Settings = std::vector<std::pair<std::string, std::string>>;

bool names(const Settings& settings, std::string_view key) {
  return std::ranges::any_of(settings, [&](const auto& setting) { return setting.first == key; });
}

/// The point to compare with: the network and size of the options, the schedule's collective.
Result<DesignPoint> point_for(const ForeignSchedule& schedule, Settings settings) {
  for (const auto* const key : {"collective", "groups", "root"})
    if (names(settings, key))
      return input_error({std::string("--") + key, 0, 0}, "the schedule has its own collective",
                         fmt::format("it is {} of {} NPUs", to_string(schedule.kind), schedule.npus),
                         "leave out the option");
  settings.emplace_back("collective", std::string(to_string(schedule.kind)));
  if (!names(settings, "algorithm")) settings.emplace_back("algorithm", std::string(kBestOfAll));
  if (!names(settings, "size")) {
    auto size = schedule.own_size.value_or(Bytes::of(kUsualSize));
    size = std::max(size, schedule.least);
    if (schedule.most) size = std::min(size, *schedule.most);
    settings.emplace_back("size", fmt::format("{}B", size.count()));
  }
  return point_of_words(settings);
}

Report foreign_report(const ForeignSchedule& schedule) {
  Report report;
  report.add("format", schedule.format);
  report.add("name", schedule.name);
  report.add("collective", std::string(to_string(schedule.kind)));
  report.add("npus", static_cast<std::int64_t>(schedule.npus));
  report.add("chunks", schedule.chunks_per_npu);
  report.add("transfers", static_cast<std::int64_t>(schedule.transfers.size()));
  if (schedule.least > Bytes::zero()) report.add("least_size_bytes", schedule.least.count());
  if (schedule.most) report.add("most_size_bytes", schedule.most->count());
  if (schedule.hangs_from) report.add("hangs_from_bytes", schedule.hangs_from->count());
  return report;
}

void add_findings(Report& report, const ForeignSchedule& schedule) {
  report.add("verified", schedule.valid());
  report.add("violations", static_cast<std::int64_t>(schedule.wrong.size()));
  if (!schedule.wrong.empty())
    report.add_list("findings", schedule.wrong, [](Report& entry, const WrongThing& wrong) {
      entry.add("violation", std::string(to_string(wrong.wrong)));
      entry.add("place", fmt::format("{}:{}:{}", wrong.place.file, wrong.place.line, wrong.place.column));
      entry.add("message", wrong.message);
    });
  if (!schedule.notes.empty())
    report.add_list("notes", schedule.notes,
                    [](Report& entry, const std::string& note) { entry.add("message", note); });
}

/// The texts of a schedule: its file, or, for the trace of a rank, NAME.0.et, NAME.1.et and so on.
Result<std::vector<SourceText>> read_texts(const std::filesystem::path& path) {
  const auto read = [](const std::filesystem::path& from) -> Result<SourceText> {
    const auto bytes = read_file(from);
    if (!bytes) return bytes.errors();
    return SourceText{from.string(), std::string(text_of(*bytes))};
  };
  auto given = read(path);
  if (!given) return given.errors();
  std::vector<SourceText> texts;
  const auto stem = path.stem();  // NAME.3
  const auto rank = stem.extension().string();
  const bool of_rank = rank.size() > 1 && rank.find_first_not_of("0123456789", 1) == std::string::npos;
  if (!is_trace(given->text) || path.extension() != ".et" || !of_rank) {
    texts.push_back(*std::move(given));
    return texts;
  }
  std::error_code error;
  for (std::size_t next = 0;; ++next) {
    const auto file = path.parent_path() / fmt::format("{}.{}.et", stem.stem().string(), next);
    if (!std::filesystem::exists(file, error)) break;
    auto text = read(file);
    if (!text) return text.errors();
    texts.push_back(*std::move(text));
  }
  if (texts.empty())
    return input_error({path.string(), 0, 0}, "the trace of rank 0 is missing",
                       fmt::format("it is {}.0.et, beside this one", stem.stem().string()));
  return texts;
}

/// `npus`: as for interpret_schedule().
Result<ForeignSchedule> interpret(const std::vector<SourceText>& texts, std::size_t npus = 0) {
  return is_trace(texts.front().text) ? interpret_traces(texts) : interpret_schedule(texts.front(), npus);
}

std::string_view replay_word(Verification outcome) {
  if (outcome == Verification::invalid) return "not_verified";
  return outcome == Verification::valid ? "valid" : "skipped";
}

/// Adds the time, the bound and the rival; returns what is to be said of them: "1.31 times the bound; pccl
/// reaches 1.01".
std::string add_times(Report& report, const JudgedSchedule& judged, const ForeignSchedule& schedule,
                      const DesignPoint& point, const ForeignArguments& arguments, std::size_t limit) {
  const auto times = [&](std::int64_t time) {
    return static_cast<double>(time) / static_cast<double>(std::max<std::int64_t>(1, judged.bound.count()));
  };
  const double own = times(judged.time.count());
  report.add("size_bytes", point.collective().size.count());
  report.add("collective_time_ps", judged.time.count());
  if (schedule.own_time) report.add("stated_time_ps", schedule.own_time->count());
  report.add("bound_ps", judged.bound.count());
  report.add("bound_name", judged.bound_name);
  report.add("times_the_bound", own);
  report.add("waste", static_cast<std::int64_t>(judged.verdict.waste));
  report.add("replay_check", std::string(replay_word(judged.verdict.outcome)));
  auto text = fmt::format("{:.2f} times the bound", own);
  if (judged.verdict.outcome == Verification::invalid)
    text += fmt::format(" by a replay that the verifier refuses ({})", judged.verdict.findings.front().message);
  if (!arguments.compares) return text;
  Cache cache;
  EvaluateOptions options;
  options.threads = arguments.threads;
  options.memory_limit_bytes = limit;
  const auto row = evaluate(point, cache, options).row;
  if (row.status != PointStatus::ok || row.collective_time_ps < 0)
    return text + fmt::format("; tenex has no schedule to compare with ({})", row.reason);
  const auto& best = row.chosen_algorithm.empty() ? point.algorithm : row.chosen_algorithm;
  report.add("best_algorithm", best);
  report.add("best_time_ps", row.collective_time_ps);
  report.add("best_times_the_bound", times(row.collective_time_ps));
  const double rival = times(row.collective_time_ps);
  // The bound is that of the schedule's own chunks.
  return text + fmt::format("; {} reaches {:.2f}{}", best, rival, rival < 1 ? " in other chunks" : "");
}

}  // namespace

bool is_foreign_schedule_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  char first = 0;
  if (!file.get(first) || (first == '\x89')) return false;  // HDF5 begins with this byte
  const auto bytes = read_file(path);
  return bytes && (is_foreign_schedule(text_of(*bytes)) || is_trace(text_of(*bytes)));
}

ExitCode judge_foreign(const ForeignArguments& arguments) {
  const auto limit = memory_limit(arguments.memory, EvaluateOptions{}.memory_limit_bytes);
  if (!limit) return refuse(limit.errors());
  const auto texts = read_texts(arguments.file);
  if (!texts) return refuse(texts.errors());
  auto schedule = interpret(*texts);
  if (!schedule) return refuse(schedule.errors());
  const bool on_network = names(arguments.settings, "topology");
  if (!on_network && !arguments.settings.empty())
    return refuse({input_error({"--" + arguments.settings.front().first, 0, 0}, "no network is named",
                               "the option says how the schedule would run on one", "add --topology")});
  if (!on_network && !arguments.compares)
    return refuse({input_error({"--schedule", 0, 0}, "no network is named", "the file has transfers and no links",
                               "add --topology, and --size unless the file says one")});
  auto report = foreign_report(*schedule);
  std::string verdict = schedule->valid() ? "valid" : "not valid: " + schedule->wrong.front().message;
  if (on_network) {
    const auto point = point_for(*schedule, arguments.settings);
    if (!point) return refuse(point.errors());
    const auto npus = point->topology.npus();
    if (npus != schedule->npus) {  // vertices may be numbered otherwise
      schedule = interpret(*texts, npus);
      if (!schedule) return refuse(schedule.errors());
      verdict = schedule->valid() ? "valid" : "not valid: " + schedule->wrong.front().message;
      report = foreign_report(*schedule);
    }
    if (schedule->valid() && !schedule->transfers.empty()) {
      ExecutionOptions options;
      options.threads = arguments.threads;
      options.memory_limit_bytes = *limit;
      const auto judged = judge_schedule(*schedule, *point, options);
      if (!judged && schedule->valid()) return refuse(judged.errors());
      if (!judged) {
        verdict = "not valid on this network: " + schedule->wrong.front().message;
      } else {
        if (!arguments.out.empty() && judged->verdict.outcome == Verification::invalid)
          return refuse({unsupported_error({arguments.file.string(), 0, 0}, "its sends on this network are not written",
                                           "tenex's verifier refuses them: " + judged->verdict.findings.front().message,
                                           "leave out --out")});
        const auto times = add_times(report, *judged, *schedule, *point, arguments, *limit);
        verdict = fmt::format("valid, {}", times);
        if (!arguments.out.empty())
          if (const auto written = write_schedule_file(arguments.out, judged->file, {.threads = arguments.threads});
              !written)
            return refuse(written.errors());
      }
    }
  }
  add_findings(report, *schedule);
  report.add("verdict", verdict);
  std::fputs((arguments.json ? to_json(report) : to_text(report)).c_str(), stdout);
  return schedule->valid() ? ExitCode::done : ExitCode::some_failed;
}

}  // namespace tenex::cli
