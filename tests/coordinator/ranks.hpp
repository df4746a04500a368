// Runs of a made-up study: options without progress output, and ranks as threads of this process.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <future>
#include <string>
#include <vector>

#include "coordinator/fake_study.hpp"
#include "coordinator/mailboxes.hpp"
#include "coordinator/merged_rows.hpp"
#include "coordinator/rank_loop.hpp"
#include "tenex/coordinator/coordinator.hpp"
#include "tenex/coordinator/signals.hpp"

namespace tenex::testing {

/// Points that are done at once and estimated at 10 ms.
inline RunOptions quiet_options(const std::filesystem::path& out, int threads = 2) {
  RunOptions options;
  options.out = out;
  options.threads = threads;
  options.memory_limit_bytes = std::size_t{1} << 30;
  options.quiet = true;
  options.evaluate_point = [](const DesignPoint& point, Cache&, const EvaluateOptions&) { return make_row(point); };
  options.estimate_point = [](const DesignPoint&) { return Estimate{0.01, 1000}; };
  return options;
}

/// Points that take `seconds`, as estimated.
inline RunOptions sleeping_options(const std::filesystem::path& out, double seconds) {
  auto options = quiet_options(out, 1);
  options.evaluate_point = [seconds](const DesignPoint& point, Cache&, const EvaluateOptions&) {
    sleep_seconds(seconds);
    return make_row(point);
  };
  options.estimate_point = [seconds](const DesignPoint&) { return Estimate{seconds, 1000}; };
  return options;
}

/// The rows of an undisturbed run; `make_options(folder)` gives its options.
template <class MakeOptions>
std::vector<std::string> undisturbed_rows(const Study& study, const MakeOptions& make_options) {
  const TemporaryFolder folder;
  const auto report = run_alone(study, make_options(folder.path()));
  EXPECT_TRUE(report.ok()) << to_string(report.errors());
  return merged_rows(folder.path());
}

/// Runs one rank per set of options, as threads; rank r has read studies[r].
inline std::vector<Result<RunReport>> run_ranks(const std::vector<Study>& studies,
                                                const std::vector<RunOptions>& options) {
  block_run_signals();
  Mailboxes boxes(options.size());
  std::vector<std::future<Result<RunReport>>> ranks;
  for (std::size_t r = 0; r < options.size(); ++r) {
    ranks.push_back(std::async(std::launch::async, [&, r]() -> Result<RunReport> {
      Mailboxes::Endpoint endpoint(boxes, r);
      const auto setup = resolve(options[r], 1);
      return r == 0 ? lead(studies[r], setup, endpoint) : follow(studies[r], setup, endpoint);
    }));
  }
  std::vector<Result<RunReport>> reports;
  for (auto& rank : ranks) reports.push_back(rank.get());
  return reports;
}

}  // namespace tenex::testing
