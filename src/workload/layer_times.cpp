// Times of computations and communications; the model is asked once for each distinct communication or pair of streams.
#include "workload/layer_times.hpp"

#include <algorithm>
#include <utility>

#include "workload/saturating.hpp"

namespace tenex {

namespace {

/// Remembers the answers of a model. A workload has few distinct communications, so a list is enough.
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

using Stream = std::vector<Communication>;

/// The communications of a phase that take time. Those that happen once per iteration are included only with
/// `synchronize`.
Stream stream_of(const Layer& layer, Phase phase, bool synchronize, const Mapping& mapping) {
  Stream stream;
  for (const auto& communication : layer.at(phase).communications) {
    const bool due = synchronize || !once_per_iteration(phase, communication);
    if (due && !mapping.span(communication.scope).shares.empty()) stream.push_back(communication);
  }
  return stream;
}

/// Remembers the answers of a model that contends.
class KnownOverlaps {
 public:
  KnownOverlaps(const Mapping& mapping, const CollectiveTime& model) : mapping_(mapping), model_(model) {}

  Result<ConcurrentEnds> ends(Stream inputs, Stream weights, SimTime offset) {
    for (const auto& known : known_)
      if (known.offset == offset && known.inputs == inputs && known.weights == weights) return known.ends;
    auto ends = model_.concurrent(inputs, weights, offset, mapping_);
    if (!ends) return ends;
    ensure(ends->first.count() >= 0 && ends->second >= offset, "a stream ends after it begins");
    known_.push_back({std::move(inputs), std::move(weights), offset, *ends});
    return ends;
  }

 private:
  struct Known {
    Stream inputs;
    Stream weights;
    SimTime offset;
    ConcurrentEnds ends;
  };
  const Mapping& mapping_;
  const CollectiveTime& model_;
  std::vector<Known> known_;
};

}  // namespace

std::vector<TimedMessage> LayerTimes::messages(Phase phase, bool synchronize) const {
  auto stream = every_turn[static_cast<std::size_t>(phase)];
  if (phase == Phase::weight_gradient && synchronize) stream.insert(stream.end(), once.begin(), once.end());
  return stream;
}

SimTime LayerTimes::communication(Phase phase, bool synchronize) const {
  SimTime total;
  for (const auto& message : messages(phase, synchronize)) total = saturating_sum(total, message.time);
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
          auto& messages =
              once_per_iteration(phase, communication) ? layer.once : layer.every_turn[static_cast<std::size_t>(phase)];
          messages.push_back({communication.scope, *time});
        }
      }
  }
  return blocks;
}

Status look_up_overlaps(const Workload& workload, const Mapping& mapping, const CollectiveTime& model,
                        bool several_turns, std::vector<BlockTimes>& blocks) {
  KnownOverlaps known(mapping, model);
  for (std::size_t block = 0; block < blocks.size(); ++block)
    for (std::size_t index = 0; index < blocks[block].layers.size(); ++index)
      for (const bool synchronize : {true, false}) {
        if (!synchronize && !several_turns) continue;
        auto& layer = blocks[block].layers[index];
        const auto offset = layer.compute[static_cast<std::size_t>(Phase::weight_gradient)];
        auto& ends = layer.gradients[synchronize ? 1 : 0];
        ends = {layer.communication(Phase::input_gradient, synchronize),
                saturating_sum(offset, layer.communication(Phase::weight_gradient, synchronize))};
        if (!model.contends()) continue;
        const auto& work = workload.blocks[block].layers[index];
        auto inputs = stream_of(work, Phase::input_gradient, synchronize, mapping);
        auto weights = stream_of(work, Phase::weight_gradient, synchronize, mapping);
        if (inputs.empty() || weights.empty()) continue;
        const auto shared = known.ends(std::move(inputs), std::move(weights), offset);
        if (!shared) return shared.errors();
        ends = *shared;
      }
  return success();
}

std::size_t count_queues(const std::vector<BlockTimes>& blocks) {
  std::array<bool, kScopes> used{};
  const auto note = [&](const std::vector<TimedMessage>& messages) {
    for (const auto& message : messages) used[static_cast<std::size_t>(message.scope)] = true;
  };
  for (const auto& block : blocks)
    for (const auto& layer : block.layers) {
      for (const auto& messages : layer.every_turn) note(messages);
      note(layer.once);
    }
  return static_cast<std::size_t>(std::count(used.begin(), used.end(), true));
}

}  // namespace tenex
