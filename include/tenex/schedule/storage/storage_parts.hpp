// The parts of storages: what a storage is made of, by its kind. Files store the parts of a view or a table instead of
// its sends.
//
// StorageParts is closed: whoever visits it says what to do with every kind, so a new kind does not compile before all
// visitors know it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "tenex/base/ids.hpp"
#include "tenex/base/quantity.hpp"
#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// The sends of a segment, and of a link's tile, where the storage is free to choose: a batch that stays in a cache.
inline constexpr std::uint64_t kSegmentSends = 16'384;

/// The bytes that a column holds, filled or not.
template <class T>
[[nodiscard]] std::size_t bytes_of(const std::vector<T>& column) {
  return column.capacity() * sizeof(T);
}

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

/// The parts of a view made by relabelled(). `chunks` is empty if chunks keep their names. The names live as long as
/// the schedule.
struct RelabelledParts {
  Schedule base;
  std::span<const LinkId> links;
  std::span<const ChunkId> chunks;
};

/// A storage that is nothing but its sends, for those who visit it: a list, or a view without parts that others read.
struct PlainParts {};

template <class Slot>
struct StepTable;
struct BlockSchedule;
struct CombSchedule;
struct GridSchedule;
struct PeriodicSchedule;
class SymmetricStorage;

/// The parts of a storage. What pointers point to lives as long as the schedule.
struct StorageParts {
  std::variant<PlainParts, const StepTable<std::uint16_t>*, const StepTable<std::uint32_t>*, const BlockSchedule*,
               const SymmetricStorage*, const GridSchedule*, const CombSchedule*, const PeriodicSchedule*,
               ReversedParts, SequenceParts, RelabelledParts>
      kind;
};

[[nodiscard]] inline StorageParts parts_of(const Schedule& schedule) {
  return schedule.storage() ? schedule.storage()->parts() : StorageParts{};
}
/// The parts of a schedule of one kind; nullopt for any other.
template <class Parts>
[[nodiscard]] std::optional<Parts> parts_as(const Schedule& schedule) {
  auto parts = parts_of(schedule);
  auto* const found = std::get_if<Parts>(&parts.kind);
  return found == nullptr ? std::nullopt : std::optional<Parts>(std::move(*found));
}

/// Makes the view of these parts. Expects: a base of a reversal without messages; a second part of a sequence that
/// starts no sooner than the first part's last start. (relabelled() does the same for a renaming.) O(1).
[[nodiscard]] Schedule make_reversed_view(ReversedParts parts);
[[nodiscard]] Schedule make_sequence_view(SequenceParts parts);

}  // namespace tenex
