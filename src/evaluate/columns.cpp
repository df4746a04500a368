// The table of metric columns, from the entries of tenex/schedule/metrics.inc.
#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "evaluate/metric_points.hpp"
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
  // Files store flags as numbers: a name that has left the table keeps its place, those of training follow the first
  // eleven, and later bounds come last.
  constexpr std::ptrdiff_t kLeft = 8;
  constexpr std::ptrdiff_t kFirstOfTraining = 12;
  names.insert(names.begin() + kLeft, "slices");
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
  for (const auto* table : {&synthesizers(), &missing_synthesizers()})
    for (const auto& synthesizer : *table) {
      for (const auto engine : synthesizer.engines) add(engine);
      for (const auto maker : synthesizer.makers) add(maker);
      if (synthesizer.engines.empty() && synthesizer.makers.empty()) add(synthesizer.name);
    }
  return names;
}

template <class T>
Field field(T Evaluation::*member, MetricColumn column) {
  if constexpr (std::is_enum_v<T>)
    column.kind = Kind::flags;
  else if constexpr (std::is_same_v<T, std::string>)
    column.kind = column.flags.empty() ? Kind::text : Kind::flags;
  else if constexpr (std::is_same_v<T, double>)
    column.kind = Kind::real;
  else
    column.kind = std::is_same_v<T, std::int64_t> ? Kind::integer : Kind::list;
  return {std::move(column), member};
}

const std::vector<Field>& fields() {
  static const std::vector<Field> table = {
#define TENEX_METRIC(type, name_, absent, ...) field<type>(&Evaluation::name_, {.name = #name_, __VA_ARGS__}),
#define TENEX_RUN_METRIC TENEX_METRIC
#include "tenex/schedule/metrics.inc"
  };
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

std::vector<std::size_t> placed_metrics(int MetricColumn::*place) {
  const auto& columns = metric_columns();
  std::vector<std::size_t> placed;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].*place > 0) placed.push_back(i);
  std::ranges::sort(placed, {}, [&](std::size_t i) { return columns[i].*place; });
  return placed;
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
