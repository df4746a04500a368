// Evaluation: the results of a design point, stored as one row.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tenex/base/quantity.hpp"
#include "tenex/schedule/run_metrics.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex {

struct DesignPoint;

/// How a point ended. Only `ok` rows have metrics.
enum class PointStatus : std::uint8_t {
  ok,
  infeasible,  ///< the point contradicts itself (S < n*c, a group outside the topology, a disconnected topology, ...)
  out_of_memory,    ///< planned bytes exceed the limit
  unsupported,      ///< this version cannot evaluate it
  failed,           ///< an invariant broke: invalid schedule, time below the bound; a defect of tenex
  pruned,           ///< left out by the study's search after a cheap valuation; never evaluated in full
  over_npu_memory,  ///< training takes more memory of an NPU than the key npu_memory gives
};
/// Whether a point is answered: every run of it ends in this way.
[[nodiscard]] constexpr bool is_final(PointStatus status) {
  return status == PointStatus::ok || status == PointStatus::over_npu_memory;
}

enum class Verified : std::uint8_t { no, yes, skipped };

/// A row. Its metrics are those of the table tenex/schedule/metrics.inc, which says what each means: the fields of
/// RunMetrics and these.
struct Evaluation : RunMetrics {
#define TENEX_METRIC(type, name, absent, ...) type name = absent;
#define TENEX_RUN_METRIC(...)
#include "tenex/schedule/metrics.inc"

  // Lists of variable length, on request.
  std::vector<std::int64_t> group_times_ps;  ///< one per process group: its last useful arrival
  std::vector<LinkLoad> link_loads;          ///< one per link
  std::int64_t utilization_bin_ps = -1;      ///< width of a bin
  std::vector<std::int64_t> utilization_ps;  ///< per bin: busy time of all links
  std::vector<Delivery> arrivals;            ///< every delivery, in order of time
};

/// The points whose rows may have a metric.
struct MetricOwners {
  bool (*may_have)(const DesignPoint&);
  std::string_view whose;  ///< "points that run a collective"
};

/// A metric: a scalar column of the result file, and a key of reports. All facts about it but its value.
struct MetricColumn {
  enum class Kind : std::uint8_t { integer, real, text, flags, list };  ///< list: an integer per dimension
  std::string_view name = {};
  Kind kind = Kind::integer;                 ///< from the type of its field
  std::string_view units = {};               ///< "ps", "B", "B/s", "s" or ""
  std::string_view meaning = {};             ///< one line: the attribute long_name
  std::vector<std::string_view> flags = {};  ///< for Kind::flags: meanings of 0, 1, 2, ...
  bool measured = false;                     ///< differs between runs; not compared
  bool training = false;                     ///< only training points have it; a study without any lacks the column
  std::string_view former = {};              ///< the name in schema 1 of results, if it differed
  bool later = false;                        ///< files of older versions lack it: it is absent for their points
  bool in_seconds = false;                   ///< files repeat it in seconds
  bool percent = false;                      ///< a share, which people read in percent
  bool truth = false;                        ///< reports say true and false for "yes" and "no", or 1 and 0
  bool maximize = false;                     ///< of an objective more is better
  bool early = false;                        ///< a cheap estimate of the time gives it, with the point's bandwidths
  const MetricOwners* owners = nullptr;      ///< null: all points, or all that train
  std::string_view key = {};  ///< in reports, where the setting with the column's name has it; empty: the name
  /// Whether the report of a one-shot command has it, given whether the row has a value.
  bool (*reported)(const DesignPoint&, bool has_value) = if_present;
  int answer = 0;  ///< its place among the answers with which a report of a row begins; 0: none
  int tabled = 0;  ///< its place among the usual columns of `tenex show`; 0: none

  /// Whether a file may lack the column.
  [[nodiscard]] bool may_lack() const { return training || later; }
  /// MetricColumn::reported where a value is all that counts.
  static bool if_present(const DesignPoint& /*point*/, bool has_value) { return has_value; }
};

/// A cell: int64 for integer and flags, double, text, or an int64 per dimension.
using MetricValue = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>>;

/// The frozen table of metric columns, in file order.
[[nodiscard]] const std::vector<MetricColumn>& metric_columns();
/// The value of one column. `column` indexes metric_columns().
[[nodiscard]] MetricValue metric_value(const Evaluation& evaluation, std::size_t column);
/// The metrics that have a place in MetricColumn::answer or MetricColumn::tabled, in its order.
[[nodiscard]] std::vector<std::size_t> placed_metrics(int MetricColumn::*place);
/// Sets a field from a column's value (reading rows back).
void set_metric(Evaluation& evaluation, std::size_t column, const MetricValue& value);

}  // namespace tenex
