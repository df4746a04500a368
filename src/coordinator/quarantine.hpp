// Quarantine: which points have ended their process by their own fault, and which of them did so once too often.
//
// A fault is a line in a dead rank's journal (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT), or a kill for want of memory
// that the system has counted while exactly one announced point ran there. A kill from outside is nobody's fault. After
// the second fault, in one run or in several, the point becomes a row `failed` with the reason and is not tried again.
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
  /// Starts from what earlier runs have noted. O(records).
  explicit Quarantine(const std::vector<CrashRecord>& earlier);

  /// The point has ended a process once more (or `times` more).
  void accuse(std::uint32_t point, const std::string& reason, std::uint32_t times = 1);
  /// Whether it ended any.
  [[nodiscard]] bool is_suspect(std::uint32_t point) const { return faults_.contains(point); }
  /// Whether it is to be given up.
  [[nodiscard]] bool is_guilty(std::uint32_t point) const;
  /// All that are to be given up, ascending.
  [[nodiscard]] std::vector<std::uint32_t> guilty() const;
  /// The row of a guilty point: the same however it came to it. Precondition: is_guilty(point).
  [[nodiscard]] EvaluationOutput row_of(std::uint32_t point) const;

 private:
  struct Fault {
    std::uint32_t times = 0;
    std::string reason;
  };
  std::map<std::uint32_t, Fault> faults_;
};

/// The point to blame for a kill for want of memory: the one that the dead rank had announced and not finished, or the
/// only one that it had at hand. Empty where several may have been it.
[[nodiscard]] std::optional<std::uint32_t> blame_for_memory(const WriterTrace& trace, const Estate& estate);

/// What a dead rank leaves to do: points that may have ended it, and points whose rows it had not committed, without
/// those that are committed. Ascending.
struct Bequest {
  std::vector<std::uint32_t> suspects;
  std::vector<std::uint32_t> uncommitted;
};
[[nodiscard]] Bequest sort_out(const WriterTrace& trace, const Estate& estate);

}  // namespace tenex
