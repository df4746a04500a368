// Builds a list schedule batch by batch, so that no second copy of its sends is ever held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tenex/schedule/schedule.hpp"

namespace tenex {

/// Of a list, for plans: start, link, chunk, stage, segments.
inline constexpr std::size_t kBytesOfListedSend = 18;

/// Collects batches of sends and makes a schedule of them. Movable, not copyable.
class ListBuilder {
 public:
  /// Makes room for `sends` (a hint). 16 bytes per send; more where stages or messages differ.
  explicit ListBuilder(std::uint64_t sends = 0);
  ~ListBuilder();
  ListBuilder(ListBuilder&&) noexcept;
  ListBuilder& operator=(ListBuilder&&) noexcept;

  /// Appends a batch. O(batch).
  void append(const SendBatch& batch);
  /// Returns the schedule of all sends, equal to that of make_list_schedule(), and empties the builder. O(sends) time
  /// and no memory beyond the schedule if the batches came in the order of (start, link); otherwise the sends are
  /// copied and sorted, O(sends log sends).
  [[nodiscard]] Schedule finish(Payloads payloads = {});

 private:
  class Columns;
  std::unique_ptr<Columns> columns_;
};

}  // namespace tenex
