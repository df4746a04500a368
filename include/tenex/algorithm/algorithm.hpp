// Textbook algorithms: they make Programs. A new algorithm is one file and one line of the registry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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
  /// direct: how many messages an NPU has under way at once; hierarchical, blueconnect and ring_per_dimension: how many
  /// of an NPU's chunks are in one stage at once (of ring_per_dimension: of those that begin in one dimension); themis:
  /// how many are in one dimension at once. 0: all.
  std::uint32_t window = 0;
  DestinationOrder order = DestinationOrder::relative;
  std::uint64_t seed = 1;  ///< for those that draw
};

/// Which of the options can change what an algorithm does. A test varies each for every algorithm.
struct AlgorithmReads {
  bool window = false;
  bool order = false;
};

/// A registry entry.
struct Algorithm {
  std::string_view name;
  std::string_view description;
  std::string_view source;  ///< who described it first, or the paper that uses it
  /// The collectives it is defined for.
  std::vector<CollectiveKind> collectives;
  /// Errors (input): a collective it is not defined for, a group size it cannot handle. `collective` is copied into the
  /// program.
  Result<std::shared_ptr<const Program>> (*make)(const Topology&, const Collective&, const AlgorithmOptions&);
  AlgorithmReads reads = {};
  /// Every message carries one chunk, so that bounds that count chunks hold.
  bool single_chunks = true;
  /// What topologies and groups must be for it; empty: any.
  std::string_view requirement = {};
  /// Errors (input): a topology or groups that are not so, without making the program; null: any will do.
  Status (*fits)(const Topology&, const Collective&) = nullptr;
  /// Up to how many NPUs it is a candidate of candidates(): beyond, making its program would take too long to be tried
  /// beside others (a tree per NPU; 256 NPUs take a fraction of a second).
  std::size_t candidate_npus = SIZE_MAX;
};

/// The explicit table: a line per algorithm, the rings first.
[[nodiscard]] const std::vector<Algorithm>& algorithms();
/// nullptr when there is none of that name.
[[nodiscard]] const Algorithm* find_algorithm(std::string_view name);

/// Whether the algorithm is defined for a collective, whatever the topology.
[[nodiscard]] bool does(const Algorithm& algorithm, CollectiveKind kind);

/// Whether an algorithm can do this collective on this topology. Errors (input): a collective that it is not defined
/// for, one that was made for another number of NPUs than the topology has, and those of Algorithm::fits; (resource)
/// too many NPUs. O(npus + links).
[[nodiscard]] Status check_fits(const Algorithm& algorithm, const Topology& topology, const Collective& collective);

/// The algorithms that can do this collective on this topology, in the table's order: the baselines of which the best
/// is chosen. Makes each program once: O(npus) each, and the trees of some up to Algorithm::candidate_npus.
[[nodiscard]] std::vector<const Algorithm*> candidates(const Topology& topology, const Collective& collective,
                                                       const AlgorithmOptions& options = {});

}  // namespace tenex
