// Textbook algorithms: they make Programs. A new algorithm is one file and one line of the registry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/schedule/run_choices.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// What a study may set of an algorithm; each reads what concerns it and ignores the rest.
struct AlgorithmOptions {
  /// How much is under way at once, of what AlgorithmReads::window says. 0: all.
  std::uint32_t window = 0;
  DestinationOrder order = DestinationOrder::relative;
  std::uint64_t seed = 1;  ///< for those that draw
};

/// Which of the options can change what an algorithm does. A test varies each for every algorithm.
struct AlgorithmReads {
  std::string_view window = {};  ///< what a window counts, in words; empty: it has none
  bool order = false;
};

/// What the size of an algorithm's program follows from. Mean hops are those of routes on the topology.
struct ProgramScale {
  double members = 0;                  ///< of all groups
  double slices = 0;                   ///< chunks per NPU, of all members
  double passes = 1;                   ///< over the data: an All-Reduce reduces, then gathers
  double sends = 0;                    ///< of every chunk to everybody, one by one, in all passes
  double pair_hops = 1;                ///< between two members drawn at random
  double neighbour_hops = 1;           ///< between neighbours in the order of ids
  double step_hops = 1;                ///< between NPUs side by side in a dimension
  double dimension_steps = 1;          ///< of an NPU to all others of one dimension after the other
  double dimensions = 1;               ///< at least one
  std::optional<double> halving_hops;  ///< of an NPU to all whose number differs in one bit, where that is known
  bool all_to_all = false;
};

/// What a program sends, about.
struct ProgramSizes {
  double messages = 0;
  double hops = 0;     ///< of all messages
  double carried = 0;  ///< chunks, where messages carry several
};

/// A registry entry: all that others ask of an algorithm.
struct Algorithm {
  std::string_view name;
  std::string_view description;
  std::string_view source;  ///< who described it first, or the paper that uses it
  /// The collectives it is defined for.
  std::vector<CollectiveKind> collectives;
  /// Errors (input): a collective it is not defined for, a group size it cannot handle. `collective` is copied into the
  /// program.
  Result<std::shared_ptr<const Program>> (*make)(const Topology&, const Collective&, const AlgorithmOptions&);
  ProgramSizes (*sizes)(const ProgramScale&);
  AlgorithmReads reads = {};
  /// Every message carries one chunk, so that bounds that count chunks hold.
  bool single_chunks = true;
  /// What topologies and groups must be for it; empty: any.
  std::string_view requirement = {};
  /// Errors (input), which name the algorithm as given: a topology or groups that are not so, without making the
  /// program; null: any will do.
  Status (*fits)(std::string_view name, const Topology&, const Collective&) = nullptr;
  /// Up to how many NPUs it is a candidate of candidates(): beyond, making its program would take too long to be tried
  /// beside others (a tree per NPU; 256 NPUs take a fraction of a second).
  std::size_t candidate_npus = SIZE_MAX;
  bool straight = false;      ///< a chunk goes straight from its owner to each destination, all of them at time zero
  bool along_rings = false;   ///< messages go between neighbours of a ring of all, or of rings along dimensions
  bool tree_per_npu = false;  ///< its program keeps a tree of all NPUs for each NPU
};

/// What a study writes for the best of candidates().
inline constexpr std::string_view kBestAlgorithm = "auto";
/// What is simulated where no algorithm is named.
inline constexpr std::string_view kDefaultAlgorithm = "ring";

/// The explicit table: a line per algorithm, the rings first.
[[nodiscard]] const std::vector<Algorithm>& algorithms();
/// nullptr when there is none of that name.
[[nodiscard]] const Algorithm* find_algorithm(std::string_view name);

/// Whether the algorithm is defined for a collective, whatever the topology.
[[nodiscard]] bool does(const Algorithm& algorithm, CollectiveKind kind);

/// Whether the algorithm's All-Reduce is a Reduce-Scatter followed by an All-Gather. Trees have no such halves.
[[nodiscard]] bool has_halves(const Algorithm& algorithm);
/// The error (unsupported) for an algorithm without halves that is to run without overlap.
[[nodiscard]] Diagnostic no_halves(const Algorithm& algorithm);

/// Whether an algorithm can do this collective on this topology. Errors (input): a collective that it is not defined
/// for, one that was made for another number of NPUs than the topology has, and those of Algorithm::fits; (resource)
/// too many NPUs. O(npus + links).
[[nodiscard]] Status check_fits(const Algorithm& algorithm, const Topology& topology, const Collective& collective);

/// The algorithms that can do this collective on this topology, in the table's order: the baselines of which the best
/// is chosen. Makes each program once: O(npus) each, and the trees of some up to Algorithm::candidate_npus.
[[nodiscard]] std::vector<const Algorithm*> candidates(const Topology& topology, const Collective& collective,
                                                       const AlgorithmOptions& options = {});

}  // namespace tenex
