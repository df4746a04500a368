// What verify() and verify_symmetric() ensure of their verdicts.
#pragma once

#include "tenex/collective/collective.hpp"
#include "tenex/schedule/schedule.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex::verifier {

/// Whether a verdict on a schedule does not contradict itself: it is invalid exactly if something is violated. If it is
/// valid, it has counted every send, and has a time if something had to be delivered. (A storage whose data is unsound
/// may yield fewer sends than it states. Then something is missing.) O(groups + conditions).
[[nodiscard]] inline bool agrees_with_itself(const Verdict& verdict, const Collective& collective,
                                             const Schedule& schedule) {
  const bool invalid = verdict.outcome == Verification::invalid;
  if (invalid != (verdict.violations > 0) || verdict.findings.size() > verdict.violations) return false;
  if (!verdict.valid()) return true;
  if (verdict.sends != schedule.sends()) return false;
  return collective.required_deliveries() == 0 || verdict.collective_time > SimTime::zero();
}

}  // namespace tenex::verifier
