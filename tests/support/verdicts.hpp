// What tests expect of a schedule: it is valid, wastes nothing, and ends at a time that no bound forbids.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tenex/collective/instance.hpp"
#include "tenex/schedule/verifier/verifier.hpp"

namespace tenex::support {

/// The verifier's first finding, for the message of an expectation; empty without one.
inline std::string first_finding(const Verdict& verdict) {
  return verdict.findings.empty() ? std::string() : verdict.findings[0].message;
}

/// All findings as "violation: message".
inline std::vector<std::string> messages(const Verdict& verdict) {
  std::vector<std::string> texts;
  for (const auto& finding : verdict.findings)
    texts.push_back(std::string(to_string(finding.violation)) + ": " + finding.message);
  return texts;
}

/// Expects a valid schedule without waste that takes this time; returns the verdict.
inline Verdict expect_valid(const Instance& instance, const Schedule& schedule, SimTime time,
                            const VerifyOptions& options = {}) {
  Verdict verdict = verify(instance, schedule, options);
  EXPECT_TRUE(verdict.valid()) << first_finding(verdict);
  EXPECT_EQ(verdict.waste, 0U);
  EXPECT_EQ(verdict.collective_time, time);
  return verdict;
}

}  // namespace tenex::support
