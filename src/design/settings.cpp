// The settings of a point as result columns.
#include <array>
#include <functional>

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

/// In the frozen order. A new setting goes to the end.
const std::vector<Column>& columns() {
  using P = const DesignPoint&;
  static const std::vector<Column> table{
      text_column("topology", [](P p) { return p.topology.text; }),
      text_column(
          "alpha", [](P p) { return comma_list(p.topology.links.alpha); }, "ps"),
      text_column(
          "bandwidth", [](P p) { return bandwidth_where(p, false); }, "B/s"),
      text_column(
          "npu_bandwidth", [](P p) { return bandwidth_where(p, true); }, "B/s"),
      integer_column("unwind", [](P p) { return std::int64_t{p.topology.unwind}; }),
      text_column("without", [](P p) { return text_of_pairs(p.topology.without); }),
      text_column("collective", [](P p) { return std::string(to_string(p.collective)); }),
      integer_column(
          "size", [](P p) { return p.size.count(); }, "B"),
      integer_column("chunks", [](P p) { return p.chunks; }),
      text_column("groups", [](P p) { return p.groups; }),
      integer_column("root", [](P p) { return std::int64_t{p.root}; }),
      text_column("algorithm", [](P p) { return p.algorithm; }),
      text_column("occupancy", [](P p) { return std::string(to_string(p.occupancy)); }),
      integer_column("overlap", [](P p) { return std::int64_t{p.overlap ? 1 : 0}; }),
      text_column("backend", [](P p) { return p.backend; }),
      integer_column("attempts", [](P p) { return std::int64_t{p.attempts}; }),
      // The metric `engine` says which engine was used.
      text_column("engine_choice", [](P p) { return p.engine; }),
      integer_column("window", [](P p) { return std::int64_t{p.window}; }),
      text_column("order", [](P p) { return p.order; }),
      text_column("stragglers", [](P p) { return to_string(p.stragglers); }),
      // Likewise `simulation_engine`.
      text_column("simulation_engine_choice", [](P p) { return p.simulation_engine; }),
  };
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
