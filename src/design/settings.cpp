// The settings of a point as result columns.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "design/canonical.hpp"
#include "tenex/design/design_point.hpp"

namespace tenex {

namespace {

/// A column and how to read it; exactly one of the two functions is set, as the kind says.
struct Column {
  Setting setting;
  std::string (*text)(const DesignPoint&);
  std::int64_t (*integer)(const DesignPoint&);
};

Column text_column(std::string_view name, std::string (*read)(const DesignPoint&), std::string_view units = "") {
  return {{name, Setting::Kind::text, units}, read, nullptr};
}
Column integer_column(std::string_view name, std::int64_t (*read)(const DesignPoint&), std::string_view units = "") {
  return {{name, Setting::Kind::integer, units}, nullptr, read};
}

std::string bandwidth_where(const DesignPoint& point, bool per_npu) {
  return point.topology.links.per_npu == per_npu ? comma_list(point.topology.links.bandwidth) : std::string();
}

// Which points have a setting: those that run a collective, and of those that train the ones that read it.

bool runs_collective(const DesignPoint& point) { return point.training == nullptr; }
bool simulates(const DesignPoint& point) { return runs_collective(point) || TrainingReads(*point.training).simulates; }
bool synthesizes(const DesignPoint& point) {
  return runs_collective(point) || TrainingReads(*point.training).synthesizes;
}

std::string text_if(bool has, std::string_view text) { return has ? std::string(text) : std::string(); }
std::int64_t integer_if(bool has, std::int64_t value) { return has ? value : -1; }

/// In the frozen order. A new setting goes to the end.
std::vector<Column> point_columns() {
  using P = const DesignPoint&;
  return {
      text_column("topology", [](P p) { return p.topology.text; }),
      text_column(
          "alpha", [](P p) { return comma_list(p.topology.links.alpha); }, "ps"),
      text_column(
          "bandwidth", [](P p) { return bandwidth_where(p, false); }, "B/s"),
      text_column(
          "npu_bandwidth", [](P p) { return bandwidth_where(p, true); }, "B/s"),
      integer_column("unwind", [](P p) { return integer_if(synthesizes(p), p.topology.unwind); }),
      text_column("without", [](P p) { return text_if(runs_collective(p), text_of_pairs(p.topology.without)); }),
      text_column("collective", [](P p) { return text_if(runs_collective(p), to_string(p.collective)); }),
      integer_column(
          "size", [](P p) { return integer_if(runs_collective(p), p.size.count()); }, "B"),
      integer_column("chunks", [](P p) { return integer_if(simulates(p), p.chunks); }),
      text_column("groups", [](P p) { return text_if(runs_collective(p), p.groups); }),
      integer_column("root", [](P p) { return integer_if(runs_collective(p), p.root); }),
      text_column("algorithm", [](P p) { return p.algorithm; }),
      text_column("occupancy", [](P p) { return text_if(simulates(p), to_string(p.occupancy)); }),
      integer_column("overlap", [](P p) { return integer_if(runs_collective(p), p.overlap ? 1 : 0); }),
      text_column("backend", [](P p) { return text_if(runs_collective(p), p.backend); }),
      integer_column("attempts", [](P p) { return integer_if(synthesizes(p), p.attempts); }),
      // The metric `engine` says which engine was used.
      text_column("engine_choice", [](P p) { return text_if(synthesizes(p), p.engine); }),
      integer_column("window", [](P p) { return integer_if(runs_collective(p), p.window); }),
      text_column("order", [](P p) { return text_if(runs_collective(p), p.order); }),
      text_column("stragglers", [](P p) { return text_if(runs_collective(p), to_string(p.stragglers)); }),
      // Likewise `simulation_engine`.
      text_column("simulation_engine_choice", [](P p) { return text_if(runs_collective(p), p.simulation_engine); }),
  };
}

/// "gpt3 HP-(16,256); msft_1t HP-(128,32) x2": the canonical text with the names that the user wrote for the digests.
std::string optimize_for_of(const TrainingChoice& training) {
  std::string text = training.optimize_for;
  std::size_t start = 0;
  for (const NamedFile& file : training.optimize_for_files) {
    const std::size_t end = std::min(text.find(' ', start), text.size());
    text.replace(start, end - start, file.text);
    start = text.find("; ", start);
    if (start == std::string::npos) break;
    start += 2;
  }
  return text;
}

/// A text of the choice; "" of points that run a collective.
template <auto Member>
std::string training_member(const DesignPoint& point) {
  return point.training == nullptr ? std::string() : (*point.training).*Member;
}

/// Likewise of a file: as the user named it.
template <auto Member>
std::string training_file(const DesignPoint& point) {
  return point.training == nullptr ? std::string() : ((*point.training).*Member).text;
}

/// Of points that train only; behind those above.
std::vector<Column> training_columns() {
  using P = const DesignPoint&;
  using T = TrainingChoice;
  std::vector<Column> table{
      text_column("workload", training_file<&T::workload>),
      text_column("hp", training_member<&T::hp>),
      text_column("compute", training_member<&T::compute>),
      text_column("training_loop", training_member<&T::training_loop>),
      text_column("batch_rule", training_member<&T::batch_rule>),
      // The metric `collective_time` is a time.
      text_column("collective_time_model", training_member<&T::collective_time>),
      text_column("contention", training_member<&T::contention>),
      text_column("in_network", training_member<&T::in_network>),
      text_column("scheme", training_member<&T::scheme>),
      text_column("optimize_with", training_member<&T::optimize_with>),
      text_column("optimize_for",
                  [](P p) { return p.training == nullptr ? std::string() : optimize_for_of(*p.training); }),
      integer_column(
          "total_bandwidth",
          [](P p) {
            const bool has = p.training != nullptr && p.training->total_bandwidth != Bandwidth{};
            return has ? p.training->total_bandwidth.count() : std::int64_t{-1};
          },
          "B/s"),
      text_column("split", training_member<&T::split>),
      text_column("constraints", training_member<&T::constraints>),
      text_column("cost_budget", training_member<&T::cost_budget>),
      text_column("cost_model", training_file<&T::cost_model>),
      text_column("price_level", training_member<&T::price_level>),
      text_column("dimension_kinds", training_member<&T::dimension_kinds>),
  };
  for (Column& each : table) each.setting.training = true;
  return table;
}

const std::vector<Column>& columns() {
  static const std::vector<Column> table = [] {
    std::vector<Column> all = point_columns();
    for (Column& each : training_columns()) all.push_back(each);
    return all;
  }();
  return table;
}

const Column& column(std::string_view name) {
  for (const Column& candidate : columns()) {
    if (candidate.setting.name == name) return candidate;
  }
  throw InvariantError(fmt::format("no setting is named \"{}\"", name));
}

}  // namespace

const std::vector<Setting>& settings() {
  static const std::vector<Setting> table = [] {
    std::vector<Setting> list;
    for (const Column& each : columns()) list.push_back(each.setting);
    return list;
  }();
  return table;
}

std::string text_setting(const DesignPoint& point, std::string_view name) {
  const Column& found = column(name);
  ensure(found.text != nullptr, "text_setting: the setting is an integer");
  return found.text(point);
}

std::int64_t integer_setting(const DesignPoint& point, std::string_view name) {
  const Column& found = column(name);
  ensure(found.integer != nullptr, "integer_setting: the setting is a text");
  return found.integer(point);
}

}  // namespace tenex
