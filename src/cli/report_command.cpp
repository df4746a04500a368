// report: a result as a page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "explanation.hpp"
#include "report.hpp"
#include "result_view.hpp"
#include "tenex/base/words.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/files/output_place.hpp"
#include "tenex/pages/report.hpp"
#include "tenex/store/folder_status.hpp"
#include "tenex/store/store.hpp"

namespace tenex::cli {
namespace {

namespace fs = std::filesystem;
using Rows = std::vector<std::size_t>;

/// A page shows single rows up to this number; beyond, the best row of each group of similar ones.
constexpr std::size_t kMostReportedRows = 20'000;

std::string_view word_of(ResultColumn::Source source) {
  constexpr std::string_view kWords[] = {"key", "seed", "pareto", "setting", "metric"};
  return kWords[static_cast<std::size_t>(source)];
}

ReportColumn facts_of(const ResultColumn& column) {
  ReportColumn facts{column.name, column.short_name(), column.units, word_of(column.source), {}};
  facts.memory = column.units == "B" && counts_memory(column.name);
  if (column.source == ResultColumn::Source::setting)
    facts.real = setting_columns()[column.index].kind == SettingColumn::Kind::real;
  if (column.source != ResultColumn::Source::metric) return facts;
  const auto& metric = metric_columns()[column.index];
  facts.meaning = metric.meaning;
  facts.real = metric.kind == MetricColumn::Kind::real;
  facts.percent = metric.percent;
  facts.maximize = metric.maximize;
  facts.answer = metric.answer;
  facts.tabled = metric.tabled;
  return facts;
}

/// The time of a row, or infinity where it has none.
double ranked_time(const Evaluation& row) {
  const auto time = row.training_time_ps >= 0 ? row.training_time_ps : row.collective_time_ps;
  return row.status == PointStatus::ok && time >= 0 ? static_cast<double>(time)
                                                    : std::numeric_limits<double>::infinity();
}

/// The best row of each group of rows that agree in as many settings as leave at most `most` groups, those with few
/// values first. The numbers of their rows are added to `sizes`, in the order of the rows that are returned.
Rows best_of_groups(const ResultView& view, const Rows& rows, std::size_t most, std::vector<std::int64_t>& sizes) {
  std::vector<std::pair<std::size_t, std::size_t>> settings;  // number of values, column of the table
  const auto& texts = view.table().settings;
  for (std::size_t s = 0; s < setting_columns().size(); ++s) {
    std::set<std::string_view> values;
    for (const auto row : rows) values.insert(texts[row][s]);
    if (values.size() > 1) settings.emplace_back(values.size(), s);
  }
  std::ranges::sort(settings);
  std::vector<std::size_t> group(view.rows(), 0);
  std::size_t groups = 1;
  for (const auto& [values, s] : settings) {
    std::map<std::pair<std::size_t, std::string_view>, std::size_t> finer;
    std::vector<std::size_t> next(view.rows(), 0);
    for (const auto row : rows) next[row] = finer.try_emplace({group[row], texts[row][s]}, finer.size()).first->second;
    if (finer.size() > most) continue;
    group = std::move(next);
    groups = finer.size();
  }
  std::vector<std::size_t> best(groups, view.rows());
  std::vector<std::int64_t> counts(groups, 0);
  for (const auto row : rows) {
    auto& leader = best[group[row]];
    ++counts[group[row]];
    if (leader == view.rows() || ranked_time(view.table().rows[row]) < ranked_time(view.table().rows[leader]))
      leader = row;
  }
  for (std::size_t g = 0; g < groups; ++g) sizes.push_back(counts[g]);
  return best;
}

/// What the folder says of its study and its runs.
void add_folder(const fs::path& dir, ReportContent& content, std::vector<std::string>& front) {
  const auto text = read_study_text(dir);
  if (!text) return;
  content.study = *text;
  const auto study = read_stored_study(dir, vocabulary());
  if (!study) return;
  content.title = study->name;
  content.asked.emplace_back("points", fmt::format("{}", study->points.size()));
  for (const auto& objective : study->search.pareto) front.push_back(objective.metric);
  const auto status = read_folder_status(dir, *study);
  if (!status) return;
  content.run.emplace_back("tenex", status->identity.version);
  content.run.emplace_back("physics", fmt::format("{}", status->identity.physics));
  content.run.emplace_back("runs", fmt::format("{}", status->identity.incarnation));
  std::set<std::string> hosts;
  for (const auto& rank : status->ranks) hosts.insert(rank.host);
  content.run.emplace_back(
      "last run", fmt::format("{} on {}", counted(status->ranks.size(), "rank"), counted(hosts.size(), "host")));
  double seconds = 0;
  for (const auto& row : status->rows) seconds += row.evaluation_seconds;
  content.run.emplace_back("evaluation", fmt::format("{:.3g} s in all", seconds));
  if (status->rows.size() < study->points.size())
    content.run.emplace_back("points without a row", fmt::format("{}", study->points.size() - status->rows.size()));
}

void add_statuses(const ResultView& view, const Rows& rows, ReportContent& content) {
  std::map<std::string, std::size_t> counts;
  std::size_t verified = 0;
  for (const auto row : rows) {
    const auto& evaluation = view.table().rows[row];
    ++counts[std::string(metric_columns()[0].flags[static_cast<std::size_t>(evaluation.status)])];
    verified += evaluation.verified == Verified::yes ? 1 : 0;
  }
  content.asked.emplace_back("rows", fmt::format("{}", rows.size()));
  for (const auto& [status, count] : counts) content.asked.emplace_back(status, fmt::format("{}", count));
  content.asked.emplace_back("verified", fmt::format("{}", verified));
}

Status write_report(const ResultView& view, const ReportArguments& arguments, bool folder) {
  const auto all = view.select(arguments.where, {"--where", 1, 1});
  if (!all) return all.errors();
  ReportContent content;
  content.title = arguments.dir.filename().string();
  std::vector<std::string> front;
  if (folder) add_folder(arguments.dir, content, front);
  for (const auto& name : front) content.front.push_back(name);
  add_statuses(view, *all, content);
  if (!arguments.where.empty()) content.asked.emplace_back("only rows where", arguments.where);
  std::vector<std::int64_t> sizes;
  const Rows rows = all->size() > kMostReportedRows ? best_of_groups(view, *all, kMostReportedRows, sizes) : *all;
  content.rows = rows.size();
  content.all_rows = all->size();
  for (const auto& column : view.columns()) content.columns.push_back(facts_of(column));
  const std::size_t counts = content.columns.size();
  if (!sizes.empty())
    content.columns.push_back(
        {"rows_of_group", "rows", "", "metric", "rows of which this is the fastest", false, false, false, false, 0, 1});
  content.cell = [&](std::size_t column, std::size_t row) -> ReportCell {
    if (column == counts) return sizes[row];
    return view.cell(view.columns()[column], rows[row]);
  };
  content.is_default = [&](std::size_t column, std::size_t row) {
    return column != counts && is_default(view, view.columns()[column], rows[row]);
  };
  content.limited_by = [&](std::size_t row) { return limit_of(view.table().rows[rows[row]]); };
  content.bound_meaning = [&](std::size_t row) {
    return std::string(meaning_of_bound(view.table().rows[rows[row]].bound_name));
  };
  const auto page = report_page(content);
  if (!page) return page.errors();
  return write_file_atomically(arguments.out, *page);
}

}  // namespace

ExitCode execute(const ReportArguments& arguments) {
  if (const auto place = check_output_file(arguments.out, {"--out", 0, 0}); !place) return refuse(place.errors());
  const bool folder = arguments.dir.extension() != ".h5";
  const auto file = folder ? arguments.dir / "study.h5" : arguments.dir;
  if (const auto merged = check_merged(arguments.dir, file); !merged) return refuse(merged.errors());
  auto table = read_result(file);
  if (!table) return refuse(table.errors());
  const ResultView view(std::move(table).value());
  if (const auto written = write_report(view, arguments, folder); !written) return refuse(written.errors());
  fmt::print("{}\n", arguments.out.string());
  return ExitCode::done;
}

}  // namespace tenex::cli
