// The engine `auto` where other engines cost next to nothing: they are tried, and the best schedule is kept.
//
// No engine is the best everywhere. On small problems, each one that suits and whose work weighs little is run as if it
// had been named, with as many attempts as the problem asks for or as a few milliseconds allow. So on these no named
// engine is better than `auto`. Estimates are made from sizes alone, so the choice is the same on every machine.
// Nothing is tried once a schedule meets the proven bound.
#pragma once

#include <cstddef>
#include <vector>

#include "synthesis/tacos/engines.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// A named engine to try.
struct EngineTrial {
  const TacosEngine* engine = nullptr;
  std::uint32_t attempts = 1;  ///< at least those of the problem
};

/// A problem with its collective exchanged for the gather that it is composed of, which engines judge.
class GatherPart {
 public:
  explicit GatherPart(const SynthesisProblem& problem);
  [[nodiscard]] SynthesisProblem problem() const;

 private:
  const SynthesisProblem& whole_;
  Collective gather_;
};

/// The synthesis by one engine: bytes at the peak, with re-timing if that fits into the problem's limit.
[[nodiscard]] std::size_t bytes_of(const SynthesisProblem& problem, const TacosEngine& engine);
/// From sizes alone.
[[nodiscard]] Work work_of(const SynthesisProblem& problem, const TacosEngine& engine);
/// Makes the collective with one engine, whatever the problem names. Expects: a gather that suits the engine.
[[nodiscard]] Result<Synthesis> synthesize_with(const SynthesisProblem& problem, const TacosEngine& engine);

/// The engines to try beside `first`, the one that `auto` takes; `first` itself is among them where it may have more
/// attempts. Empty if the problem names an engine or is large, and what does not fit into its memory limit beside
/// another schedule is left out. O(links).
[[nodiscard]] std::vector<EngineTrial> trials_beside(const SynthesisProblem& problem, const TacosEngine& first);

/// Bytes at the peak of `first` and the trials, one after another, while the best schedule so far is held.
[[nodiscard]] std::size_t bytes_with(const SynthesisProblem& problem, const TacosEngine& first,
                                     const std::vector<EngineTrial>& trials);
[[nodiscard]] Work work_with(const SynthesisProblem& problem, const TacosEngine& first,
                             const std::vector<EngineTrial>& trials);

/// The best of `first_made` and the trials; the earliest of equals. A trial that fails is passed over.
[[nodiscard]] Synthesis best_of(const SynthesisProblem& problem, Synthesis first_made,
                                const std::vector<EngineTrial>& trials);

}  // namespace tenex
