// The table of metric columns: for each field of Evaluation its name, unit and meaning in files.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "tenex/base/diagnostic.hpp"
#include "tenex/bound/bound.hpp"
#include "tenex/evaluate/evaluation.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {
namespace {

using Kind = MetricColumn::Kind;
using Member = std::variant<std::int64_t Evaluation::*, double Evaluation::*, std::string Evaluation::*,
                            PointStatus Evaluation::*, Verified Evaluation::*, std::vector<std::int64_t> Evaluation::*>;

struct Field {
  MetricColumn column;
  Member member;
};

std::vector<std::string_view> bound_flags() {
  std::vector<std::string_view> names{"none"};
  for (const auto& method : bound_methods()) names.push_back(method.name);
  // Those of training follow the first eleven: files store flags as numbers, and later bounds come last.
  constexpr std::ptrdiff_t kFirstOfTraining = 12;
  names.insert(names.begin() + kFirstOfTraining, {"total_bandwidth", "optimizer", "collectives"});
  return names;
}

/// Files store flags as numbers, so the first eight names keep their positions; the engines of other synthesizers
/// follow. A synthesizer without named engines is listed by its own name. Builds with and without solvers have the same
/// names.
std::vector<std::string_view> engine_flags() {
  std::vector<std::string_view> names{"",      "event_driven", "reference", "congestion_aware", "congestion_unaware",
                                      "exact", "coarse",       "symmetric"};
  const auto add = [&](std::string_view name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  };
  for (const auto& synthesizer : synthesizers()) {
    for (const auto engine : synthesizer.engines) add(engine);
    for (const auto maker : synthesizer.makers) add(maker);
    if (synthesizer.engines.empty() && synthesizer.makers.empty()) add(synthesizer.name);
  }
  for (const auto maker : solver_makers()) add(maker);
  return names;
}

std::vector<Field> outcome_fields() {
  MetricColumn bound_class{"bound_class",
                           Kind::flags,
                           "",
                           "the schedules of which bound_ps and optimal speak: all, or those whose sends carry one "
                           "chunk each",
                           false,
                           {"", "single_chunks", "all"}};
  bound_class.later = true;
  return {
      {{"status",
        Kind::flags,
        "",
        "how the point ended",
        false,
        {"ok", "infeasible", "out_of_memory", "unsupported", "failed", "pruned"}},
       &Evaluation::status},
      {{"reason", Kind::text, "", "why the point has no metrics, or what was left out for lack of memory", false, {}},
       &Evaluation::reason},
      {{"verified",
        Kind::flags,
        "",
        "the timed stream was replayed against the definition of validity",
        false,
        {"no", "yes", "skipped"}},
       &Evaluation::verified},
      {{"reduction_check",
        Kind::flags,
        "",
        "how sums were checked",
        false,
        {"", "none", "in_tree", "exact_sets", "skipped"}},
       &Evaluation::reduction_check},
      {{"engine", Kind::flags, "", "the engine that made the timed stream", false, engine_flags()},
       &Evaluation::engine},
      {{"overlap_method",
        Kind::flags,
        "",
        "All-Reduce of a synthesizer: re-timed, in another order on links, proven to gain nothing, not overlapped for "
        "lack of memory or of room in switches, or by a tree for each chunk, which has no phases",
        false,
        {"", "retimed", "no_gain", "no_memory", "reordered", "no_room", "trees"}},
       &Evaluation::overlap_method},
      {{"bound_name", Kind::flags, "", "the lower bound that binds", false, bound_flags()}, &Evaluation::bound_name},
      {std::move(bound_class), &Evaluation::bound_class},
      {{"simulation_engine",
        Kind::flags,
        "",
        "the engine that simulated a program; it never changes a result",
        false,
        {"", "window", "static_order", "trains", "orbit", "wires"}},
       &Evaluation::simulation_engine},
      {{"destination_order",
        Kind::flags,
        "",
        "the order in which a program's NPUs take their peers",
        false,
        {"", "relative", "absolute"}},
       &Evaluation::destination_order},
      {{"chosen_algorithm", Kind::text, "", "the fastest algorithm, if algorithm is auto or best", false, {}},
       &Evaluation::chosen_algorithm},
      {{"candidates", Kind::integer, "", "number of algorithms that auto or best timed", false, {}},
       &Evaluation::candidates},
      {{"schedule_hash", Kind::text, "", "XXH3-64 of the timed stream", false, {}}, &Evaluation::schedule_hash},
  };
}

std::vector<Field> result_fields() {
  const auto added = [](std::string_view name, std::string_view units, std::string_view meaning,
                        std::int64_t Evaluation::*member) {
    MetricColumn column{name, Kind::integer, units, meaning, false, {}};
    column.later = true;
    return Field{column, member};
  };
  const auto share = [](std::string_view name, std::string_view meaning, double Evaluation::*member) {
    MetricColumn column{name, Kind::real, "", meaning, false, {}};
    column.later = true;
    return Field{column, member};
  };
  return {
      {{"npus", Kind::integer, "", "NPUs of the topology", false, {}}, &Evaluation::npus},
      {{"total_links", Kind::integer, "", "directed links of the transformed topology", false, {}}, &Evaluation::links},
      {{"unwound_degree", Kind::integer, "", "degree to which switches were unwound (0: not)", false, {}},
       &Evaluation::unwound_degree},
      {{"total_chunks", Kind::integer, "", "chunks of all process groups", false, {}}, &Evaluation::chunks},
      {{"chunk_bytes", Kind::integer, "B", "size of the largest chunk", false, {}}, &Evaluation::chunk_bytes},
      {{"sends", Kind::integer, "", "hops over links", false, {}}, &Evaluation::sends},
      {{"steps", Kind::integer, "", "collective time in hops, if all hops take equally long", false, {}},
       &Evaluation::steps},
      {{"waste", Kind::integer, "", "deliveries that nobody needed", false, {}}, &Evaluation::waste},
      {{"collective_time_ps", Kind::integer, "ps", "last useful arrival", false, {}}, &Evaluation::collective_time_ps},
      {{"time_with_overlap_ps", Kind::integer, "ps", "All-Reduce: gathers begin as reductions end", false, {}},
       &Evaluation::time_with_overlap_ps},
      {{"time_without_overlap_ps", Kind::integer, "ps", "All-Reduce: all reductions, then all gathers", false, {}},
       &Evaluation::time_without_overlap_ps},
      {{"bound_ps",
        Kind::integer,
        "ps",
        "proven lower bound on the collective (or training) time; absent for congestion_unaware",
        false,
        {}},
       &Evaluation::bound_ps},
      {{"efficiency",
        Kind::real,
        "",
        "bound / time; absent for congestion_unaware, whose times are not bounded",
        false,
        {}},
       &Evaluation::efficiency},
      {{"paper_ideal_ps", Kind::integer, "ps", "Ideal of the TACOS paper, section V-A (not a bound)", false, {}},
       &Evaluation::paper_ideal_ps},
      {{"algbw_bytes_per_s", Kind::real, "B/s", "collective size / collective time", false, {}, false, "algbw"},
       &Evaluation::algbw_bytes_per_s},
      {{"busbw_bytes_per_s", Kind::real, "B/s", "algbw times nccl-tests' bus factor", false, {}, false, "busbw"},
       &Evaluation::busbw_bytes_per_s},
      {{"memory_planned_bytes", Kind::integer, "B", "memory planned before the point was run", false, {}},
       &Evaluation::memory_planned_bytes},
      added("searched_time_ps", "ps", "pccl's paths: the time before retime and reroute",
            &Evaluation::searched_time_ps),
      added("retime_gain_ps", "ps", "pccl's paths: what starting sends earlier saves", &Evaluation::retime_gain_ps),
      added("reroute_gain_ps", "ps", "pccl's paths: what routing chunks again saves", &Evaluation::reroute_gain_ps),
      added("rerouted", "", "pccl's paths: conditions that were routed again", &Evaluation::rerouted),
      added("failed_links", "", "directed links that have failed, those of failed NPUs and switches included",
            &Evaluation::failed_links),
      added("failed_npus", "", "NPUs that have failed", &Evaluation::failed_npus),
      added("switched_time_ps", "ps", "the schedule for unwound switches, played on the switches",
            &Evaluation::switched_time_ps),
      added("switched_bound_ps", "ps", "proven lower bound on the collective time on the switches",
            &Evaluation::switched_bound_ps),
      added("chosen_chunks", "", "the best number of chunks, if chunks is auto", &Evaluation::chosen_chunks),
      added("epochs", "", "epochs of the schedule in a solver's model", &Evaluation::epochs),
      added("epoch_ps", "ps", "the length of an epoch", &Evaluation::epoch_ps),
      added("optimal", "", "1 if it is proven that no schedule of bound_class ends sooner", &Evaluation::optimal),
      added("clock_ended", "", "1 if solver_time_limit ended a search, so that other runs may have other results",
            &Evaluation::clock_ended),
      share("optimality_gap", "1 - proven lower bound / time", &Evaluation::optimality_gap),
      share("rate_loss", "trees: 1 - bound / time of the busiest link", &Evaluation::rate_loss),
      share("filling_loss", "trees: 1 - time of the busiest link / time, while pipelines fill and drain",
            &Evaluation::filling_loss),
  };
}

/// Columns of training points.
std::vector<Field> training_fields() {
  const auto time = [](std::string_view name, std::string_view meaning, std::int64_t Evaluation::*member) {
    return Field{{name, Kind::integer, "ps", meaning, false, {}, true}, member};
  };
  const auto added = [](std::string_view name, std::string_view units, std::string_view meaning,
                        double Evaluation::*member) {
    MetricColumn column{name, Kind::real, units, meaning, false, {}, true};
    column.later = true;
    return Field{column, member};
  };
  return {
      time("training_time_ps", "one training iteration", &Evaluation::training_time_ps),
      time("forward_compute_ps", "forward passes", &Evaluation::forward_compute_ps),
      time("input_gradient_compute_ps", "gradients of the inputs", &Evaluation::input_gradient_compute_ps),
      time("weight_gradient_compute_ps", "gradients of the weights", &Evaluation::weight_gradient_compute_ps),
      time("forward_exposed_ps", "communication that forward passes wait for", &Evaluation::forward_exposed_ps),
      time("input_gradient_exposed_ps", "waits for communication of the inputs' gradients",
           &Evaluation::input_gradient_exposed_ps),
      time("weight_gradient_exposed_ps", "waits for communication of the weights' gradients",
           &Evaluation::weight_gradient_exposed_ps),
      time("bubble_ps", "the pipeline's fill and drain", &Evaluation::bubble_ps),
      {{"mapping", Kind::text, "", "the dimensions that each process group takes", false, {}, true},
       &Evaluation::mapping},
      {{"chosen_bandwidth_bytes_per_s",
        Kind::list,
        "B/s",
        "bandwidth per NPU and dimension",
        false,
        {},
        true,
        "chosen_bandwidth"},
       &Evaluation::chosen_bandwidth_bytes_per_s},
      {{"network_cost_usd", Kind::real, "USD", "cost of links, switches and NICs", false, {}, true},
       &Evaluation::network_cost_usd},
      {{"perf_per_cost_per_s_usd",
        Kind::real,
        "1/(s*USD)",
        "iterations per second and dollar",
        false,
        {},
        true,
        "perf_per_cost"},
       &Evaluation::perf_per_cost},
      {{"relative_gap", Kind::real, "", "(objective - proven lower bound) / objective, of the scheme", false, {}, true},
       &Evaluation::relative_gap},
      {{"objective", Kind::real, "", "the value that the scheme minimized: s, or s * USD", false, {}, true},
       &Evaluation::objective},
      {{"split_exact",
        Kind::integer,
        "",
        "1: the chosen bandwidths meet every constraint in whole numbers",
        false,
        {},
        true},
       &Evaluation::split_exact},
      added("samples_per_s", "1/s", "sequences per second of the whole machine, if the workload states its batch",
            &Evaluation::samples_per_s),
      added("tokens_per_s", "1/s", "tokens per second of the whole machine, if the workload states its batch",
            &Evaluation::tokens_per_s),
      added("model_flop_utilization", "",
            "MFU: model FLOPs per second / (the key compute times NPUs), as in PaLM, section 4.1",
            &Evaluation::model_flop_utilization),
  };
}

std::vector<Field> measured_fields() {
  MetricColumn solver{"solver_seconds", Kind::real, "s", "wall time in solvers", true, {}};
  solver.later = true;
  return {
      {solver, &Evaluation::solver_seconds},
      {{"threads", Kind::integer, "", "threads that the point was given", true, {}}, &Evaluation::threads},
      {{"synthesis_seconds", Kind::real, "s", "wall time of synthesis, or of scaling a cached schedule", true, {}},
       &Evaluation::synthesis_seconds},
      {{"simulation_seconds", Kind::real, "s", "wall time of simulation", true, {}}, &Evaluation::simulation_seconds},
      {{"verification_seconds", Kind::real, "s", "wall time of verification", true, {}},
       &Evaluation::verification_seconds},
      {{"evaluation_seconds", Kind::real, "s", "wall time of the whole point", true, {}},
       &Evaluation::evaluation_seconds},
      {{"peak_rss_bytes", Kind::integer, "B", "peak memory, only if the point had the process to itself", true, {}},
       &Evaluation::peak_rss_bytes},
  };
}

const std::vector<Field>& fields() {
  static const std::vector<Field> table = [] {
    auto all = outcome_fields();
    for (auto& field : result_fields()) all.push_back(std::move(field));
    for (auto& field : training_fields()) all.push_back(std::move(field));
    for (auto& field : measured_fields()) all.push_back(std::move(field));
    return all;
  }();
  return table;
}

std::int64_t flag_of(const MetricColumn& column, std::string_view text) {
  const auto found = std::ranges::find(column.flags, text);
  ensure(found != column.flags.end(), "a flag column has a value outside its table");
  return found - column.flags.begin();
}

}  // namespace

const std::vector<MetricColumn>& metric_columns() {
  static const std::vector<MetricColumn> columns = [] {
    std::vector<MetricColumn> all;
    for (const auto& field : fields()) all.push_back(field.column);
    return all;
  }();
  return columns;
}

MetricValue metric_value(const Evaluation& evaluation, std::size_t column) {
  const auto& field = fields().at(column);
  return std::visit(
      [&](auto member) -> MetricValue {
        const auto& value = evaluation.*member;
        using T = std::remove_cvref_t<decltype(value)>;
        if constexpr (std::is_enum_v<T>)
          return static_cast<std::int64_t>(value);
        else if constexpr (std::is_same_v<T, std::string>)
          return field.column.kind == Kind::flags ? MetricValue(flag_of(field.column, value)) : MetricValue(value);
        else
          return value;
      },
      field.member);
}

void set_metric(Evaluation& evaluation, std::size_t column, const MetricValue& value) {
  const auto& field = fields().at(column);
  std::visit(
      [&](auto member) {
        auto& target = evaluation.*member;
        using T = std::remove_cvref_t<decltype(target)>;
        if constexpr (std::is_enum_v<T>)
          target = static_cast<T>(std::get<std::int64_t>(value));
        else if constexpr (std::is_same_v<T, std::string>)
          target = field.column.kind == Kind::flags
                       ? std::string(field.column.flags.at(static_cast<std::size_t>(std::get<std::int64_t>(value))))
                       : std::get<std::string>(value);
        else
          target = std::get<T>(value);
      },
      field.member);
}

}  // namespace tenex
