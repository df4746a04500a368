// Cost, busy time and sensitivity of the dimensions of a training point's network.
//
// The busy time of a dimension is the sum over an iteration's communications of volume / bandwidth there, each rounded
// up. The formula takes the largest quotient of each communication, so the busy times tell which dimension it was, and
// a dimension that is never the largest saves nothing by more bandwidth.
#include "tenex/training/network_use.hpp"

#include <numeric>

#include "training/training_setup.hpp"

namespace tenex {
namespace {

/// The occurrences of a communication in an iteration: in every microbatch's turn, and once at its end.
std::int64_t occurrences(const DistinctCommunication& each, std::int64_t microbatches) {
  const auto in_turn = std::accumulate(each.every_turn.begin(), each.every_turn.end(), std::int64_t{0});
  return in_turn * microbatches + each.once;
}

std::vector<SimTime> busy_times(const IterationTraffic& traffic, const std::vector<Bandwidth>& bandwidth) {
  std::vector<SimTime> busy(bandwidth.size(), SimTime::zero());
  const auto microbatches = traffic.iteration().workload.microbatches;
  for (const auto& each : traffic.communications())
    for (const auto& volume : traffic.families()[each.family].volumes) {
      const auto time = libra_time({volume}, each.communication.size, bandwidth);
      busy[volume.dimension] += time * occurrences(each, microbatches);
    }
  return busy;
}

Result<SimTime> time_at(const IterationTraffic& traffic, TrainingLoop loop, const std::vector<Bandwidth>& bandwidth) {
  const auto time = traffic.time_of(loop, traffic.libra_times(bandwidth));
  if (!time) return time.errors();
  return time->total();
}

}  // namespace

Result<NetworkUse> network_use(const DesignPoint& point, const PreparedTraining& prepared,
                               const std::vector<Bandwidth>& bandwidth) {
  ensure(prepared.setup != nullptr && prepared.setup->ok(), "a prepared point has a setup");
  const auto& setup = **prepared.setup;
  const auto loop = point.training().training_loop;
  const auto time = time_at(setup.traffic, loop, bandwidth);
  if (!time) return time.errors();
  NetworkUse use{{}, *time, network_cost(setup.rates, bandwidth)};
  const auto busy = busy_times(setup.traffic, bandwidth);
  for (std::size_t i = 0; i < bandwidth.size(); ++i) {
    auto alone = std::vector<Bandwidth>(bandwidth.size());
    alone[i] = bandwidth[i];
    const auto percent = Bandwidth::of(bandwidth[i].count() / 100);
    auto changed = bandwidth;
    changed[i] = bandwidth[i] + percent;
    const auto faster = time_at(setup.traffic, loop, changed);
    if (!faster) return faster.errors();
    changed[i] = bandwidth[i] - percent;
    const auto slower = time_at(setup.traffic, loop, changed);
    if (!slower) return slower.errors();
    use.dimensions.push_back(
        {bandwidth[i], network_cost(setup.rates, alone), busy[i], *time - *faster, *slower - *time});
  }
  return use;
}

}  // namespace tenex
