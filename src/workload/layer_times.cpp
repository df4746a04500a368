// Times of computations and communications, each distinct communication asked for once.
#include "workload/layer_times.hpp"

#include <utility>

#include "workload/saturating.hpp"

namespace tenex {

namespace {

/// The answers of a model, remembered. A workload has few distinct communications: a list is enough.
class KnownTimes {
 public:
  KnownTimes(const Mapping& mapping, const CollectiveTime& model) : mapping_(mapping), model_(model) {}

  Result<SimTime> time(const Communication& communication) {
    if (mapping_.span(communication.scope).shares.empty()) return SimTime::zero();
    for (const auto& [known, time] : known_)
      if (known == communication) return time;
    auto time = model_.time(communication, mapping_);
    if (time) known_.emplace_back(communication, *time);
    return time;
  }

 private:
  const Mapping& mapping_;
  const CollectiveTime& model_;
  std::vector<std::pair<Communication, SimTime>> known_;
};

}  // namespace

SimTime LayerTimes::communication(Phase phase, bool synchronize) const {
  SimTime total;
  for (const auto& message : every_turn[static_cast<std::size_t>(phase)]) total = saturating_sum(total, message.time);
  if (phase == Phase::weight_gradient && synchronize)
    for (const auto& message : once) total = saturating_sum(total, message.time);
  return total;
}

Result<std::vector<BlockTimes>> look_up_times(const Workload& workload, const Mapping& mapping, ComputeRate rate,
                                              const CollectiveTime& model) {
  KnownTimes known(mapping, model);
  std::vector<BlockTimes> blocks;
  for (const auto& block : workload.blocks) {
    auto& times = blocks.emplace_back(BlockTimes{block.repeat, std::vector<LayerTimes>(block.layers.size())});
    for (std::size_t index = 0; index < block.layers.size(); ++index)
      for (const auto phase : {Phase::forward, Phase::input_gradient, Phase::weight_gradient}) {
        const auto& work = block.layers[index].at(phase);
        auto& layer = times.layers[index];
        layer.compute[static_cast<std::size_t>(phase)] = compute_time(work.compute, rate);
        for (const auto& communication : work.communications) {
          const auto time = known.time(communication);
          if (!time) return time.errors();
          if (time->count() == 0) continue;
          auto& messages = once_per_iteration(phase, communication.scope)
                               ? layer.once
                               : layer.every_turn[static_cast<std::size_t>(phase)];
          messages.push_back({communication.scope, *time});
        }
      }
  }
  return blocks;
}

}  // namespace tenex
