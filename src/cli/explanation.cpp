// Why a row has its status, engine, bound and time.
#include "explanation.hpp"

#include <fmt/format.h>

#include "report.hpp"
#include "tenex/base/units.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/design/design_point.hpp"

namespace tenex::cli {

bool is_default(const ResultView& view, const ResultColumn& column, std::size_t row) {
  if (column.source == ResultColumn::Source::seed)
    return view.table().seed[row] == static_cast<std::int64_t>(DesignPoint().seed);
  if (column.source != ResultColumn::Source::setting) return false;
  return is_default_text(setting_columns()[column.index], view.table().settings[row][column.index]);
}

std::string_view meaning_of_bound(std::string_view name) {
  for (const auto& method : bound_methods())
    if (method.name == name) return method.description;
  return {};
}

std::string limit_of(const Evaluation& row) {
  if (row.status != PointStatus::ok) return "the point has no time";
  if (row.efficiency != row.efficiency) return "its times are not compared with a bound";
  const bool trains = row.training_time_ps >= 0;
  const auto time = trains ? row.training_time_ps : row.collective_time_ps;
  const auto meaning = meaning_of_bound(row.bound_name);
  const auto network = meaning.empty() ? fmt::format("the bound {}", row.bound_name) : std::string(meaning);
  if (time == row.bound_ps)
    return fmt::format("the network: no schedule {}is faster ({})",
                       row.bound_class == "single_chunks" ? "whose sends carry one chunk each " : "", network);
  auto text = fmt::format("the network for {} of the time ({}); a better schedule saves {} at most",
                          percent_text(row.efficiency), network, to_rounded(picoseconds(time - row.bound_ps)));
  if (row.rate_loss == row.rate_loss)
    text += fmt::format(
        "; the busiest link has {:.1f} % more than the bound's share, and filling and draining take "
        "{:.1f} %",
        100 * row.rate_loss, 100 * row.filling_loss);
  if (trains) {
    const auto compute = row.forward_compute_ps + row.input_gradient_compute_ps + row.weight_gradient_compute_ps;
    const auto exposed = row.forward_exposed_ps + row.input_gradient_exposed_ps + row.weight_gradient_exposed_ps;
    text =
        fmt::format("computation {:.1f} %, exposed communication {:.1f} %, the pipeline's bubble {:.1f} % of the time",
                    100.0 * static_cast<double>(compute) / static_cast<double>(time),
                    100.0 * static_cast<double>(exposed) / static_cast<double>(time),
                    100.0 * static_cast<double>(row.bubble_ps) / static_cast<double>(time));
  }
  return text;
}

std::string explanation(const ResultView& view, std::size_t row, bool json) {
  Report report;
  const auto add = [&](const ResultColumn& column) {
    const auto value = view.cell(column, row);
    if (value.index() == 0 || (!json && is_default(view, column, row))) return;
    if (json)
      std::visit([&](const auto& exact_value) { report.add(std::string(column.name), exact_value); }, value);
    else
      report.add(std::string(column.short_name()), shown(column, value));
  };
  const auto is_answer = [](const ResultColumn& column) {
    return column.source == ResultColumn::Source::key ||
           (column.source == ResultColumn::Source::metric && metric_columns()[column.index].answer > 0);
  };
  report.add("key", view.table().key[row]);
  for (const auto metric : placed_metrics(&MetricColumn::answer)) add(view.metric(metric));
  const auto& evaluation = view.table().rows[row];
  if (const auto meaning = meaning_of_bound(evaluation.bound_name); !meaning.empty())
    report.add("bound_meaning", std::string(meaning));
  report.add("limited_by", limit_of(evaluation));
  for (const auto& column : view.columns())
    if (!is_answer(column)) add(column);
  return json ? to_json(report) : to_text(report);
}

}  // namespace tenex::cli
