// Turns sweeps into points: applies `keep` to every row, checks and seals it, and keeps each key once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "design/objective_check.hpp"
#include "design/row_checks.hpp"
#include "design/row_source.hpp"
#include "design/sweep.hpp"
#include "tenex/design/study.hpp"

namespace tenex {

/// Builds the point of a row.
[[nodiscard]] DesignPoint build_point(const Row& row, Groups groups, const Vocabulary& vocabulary);

/// The conditions of [outputs].
struct OutputConditions {
  std::optional<Expression> schedule;  ///< absent: stored for no point
  std::optional<Expression> where;     ///< absent: holds for all points
};

/// Fills a study's points from its sweeps. Contradictions are collected, not returned.
class Enumerator {
 public:
  /// From here on the study's points own the sweeps. `objectives` counts every point.
  Enumerator(const Vocabulary& vocabulary, OutputConditions outputs, std::vector<Sweep> sweeps, Study& study,
             Contradictions& contradictions, ObjectiveCheck& objectives);
  Enumerator(const Enumerator&) = delete;  // lookup_ refers to this
  Enumerator& operator=(const Enumerator&) = delete;

  /// Adds the rows of all usable sweeps. Call once. O(rows).
  void add_all();

 private:
  void add(const Sweep& sweep, std::size_t first_row);
  void add_row(std::size_t number, bool varies);
  /// Whether all conditions hold; nullopt after an error.
  [[nodiscard]] std::optional<bool> holds(const std::vector<const Expression*>& conditions);
  [[nodiscard]] std::optional<ExpressionValue> value_of(std::string_view name) const;
  [[nodiscard]] bool has_values(const Expression& condition);
  void add_point(std::uint32_t row, const DesignPoint& point, bool store_schedule, bool store_where);

  const Vocabulary& vocabulary_;
  OutputConditions outputs_;
  Study& study_;
  Contradictions& contradictions_;
  ObjectiveCheck& objectives_;
  RowChecker checker_;
  std::vector<const Expression*> keep_;                                   // of the current sweep
  std::map<const Expression*, std::vector<std::string>> optional_words_;  // names that a row may lack, per condition
  std::shared_ptr<const RowSource> source_;
  Row row_{};  // current row
  Lookup lookup_{[this](std::string_view name) { return value_of(name); }, expression_names()};
  bool overfull_ = false;
};

}  // namespace tenex
