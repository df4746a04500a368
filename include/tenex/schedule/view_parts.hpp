// Views taken apart and put together again: for files, which store what a view is made of instead of its sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// What reversed() makes where it makes a view: a send that starts at t in `base` starts at last_start - t.
struct ReversedParts {
  Schedule base;
  SimTime last_start;
};

/// What then_gather() makes: `second` begins `shift` later, its messages numbered from `message_shift` on.
struct SequenceParts {
  Schedule first;
  Schedule second;
  SimTime shift;
  MessageId::Rep message_shift = 0;
};

/// What relabelled() makes where it makes a view. `chunks` is empty where they keep their names.
struct RelabelledParts {
  Schedule base;
  std::vector<LinkId> links;
  std::vector<ChunkId> chunks;
};

/// Sends of a link at equal distances, from one on: back to back, or each when what it takes has come.
struct LinkRun {
  std::uint32_t position = 0;  ///< of the first one among the link's sends
  SimTime start;
  SimTime step;  ///< from start to start
};

/// New times for a schedule's sends: per link its runs, in order.
struct LinkTimes {
  std::vector<std::vector<LinkRun>> runs;

  [[nodiscard]] std::size_t bytes() const;
};

/// What retime_in_trees() makes: `base` at other times. `times` lives as long as the schedule.
struct RetimedParts {
  Schedule base;
  const LinkTimes* times = nullptr;
};

/// The parts of such a view; nullopt for any other schedule. O(1); O(links + chunks) for the last.
[[nodiscard]] std::optional<ReversedParts> reversed_parts(const Schedule& schedule);
[[nodiscard]] std::optional<SequenceParts> sequence_parts(const Schedule& schedule);
[[nodiscard]] std::optional<RelabelledParts> relabelled_parts(const Schedule& schedule);
[[nodiscard]] std::optional<RetimedParts> retimed_parts(const Schedule& schedule);

/// The view of these parts. The base of a reversal carries no messages; the second part of a sequence starts after the
/// first part's last start. (A renaming is put together by relabelled().) O(1).
[[nodiscard]] Schedule make_reversed_view(ReversedParts parts);
[[nodiscard]] Schedule make_sequence_view(SequenceParts parts);
/// `times` has an entry for every link, starts in order and not negative. Reads `base` once, on `threads` threads.
/// nullopt where `times` are none of `base`: link-major access is missing, or a send would move to a later tile.
[[nodiscard]] std::optional<Schedule> make_retimed_view(const Schedule& base, LinkTimes times, int threads);

}  // namespace tenex
