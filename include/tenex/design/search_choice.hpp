// SearchChoice: what a study's [search] says: which points are evaluated in full, and which of them are best.
//
// Successive halving (Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization",
// AISTATS 2016) in two fidelities: every round values all points that are left by something cheap, a proven bound or a
// coarse model, and keeps a part of them; what is left in the end is evaluated in full. Points are only compared with
// points that agree in the settings `per`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"

namespace tenex {

struct DesignPoint;
struct Study;

/// A metric column and the direction in which it is better.
struct Objective {
  std::string metric;
  bool maximize = false;
  std::string former = {};  ///< ObjectiveName::former
  bool operator==(const Objective&) const = default;

  /// The metric's first name: what digests of studies and reasons of rows say, so that folders outlive names.
  [[nodiscard]] const std::string& first_name() const { return former.empty() ? metric : former; }
};
/// "minimize training_time_ps".
[[nodiscard]] std::string to_string(const Objective& objective);

/// A metric that may be an objective, as the study's reader needs to know it.
struct ObjectiveName {
  std::string_view metric;
  bool maximize = false;  ///< where the study does not say
  bool early = false;     ///< cheap models know it, so that points can be pruned by it
  /// Whether the row of a point may have it, as far as the point's words tell; null: that of every point.
  bool (*may_have)(const DesignPoint& point) = nullptr;
  std::string_view whose = {};  ///< the points of which that is so: "points that train a model"
  std::string_view former =
      {};  ///< its name in schema 1 of results, where that was another: digests of studies keep it

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

/// A round keeps a part of the points that have a value in it.
struct HalvingRound {
  Fidelity fidelity = Fidelity::bound;
  std::int64_t numerator = 1;  ///< of the part: 0 < numerator < denominator
  std::int64_t denominator = 2;
  bool operator==(const HalvingRound&) const = default;
};

struct SearchChoice {
  Objective objective;               ///< of the rounds; no metric where there are none
  std::vector<HalvingRound> rounds;  ///< empty: all points are evaluated in full
  std::vector<Objective> pareto;     ///< empty: no front
  std::vector<std::string> per;      ///< names of setting_columns()
  bool operator==(const SearchChoice&) const = default;

  [[nodiscard]] bool prunes() const { return !rounds.empty(); }
};

/// The part that decides which points have which rows, as text; "" where nothing is pruned.
[[nodiscard]] std::string pruning_text(const SearchChoice& search);
/// What the settings `per` of a point say: points with equal texts compete. O(length).
[[nodiscard]] std::string competition_of(const SearchChoice& search, const DesignPoint& point);

/// Ends the reason of every pruned row: which study's cut it was. A row with another one says nothing in this study.
[[nodiscard]] std::string search_stamp(const Study& study);

}  // namespace tenex
