#include "design/objective_check.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

namespace tenex {

namespace {

bool may_have(const AskedObjective& asked, const DesignPoint& point) {
  return asked.name.may_have == nullptr || asked.name.may_have(point);
}

}  // namespace

ObjectiveCheck::ObjectiveCheck(std::vector<AskedObjective> asked, Place front)
    : asked_(std::move(asked)), front_(std::move(front)), having_(asked_.size(), 0) {}

void ObjectiveCheck::count(const DesignPoint& point) {
  bool has_all = true;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const bool has = may_have(asked_[i], point);
    having_[i] += has ? 1 : 0;
    has_all = has_all && (has || asked_[i].prunes);
  }
  ++points_;
  on_front_ += has_all ? 1 : 0;
}

void ObjectiveCheck::conclude(Diagnostics& errors, std::vector<std::string>& warnings) const {
  if (points_ == 0) return;
  bool some_have_each = true;
  bool has_front = false;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const AskedObjective& asked = asked_[i];
    has_front = has_front || !asked.prunes;
    some_have_each = some_have_each && having_[i] != 0;
    const auto whose = fmt::format("only {} have it", asked.name.whose);
    if (having_[i] == 0) {
      errors.push_back(input_error(asked.place, fmt::format("no point of the study has \"{}\"", asked.name.metric),
                                   whose, "name another metric: `tenex list objectives` says which points have which"));
    } else if (having_[i] < points_) {
      warnings.push_back(to_string(input_error(
          asked.place, fmt::format("{} of {} points have no \"{}\"", points_ - having_[i], points_, asked.name.metric),
          whose,
          asked.prunes ? "they are never pruned and all evaluated in full"
                       : "they are on no front and dominate nothing")));
    }
  }
  if (!has_front || on_front_ != 0 || !some_have_each) return;
  errors.push_back(input_error(front_, "no point of the study has all objectives of \"pareto\"",
                               "a front is among points that have all of them", "name metrics of the same points"));
}

}  // namespace tenex
