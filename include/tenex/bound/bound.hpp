// Lower bounds on collective time, each proven from the physics alone and independent of any synthesizer.
//
// A new bound is one file and one line of the registry. The bound of a point is the largest that applies; its name is
// reported ("binds"). A time below the bound is a defect of tenex, never a discovery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

/// The data that a bound may read.
struct BoundProblem : Instance {
  /// All-Reduce: a chunk's gather may begin when its own reduction is complete. Without overlap the sum of the bounds
  /// of the two parts holds too; with overlap it does not (a 3-NPU line with 4 chunks takes 13 steps, the sum says 16).
  bool overlap = true;
  /// Every send carries one chunk. Otherwise several chunks may share a send and pay alpha once (textbook algorithms
  /// with large messages), so that bytes are counted instead of chunks and bounds that follow single chunks do not
  /// apply.
  bool single_chunks = true;
};

/// One bound's answer.
struct Bound {
  std::string_view name;  ///< registry name; "none" when no bound applies
  SimTime time;           ///< no schedule can finish earlier
};

/// A bound with what proves it: a set of vertices (cut.hpp), or weights of links (strength.hpp, flow.hpp).
struct CertifiedBound {
  SimTime time;
  std::vector<VertexId> inside;        ///< ascending
  std::vector<std::uint32_t> weights;  ///< per link
  /// Whether no other set has more chunks to send per bandwidth of its links: the search came to its end. False where
  /// the search does not ask that: for an All-to-All and for several groups.
  bool densest = false;
};

/// A registry entry.
struct BoundMethod {
  std::string_view name;
  std::string_view description;
  /// nullopt where the bound does not apply. Null where `certify` gives the time.
  std::optional<SimTime> (*compute)(const BoundProblem&);
  bool in_rows = true;  ///< otherwise it costs more than a row may: `tenex bound` alone computes it
  /// The bound with its certificate, and the time that a certificate proves, by a checker that shares no code with the
  /// search. Null: the bound's proof has no certificate.
  std::optional<CertifiedBound> (*certify)(const BoundProblem&) = nullptr;
  SimTime (*check)(const BoundProblem&, const CertifiedBound& certificate) = nullptr;
};

/// The explicit table of bounds.
[[nodiscard]] const std::vector<BoundMethod>& bound_methods();

/// All bounds of rows that apply, in registry order.
[[nodiscard]] std::vector<Bound> all_bounds(const BoundProblem& problem);
/// The largest of all bounds of rows (the first in registry order among equals).
[[nodiscard]] Bound best_bound(const BoundProblem& problem);

/// The "Ideal" of TACOS, section V-A, a metric and not a bound: size * 2(n-1)/n over the least NPU bandwidth plus the
/// latency diameter ((n-1)/n for All-Gather and Reduce-Scatter). The NPU bandwidth is the lesser of the sums over an
/// NPU's out-links and in-links. With several groups: the largest over groups. nullopt for other collectives, and where
/// a search for the diameter would take more than 2^26 link visits (about a second).
[[nodiscard]] std::optional<SimTime> paper_ideal(const Topology& topology, const Collective& collective);

}  // namespace tenex
