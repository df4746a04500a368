// Symmetric schedules: one NPU's sends, moved over a translation group. O(sends / npus) memory.
//
// Idea: if every NPU sees the same network, all of them can do the same at the same time. A send of such a schedule
// belongs to an orbit: one send for every NPU, with the same direction, the same start, and a chunk whose owner lies at
// the same offset. Encoding: an orbit is (start, direction, offset of the receiver from the chunk's owner, number of
// the chunk at its owner, stage); receiver r gets the chunk of that number of owner r - offset over the link that
// reaches it in that direction. Links and chunks are computed as segments are read. Only for collectives over one group
// of all NPUs in the order of their ids, and for All-to-Alls in several groups that translations map to each other,
// such as all lines along one dimension.
//
// The number of a chunk must mean the same at every owner. Where the chunks of owner w are w*c + k, the number is k. In
// an All-to-All the chunks of owner w are (w*n + destination)*c + k; there the number is delta*c + k, where delta is
// the offset of the destination from the owner. In several groups the number is the same, but only offsets inside a
// group have chunks, and ids follow from tables of ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tenex/base/bitset.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/collective/instance.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/send.hpp"
#include "tenex/topology/timing.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {

/// A send of every NPU at once.
struct OrbitSend {
  SimTime start;
  std::uint32_t direction = 0;  ///< direction of the group in which each of the sends goes
  NpuId offset;                 ///< offset of the receiver from the owner of its chunk (0: the owner receives)
  std::uint32_t number = 0;     ///< number of the chunk at its owner (OrbitChunks)
  Stage stage = Stage::copy;
  bool operator==(const OrbitSend&) const = default;
};

/// The chunks of an All-to-All in several groups.
struct OrbitRanks {
  std::vector<std::uint32_t> first_chunk;  ///< by NPU: the first chunk that it owns
  std::vector<std::uint32_t> rank;         ///< by NPU, inside its group
  Bitset partners;                         ///< offsets inside a group
  bool operator==(const OrbitRanks&) const = default;
};

/// The chunks that orbits name: how many an NPU owns, and the meaning of their numbers.
struct OrbitChunks {
  std::uint32_t each = 1;                        ///< c, per NPU; of an All-to-All per pair
  bool of_pairs = false;                         ///< All-to-All: number delta*c + k; otherwise number k
  std::shared_ptr<const OrbitRanks> ranks = {};  ///< absent: one group of all NPUs in order

  // NOLINTNEXTLINE(google-explicit-constructor): a count alone means chunks without a destination.
  OrbitChunks(std::uint32_t count = 1, bool pairs = false) : each(count), of_pairs(pairs) {}
  /// The numbers of `npus` NPUs are below this.
  [[nodiscard]] std::uint64_t numbers(std::size_t npus) const { return of_pairs ? std::uint64_t{each} * npus : each; }
  /// Whether the owner has a chunk of this number below numbers().
  [[nodiscard]] bool has(std::uint32_t number) const { return !ranks || ranks->partners.test(number / each); }
  bool operator==(const OrbitChunks& other) const {
    return each == other.each && of_pairs == other.of_pairs &&
           (ranks == other.ranks || (ranks && other.ranks && *ranks == *other.ranks));
  }
};

/// The chunks of a collective for which moves_with_translations() holds. O(npus).
[[nodiscard]] OrbitChunks orbit_chunks(const Collective& collective);

/// Whether translations map the collective to itself: one group of all NPUs in the order of their ids, or an All-to-All
/// whose groups are the cosets of a subgroup (offsets whose digit in each dimension is a multiple of some divisor of
/// its size), with equal chunks. O(npus * dimensions).
[[nodiscard]] bool moves_with_translations(const Collective& collective, const TranslationGroup& group);

/// Returns true if the collective has one group of all NPUs in which rank and NPU id agree. Offsets rely on it.
/// O(npus).
[[nodiscard]] bool moves_with_npus(const Collective& collective);

/// The storage. Segments hold about 16,000 sends, but at least one start time, since no start time is ever split. With
/// n NPUs and d directions that may be n*d sends (6e6 for a 100x100x100 torus, some 50 MB of buffer).
class SymmetricStorage final : public ScheduleStorage {
 public:
  /// `orbits` in any order; `chunks` are the collective's, fewer than 2^32 of all NPUs together. Directions, offsets
  /// and numbers must exist (InvariantError otherwise). O(orbits log orbits).
  SymmetricStorage(TranslationGroup group, OrbitChunks chunks, std::vector<OrbitSend> orbits);

  [[nodiscard]] std::size_t segments() const override { return segment_begin_.size() - 1; }
  [[nodiscard]] std::uint64_t sends() const override { return std::uint64_t{orbits_.size()} * group_.npus(); }
  void read(std::size_t segment, SendBuffer& buffer) const override;
  [[nodiscard]] std::size_t tiles() const override { return tile_begin_.size() - 1; }
  void read_link(std::size_t tile, LinkId link, SendBuffer& buffer) const override;
  [[nodiscard]] std::size_t memory_bytes() const override;
  [[nodiscard]] std::string_view kind() const override { return "symmetric"; }
  [[nodiscard]] StorageParts parts() const override;

  [[nodiscard]] const TranslationGroup& group() const { return group_; }
  [[nodiscard]] OrbitChunks chunks() const { return chunks_; }
  /// The chunk of an owner that has this number there. O(dimensions) for an All-to-All, else O(1).
  [[nodiscard]] ChunkId chunk(NpuId owner, std::uint32_t number) const;
  /// Sorted by (start, direction).
  [[nodiscard]] std::span<const OrbitSend> orbits() const { return orbits_; }

 private:
  void order_by_direction();
  void read_dimension(std::size_t first, std::size_t last, std::size_t at, SendBuffer& buffer) const;

  TranslationGroup group_;
  OrbitChunks chunks_;
  std::vector<OrbitSend> orbits_;
  std::vector<std::uint32_t> segment_begin_;  ///< first orbit of each segment, then the end
  std::vector<std::uint32_t> tile_begin_;     ///< first orbit of each tile, then the end
  std::vector<std::uint32_t> of_direction_;   ///< indices of orbits by tile, direction and start
  std::vector<std::uint32_t> lane_begin_;  ///< first entry in of_direction_ for each tile and direction, then the end
};

/// A schedule over the storage above.
[[nodiscard]] Schedule make_symmetric_schedule(TranslationGroup group, OrbitChunks chunks,
                                               std::vector<OrbitSend> orbits);

/// The storage of a symmetric schedule; nullptr for any other.
[[nodiscard]] const SymmetricStorage* symmetric_storage(const Schedule& schedule);

// Reversal, All-Reduce and re-timing of symmetric schedules, orbit by orbit: O(sends / npus).
//
// The general forms are in views.hpp and retime.hpp and mean the same. Here the reversal of an All-Gather is on the
// topology itself, not on its reverse: a link and its reverse are alike (a direction and its opposite share a class),
// so a send of a chunk from s to r at [t, t + latency) becomes a send of a partial sum from r to s, over the link in
// the opposite direction, at [T - t - latency, T - t). Where some direction has no opposite, the network is mirrored
// instead: x -> -x maps every direction to its opposite, so a send from offset s to r becomes one from -r to -s in the
// same direction. Over a switch that cuts through, up-links and down-links change
// places; sends that shared neither still do not.

/// The time reversal of a symmetric All-Gather (valid, free of waste): a symmetric Reduce-Scatter on the same topology.
/// Ensures: no later an end.
/// O(orbits). All functions here throw InvariantError for a schedule that is not symmetric, and all but the last two
/// for an All-to-All.
[[nodiscard]] Schedule reversed_symmetric(const Instance& instance, const Schedule& schedule);

/// `reduction` followed by `gather`, which starts at `gather_begins`: the All-Reduce without overlap. Expects:
/// schedules of one network and of as many chunks, and a beginning after all starts of the reduction. O(orbits).
[[nodiscard]] Schedule then_gather_symmetric(const Schedule& reduction, const Schedule& gather, SimTime gather_begins);

/// Starts every orbit as soon as its source holds what it sends and its port (orbit_ports.hpp) has finished the sends
/// planned before it.
/// For Reduce-Scatter and All-Reduce whose reductions are in-trees, and for All-Gather. Ensures: no later an end.
/// O(orbits).
[[nodiscard]] Schedule retime_symmetric(const Instance& instance, const Schedule& schedule);

/// Plays a symmetric schedule on a network that has its translations and directions, and on which sends may take longer
/// than planned: every orbit as soon as its source holds what it sends and its port (orbit_ports.hpp) has finished the
/// orbits planned before it. Without `overlap` ports take their sums first, and no final value leaves before all sums
/// are complete. nullopt where the network has others, and where a schedule is not of the kind that one pass plays
/// (tenex/schedule/timing/player.hpp). O(orbits log orbits), 8 bytes per NPU and number of a chunk; O(links) where they
/// have several classes.
[[nodiscard]] std::optional<Schedule> play_symmetric(const Instance& instance, const Schedule& schedule, bool overlap);

/// The last arrival of a symmetric schedule, without expanding it. O(orbits).
[[nodiscard]] SimTime last_arrival_symmetric(const Instance& instance, const Schedule& schedule);

}  // namespace tenex
