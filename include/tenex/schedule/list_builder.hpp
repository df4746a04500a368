// A list schedule made piece by piece, so that no second copy of its sends is ever held.
#pragma once

#include <cstdint>
#include <memory>

#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// Takes batches of sends and becomes a schedule. Movable, not copyable.
class ListBuilder {
 public:
  /// Makes room for `sends` (a hint). 16 bytes per send; more where stages or messages differ.
  explicit ListBuilder(std::uint64_t sends = 0);
  ~ListBuilder();
  ListBuilder(ListBuilder&&) noexcept;
  ListBuilder& operator=(ListBuilder&&) noexcept;

  /// Appends a batch. O(batch).
  void append(const SendBatch& batch);
  /// The schedule of all sends, as make_list_schedule() would make it; it empties the builder. O(sends) where the
  /// batches came in the order of (start, link), which costs no memory beyond the schedule; else O(sends log sends),
  /// and the sends are copied.
  [[nodiscard]] Schedule finish(Payloads payloads = {});

 private:
  class Columns;
  std::unique_ptr<Columns> columns_;
};

}  // namespace tenex
