// The engines of `trees` (trees.cpp): what each is, why it cannot make a collective, the collective, and its cost.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tenex/base/diagnostic.hpp"
#include "tenex/synthesis/synthesizer.hpp"

namespace tenex {

// The engine `combs` of `trees`: All-Reduce on meshes, grids and lines, close to their strength at any size.
//
// A schedule is a periodic timetable of pipelined trees (schedule/storage/comb_schedule.hpp); only the number of rounds
// per period is to be chosen. More rounds leave fewer slots idle; fewer make the period, and so every wait, shorter.
// The last arrival follows from the data alone, so that the best of some hundred choices is taken.

/// Why the engine cannot make this collective, for the user; nullopt if it can. O(links).
[[nodiscard]] std::optional<std::string> combs_unsuitable(const SynthesisProblem& problem);

/// The All-Reduce. Draws no random numbers. O(links). Errors (input): the problem is unsuitable.
[[nodiscard]] Result<Synthesis> synthesize_combs(const SynthesisProblem& problem);

/// Expected bytes at the peak, schedule included, and work.
[[nodiscard]] std::size_t combs_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work combs_work(const SynthesisProblem& problem);
/// The sends of one period.
[[nodiscard]] double combs_period_sends(const SynthesisProblem& problem);

// The engine `capped` of `trees`: All-Reduce on large networks of direct links that need not be regular.
//
// Every chunk has a tree of its own, grown when the chunk begins (capped_trees.hpp), and every link takes what is due
// first. A chunk begins a little before its turn, so that queues stay short and few trees are held at any time.

/// Why the engine cannot make this collective, for the user; nullopt if it can. O(links).
[[nodiscard]] std::optional<std::string> capped_unsuitable(const SynthesisProblem& problem);

/// The All-Reduce. Draws its random numbers from a fixed seed. O(chunks * (links + NPUs log chunks)). Errors (input):
/// the problem is unsuitable.
[[nodiscard]] Result<Synthesis> synthesize_capped(const SynthesisProblem& problem);

/// Expected bytes at the peak, schedule included, and work.
[[nodiscard]] std::size_t capped_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work capped_work(const SynthesisProblem& problem);

// The engine `packed` of `trees`: All-Reduce on any network of direct links, by packed spanning trees.
//
// Trees are packed at nearly the strength of the network (packing.hpp) and repeated period by period (packed.cpp).
// More trees use the links more evenly; fewer make the period, and so the time in which the pipeline fills, shorter.
// Several numbers of trees and preferences for shallow ones are tried, within a limit of sends, and the best is kept.

/// Why the engine cannot make this collective, for the user; nullopt if it can. O(links).
[[nodiscard]] std::optional<std::string> packed_unsuitable(const SynthesisProblem& problem);

/// The All-Reduce. Draws no random numbers. Errors (input): the problem is unsuitable.
[[nodiscard]] Result<Synthesis> synthesize_packed(const SynthesisProblem& problem);

/// Expected bytes at the peak, schedule included, and work.
[[nodiscard]] std::size_t packed_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work packed_work(const SynthesisProblem& problem);
/// The sends of one period, at most.
[[nodiscard]] double packed_period_sends(const SynthesisProblem& problem);

// The engine `in_switch` of `trees`: All-Reduce in switches that add and copy (in_switch.cpp). Trees have switches as
// their roots, so that sums are complete in the network and no NPU passes them back.

/// Why the engine cannot make this collective, for the user; nullopt if it can. O(roots * links log links).
[[nodiscard]] std::optional<std::string> in_switch_unsuitable(const SynthesisProblem& problem);

/// The All-Reduce. Draws no random numbers. Errors (input): the problem is unsuitable.
[[nodiscard]] Result<Synthesis> synthesize_in_switch(const SynthesisProblem& problem);

/// Expected bytes at the peak, schedule included, and work.
[[nodiscard]] std::size_t in_switch_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work in_switch_work(const SynthesisProblem& problem);

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

/// Why the engine cannot make this collective, for the user; nullopt if it can. O(npus).
[[nodiscard]] std::optional<std::string> queued_unsuitable(const SynthesisProblem& problem);

/// Whether the engine justifies its orders. Where it does not, `auto` prefers `capped`. O(1).
[[nodiscard]] bool queued_justifies(const SynthesisProblem& problem);

/// The All-Reduce. Draws no random numbers. O(sends log chunks). Errors (input): the problem is unsuitable.
[[nodiscard]] Result<Synthesis> synthesize_queued(const SynthesisProblem& problem);

/// Expected bytes at the peak, schedule included, and work.
[[nodiscard]] std::size_t queued_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work queued_work(const SynthesisProblem& problem);

// The engine `cut_rate` of `trees`: All-Gather and Broadcast by out-trees packed at the rate of the cut, and the other
// collectives of these (compose.hpp).
//
// The least time in which links can carry whole chunks to every NPU follows from minimum cuts; switches are split off
// (edge_splitting.hpp), and out-trees are packed exactly (out_trees.hpp). Chunks are dealt to trees in turn. What is
// due first goes first (justification.hpp), or the earliest chunk does, of equals the one with the longest way to go
// (player.hpp). Trees that leave room on links over switches are tried first; then a little more time than the least,
// which leaves room for shallower trees, whose pipelines fill faster.

/// Why the engine cannot make this collective, for the user; nullopt if it can. O(vertices + links).
[[nodiscard]] std::optional<std::string> cut_rate_unsuitable(const SynthesisProblem& problem);

/// The collective. Draws no random numbers. Errors (input): the problem is unsuitable, or switches cannot be split off.
[[nodiscard]] Result<Synthesis> synthesize_cut_rate(const SynthesisProblem& problem);

/// Expected bytes at the peak, schedule included, and work.
[[nodiscard]] std::size_t cut_rate_bytes(const SynthesisProblem& problem);
[[nodiscard]] Work cut_rate_work(const SynthesisProblem& problem);

}  // namespace tenex
