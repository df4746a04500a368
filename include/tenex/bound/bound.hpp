// Lower bounds on collective time, each proven from the physics alone and independent of any synthesizer.
//
// A new bound is one file and one line of the registry. The bound of a point is the largest that applies; its name is
// reported ("binds"). A time below the bound is a defect of tenex, never a discovery.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/topology.hpp"

namespace tenex {

struct PassingLinks;  // src/bound/passing_links.hpp

/// The data that a bound may read: a collective on the physical network. Links that are wires (topology/wires.hpp)
/// share physical links, so counts on wires would prove little. `topology` has the vertices and links of the physical
/// network, with all its switches. A link on paths over cut-through switches has there what every send over it needs at
/// least: the least sum of alphas of such a path, and the bandwidth of the slowest link of the fastest such path. So
/// each link by itself has delivered no more by a time than capacity.hpp counts. Paths are measured on `network`.
struct BoundProblem : Instance {
  /// `given` names a physical network, or a topology of wires. Expects: a collective of the topology's NPUs, and late
  /// NPUs that exist, none twice. O(1); O(links log vertices) with cut-through switches.
  // NOLINTNEXTLINE(google-explicit-constructor): an instance is a problem
  BoundProblem(const Instance& given, bool overlap = true, bool single_chunks = true,
               std::span<const StartDelay> start_delays = {});
  BoundProblem(const Topology& given, const Collective& what, Occupancy how = Occupancy::serialization,
               bool overlap = true, bool single_chunks = true)
      : BoundProblem(Instance{given, what, how}, overlap, single_chunks) {}

  /// The same for another collective. O(1).
  [[nodiscard]] BoundProblem with(const Collective& what) const;

  /// A send of one chunk over a link of this class of `topology`. `latency` lasts until the chunk has arrived at the
  /// end of its path over cut-through switches. Without `single_chunks`: its part of a send of several, beta*m rounded
  /// down, at least 1 ps (which is wrong where follows_chunks() is false). O(1).
  [[nodiscard]] HopTime hop(std::size_t link_class, Bytes size) const;

  /// Whether bounds that follow single chunks from hop to hop may use hop(): not where a part of a send of several
  /// chunks takes less than a picosecond, or passes switches with virtual cut-through (where parts that are rounded
  /// down might have to be there before the whole, which is rounded up). O(switches + classes * chunk sizes).
  [[nodiscard]] bool follows_chunks() const;
  /// Whether hop() is that of a part of any send: not where a part takes less than a picosecond. O(classes * chunk
  /// sizes).
  [[nodiscard]] bool has_parts() const;

  /// Whether its bounds hold for all schedules: sends may carry several chunks, or gain nothing by it (`serialization`,
  /// where beta*m is a whole number of picoseconds on every link). O(classes * chunk sizes).
  [[nodiscard]] bool holds_for_all() const;

  /// The network on which least times of a message of one chunk are found (arrival_times()): `network`. Where sends of
  /// several chunks pass switches with virtual cut-through it is `other`, which becomes a network whose switches cut
  /// through: a message takes no longer there, and a longer one no less time than a shorter one. O(switches); O(links)
  /// where it is `other`.
  [[nodiscard]] const Topology& searched(Topology& other) const;

  /// The most chunks of this size (bytes, where `divisible`) that a link of this class of `topology` has delivered by
  /// a time; the largest number where there are more. O(1).
  [[nodiscard]] std::int64_t delivered(std::size_t link_class, Bytes size, SimTime by) const;

  const Topology& network;                      ///< the physical network as it is
  std::shared_ptr<const PassingLinks> passing;  ///< of `topology`; null without cut-through switches
  /// All-Reduce: a chunk's gather may begin when its own reduction is complete. Without overlap the sum of the bounds
  /// of the two parts holds too; with overlap it does not (a 3-NPU line with 4 chunks takes 13 steps, the sum says 16).
  bool overlap = true;
  /// Every send carries one chunk. Otherwise several chunks may share a send and pay alpha and its rounding once
  /// (textbook algorithms with large messages). Such a send of k chunks is no faster than k sends in a row that each
  /// keep their link for beta*m alone: bounds then count those (hop()), under either occupancy.
  bool single_chunks = true;
  /// Without `single_chunks`: chunks may be cut into bytes. For searches alone, whose problems have few large chunks.
  bool divisible = false;
  /// NPUs that start late; none twice. Bounds that do not read them hold as well.
  std::span<const StartDelay> start_delays;

 private:
  BoundProblem(const Instance& given, const Topology& physical, std::shared_ptr<const PassingLinks> links);
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
  /// Whether no other set (cut) or partition (strength) has more to send per bandwidth of its links: the search came to
  /// its end. False where it does not ask that: for an All-to-All, stored conditions, several groups, and partitions
  /// with switches.
  bool densest = false;
  /// Whether the work limit ended the search for weights (strength, flow): more work may prove more.
  bool cut_short = false;
};

/// A registry entry. A bound is either cheap, or it has a certificate, which a search finds.
struct BoundMethod {
  std::string_view name;
  std::string_view description;
  /// A cheap bound: nullopt where it does not apply. Null where `certify` gives the time.
  std::optional<SimTime> (*compute)(const BoundProblem&) = nullptr;
  /// Whether a cheap bound looks at one NPU where every NPU sees the same network (TranslationGroup) and all do the
  /// same: it then costs little, whatever the size.
  bool one_for_all = false;
  /// Whether a cheap bound searches for paths from many NPUs: seconds on large networks.
  bool searches_paths = false;
  /// Whether a cheap bound follows from the lengths of paths alone: a network in which no path is longer has none above
  /// it.
  bool lengths_alone = false;
  /// Whether a bound with a certificate is of this collective.
  bool (*concerns)(CollectiveKind) = nullptr;
  /// Searches for a certificate, in some `work_limit` link visits (10 to 20 ns each). nullopt where there is none.
  /// Ensures: `check` gives its time.
  std::optional<CertifiedBound> (*certify)(const BoundProblem&, std::uint64_t work_limit) = nullptr;
  /// The time that a certificate proves. It may come from another problem on the same vertices, links and groups.
  /// Ensures: `check` gives the same time.
  SimTime (*time_of)(const BoundProblem&, const CertifiedBound& certificate) = nullptr;
  /// The same by a checker that shares no code with the search.
  SimTime (*check)(const BoundProblem&, const CertifiedBound& certificate) = nullptr;
  /// The best certificate, by an optional library, for `tenex bound --exact`: no row depends on it. nullopt where it
  /// cannot be found. Null without that library.
  std::optional<CertifiedBound> (*exact)(const BoundProblem&) = nullptr;
  std::uint64_t full_work = 0;  ///< the limit of a search for which time does not matter: seconds
};

/// The explicit table of bounds.
[[nodiscard]] const std::vector<BoundMethod>& bound_methods();

/// All cheap bounds that apply, in registry order. Ensures: none is below zero.
[[nodiscard]] std::vector<Bound> cheap_bounds(const BoundProblem& problem);
/// The largest of the cheap bounds (the first in registry order among equals).
[[nodiscard]] Bound best_cheap_bound(const BoundProblem& problem);

/// The largest of the cheap bounds that have `property` (a field of BoundMethod); zero where none applies.
[[nodiscard]] SimTime largest_bound_with(bool BoundMethod::*property, const BoundProblem& problem);

/// The "Ideal" of TACOS, section V-A, a metric and not a bound: size * 2(n-1)/n over the least NPU bandwidth plus the
/// latency diameter ((n-1)/n for All-Gather and Reduce-Scatter). The NPU bandwidth is the lesser of the sums over an
/// NPU's out-links and in-links, which are physical ones: for a topology of wires those of its network. With several
/// groups: the largest over groups. nullopt for other collectives, and where a search for the diameter would take more
/// than 2^26 link visits (about a second).
[[nodiscard]] std::optional<SimTime> paper_ideal(const Topology& topology, const Collective& collective);

}  // namespace tenex
