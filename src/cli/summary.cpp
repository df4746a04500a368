#include "summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>
#include <utility>
#include <vector>

#include "report.hpp"
#include "tenex/base/units.hpp"
#include "tenex/design/design_point.hpp"
#include "tenex/store/store.hpp"

namespace tenex::cli {
namespace {

struct Tally {
  std::size_t points = 0;
  std::size_t verified = 0;
  std::size_t at_bound = 0;
  std::size_t not_ok = 0;
  std::size_t measured = 0;
  double log_efficiency = 0;
  double least_efficiency = std::numeric_limits<double>::infinity();
  double best_algbw = 0;
};

std::size_t setting_index(std::string_view name) {
  const auto found = std::ranges::find(settings(), name, &Setting::name);
  ensure(found != settings().end(), "a summary column is no setting");
  return static_cast<std::size_t>(found - settings().begin());
}

void count(Tally& tally, const Evaluation& row) {
  ++tally.points;
  if (row.status != PointStatus::ok) {
    ++tally.not_ok;
    return;
  }
  if (row.verified == Verified::yes) ++tally.verified;
  // A row without an efficiency is not held to its bound (congestion_unaware).
  if (!std::isnan(row.efficiency) && row.collective_time_ps == row.bound_ps) ++tally.at_bound;
  if (!std::isnan(row.efficiency) && row.efficiency > 0) {
    ++tally.measured;
    tally.log_efficiency += std::log(row.efficiency);
    tally.least_efficiency = std::min(tally.least_efficiency, row.efficiency);
  }
  if (!std::isnan(row.algbw_bytes_per_s)) tally.best_algbw = std::max(tally.best_algbw, row.algbw_bytes_per_s);
}

std::vector<std::string> table_row(const std::string& name, const Tally& tally) {
  const auto measured = static_cast<double>(tally.measured);
  return {name,
          fmt::format("{}", tally.points),
          fmt::format("{}", tally.verified),
          fmt::format("{}", tally.not_ok),
          fmt::format("{}", tally.at_bound),
          tally.measured > 0 ? fmt::format("{:.1f} %", 100 * std::exp(tally.log_efficiency / measured)) : "-",
          tally.measured > 0 ? fmt::format("{:.1f} %", 100 * tally.least_efficiency) : "-",
          tally.best_algbw > 0 ? to_rounded_rate(tally.best_algbw) : "-"};
}

}  // namespace

Result<std::string> summarize(const std::filesystem::path& file) {
  const auto table = read_result(file);
  if (!table) return table.errors();
  const auto collective = setting_index("collective");
  const auto algorithm = setting_index("algorithm");
  std::map<std::string, Tally> tallies;
  Tally all;
  for (std::size_t i = 0; i < table->rows.size(); ++i) {
    const auto& words = table->settings[i];
    count(tallies[words[collective] + "  " + words[algorithm]], table->rows[i]);
    count(all, table->rows[i]);
  }
  std::vector<std::vector<std::string>> rows{{"collective, algorithm", "points", "verified", "not ok", "at bound",
                                              "geometric mean efficiency", "least", "best algbw"}};
  for (const auto& [name, tally] : tallies) rows.push_back(table_row(name, tally));
  rows.push_back(table_row("all", all));
  return format_table(rows);
}

}  // namespace tenex::cli
