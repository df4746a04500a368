// Quarantine: the points that have ended their process by their own fault, and those that did so too often.
//
// A fault is a line in a dead rank's journal (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT), or a kill for lack of memory
// that the system counted while exactly one announced point ran on the rank. A kill from outside is no point's fault.
// After its second fault, in one run or in several, a point gets a row `failed` with the reason and is not tried again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "coordinator/lease_ledger.hpp"
#include "tenex/evaluate/evaluate.hpp"
#include "tenex/store/crashes.hpp"

namespace tenex {

/// Not thread-safe.
class Quarantine {
 public:
  Quarantine() = default;
  /// Begins with the records of earlier runs. O(records).
  explicit Quarantine(const std::vector<CrashRecord>& earlier);

  /// Counts one more fault of the point (or `times` more).
  void accuse(std::uint32_t point, const std::string& reason, std::uint32_t times = 1);
  /// Whether the point has ended any process.
  [[nodiscard]] bool is_suspect(std::uint32_t point) const { return faults_.contains(point); }
  /// Whether the point is given up.
  [[nodiscard]] bool is_guilty(std::uint32_t point) const;
  /// All points that are given up, ascending.
  [[nodiscard]] std::vector<std::uint32_t> guilty() const;
  /// The row of a guilty point; it does not depend on how the faults came about. Precondition: is_guilty(point).
  [[nodiscard]] EvaluationOutput row_of(std::uint32_t point) const;

 private:
  struct Fault {
    std::uint32_t times = 0;
    std::string reason;
  };
  std::map<std::uint32_t, Fault> faults_;
};

/// The point to blame for a kill for lack of memory: the one that the dead rank had announced and not finished, or the
/// only one that it had at hand. Empty where it may have been one of several.
[[nodiscard]] std::optional<std::uint32_t> blame_for_memory(const WriterTrace& trace, const HeldPoints& held);

/// The points of a dead rank that must be evaluated again: suspects may have ended it, the others' rows were not
/// committed. Ascending.
struct PointsToRepeat {
  std::vector<std::uint32_t> suspects;
  std::vector<std::uint32_t> uncommitted;
};
[[nodiscard]] PointsToRepeat sort_out(const WriterTrace& trace, const HeldPoints& held);

}  // namespace tenex
