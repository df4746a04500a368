// A training iteration prepared for many networks of the same shape.
//
// All work that does not depend on bandwidths is done once: the layers' distinct communications are counted and put
// into families that load the dimensions alike. The time of an iteration is then equal to training_time(), and without
// overlap costs one division per distinct communication.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/training/npu_memory.hpp"
#include "tenex/workload/collective_time.hpp"
#include "tenex/workload/compute.hpp"
#include "tenex/workload/libra_time.hpp"
#include "tenex/workload/parallelization.hpp"
#include "tenex/workload/training.hpp"
#include "tenex/workload/workload.hpp"
#include "tenex/workload/workload_model.hpp"

namespace tenex {

/// A workload mapped to a shape.
struct Iteration {
  Workload workload;
  Mapping mapping;
  ComputeRate rate;
  MachineBatch batch;
  NpuMemory memory;  ///< of the busiest NPU
};

/// Communications of one kind and scope: the same volumes per byte.
struct TrafficFamily {
  TrafficKind kind = TrafficKind::all_reduce;
  Scope scope = Scope::tensor;
  std::vector<DimensionVolume> volumes;
};

/// A communication that a workload has once or many times; its group has two or more NPUs.
struct DistinctCommunication {
  Communication communication;
  std::size_t family = 0;
  std::array<std::int64_t, kPhases> every_turn{};  ///< occurrences in each turn of the stage, by Phase
  std::int64_t once = 0;                           ///< occurrences in the last turn only (weight gradients)
  std::int64_t total_volume = 0;                   ///< bytes in all dimensions together, rounded down
};

/// What one iteration communicates under a LIBRA model (which decides the volumes; other models ignore them).
class IterationTraffic {
 public:
  IterationTraffic(std::shared_ptr<const Iteration> iteration, const LibraModel& model);

  [[nodiscard]] const Iteration& iteration() const { return *iteration_; }
  [[nodiscard]] const std::shared_ptr<const Iteration>& shared_iteration() const { return iteration_; }
  [[nodiscard]] const std::vector<DistinctCommunication>& communications() const { return communications_; }
  [[nodiscard]] const std::vector<TrafficFamily>& families() const { return families_; }

  /// LIBRA's times of all distinct communications, in their order; B_i is per NPU and dimension. O(communications).
  [[nodiscard]] std::vector<SimTime> libra_times(std::span<const Bandwidth> bandwidth) const;
  /// For each communication sum(V_i) / sum(B_i): the largest of the quotients V_i / B_i is no smaller (mediant
  /// inequality), so this bounds libra_times() for every split of the same total. O(communications).
  [[nodiscard]] std::vector<SimTime> total_bandwidth_times(std::span<const Bandwidth> bandwidth) const;

  /// iteration_turns() with these times of its communications. Errors: those of iteration_turns().
  [[nodiscard]] Result<IterationTurns> turns_of(TrainingLoop loop, std::span<const SimTime> times) const;
  [[nodiscard]] Result<IterationTurns> turns_of(TrainingLoop loop, const CollectiveTime& model) const;
  /// training_time() of the iteration with these times of its communications. Errors: those of training_time().
  [[nodiscard]] Result<TrainingTime> time_of(TrainingLoop loop, std::span<const SimTime> times) const;
  /// The same with the times of a model. Errors: those of the model too.
  [[nodiscard]] Result<TrainingTime> time_of(TrainingLoop loop, const CollectiveTime& model) const;

 private:
  void count(const Workload& workload);
  void count(const Communication& communication, Phase phase, std::int64_t repeat);
  std::size_t family_of(const Communication& communication, const LibraModel& model);
  [[nodiscard]] TrainingTime turn_of(std::span<const SimTime> times, bool synchronize) const;

  std::shared_ptr<const Iteration> iteration_;
  std::vector<TrafficFamily> families_;
  std::vector<DistinctCommunication> communications_;
  std::array<SimTime, kPhases> compute_;  ///< of one turn
};

}  // namespace tenex
