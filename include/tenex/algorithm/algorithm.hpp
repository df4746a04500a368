// Textbook algorithms: they make Programs. A new algorithm is one file and one line of the registry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/shared_cache.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/algorithm_traits.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/schedule/run_choices.hpp"
#include "tenex/topology/routes.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// Parts of programs that programs of other sizes and chunks have too, by a text that names the part and all that it
/// depends on. An algorithm that keeps a part gives it the type that it has under such a text.
using ProgramParts = SharedCache<std::shared_ptr<const void>>;

/// The settings of a study that algorithms may read; each reads those that concern it and ignores the others.
struct AlgorithmOptions {
  /// The most units under way at once; 0: no limit. SettingReads::window names the unit.
  std::uint32_t window = 0;
  DestinationOrder order = DestinationOrder::relative;
  std::uint64_t seed = 1;         ///< for algorithms that draw random numbers
  RouteChoice routes{};           ///< of the messages, for algorithms that lay rings on them
  std::uint32_t radix = 2;        ///< from 2 to kMostRadix
  ProgramParts* parts = nullptr;  ///< where parts are looked for and kept, which changes no program; null: nowhere
};

/// What an NPU sends in a pass over all dimensions of a shape, one after another, for each of its slices.
struct DimensionSends {
  double messages = 1;
  double hops = 1;    ///< of these messages
  double moves = 1;   ///< messages that carry a chunk, for each member that it goes to
  double stages = 1;  ///< exchanges one after another
};

/// The quantities that determine the size of an algorithm's program. Mean hops are those of routes on the topology.
struct ProgramScale {
  double members = 0;                  ///< of all groups
  double slices = 0;                   ///< chunks per NPU, of all members
  double passes = 1;                   ///< passes over the data: two for an All-Reduce, which reduces, then gathers
  double sends = 0;                    ///< sends of every chunk to every member, one by one, in all passes
  double pair_hops = 1;                ///< mean hops between two members drawn at random
  double neighbour_hops = 1;           ///< mean hops between neighbours in the order of ids
  double step_hops = 1;                ///< mean hops between neighbours along a dimension
  double dimension_steps = 1;          ///< messages of an NPU to all others of each dimension in turn
  DimensionSends by_rings{};           ///< with a ring in every dimension
  DimensionSends by_blocks{};          ///< with what suits each block (hierarchical.cpp)
  double last_dimension = 1;           ///< NPUs along the last dimension
  double dimensions = 1;               ///< at least one
  std::optional<double> halving_hops;  ///< hops from an NPU to all NPUs whose id differs in one bit, where known
  bool all_to_all = false;
  double radix = 2;
};

/// The approximate size of a program.
struct ProgramSizes {
  double messages = 0;
  double hops = 0;     ///< of all messages
  double carried = 0;  ///< chunks in the lists of those that messages carry, where they carry several; equal lists once
  double least_busy = 0;  ///< hops of single chunks for which links are busy at least, where that is more than `hops`
  double moves = 0;       ///< messages counted for each of their chunks, where they carry several
};

/// The symmetric shapes whose translations move an algorithm's program for all NPUs onto itself
/// (Program::moves_with()), so that the engine `orbit` runs it by one NPU.
enum class MovesWith : std::uint8_t { none, one_dimension, all };

/// The second part of a registry entry: how the algorithm makes programs.
struct ProgramMaker {
  /// Makes the program, into which `collective` is copied. Errors (input): a collective that the algorithm is not
  /// defined for, a group size that it cannot handle.
  Result<std::shared_ptr<const Program>> (*make)(const Topology&, const Collective&, const AlgorithmOptions&) = nullptr;
  ProgramSizes (*sizes)(const ProgramScale&) = nullptr;
  /// Every message carries one chunk, so that bounds that count chunks hold.
  bool single_chunks = true;
  /// The requirement on topologies and groups, in words; empty: none.
  std::string_view requirement = {};
  /// Checks the requirement without making the program; null: no requirement. Errors (input), which name the algorithm
  /// as given: a topology or groups that do not meet it.
  Status (*fits)(std::string_view name, const Topology&, const Collective&) = nullptr;
  bool direct_only = false;  ///< the requirement leaves no switches
  /// The most NPUs for which candidates() tries the algorithm. Beyond, making its program takes too long (a tree per
  /// NPU, a search for cycles; 256 NPUs take some seconds at most).
  std::size_t candidate_npus = SIZE_MAX;
  MovesWith moves_with = MovesWith::none;
  bool straight = false;      ///< each chunk goes straight from its owner to each destination; all leave at time zero
  bool along_rings = false;   ///< messages go between neighbours of a ring of all members, or of rings along dimensions
  bool tree_per_npu = false;  ///< the program keeps a tree of all NPUs for each NPU
  bool joins_pairs = false;   ///< making the program takes memory per pair of NPUs that a link or switches join
  /// Sums state their contributors (Program::states_contributors()), so that their check keeps sets of contributors.
  bool states_contributors = false;
  bool plays_jointly = true;  ///< its schedules can be replayed beside others: sums travel in trees, or are own inputs
};

/// A registry entry: all that other code asks of an algorithm. An All-Reduce has two phases where the algorithm also
/// makes a Reduce-Scatter and an All-Gather; trees have none.
struct Algorithm : AlgorithmTraits, ProgramMaker {};

/// The word that a study writes for the fastest of candidates().
inline constexpr std::string_view kAutoAlgorithm = "auto";
/// The explicit table: a line per algorithm, the rings first.
[[nodiscard]] const std::vector<Algorithm>& algorithms();
/// The entry of kAutoAlgorithm, which makes no program itself.
[[nodiscard]] const AlgorithmTraits& auto_algorithm();
/// The algorithm that is simulated where none is named: the first of the table that makes such a collective.
[[nodiscard]] const Algorithm& default_algorithm(CollectiveKind kind);
/// nullptr when no algorithm has that name.
[[nodiscard]] const Algorithm* find_algorithm(std::string_view name);

/// The error (unsupported) for an algorithm, or a synthesizer, without halves that is to run without overlap.
[[nodiscard]] Diagnostic no_halves(std::string_view algorithm);

/// Whether an algorithm can do this collective on this topology. Errors (input): a collective that the algorithm is not
/// defined for, a collective for another number of NPUs than the topology has, and those of Algorithm::fits; (resource)
/// too many NPUs. O(npus + links).
[[nodiscard]] Status check_fits(const Algorithm& algorithm, const Topology& topology, const Collective& collective);

/// The algorithms that can do this collective on this topology, in the table's order. They are the baselines from which
/// the best is chosen. Makes each program once: O(npus) each, and the trees of some up to Algorithm::candidate_npus.
[[nodiscard]] std::vector<const Algorithm*> candidates(const Topology& topology, const Collective& collective,
                                                       const AlgorithmOptions& options = {});

}  // namespace tenex
