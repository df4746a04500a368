// Collective: its chunks, the NPUs that hold them at first (precondition) and the NPUs that must hold them at the end
// (postcondition).
//
// S, the collective size, follows nccl-tests: All-Gather's gathered output, Reduce-Scatter's input, the buffer of
// All-Reduce, Broadcast and Reduce. Several process groups of a point work at the same time; each runs the collective
// with its own S. Encoding: chunks are numbered group by group; in a group with m members and c chunks per NPU, chunk
// (i*c + k) is the k-th chunk of rank i (its owner): the source in All-Gather, the destination of the sum in
// Reduce-Scatter, the reducer in All-Reduce. Broadcast and Reduce have c chunks in all, owned by the root. In
// All-to-All chunk ((i*m + j)*c + k) is the k-th of the chunks that rank i (its owner) has for rank j; those with i = j
// never move. Nothing is stored per chunk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"

namespace tenex {

enum class CollectiveKind : std::uint8_t { all_gather, reduce_scatter, all_reduce, broadcast, reduce, all_to_all };

/// "all_gather", ... as studies write it.
[[nodiscard]] std::string_view to_string(CollectiveKind kind);
/// The names of all kinds, in enumeration order.
[[nodiscard]] std::vector<std::string_view> collective_names();
/// Parses a name. Errors (input): an unknown name, with the nearest spelling.
[[nodiscard]] Result<CollectiveKind> parse_collective_kind(std::string_view text, const Place& place = {});

/// Whether the kind forms sums (Reduce-Scatter, All-Reduce, Reduce).
[[nodiscard]] constexpr bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::reduce_scatter || kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce;
}

/// Whether the kind starts or ends at one NPU of each group (Broadcast, Reduce).
[[nodiscard]] constexpr bool has_root(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
}

/// NPUs that run one collective together; position in `members` is the rank inside the group.
struct ProcessGroup {
  std::vector<NpuId> members;
  bool operator==(const ProcessGroup&) const = default;
};

/// Parses "all" or "0-127; 128-255" or "0,2,4; 1,3,5" ("first-last:step" too): ";" separates groups. Errors (input): an
/// NPU that does not exist, an NPU in two groups or twice, a group of fewer than two NPUs, bad syntax. O(npus).
[[nodiscard]] Result<std::vector<ProcessGroup>> parse_groups(std::string_view text, std::size_t npus,
                                                             const Place& place = {});

/// A collective as a study describes it.
struct CollectiveRequest {
  CollectiveKind kind = CollectiveKind::all_gather;
  std::size_t npus = 0;              ///< of the topology
  std::vector<ProcessGroup> groups;  ///< empty: one group of all NPUs
  std::int64_t chunks = 1;           ///< c, per NPU (Broadcast, Reduce: in all; All-to-All: per pair)
  Bytes size;                        ///< S
  std::uint32_t root = 0;            ///< rank inside each group, Broadcast and Reduce only
};

/// An immutable collective over one or more process groups.
class Collective {
 public:
  /// Errors (input): c < 1, S < n*c (Broadcast, Reduce: S < c), a root outside a group; (resource) more than 2^32-2
  /// chunks.
  static Result<Collective> make(CollectiveRequest request);

  [[nodiscard]] CollectiveKind kind() const { return kind_; }
  [[nodiscard]] std::size_t npus() const { return npus_; }
  [[nodiscard]] const std::vector<ProcessGroup>& groups() const { return groups_; }
  [[nodiscard]] Bytes size() const { return size_; }
  [[nodiscard]] std::int64_t chunks_per_npu() const { return chunks_per_npu_; }
  [[nodiscard]] std::uint32_t root() const { return root_; }

  /// Chunks of all groups together.
  [[nodiscard]] std::size_t chunks() const { return first_chunk_.back(); }
  /// The chunks of a group are [first_chunk(g), first_chunk(g) + chunks_in(g)).
  [[nodiscard]] ChunkId first_chunk(GroupId group) const { return ChunkId::at(first_chunk_[group.index()]); }
  [[nodiscard]] std::size_t chunks_in(GroupId group) const {
    return first_chunk_[group.index() + 1] - first_chunk_[group.index()];
  }
  /// O(log groups).
  [[nodiscard]] GroupId group_of(ChunkId chunk) const;
  /// The group of an NPU; none() for an NPU outside all groups. O(1).
  [[nodiscard]] GroupId group_of(NpuId npu) const { return group_of_npu_[npu.index()]; }
  /// Rank of an NPU inside its group. O(1).
  [[nodiscard]] std::uint32_t rank_of(NpuId npu) const { return rank_of_npu_[npu.index()]; }
  /// The NPU that starts with the chunk (All-Gather, Broadcast, All-to-All) or ends with its sum (the others). O(log
  /// groups).
  [[nodiscard]] NpuId owner(ChunkId chunk) const;
  /// The chunks that an NPU owns: [first, first + count). None for an NPU outside all groups. O(1).
  struct Owned {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  [[nodiscard]] Owned owned_by(NpuId npu) const;
  /// The NPU that a chunk of an All-to-All is for. O(log groups).
  [[nodiscard]] NpuId destination(ChunkId chunk) const;

  /// ceil(S/(n*c)) of the chunk's group (Broadcast, Reduce: ceil(S/c)); groups of different sizes have different
  /// chunks. O(log groups).
  [[nodiscard]] Bytes chunk_bytes(ChunkId chunk) const { return chunk_sizes_[size_class(chunk)]; }
  /// The distinct chunk sizes and the index of a chunk's size, for HopTimes. O(1) with one size, else O(log groups).
  [[nodiscard]] const std::vector<Bytes>& chunk_sizes() const { return chunk_sizes_; }
  [[nodiscard]] std::size_t size_class(ChunkId chunk) const {
    return chunk_sizes_.size() == 1 ? 0 : size_class_of_group_[group_of(chunk).index()];
  }
  /// The size class of all chunks of a group. O(1).
  [[nodiscard]] std::size_t size_class(GroupId group) const { return size_class_of_group_[group.index()]; }

  /// Precondition of the copying part: the NPU holds the final value of the chunk at time zero (All-Gather, All-to-All:
  /// the owner; Broadcast: the root; never for collectives that reduce).
  [[nodiscard]] bool holds_at_start(NpuId npu, ChunkId chunk) const;
  /// Precondition of the reducing part: the NPU has a contribution to the chunk's sum (every member, where kind
  /// reduces).
  [[nodiscard]] bool contributes(NpuId npu, ChunkId chunk) const;
  /// Postcondition: the NPU must end with the final value (the gathered chunk, or the complete sum).
  [[nodiscard]] bool must_hold(NpuId npu, ChunkId chunk) const;
  /// Number of (NPU, chunk) pairs for which must_hold() and not holds_at_start() (All-to-All: pairs of different NPUs).
  /// O(groups).
  [[nodiscard]] std::uint64_t required_deliveries() const;

  /// The same groups and chunks under another kind. The gather part of an All-Reduce is as(all_gather), its reduction
  /// as(reduce_scatter); the time-reversed partner of Reduce-Scatter is as(all_gather), that of Reduce as(broadcast).
  /// Chunk ids, owners and chunk sizes agree. Allowed within {all_gather, reduce_scatter, all_reduce} and within
  /// {broadcast, reduce}; an All-to-All cannot change its kind.
  [[nodiscard]] Collective as(CollectiveKind kind) const;

 private:
  Collective() = default;
  CollectiveKind kind_ = CollectiveKind::all_gather;
  std::size_t npus_ = 0;
  std::vector<ProcessGroup> groups_;
  std::int64_t chunks_per_npu_ = 1;
  Bytes size_;
  std::uint32_t root_ = 0;
  std::vector<std::size_t> first_chunk_;
  std::vector<GroupId> group_of_npu_;
  std::vector<std::uint32_t> rank_of_npu_;
  std::vector<Bytes> chunk_sizes_;
  std::vector<std::size_t> size_class_of_group_;
};

/// busbw / algbw of nccl-tests: 2(n-1)/n for All-Reduce, (n-1)/n for All-Gather, Reduce-Scatter and All-to-All, 1 for
/// Broadcast, Reduce.
[[nodiscard]] double bus_factor(CollectiveKind kind, std::size_t npus_in_group);

}  // namespace tenex
