// Orbit check: verifies a symmetric schedule through the sends of one NPU, which stand for all n translates.
//
// Theorem. Let V be a group of bijections of the NPUs that maps links to links of the same class and acts simply
// transitively (n translations for n NPUs). Let a collective give NPU w the chunks (w, 0), (w, 1) .., numbered so that
// translation g maps (w, i) to (w+g, i), and with it owners to owners and "NPU r must end with, starts with,
// contributes to (w, i)" to the same of their images. (All-Gather, Reduce-Scatter, All-Reduce: i = 0 .. c-1, and all
// NPUs are alike. All-to-All: i = delta*c + k is for NPU w + delta, which g maps to w+g + delta, the destination of
// (w+g, i); so the numbers count offsets of destinations, not destinations. In several groups g must also map groups to
// groups; then the numbers that exist are those of the offsets inside a group, the same for every owner.) Let S be a
// schedule that every translation maps to itself. Then S is valid if and only if the following hold for NPU 0 as
// receiver and for chunks owned by NPU 0:
//   1. starts are not negative, and no two sends into NPU 0 over one link overlap;
//   2. every send of a chunk owned by NPU 0 leaves a source that holds, at its start, what it claims;
//   3. every NPU ends with the chunks of NPU 0 that it must hold, with all contributions, each counted once.
// Proof. Validity is a conjunction of statements about single links (no overlap), single sends (the source holds the
// chunk, with the contributions it claims), single (NPU, chunk) pairs (postconditions, contributions). What an NPU x
// holds of a chunk (w, i), and when, follows from the sends of that chunk alone, by induction over time. A translation
// g maps the sends of (w, i) to those of (w+g, i), with the same starts and, classes being equal, the same arrivals; so
// it maps a true statement about x and (w, i) to a true one about x+g and (w+g, i). Each statement about a chunk is the
// translate by w of one about a chunk of NPU 0, each about a link into r is the translate by r of one about a link into
// NPU 0. No statement spans two chunks. (No switches that hold chunks: what a send carries has no other conditions.)
//
// Switches that cut through: links are wires (topology/wires.hpp), paths of physical links, and 1 is that no two sends
// overlap on a physical link. V must then map physical links too: each one leaves an NPU, or leads from a switch to an
// NPU, in a role that every NPU has once. Over a switch the sends of all directions of a dimension that leave NPU 0
// share its link up, those into NPU 0 its link down; the latter are the translates of the former, with the same starts.
// So 1 is checked for NPU 0's link of each role. A multicast counts as several sends, as if no switch copied: a
// symmetric schedule gains nothing by copies, since every NPU receives as many signals as it sends.
//
// Switches that store and forward: of a relayed schedule (relayed.hpp) the ways over switches are checked as such
// wires, whose second link is taken when the chunk has arrived over the first one. What comes to a switch leaves it at
// that instant, so nothing waits there, and of partial sums of a chunk the first to come is the first to go. Where
// switches copy, a chunk comes to each once, and leaves it then and later; the check asks for more there, that the
// way's source holds the chunk each time.
//
// The checks are exact and not a sample. First the premise on the topology, for all links: each (source, direction) is
// a link that starts and ends where it should, of its direction's class, and each link is one of these; for
// translations this is the premise for the generators and hence for the group; and each wire takes the physical links
// of its roles, alike at all NPUs. Then the premise on the collective. Then
// 1 to 3, by a replay of the orbits. S consists of its orbits' translates by the definition of the storage (whose
// expansion the full replay checks on small cases). Reductions are checked by the in-tree rule: every NPU but the owner
// sends a chunk's sum exactly once, after all it receives of it; then the sends form a tree into the owner, along which
// every contribution passes exactly once. Schedules that reduce in another way are `skipped`. Waste and collective time
// of an All-to-All: a relay counts if it forwards the chunk, as in verify(). Statement 3 is then one per chunk of NPU
// 0: the NPU at its offset delta has it, n*c checks for n*n*c postconditions.
//
// Written from the definition of validity (verifier.hpp); shares no code with synthesizers.
#pragma once

#include <cstdint>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex {

/// Whether verify_symmetric() can judge the schedule: it needs a symmetric storage, or a relayed one, a topology with a
/// translation group, and an All-Gather, Reduce-Scatter, All-Reduce or All-to-All over all NPUs. O(npus), plus O(links)
/// if there are several link classes.
[[nodiscard]] bool has_orbit_check(const Topology& topology, const Collective& collective, const Schedule& schedule);

/// The verdict on the whole schedule. `sends` and `waste` count NPU-level sends (n for each orbit), `violations` counts
/// orbits, and findings name the send into NPU 0. Expects and ensures what verify() does. `reduction_check` is "none",
/// "in_tree" or "skipped". has_orbit_check() must hold (InvariantError otherwise). O(links + orbits) time, 16 bytes per
/// orbit.
[[nodiscard]] Verdict verify_symmetric(const Instance& instance, const Schedule& schedule,
                                       const VerifyOptions& options = {});

/// Schedules of at most this many sends are always hashed, and replayed if the replay does not take too much memory: a
/// few seconds.
constexpr std::uint64_t kMostReplayedSends = std::uint64_t{1} << 28;
/// The most (vertex, chunk) pairs of an All-to-All that is replayed although an orbit check would do. The replay has a
/// bit for each (0.5 GiB), and a bound of n chunks per NPU does not keep them few, as it does for other collectives.
constexpr std::uint64_t kMostReplayedPairs = std::uint64_t{1} << 32;

/// Calls verify_symmetric() if the schedule has more than kMostReplayedSends sends, or is an All-to-All of more than
/// kMostReplayedPairs, and has_orbit_check() holds and no start is delayed; otherwise verify(). The choice does not
/// depend on the machine, so a row and a file get the same verdict everywhere.
[[nodiscard]] Verdict verify_by_size(const Instance& instance, const Schedule& schedule,
                                     const VerifyOptions& options = {});

}  // namespace tenex
