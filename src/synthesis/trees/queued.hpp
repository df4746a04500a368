// The engine `queued` of `trees`: packed trees, and on every link the lowest chunk that is ready.
//
// Trees are packed as for the engine `packed`, and chunks are dealt to them in turn. Every link takes, of the sends
// that are ready, the one of the lowest chunk, a sum before a copy. The pipeline then fills at once, however deep the
// trees are, which a timetable with fixed places does not; but all sends are computed and stored. Up to 2^20 sends,
// orders by due times and by ranks are justified (justification.hpp), with trees that leave more or less room on links
// over switches.
//
// Where NPUs start late, trees are tried whose root is the latest NPU, and trees in which late NPUs are leaves. Once
// the latest NPU starts, every result still has to come from it to all others, and nothing else has to: if all trees
// begin there, the sums have been formed by then. Such orders are not justified.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tenex/base/diagnostic.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

/// Why the engine cannot make this collective, for the user; nullopt if it can. O(npus).
[[nodiscard]] std::optional<std::string> queued_unsuitable(const SynthesisProblem& problem);

/// The All-Reduce. Draws no random numbers. O(sends log chunks). Errors (input): the problem is unsuitable.
[[nodiscard]] Result<Synthesis> synthesize_queued(const SynthesisProblem& problem);

/// Expected bytes at the peak, schedule included, and work.
[[nodiscard]] std::size_t queued_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work queued_work(const SynthesisProblem& problem);

}  // namespace tenex
