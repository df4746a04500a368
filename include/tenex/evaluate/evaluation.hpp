// Evaluation: the results of a design point, stored as one row.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tenex/base/quantity.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex {

/// How a point ended. Only `ok` rows have metrics.
enum class PointStatus : std::uint8_t {
  ok,
  infeasible,  ///< the point contradicts itself (S < n*c, a group outside the topology, a disconnected topology, ...)
  out_of_memory,  ///< planned bytes exceed the limit
  unsupported,    ///< this version cannot evaluate it
  failed,         ///< an invariant broke: invalid schedule, time below the bound; a defect of tenex
  pruned,         ///< left out by the study's search after a cheap valuation; never evaluated in full
};

enum class Verified : std::uint8_t { no, yes, skipped };

/// Absent integers are -1, absent doubles NaN.
struct Evaluation {
  PointStatus status = PointStatus::failed;
  std::string reason;  ///< why the row is not ok; of an ok row, what was left out

  std::int64_t npus = -1;
  std::int64_t links = -1;          ///< of the point's transformed topology
  std::int64_t unwound_degree = 0;  ///< of the switches; 0: none was unwound
  std::int64_t failed_links = -1;   ///< directed links that have failed, those of failed NPUs and switches included
  std::int64_t failed_npus = -1;
  std::int64_t chunks = -1;       ///< of all groups
  std::int64_t chunk_bytes = -1;  ///< the largest
  std::int64_t sends = -1;        ///< hops over links
  std::int64_t steps = -1;  ///< collective time / hop time, if all hops take equally long and the quotient is whole
  std::int64_t waste = -1;  ///< deliveries that nobody needed
  std::string engine;  ///< a synthesizer's engine, or the simulator's backend: "congestion_aware", "congestion_unaware"
  std::string
      simulation_engine;  ///< of a program: "window", "static_order", "trains", "orbit", "wires"; otherwise empty
  std::string destination_order;    ///< of a program: "relative", "absolute"
  std::string chosen_algorithm;     ///< of `auto` and `best`: the fastest
  std::int64_t candidates = -1;     ///< of `auto` and `best`: how many have a time
  std::int64_t chosen_chunks = -1;  ///< of `chunks = "auto"`
  std::string schedule_hash;        ///< of the verified stream, 16 hexadecimal digits; empty if there is none

  std::int64_t collective_time_ps = -1;
  std::int64_t time_with_overlap_ps = -1;     ///< All-Reduce only
  std::int64_t time_without_overlap_ps = -1;  ///< All-Reduce only
  std::string overlap_method;                 ///< as in Synthesis
  std::int64_t bound_ps = -1;
  std::string bound_name = "none";
  /// The schedules of which the bound and `optimal` speak: "all", or "single_chunks", whose sends carry one chunk each.
  std::string bound_class;
  /// Bound / time; absent if times are not bounded (congestion_unaware).
  double efficiency = std::numeric_limits<double>::quiet_NaN();
  std::int64_t paper_ideal_ps = -1;
  double algbw_bytes_per_s = std::numeric_limits<double>::quiet_NaN();
  double busbw_bytes_per_s = std::numeric_limits<double>::quiet_NaN();
  Verified verified = Verified::no;
  std::string reduction_check;  ///< "none", "in_tree", "exact_sets"
  std::int64_t memory_planned_bytes = -1;
  // Of synthesizers that route chunks one by one (pccl's engine `paths`).
  std::int64_t searched_time_ps = -1;  ///< the time before the passes that follow the search
  std::int64_t retime_gain_ps = -1;
  std::int64_t reroute_gain_ps = -1;
  std::int64_t rerouted = -1;  ///< conditions that were routed again
  // Of synthesizers with solvers (SolverReport).
  std::int64_t epochs = -1;
  std::int64_t epoch_ps = -1;
  std::int64_t optimal = -1;  ///< 1: it is proven that no schedule of bound_class ends sooner
  double optimality_gap = std::numeric_limits<double>::quiet_NaN();
  std::int64_t clock_ended = -1;  ///< 1: solver_time_limit ended a search; another run may have another result
  // Of synthesizers for which switches were unwound: the same schedule played on the switches (play_on_switches()).
  std::int64_t switched_time_ps = -1;
  std::int64_t switched_bound_ps = -1;  ///< of any schedule on the network with switches

  // Of trees: 1 - efficiency = 1 - (1 - rate_loss) * (1 - filling_loss). What trees put on the busiest link takes M, or
  // the bound if it is longer: rate_loss is 1 - bound / M, filling_loss 1 - M / time.
  double rate_loss = std::numeric_limits<double>::quiet_NaN();
  double filling_loss = std::numeric_limits<double>::quiet_NaN();

  // For training points. Their collective_time_ps is absent; their bound and efficiency refer to training_time_ps.
  std::int64_t training_time_ps = -1;  ///< one iteration
  std::int64_t forward_compute_ps = -1;
  std::int64_t input_gradient_compute_ps = -1;
  std::int64_t weight_gradient_compute_ps = -1;
  std::int64_t forward_exposed_ps = -1;  ///< communication that the NPUs wait for
  std::int64_t input_gradient_exposed_ps = -1;
  std::int64_t weight_gradient_exposed_ps = -1;
  std::int64_t bubble_ps = -1;                             ///< the pipeline's fill and drain
  std::string mapping;                                     ///< the dimensions that each process group takes, as text
  std::vector<std::int64_t> chosen_bandwidth_bytes_per_s;  ///< per NPU and dimension
  double network_cost_usd = std::numeric_limits<double>::quiet_NaN();
  double perf_per_cost = std::numeric_limits<double>::quiet_NaN();  ///< 1 / (seconds * dollars)
  double relative_gap = std::numeric_limits<double>::quiet_NaN();   ///< of the optimizer's objective, proven
  double objective = std::numeric_limits<double>::quiet_NaN();  ///< the value that the scheme minimized: s, or s * USD
  /// Of the whole machine; absent where the workload does not say how many sequences it is for (a table of layers).
  double samples_per_s = std::numeric_limits<double>::quiet_NaN();
  double tokens_per_s = std::numeric_limits<double>::quiet_NaN();
  /// Model FLOPs per second over the FLOP/s of all NPUs (the key `compute`).
  double model_flop_utilization = std::numeric_limits<double>::quiet_NaN();
  std::int64_t split_exact = -1;  ///< 1: the chosen bandwidths meet every constraint in whole numbers

  // Measured values: they differ between runs and are left out of every comparison.
  std::int64_t threads = -1;  ///< threads that the point was given
  double synthesis_seconds = 0;
  double solver_seconds = -1;  ///< in solvers; -1: there were none
  double simulation_seconds = 0;
  double verification_seconds = 0;
  double evaluation_seconds = 0;     ///< the whole point
  std::int64_t peak_rss_bytes = -1;  ///< only if the point had the process to itself

  // Lists of variable length, on request.
  std::vector<std::int64_t> group_times_ps;  ///< one per process group: its last useful arrival
  std::vector<LinkLoad> link_loads;          ///< one per link
  std::int64_t utilization_bin_ps = -1;      ///< width of a bin
  std::vector<std::int64_t> utilization_ps;  ///< per bin: busy time of all links
  std::vector<Delivery> arrivals;            ///< every delivery, in order of time
};

/// One scalar column of the result file.
struct MetricColumn {
  enum class Kind : std::uint8_t { integer, real, text, flags, list };  ///< list: an integer per dimension
  std::string_view name;
  Kind kind;
  std::string_view units;               ///< "ps", "B", "B/s", "s" or ""
  std::string_view meaning;             ///< one line: the attribute long_name
  bool measured;                        ///< differs between runs; not compared
  std::vector<std::string_view> flags;  ///< for Kind::flags: meanings of 0, 1, 2, ...
  bool training = false;                ///< only training points have it; a study without any lacks the column
  std::string_view former = {};         ///< the name in schema 1 of results, if it differed
  bool later = false;                   ///< files of older versions lack it: it is absent for their points
  /// Whether a file may lack the column.
  [[nodiscard]] bool may_lack() const { return training || later; }
};

/// A cell: int64 for integer and flags, double, text, or an int64 per dimension.
using MetricValue = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>>;

/// The frozen table of metric columns, in file order.
[[nodiscard]] const std::vector<MetricColumn>& metric_columns();
/// The value of one column. `column` indexes metric_columns().
[[nodiscard]] MetricValue metric_value(const Evaluation& evaluation, std::size_t column);
/// Sets a field from a column's value (reading rows back).
void set_metric(Evaluation& evaluation, std::size_t column, const MetricValue& value);

}  // namespace tenex
