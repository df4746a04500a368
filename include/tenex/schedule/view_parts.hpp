// The parts of views, for files, which store the parts of a view instead of its sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// The parts of a view made by reversed(): a send that starts at t in `base` starts at last_start - t.
struct ReversedParts {
  Schedule base;
  SimTime last_start;
};

/// The parts of then_gather(): `second` begins `shift` later, and its messages are numbered from `message_shift` on.
struct SequenceParts {
  Schedule first;
  Schedule second;
  SimTime shift;
  MessageId::Rep message_shift = 0;
};

/// The parts of a view made by relabelled(). `chunks` is empty if chunks keep their names.
struct RelabelledParts {
  Schedule base;
  std::vector<LinkId> links;
  std::vector<ChunkId> chunks;
};

/// Sends of a link that start at equal distances: back to back, or each when its data arrives.
struct LinkRun {
  std::uint32_t position = 0;  ///< position of the first one among the link's sends
  SimTime start;
  SimTime step;  ///< distance from start to start
};

/// New times for a schedule's sends: per link its runs, in order.
struct LinkTimes {
  std::vector<std::vector<LinkRun>> runs;

  [[nodiscard]] std::size_t bytes() const;
};

/// The parts of a view made by retime_in_trees(): `base` at other times. `times` lives as long as the schedule.
struct RetimedParts {
  Schedule base;
  const LinkTimes* times = nullptr;
};

/// The parts of such a view; nullopt for any other schedule. O(1), but O(links + chunks) for relabelled_parts().
[[nodiscard]] std::optional<ReversedParts> reversed_parts(const Schedule& schedule);
[[nodiscard]] std::optional<SequenceParts> sequence_parts(const Schedule& schedule);
[[nodiscard]] std::optional<RelabelledParts> relabelled_parts(const Schedule& schedule);
[[nodiscard]] std::optional<RetimedParts> retimed_parts(const Schedule& schedule);

/// Makes the view of these parts. The base of a reversal must carry no messages; the second part of a sequence must
/// start after the first part's last start. (relabelled() does the same for a renaming.) O(1).
[[nodiscard]] Schedule make_reversed_view(ReversedParts parts);
[[nodiscard]] Schedule make_sequence_view(SequenceParts parts);
/// `times` must have an entry for every link, with starts in order and not negative. Reads `base` once, on `threads`
/// threads. nullopt if `times` do not fit `base`: link-major access is missing, or a send would move to a later tile.
[[nodiscard]] std::optional<Schedule> make_retimed_view(const Schedule& base, LinkTimes times, int threads);

}  // namespace tenex
