// SearchChoice: the content of a study's [search]: which points are evaluated in full, and which of them are best.
//
// Successive halving (Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization",
// AISTATS 2016) in two fidelities: every round values all remaining points by something cheap, a proven bound or a
// coarse model, and keeps a part of them. The points that remain at the end are evaluated in full. Points are only
// compared with points that agree in the settings `per`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

struct DesignPoint;
struct Study;

/// A metric column and whether larger values are better.
struct Objective {
  std::string metric;
  bool maximize = false;
  std::string former = {};  ///< ObjectiveName::former
  bool operator==(const Objective&) const = default;

  /// The metric's first name. Digests of studies and reasons of rows contain it, so that folders survive a change of
  /// names.
  [[nodiscard]] const std::string& first_name() const { return former.empty() ? metric : former; }
};
/// "minimize training_time_ps".
[[nodiscard]] std::string to_string(const Objective& objective);

/// A metric that may be an objective, with the facts that the study's reader needs.
struct ObjectiveName {
  std::string_view metric;
  bool maximize = false;  ///< default direction
  bool early = false;     ///< cheap models give it, so points can be pruned by it
  /// Whether the row of a point may have it, as far as the point's settings tell; null: every row may.
  bool (*may_have)(const DesignPoint& point) = nullptr;
  std::string_view whose = {};   ///< for messages, the points that may have it: "points that train a model"
  std::string_view former = {};  ///< its name in schema 1 of results, if that was different: digests of studies keep it

  [[nodiscard]] bool is_named(std::string_view name) const {
    return name == metric || (!former.empty() && name == former);
  }
};

/// How a round values points.
enum class Fidelity : std::uint8_t {
  bound,   ///< as if the time were a proven lower bound
  coarse,  ///< textbook algorithms without congestion, training by LIBRA's formula, synthesizers by their bound
};
[[nodiscard]] std::string_view to_string(Fidelity fidelity);

/// A round keeps a fraction of the points that have a value in it.
struct HalvingRound {
  Fidelity fidelity = Fidelity::bound;
  std::int64_t numerator = 1;  ///< of the fraction: 0 < numerator < denominator
  std::int64_t denominator = 2;
  bool operator==(const HalvingRound&) const = default;
};

struct SearchChoice {
  Objective objective;               ///< of the rounds; no metric if there are none
  std::vector<HalvingRound> rounds;  ///< empty: all points are evaluated in full
  std::vector<Objective> pareto;     ///< empty: no front
  std::vector<std::string> per;      ///< names of setting_columns()
  bool operator==(const SearchChoice&) const = default;

  [[nodiscard]] bool prunes() const { return !rounds.empty(); }
};

/// The part of the search that decides which points have which rows, as text; "" if nothing is pruned.
[[nodiscard]] std::string pruning_text(const SearchChoice& search);
/// The settings `per` of a point as text: points with equal texts compete. O(length).
[[nodiscard]] std::string competition_of(const SearchChoice& search, const DesignPoint& point);

/// The end of the reason of every pruned row, which names the study that pruned it. Rows with another stamp do not
/// count in this study.
[[nodiscard]] std::string search_stamp(const Study& study);

}  // namespace tenex
