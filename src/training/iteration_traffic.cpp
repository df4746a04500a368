// Distinct communications are counted, and their times are combined into the time of an iteration.
#include "training/iteration_traffic.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tenex {
namespace {

__extension__ using Wide = unsigned __int128;
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

SimTime sum(SimTime a, SimTime b) { return a.count() > kLargest - b.count() ? SimTime::max() : a + b; }

SimTime product(SimTime time, std::int64_t count) {
  const auto exact = static_cast<Wide>(time.count()) * static_cast<Wide>(count);
  return exact > static_cast<Wide>(kLargest) ? SimTime::max() : SimTime::of(static_cast<std::int64_t>(exact));
}

std::int64_t clamped_count(std::int64_t a, std::int64_t b) { return a > kLargest - b ? kLargest : a + b; }

/// The bytes that cross all dimensions together; each dimension's are rounded down.
std::int64_t total_volume_of(const std::vector<DimensionVolume>& volumes, Bytes size) {
  Wide total = 0;
  for (const auto& [dimension, per_byte] : volumes)
    total += static_cast<Wide>(size.count()) * static_cast<Wide>(per_byte.numerator) /
             static_cast<Wide>(per_byte.denominator);
  return total > static_cast<Wide>(kLargest) ? kLargest : static_cast<std::int64_t>(total);
}

/// The volumes that may be the slowest at these bandwidths, usually one.
std::vector<DimensionVolume> slowest_of(const std::vector<DimensionVolume>& volumes,
                                        std::span<const Bandwidth> bandwidth) {
  constexpr long double margin = 1e-12L;  // beyond what rounding can hide
  const auto quotient = [&](const DimensionVolume& volume) {
    return static_cast<long double>(volume.per_byte.numerator) /
           (static_cast<long double>(volume.per_byte.denominator) *
            static_cast<long double>(bandwidth[volume.dimension].count()));
  };
  long double most = 0;
  for (const auto& volume : volumes) most = std::max(most, quotient(volume));
  std::vector<DimensionVolume> slowest;
  for (const auto& volume : volumes)
    if (quotient(volume) >= most * (1 - margin)) slowest.push_back(volume);
  return slowest;
}

/// A time model that looks up the given times of an iteration's communications.
class PlannedTime final : public CollectiveTime {
 public:
  PlannedTime(const std::vector<DistinctCommunication>& communications, std::span<const SimTime> times)
      : communications_(communications), times_(times) {}

  [[nodiscard]] std::string_view name() const override { return "planned"; }
  [[nodiscard]] Result<SimTime> time(const Communication& communication, const Mapping& /*mapping*/) const override {
    const auto found = std::find_if(communications_.begin(), communications_.end(),
                                    [&](const auto& each) { return each.communication == communication; });
    ensure(found != communications_.end(), "a loop asks for a communication that its workload does not have");
    return times_[static_cast<std::size_t>(found - communications_.begin())];
  }

 private:
  const std::vector<DistinctCommunication>& communications_;
  std::span<const SimTime> times_;
};

}  // namespace

IterationTraffic::IterationTraffic(std::shared_ptr<const Iteration> iteration, const LibraModel& model)
    : iteration_(std::move(iteration)) {
  count(iteration_->workload);
  for (auto& each : communications_) {
    each.family = family_of(each.communication, model);
    each.total_volume = total_volume_of(families_[each.family].volumes, each.communication.size);
  }
}

void IterationTraffic::count(const Workload& workload) {
  for (const auto& block : workload.blocks)
    for (const auto& layer : block.layers)
      for (const auto phase : {Phase::forward, Phase::input_gradient, Phase::weight_gradient}) {
        const auto& work = layer.at(phase);
        auto& compute = compute_[static_cast<std::size_t>(phase)];
        compute = sum(compute, product(compute_time(work.compute, iteration_->rate), block.repeat));
        for (const auto& communication : work.communications) count(communication, phase, block.repeat);
      }
}

void IterationTraffic::count(const Communication& communication, Phase phase, std::int64_t repeat) {
  if (iteration_->mapping.span(communication.scope).shares.empty()) return;
  auto found = std::find_if(communications_.begin(), communications_.end(),
                            [&](const auto& each) { return each.communication == communication; });
  if (found == communications_.end()) {
    communications_.push_back({communication, 0, {}, 0, 0});
    found = communications_.end() - 1;
  }
  auto& count =
      once_per_iteration(phase, communication) ? found->once : found->every_turn[static_cast<std::size_t>(phase)];
  count = clamped_count(count, repeat);
}

std::size_t IterationTraffic::family_of(const Communication& communication, const LibraModel& model) {
  const auto found = std::find_if(families_.begin(), families_.end(), [&](const TrafficFamily& family) {
    return family.kind == communication.kind && family.scope == communication.scope;
  });
  if (found != families_.end()) return static_cast<std::size_t>(found - families_.begin());
  const auto& mapping = iteration_->mapping;
  families_.push_back({communication.kind, communication.scope,
                       libra_volumes(communication.kind, mapping.span(communication.scope), mapping.shape(), model)});
  return families_.size() - 1;
}

std::vector<SimTime> IterationTraffic::libra_times(std::span<const Bandwidth> bandwidth) const {
  const std::vector<Bandwidth> by_dimension(bandwidth.begin(), bandwidth.end());
  std::vector<std::vector<DimensionVolume>> slowest;
  slowest.reserve(families_.size());
  for (const auto& family : families_) slowest.push_back(slowest_of(family.volumes, bandwidth));
  std::vector<SimTime> times;
  times.reserve(communications_.size());
  for (const auto& each : communications_)
    times.push_back(libra_time(slowest[each.family], each.communication.size, by_dimension));
  return times;
}

std::vector<SimTime> IterationTraffic::total_bandwidth_times(std::span<const Bandwidth> bandwidth) const {
  std::int64_t total = 0;
  for (const auto each : bandwidth) total = clamped_count(total, each.count());
  std::vector<SimTime> times;
  times.reserve(communications_.size());
  for (const auto& each : communications_)
    times.push_back(serialization_time(Bytes::of(each.total_volume), Bandwidth::of(total)));
  return times;
}

TrainingTime IterationTraffic::turn_of(std::span<const SimTime> times, bool synchronize) const {
  TrainingTime turn;
  turn.compute = compute_;
  for (std::size_t which = 0; which < times.size(); ++which) {
    const auto& each = communications_[which];
    const auto expose = [&](std::size_t phase, std::int64_t count) {
      const auto time = product(times[which], count);
      turn.exposed[phase] = sum(turn.exposed[phase], time);
      auto& over = turn.exposed_over[static_cast<std::size_t>(each.communication.scope)];
      over = sum(over, time);
    };
    for (std::size_t phase = 0; phase < kPhases; ++phase) expose(phase, each.every_turn[phase]);
    if (synchronize) expose(static_cast<std::size_t>(Phase::weight_gradient), each.once);
  }
  return turn;
}

Result<IterationTurns> IterationTraffic::turns_of(TrainingLoop loop, std::span<const SimTime> times) const {
  ensure(times.size() == communications_.size(), "one time for each distinct communication");
  if (loop == TrainingLoop::no_overlap) return IterationTurns{turn_of(times, true), turn_of(times, false)};
  return turns_of(loop, PlannedTime(communications_, times));
}

Result<IterationTurns> IterationTraffic::turns_of(TrainingLoop loop, const CollectiveTime& model) const {
  return iteration_turns(iteration_->workload, iteration_->mapping, iteration_->rate, model, loop);
}

namespace {

Result<TrainingTime> joined(const Result<IterationTurns>& turns, const Iteration& iteration) {
  if (!turns) return turns.errors();
  const auto time = pipelined_time(*turns, iteration.workload, iteration.mapping.degrees().pipeline);
  if (time.total() == SimTime::max()) return refuse_long_iteration(iteration.workload);
  return time;
}

}  // namespace

Result<TrainingTime> IterationTraffic::time_of(TrainingLoop loop, std::span<const SimTime> times) const {
  return joined(turns_of(loop, times), *iteration_);
}

Result<TrainingTime> IterationTraffic::time_of(TrainingLoop loop, const CollectiveTime& model) const {
  return joined(turns_of(loop, model), *iteration_);
}

}  // namespace tenex
