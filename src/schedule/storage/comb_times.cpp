#include "schedule/storage/comb_times.hpp"

#include <algorithm>
#include <numeric>

#include "tenex/base/contract.hpp"
#include "tenex/base/diagnostic.hpp"
#include "tenex/topology/time_range.hpp"

namespace tenex {
namespace {

constexpr std::uint64_t kMostSlots = 1U << 20U;  ///< of a period, so that tables stay small

/// The type of the trees whose stage `stage` lies along `dimension`.
std::size_t type_at(std::size_t dimension, std::size_t stage, std::size_t dimensions) {
  return (dimension + dimensions - stage) % dimensions;
}

/// Slots that a dimension needs in each stage.
std::vector<std::uint32_t> slots_by_stage(const std::vector<std::uint32_t>& sizes,
                                          const std::vector<std::uint32_t>& rounds, std::size_t dimension) {
  const std::size_t dimensions = sizes.size();
  std::vector<std::uint32_t> count(dimensions);
  for (std::size_t stage = 0; stage < dimensions; ++stage) {
    const std::uint32_t own = rounds[type_at(dimension, stage, dimensions)];
    if (stage == 0)
      count[stage] = own * (dimensions > 1 ? sizes[dimension] : 1);
    else
      count[stage] = stage == 1 ? own : std::min(own, 1U);
  }
  return count;
}

}  // namespace

CombTimes::CombTimes(const CombSchedule& data) : sizes_(data.sizes), slot_(data.slot), lag_(data.lag) {
  number(data.rounds);
  lay_out(data.rounds);
  stages_.resize(trees_ * dimensions());
  end_.resize(trees_);
  for (std::uint32_t type = 0; type < dimensions(); ++type)
    for (std::uint32_t round = 0; round < data.rounds[type]; ++round)
      for (std::uint32_t meeting = 0; meeting < (dimensions() > 1 ? sizes_[type] : 1); ++meeting)
        time_tree(type, round, meeting);
}

/// Numbers the trees round by round, so that a last, partial period has the earliest of them.
void CombTimes::number(const std::vector<std::uint32_t>& rounds) {
  first_tree_.resize(dimensions());
  for (std::uint32_t round = 0; round < *std::ranges::max_element(rounds); ++round)
    for (std::size_t type = 0; type < dimensions(); ++type) {
      if (round >= rounds[type]) continue;
      first_tree_[type].push_back(trees_);
      trees_ += dimensions() > 1 ? sizes_[type] : 1;
    }
}

/// Gives the later stages the slots at which their sums are complete, and stage 0 the others in order.
void CombTimes::lay_out(const std::vector<std::uint32_t>& rounds) {
  layout_.resize(dimensions());
  place_.resize(dimensions());
  for (std::size_t d = 0; d < dimensions(); ++d) {
    const auto count = slots_by_stage(sizes_, rounds, d);
    slots_ = std::max(slots_, std::accumulate(count.begin(), count.end(), 0U));
  }
  for (std::size_t d = 0; d < dimensions(); ++d) {
    const auto count = slots_by_stage(sizes_, rounds, d);
    auto& layout = layout_[d];
    layout.resize(slots_);
    const auto take = [&](std::uint32_t from, const CombSlot& slot) {
      while (layout[from % slots_].stage != CombSlot::kIdle) ++from;
      layout[from % slots_] = slot;
      place_[d].push_back(from % slots_);
      return from + 1;
    };
    const std::uint32_t first_stage = count[0];
    for (std::uint32_t stage = 1; stage < dimensions(); ++stage) {
      const auto type = static_cast<std::uint32_t>(type_at(d, stage, dimensions()));
      for (std::uint32_t round = 0; round < count[stage]; ++round)
        take(stage == 1 ? (round + 1) * (sizes_[type] + 1) - 1 : slots_ - 1, {stage, type, round, 0});
    }
    std::vector<std::uint32_t> later = std::move(place_[d]);
    place_[d].clear();
    const std::uint32_t ranks = dimensions() > 1 ? sizes_[d] : 1;
    std::uint32_t from = 0;
    for (std::uint32_t i = 0; i < first_stage; ++i)
      from = take(from, {0, static_cast<std::uint32_t>(d), i / ranks, i % ranks});
    place_[d].insert(place_[d].end(), later.begin(), later.end());
  }
}

/// The place of a slot in lay_out()'s order.
std::uint32_t CombTimes::slot_of(std::size_t dimension, const CombSlot& wanted) const {
  const auto rounds_of = [&](std::size_t stage) {
    return static_cast<std::uint32_t>(first_tree_[type_at(dimension, stage, dimensions())].size());
  };
  const std::uint32_t ranks = dimensions() > 1 ? sizes_[dimension] : 1;
  std::uint32_t index = wanted.stage == 0 ? wanted.round * ranks + wanted.rank : rounds_of(0) * ranks;
  if (wanted.stage == 1) index += wanted.round;
  if (wanted.stage > 1) index += rounds_of(1);
  for (std::uint32_t stage = 2; stage < wanted.stage; ++stage) index += std::min(rounds_of(stage), 1U);
  return place_[dimension][index];
}

/// How many periods later than `wave` is at or after `ready`; `wave` itself where it is.
std::uint32_t CombTimes::periods_until(SimTime ready, SimTime wave) const {
  return ready <= wave ? 0 : static_cast<std::uint32_t>(ceil_div((ready - wave).count(), period().count()));
}

void CombTimes::time_tree(std::uint32_t type, std::uint32_t round, std::uint32_t meeting) {
  const std::uint32_t own = tree(type, round, meeting);
  CombStage* const stages = &stages_[own * dimensions()];
  struct Start {
    SimTime up, down;  ///< of the two waves
  };
  std::vector<Start> starts(dimensions());
  SimTime ready;  // sums are complete everywhere along the stage
  for (std::uint32_t k = 0; k < dimensions(); ++k) {
    const std::size_t d = (type + k) % dimensions();
    const std::uint32_t last = sizes_[d] - 1;
    auto& stage = stages[k];
    stage.meeting = k + 1 == dimensions() ? sizes_[d] / 2 : k == 0 ? meeting : (meeting + round) % sizes_[d];
    const bool teeth = k == 0 && dimensions() > 1;
    const std::uint32_t up_slot = slot_of(d, {k, type, round, teeth ? last - meeting : 0});
    const std::uint32_t down_slot = slot_of(d, {k, type, round, teeth ? meeting : 0});
    starts[k] = {slot_ * std::int64_t{up_slot}, slot_ * std::int64_t{down_slot} + delay_down(d)};
    stage.up.sum_periods = periods_until(ready, starts[k].up);
    stage.down.sum_periods = periods_until(ready, starts[k].down);
    starts[k].up += period() * std::int64_t{stage.up.sum_periods};
    starts[k].down += period() * std::int64_t{stage.down.sum_periods};
    SimTime met = ready;
    if (stage.meeting > 0) met = std::max(met, starts[k].up + lag_ * std::int64_t{stage.meeting});
    if (stage.meeting < last) met = std::max(met, starts[k].down + lag_ * std::int64_t{last - stage.meeting});
    ready = met;
  }
  for (auto k = dimensions(); k-- > 0;) {
    const std::uint32_t last = sizes_[(type + k) % dimensions()] - 1;
    auto& stage = stages[k];
    const std::uint32_t wait_up = periods_until(ready, starts[k].up + lag_ * std::int64_t{stage.meeting});
    const std::uint32_t wait_down = periods_until(ready, starts[k].down + lag_ * std::int64_t{last - stage.meeting});
    stage.up.copy_periods = stage.up.sum_periods + wait_up;
    stage.down.copy_periods = stage.down.sum_periods + wait_down;
    SimTime reached = ready;
    const SimTime across = lag_ * std::int64_t{last};
    if (stage.meeting < last) reached = std::max(reached, starts[k].up + period() * std::int64_t{wait_up} + across);
    if (stage.meeting > 0) reached = std::max(reached, starts[k].down + period() * std::int64_t{wait_down} + across);
    ready = reached;
  }
  end_[own] = ready;
}

std::string comb_problem(const CombSchedule& data) {
  const std::size_t dimensions = data.sizes.size();
  if (dimensions == 0 || data.rounds.size() != dimensions) return "a part is missing";
  if (data.slot <= SimTime::zero() || data.lag < data.slot || data.chunks == 0) return "a time or a number is unfit";
  std::uint64_t npus = 1;
  std::uint64_t slots = 0;
  for (std::size_t d = 0; d < dimensions; ++d) {
    npus *= data.sizes[d];
    if (data.sizes[d] < 2 || npus > std::numeric_limits<std::uint32_t>::max() / 2) return "a dimension is unfit";
    // A later stage's line has trees of one round only.
    const auto next = data.sizes[(d + 1) % dimensions];
    if (dimensions == 1 ? data.rounds[d] != 1
                        : data.rounds[d] > kMostSlots || (dimensions > 2 && data.rounds[d] > next))
      return "a number of rounds is unfit";
    slots += std::uint64_t{data.rounds[d]} * (data.sizes[d] + 1) + 1;
  }
  if (std::ranges::all_of(data.rounds, [](std::uint32_t rounds) { return rounds == 0; })) return "there are no rounds";
  if (slots > kMostSlots) return "a period has too many slots";
  const double periods = static_cast<double>(data.chunks) + 8.0 * static_cast<double>(dimensions);
  const double hops = static_cast<double>(npus);
  if (data.chunks > std::numeric_limits<std::uint32_t>::max() ||
      !fits_time_range(data.slot, periods * static_cast<double>(slots)) || !fits_time_range(data.lag, 8.0 * hops))
    return "it takes too long";
  return {};
}

SimTime comb_time(const CombSchedule& data) {
  TENEX_EXPECTS(comb_problem(data).empty(), "data without a problem");
  const CombTimes times(data);
  SimTime end;
  for (std::uint32_t tree = 0; tree < times.trees() && tree < data.chunks; ++tree) {
    const auto last_period = static_cast<std::int64_t>((data.chunks - 1 - tree) / times.trees());
    end = std::max(end, times.period() * last_period + times.end_of(tree));
  }
  return end;
}

}  // namespace tenex
