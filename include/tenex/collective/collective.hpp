// Collective: its chunks, the NPUs that hold them at first (precondition) and the NPUs that must hold them at the end
// (postcondition).
//
// S, the collective size, follows nccl-tests: All-Gather's and Gather's gathered output, the input of Reduce-Scatter
// and of Scatter's root, the buffer of All-Reduce, Broadcast and Reduce. Several process groups of a point work at the
// same time. Each has its own kind, S, chunk count and root, and an NPU may be in several groups.
//
// Encoding: chunks are numbered group by group; in a group with m members and c chunks per NPU, chunk (i*c + k) is the
// k-th chunk of rank i (its owner): the source in All-Gather and Gather, the destination of the sum in Reduce-Scatter,
// the reducer in All-Reduce, the destination in Scatter. Broadcast and Reduce have c chunks in all, owned by the root.
// In All-to-All chunk ((i*m + j)*c + k) is the k-th of the chunks that rank i (its owner) has for rank j; those with
// i = j never move. Nothing is stored per chunk. The kinds of stored conditions (all_to_allv, halo_exchange,
// conditions) keep a list: condition q, sorted by source, has the chunks q*c .. q*c + c-1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenex/base/diagnostic.hpp"
#include "tenex/base/hash.hpp"
#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"

namespace tenex {

enum class CollectiveKind : std::uint8_t {
  all_gather,
  reduce_scatter,
  all_reduce,
  broadcast,
  reduce,
  all_to_all,
  gather,         ///< every NPU's chunks end at the root
  scatter,        ///< every NPU ends with its chunks, which begin at the root
  all_to_allv,    ///< All-to-All with an amount for every pair
  halo_exchange,  ///< every NPU to its neighbours along the dimensions of a shape
  conditions,     ///< a list of conditions
  mixed,          ///< groups that differ in kind, size, chunks or root, or that share an NPU
};

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

/// Whether the kind starts or ends at one NPU of each group (Broadcast, Reduce, Gather, Scatter).
[[nodiscard]] constexpr bool has_root(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce || kind == CollectiveKind::gather ||
         kind == CollectiveKind::scatter;
}

/// Whether all chunks belong to the root (Broadcast, Reduce): c is then their number in all.
[[nodiscard]] constexpr bool owned_by_root(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
}

/// Whether the kind keeps a list of conditions.
[[nodiscard]] constexpr bool stores_conditions(CollectiveKind kind) {
  return kind == CollectiveKind::all_to_allv || kind == CollectiveKind::halo_exchange ||
         kind == CollectiveKind::conditions;
}

/// What must be copied from one rank of a group to others (PCCL, the ASTRA-sim2.0 thesis, section 6.4.1).
struct Condition {
  std::uint32_t source = 0;
  std::vector<std::uint32_t> destinations;  ///< other ranks than the source, each once
  Bytes size;                               ///< of all its chunks
  bool operator==(const Condition&) const = default;
};

/// NPUs that run one collective together; position in `members` is the rank inside the group. What is absent of its own
/// collective is as in the CollectiveRequest.
struct ProcessGroup {
  std::vector<NpuId> members;
  std::optional<CollectiveKind> kind = std::nullopt;
  std::optional<Bytes> size = std::nullopt;
  std::optional<std::int64_t> chunks = std::nullopt;
  std::optional<std::uint32_t> root = std::nullopt;
  std::shared_ptr<const std::vector<Condition>> conditions = nullptr;  ///< of kinds that store them
  bool operator==(const ProcessGroup& other) const;
};

/// Parses process groups. ";" separates them. A group is "all" or a list of NPUs and ranges, "0-127" or "0,2,4" or
/// "0-6:2". After blanks its own collective may follow: a kind, a size with its unit, "2 chunks", "root 3", in any
/// order: "0-127 all_gather 1MiB; 128-255 all_to_all 4MiB 2 chunks". Groups may share NPUs. Errors (input): an NPU that
/// does not exist, an NPU twice in a group, a group of fewer than two NPUs, bad syntax. O(members).
[[nodiscard]] Result<std::vector<ProcessGroup>> parse_groups(std::string_view text, std::size_t npus,
                                                             const Place& place = {});

/// Whether an NPU is in two of the groups. O(members log members).
[[nodiscard]] bool share_npus(const std::vector<ProcessGroup>& groups);

/// A collective as a study describes it. What a group has of its own comes first.
struct CollectiveRequest {
  CollectiveKind kind = CollectiveKind::all_gather;
  std::size_t npus = 0;              ///< of the topology
  std::vector<ProcessGroup> groups;  ///< empty: one group of all NPUs
  std::int64_t chunks = 1;  ///< c, per NPU (Broadcast, Reduce: in all; All-to-All: per pair; conditions: of each)
  Bytes size;               ///< S
  std::uint32_t root = 0;   ///< rank inside each group, for kinds that have one
};

/// An immutable collective over one or more process groups.
class Collective {
 public:
  /// Errors (input): c < 1, S < n*c (kinds whose chunks the root owns: S < c), a root outside a group, groups and
  /// conditions that do not fit together; (resource) more than 2^32-2 chunks. Ensures: each group has chunks, and they
  /// hold all of its bytes.
  static Result<Collective> make(CollectiveRequest request);

  /// The common kind of all groups; `mixed` if groups differ in kind, S, c or root, or share an NPU. Where it is not
  /// `mixed`, chunks_per_npu(), size() and root() hold for every group, and an NPU is in at most one.
  [[nodiscard]] CollectiveKind kind() const { return kind_; }
  [[nodiscard]] std::size_t npus() const { return npus_; }
  /// The members of each group.
  [[nodiscard]] const std::vector<ProcessGroup>& groups() const { return groups_; }
  [[nodiscard]] Bytes size() const { return parts_.front().size; }
  [[nodiscard]] std::int64_t chunks_per_npu() const { return parts_.front().chunks; }
  [[nodiscard]] std::uint32_t root() const { return parts_.front().root; }
  /// Those of one group.
  [[nodiscard]] CollectiveKind kind(GroupId group) const { return parts_[group.index()].kind; }
  [[nodiscard]] Bytes size(GroupId group) const { return parts_[group.index()].size; }
  [[nodiscard]] std::int64_t chunks_per_npu(GroupId group) const { return parts_[group.index()].chunks; }
  [[nodiscard]] std::uint32_t root(GroupId group) const { return parts_[group.index()].root; }
  /// The stored conditions of a group, sorted by source, each with its destinations sorted; none for other kinds.
  [[nodiscard]] std::span<const Condition> conditions(GroupId group) const {
    const auto& stored = parts_[group.index()].conditions;
    return stored ? std::span<const Condition>(*stored) : std::span<const Condition>();
  }
  /// Whether some group forms sums.
  [[nodiscard]] bool has_sums() const;
  /// Whether every chunk has one destination and forms no sum.
  [[nodiscard]] bool is_unicast() const;

  /// Chunks of all groups together.
  [[nodiscard]] std::size_t chunks() const { return first_chunk_.back(); }
  /// The chunks of a group are [first_chunk(g), first_chunk(g) + chunks_in(g)).
  [[nodiscard]] ChunkId first_chunk(GroupId group) const { return ChunkId::at(first_chunk_[group.index()]); }
  [[nodiscard]] std::size_t chunks_in(GroupId group) const {
    return first_chunk_[group.index() + 1] - first_chunk_[group.index()];
  }
  /// O(log groups).
  [[nodiscard]] GroupId group_of(ChunkId chunk) const;
  /// The group of an NPU (the first one, where groups share it); none() for an NPU outside all groups. O(1).
  [[nodiscard]] GroupId group_of(NpuId npu) const {
    const auto own = memberships(npu);
    return own.empty() ? GroupId::none() : own.front().group;
  }
  /// Rank of an NPU inside the group that group_of() names. O(1).
  [[nodiscard]] std::uint32_t rank_of(NpuId npu) const {
    const auto own = memberships(npu);
    return own.empty() ? 0 : own.front().rank;
  }
  /// A seat of an NPU in a group.
  struct Membership {
    GroupId group;
    std::uint32_t rank = 0;
  };
  /// All seats of an NPU, by group. O(1).
  [[nodiscard]] std::span<const Membership> memberships(NpuId npu) const {
    return std::span(memberships_)
        .subspan(first_membership_[npu.index()], first_membership_[npu.index() + 1] - first_membership_[npu.index()]);
  }
  /// The rank of an NPU in a group; nullopt for an NPU outside it. O(log of the NPU's groups).
  [[nodiscard]] std::optional<std::uint32_t> rank_in(GroupId group, NpuId npu) const {
    return in_order_ ? std::optional(npu.value()) : find_rank(group, npu);  // checks ask this for every chunk of a send
  }

  /// The NPU that starts with the chunk, or ends with its sum (kinds that reduce), or its destination (Scatter). O(log
  /// groups).
  [[nodiscard]] NpuId owner(ChunkId chunk) const;
  /// The NPU that starts with a chunk that is copied. O(log groups).
  [[nodiscard]] NpuId source(ChunkId chunk) const;
  /// The chunks that an NPU owns as a member of a group: [first, first + count). O(1), or O(log conditions).
  struct Owned {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  [[nodiscard]] Owned owned_by(const Membership& member) const;
  /// The same of the group that group_of() names; none for an NPU outside all groups.
  [[nodiscard]] Owned owned_by(NpuId npu) const {
    const auto own = memberships(npu);
    return own.empty() ? Owned{} : owned_by(own.front());
  }
  /// The chunks that the member starts with: final values to copy, or its contributions to sums. Scatter: all at the
  /// root.
  [[nodiscard]] Owned held_by(const Membership& member) const;
  /// The one NPU that must end with the chunk (All-to-All, Gather, Scatter, Reduce-Scatter, Reduce, conditions with one
  /// destination). O(log groups).
  [[nodiscard]] NpuId destination(ChunkId chunk) const;
  /// Calls visit(NpuId) for every NPU that must end with the chunk, its source included where it is one of them. O(log
  /// groups + destinations).
  template <class Visit>
  void for_each_destination(ChunkId chunk, Visit&& visit) const {
    const auto group = group_of(chunk);
    const auto& members = groups_[group.index()].members;
    if (const Condition* const stored = condition_of(group, chunk)) {
      for (const auto rank : stored->destinations) visit(members[rank]);
    } else if (ends_everywhere(kind(group))) {
      for (const NpuId member : members) visit(member);
    } else {
      visit(destination(chunk));
    }
  }

  /// The bytes of a chunk: ceil(S/(n*c)) of its group (chunks owned by the root: ceil(S/c); conditions: ceil of their
  /// own size / c). O(log groups).
  [[nodiscard]] Bytes chunk_bytes(ChunkId chunk) const { return chunk_sizes_[size_class(chunk)]; }
  /// The distinct chunk sizes and the index of a chunk's size, for HopTimes. O(1) with one size, else O(log groups).
  [[nodiscard]] const std::vector<Bytes>& chunk_sizes() const { return chunk_sizes_; }
  [[nodiscard]] std::size_t size_class(ChunkId chunk) const;
  /// The size class of all chunks of a group that stores no conditions. O(1).
  [[nodiscard]] std::size_t size_class(GroupId group) const { return parts_[group.index()].size_class; }

  /// Precondition of the copying part: the NPU holds the final value of the chunk at time zero (the source; never for
  /// collectives that reduce).
  [[nodiscard]] bool holds_at_start(NpuId npu, ChunkId chunk) const;
  /// Precondition of the reducing part: the NPU has a contribution to the chunk's sum (every member, where kind
  /// reduces).
  [[nodiscard]] bool contributes(NpuId npu, ChunkId chunk) const;
  /// Postcondition: the NPU must end with the final value (the gathered chunk, or the complete sum).
  [[nodiscard]] bool must_hold(NpuId npu, ChunkId chunk) const;
  /// Number of (NPU, chunk) pairs for which must_hold() and not holds_at_start(). O(groups + conditions).
  [[nodiscard]] std::uint64_t required_deliveries() const;

  /// Hash of what the groups do, apart from their members: kinds, sizes relative to the first one's classes, chunks,
  /// roots, conditions. O(groups + destinations).
  [[nodiscard]] Digest work() const;
  /// The same groups and chunks under another kind. The gather part of an All-Reduce is as(all_gather), its reduction
  /// as(reduce_scatter); the time-reversed partner of Reduce-Scatter is as(all_gather), that of Reduce as(broadcast),
  /// that of Scatter as(gather). Chunk ids, owners and chunk sizes agree. Allowed within {all_gather, reduce_scatter,
  /// all_reduce}, {broadcast, reduce} and {gather, scatter}.
  [[nodiscard]] Collective as(CollectiveKind kind) const;
  /// One group alone: its chunks are numbered from 0. Expects: a group that exists.
  [[nodiscard]] Collective only(GroupId group) const;

 private:
  /// What one group does.
  struct Part {
    CollectiveKind kind = CollectiveKind::all_gather;
    std::int64_t chunks = 1;
    Bytes size;
    std::uint32_t root = 0;
    std::size_t size_class = 0;
    std::shared_ptr<const std::vector<Condition>> conditions = {};  ///< sorted by source, destinations sorted
    std::vector<std::size_t> class_of_condition = {};
  };

  Collective() = default;
  /// Whether every member ends with every chunk.
  static constexpr bool ends_everywhere(CollectiveKind kind) {
    return kind == CollectiveKind::all_gather || kind == CollectiveKind::all_reduce ||
           kind == CollectiveKind::broadcast;
  }
  [[nodiscard]] std::size_t local(GroupId group, ChunkId chunk) const {
    return chunk.index() - first_chunk_[group.index()];
  }
  /// The stored condition of a chunk; null for other kinds.
  [[nodiscard]] const Condition* condition_of(GroupId group, ChunkId chunk) const {
    const auto& part = parts_[group.index()];
    return part.conditions == nullptr
               ? nullptr
               : &(*part.conditions)[local(group, chunk) / static_cast<std::size_t>(part.chunks)];
  }
  [[nodiscard]] std::size_t class_for(Bytes chunk);
  void add_part(const CollectiveRequest& request, ProcessGroup& group);
  void add_memberships();
  [[nodiscard]] std::optional<std::uint32_t> find_rank(GroupId group, NpuId npu) const;
  [[nodiscard]] CollectiveKind common_kind() const;

  CollectiveKind kind_ = CollectiveKind::all_gather;
  std::size_t npus_ = 0;
  std::vector<ProcessGroup> groups_;  ///< members alone
  std::vector<Part> parts_;           ///< by group
  std::vector<std::size_t> first_chunk_;
  std::vector<std::size_t> first_membership_;  ///< by NPU, then the end
  std::vector<Membership> memberships_;
  bool in_order_ = false;  ///< one group of all NPUs, whose ranks are their ids
  std::vector<Bytes> chunk_sizes_;
};

/// busbw / algbw of nccl-tests: 2(n-1)/n for All-Reduce, (n-1)/n for All-Gather, Reduce-Scatter, All-to-All, Gather and
/// Scatter, 1 for the others.
[[nodiscard]] double bus_factor(CollectiveKind kind, std::size_t npus_in_group);

}  // namespace tenex
