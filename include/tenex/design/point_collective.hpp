// The collective of a point: what its kind, groups, matrix, conditions and shape ask to be sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tenex/base/diagnostic.hpp"
#include "tenex/collective/collective.hpp"
#include "tenex/design/design_point.hpp"

namespace tenex {

/// Whether a group has all of `npus` NPUs in their order, as `all` does. O(members).
[[nodiscard]] bool has_everyone(const ProcessGroup& group, std::size_t npus);

/// The request for the point's Collective over `npus` NPUs. Groups of all NPUs lose those that have failed. Errors
/// (input): a matrix or conditions that do not fit a group, a halo exchange without a shape, a failed NPU in another
/// group, fewer than two NPUs left. O(members + conditions), and failed_npus().
[[nodiscard]] Result<CollectiveRequest> collective_request(const DesignPoint& point, std::size_t npus);

/// One group in numbers, without making its conditions.
struct GroupSizes {
  CollectiveKind kind = CollectiveKind::all_gather;
  std::uint64_t members = 0;
  std::uint64_t chunks = 0;
  double deliveries = 0;  ///< of a pass that copies or reduces
  Bytes smallest_chunk = {};
  Bytes largest_chunk = {};
  std::uint64_t conditions = 0;  ///< that are stored
};
/// The sizes of one of the point's groups with `members` members. Chunks of a halo exchange are counted as if every NPU
/// had all neighbours. O(conditions).
[[nodiscard]] GroupSizes group_sizes(const DesignPoint& point, const ProcessGroup& group, std::uint64_t members);
/// The same of a group that a Collective has.
[[nodiscard]] GroupSizes group_sizes(const Collective& collective, GroupId group);

/// Whether one of the groups has a collective, a size, a number of chunks or a root of its own.
[[nodiscard]] bool have_own(const std::vector<ProcessGroup>& groups);

/// Brings groups with collectives of their own to the canonical form: if all of them have just the point's collective,
/// they have nothing of their own; otherwise every group says all, and the point's collective is `mixed`.
void settle_groups(CollectivePoint& collective, std::int64_t chunks, std::size_t npus);

/// Whether one number of chunks says how all groups are cut: they run one collective that stores no conditions.
[[nodiscard]] bool is_counted(const CollectivePoint& collective);

/// That number for the collective's piece: none of its chunks is larger, as long as no NPU has failed. `chunks` where
/// is_counted() is false.
[[nodiscard]] std::int64_t chunks_of_piece(const CollectivePoint& collective, std::int64_t chunks, std::size_t npus);

/// The largest condition of a point whose conditions differ in size; nullopt where they are alike or it stores none.
/// O(conditions).
[[nodiscard]] std::optional<Bytes> largest_of_unlike_conditions(const DesignPoint& point);

}  // namespace tenex
