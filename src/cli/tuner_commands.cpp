// export --format tuner and verify --for: tables that NCCL's and RCCL's tuners read.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "commands.hpp"
#include "log_files.hpp"
#include "report.hpp"
#include "tenex/base/units.hpp"
#include "tenex/base/words.hpp"
#include "tenex/exchange/tuner_table.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/pages/tuner.hpp"
#include "tenex/store/store.hpp"

namespace tenex::cli {
namespace {

/// "0 to 65535", without the largest number of 64 bits.
std::string range_text(const TunerRule& rule) {
  return rule.last == kLargestTunedSize ? fmt::format("{} and more", rule.first)
                                        : fmt::format("{} to {}", rule.first, rule.last);
}

void print_tuner_table(const TunerTable& table) {
  std::vector<std::vector<std::string>> rows{{"collective", "ranks", "bytes", "algorithm", "protocol", "channels"}};
  for (const auto& rule : table.rules)
    rows.push_back({rule.collective, fmt::format("{}", rule.ranks), range_text(rule), rule.algorithm, rule.protocol,
                    rule.channels == -1 ? "RCCL's" : fmt::format("{}", rule.channels)});
  std::fputs(format_table(rows).c_str(), stdout);
  std::fputs("\nwhat is left beside the best algorithm of the study\n", stdout);
  rows = {{"collective", "ranks", "size", "library", "time", "best", "time", "saved"}};
  for (const auto& left : table.left)
    rows.push_back({std::string(to_string(left.collective)), fmt::format("{}", left.ranks),
                    size_text(left.size.count()), left.library, fmt::format("{:.5g}us", left.library_us), left.best,
                    fmt::format("{:.5g}us", left.best_us), percent_text(left.saved())});
  std::fputs(format_table(rows).c_str(), stdout);
}

Report tuner_report(const TunerTable& table) {
  Report report;
  report.add_list("rules", table.rules, [](Report& each, const auto& rule) {
    each.add("collective", rule.collective);
    each.add("ranks", rule.ranks);
    each.add("first_bytes", static_cast<std::int64_t>(rule.first));
    // The last range has no end, which a missing number says.
    each.add("last_bytes", rule.last == kLargestTunedSize ? Report::Value(std::monostate{})
                                                          : Report::Value(static_cast<std::int64_t>(rule.last)));
    each.add("algorithm", rule.algorithm);
    each.add("protocol", rule.protocol);
    each.add("channels", rule.channels);
  });
  report.add_list("left", table.left, [](Report& each, const auto& row) {
    each.add("collective", std::string(to_string(row.collective)));
    each.add("ranks", row.ranks);
    each.add("size_bytes", row.size.count());
    each.add("library", row.library);
    each.add("library_us", row.library_us);
    each.add("best", row.best);
    each.add("best_us", row.best_us);
    each.add("saved", row.saved());
  });
  return report;
}

}  // namespace

ExitCode export_tuner(const ExportArguments& arguments) {
  Diagnostics errors;
  if (!arguments.npus.empty() || !arguments.chunks.empty() || !arguments.from.empty() || !arguments.to.empty())
    errors.push_back(input_error({"--format", 0, 0}, "a part of a tuner table",
                                 "--npus, --chunks, --from and --to choose sends of a schedule", "remove them"));
  if (arguments.reader.empty())
    errors.push_back(input_error({"--for", 0, 0}, "a tuner table for nobody",
                                 "NCCL's plugin and RCCL's tuner read the same file differently",
                                 "give --for nccl or --for rccl"));
  if (!errors.empty()) return refuse(errors);
  const auto reader = parse_tuner_reader(arguments.reader, {"--for", 0, 0});
  if (!reader) return refuse(reader.errors());
  const auto ll_limit = ll_limit_of(arguments.ll_limit);
  if (!ll_limit) return refuse(ll_limit.errors());
  const bool is_file = arguments.file.extension() == ".h5";
  const auto file = is_file ? arguments.file : arguments.file / "study.h5";
  const auto result = read_result(file);
  if (!result) return refuse(result.errors());
  const auto table = make_tuner_table(
      *result, {*reader, arguments.channels, arguments.nodes, *ll_limit, arguments.file.filename().string()});
  if (!table) return refuse(table.errors());
  for (const auto& note : table->notes) warn(note);
  if (const auto written = write_file_atomically(arguments.out, table->text); !written)
    return refuse(written.errors(), ExitCode::some_failed);
  if (arguments.json)
    std::fputs(to_json(tuner_report(*table)).c_str(), stdout);
  else
    print_tuner_table(*table);
  return ExitCode::done;
}

ExitCode verify_tuner(const VerifyArguments& arguments) {
  const auto reader = parse_tuner_reader(arguments.reader, {"--for", 0, 0});
  if (!reader) return refuse(reader.errors());
  const auto bytes = read_file(arguments.file);
  if (!bytes) return refuse(bytes.errors());
  const auto lint = lint_tuner_table({arguments.file.string(), std::string(text_of(*bytes))}, *reader);
  if (!lint) return refuse(lint.errors());
  const auto wrong = std::ranges::count(lint->findings, true, &TunerFinding::wrong);
  if (arguments.json) {
    Report report;
    report.add("reader", arguments.reader);
    report.add("rules", static_cast<std::int64_t>(lint->rules.size()));
    report.add("verified", wrong == 0);
    std::vector<Report> findings;
    for (const auto& finding : lint->findings) {
      Report each;
      each.add("wrong", finding.wrong);
      each.add("line", static_cast<std::int64_t>(finding.what.place.line));
      each.add("column", static_cast<std::int64_t>(finding.what.place.column));
      each.add("problem", finding.what.problem);
      each.add("why", finding.what.why);
      each.add("suggestion", finding.what.suggestion);
      findings.push_back(std::move(each));
    }
    report.add("findings", std::move(findings));
    std::fputs(to_json(report).c_str(), stdout);
  } else {
    for (const auto& finding : lint->findings)
      if (finding.wrong)
        complain({finding.what});
      else
        warn(to_string(finding.what));
    fmt::print("{} for {}: {}\n", counted(lint->rules.size(), "line"), arguments.reader,
               wrong == 0 ? "each does what it says"
                          : fmt::format("{} wrong", counted(static_cast<std::size_t>(wrong), "thing")));
  }
  return wrong == 0 ? ExitCode::done : ExitCode::some_failed;
}

}  // namespace tenex::cli
