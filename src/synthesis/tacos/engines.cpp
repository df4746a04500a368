#include "synthesis/tacos/engines.hpp"

#include "synthesis/orbit/layered.hpp"
#include "synthesis/orbit/symmetric.hpp"
#include "synthesis/tacos/automatic.hpp"
#include "synthesis/tacos/coarse/coarse.hpp"
#include "synthesis/tacos/event_driven/event_driven.hpp"
#include "synthesis/tacos/exact/exact.hpp"
#include "synthesis/tacos/tacos.hpp"

namespace tenex {

namespace {

constexpr double kWeightToTryLayers = 0.8;  // they often gain a tenth where lines are

}  // namespace

const std::vector<TacosEngine>& engines() {
  static const std::vector<TacosEngine> table = {
      {tacos_engine::symmetric, "symmetric", "one NPU's schedule, translated to all others, O(n)", symmetric_unsuitable,
       true, gather_symmetric, symmetric_bytes, symmetric_work, synthesize_symmetric},
      {tacos_engine::symmetric,
       "symmetric",
       "one schedule for each layer of lines, translated to all positions of the layer",
       layered_unsuitable,
       false,
       gather_layered,
       layered_bytes,
       layered_work,
       nullptr,
       {},
       kWeightToTryLayers},
      {tacos_engine::coarse, "coarse",
       "blocks of NPUs as units, expanded to single sends: fast, a little above the bound", coarse_unsuitable, false,
       gather_coarse, coarse_bytes, coarse_work},
      {tacos_engine::exact, "exact", "chunk by chunk where links differ, slow ones delivering what fast ones lack",
       levels_unsuitable, false, gather_levels, levels_bytes, levels_work},
      {kAutomaticEngine,
       "mixed",
       "exact where links differ, and event by event where that leaves something to gain",
       mixed_unsuitable,
       true,
       gather_mixed,
       mixed_bytes,
       mixed_work,
       nullptr,
       {tacos_engine::exact, tacos_engine::event_driven}},
      {tacos_engine::exact, "exact", "chunk by chunk on a grid of steps, tens of thousands of NPUs", exact_refusal,
       false, gather_exact, exact_bytes, exact_work},
      {kAutomaticEngine,
       "large",
       "coarse, and exact where that leaves something to gain",
       large_unsuitable,
       true,
       gather_large,
       large_bytes,
       large_work,
       nullptr,
       {tacos_engine::coarse, tacos_engine::exact}},
      {tacos_engine::event_driven, "event_driven", "any topology, chunk by chunk and event by event",
       [](const SynthesisProblem&) { return std::string(); }, true, gather_event_driven, event_driven_bytes,
       event_driven_work},
  };
  return table;
}

Result<const TacosEngine*> choose_engine(const SynthesisProblem& gather) {
  const bool any = gather.engine == kAutomaticEngine;
  std::string reason;  // of the last engine that does not suit
  for (const auto& engine : engines()) {
    if (any ? !engine.automatic : gather.engine != engine.choice) continue;
    reason = engine.unsuitable(gather);
    if (reason.empty()) return &engine;
  }
  if (any) return unsupported_error({}, "no engine of `tacos` can make this schedule");
  return input_error({}, "the engine `" + std::string(gather.engine) + "` cannot make this schedule", reason,
                     "leave the engine to `auto`");
}

}  // namespace tenex
