// The result of a study that nothing disturbs; the results of disturbed jobs are compared with it.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>

#include "support/process.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex::crash_tests {

/// A study of this many points and its result, both in a folder of their own.
class Undisturbed {
 public:
  Undisturbed(const std::string& study_text, std::size_t points) {
    support::write_text(study_file(), study_text);
    const auto whole = support::run({{TENEX_BINARY, "run", study_file(), "--out", out().string(), "--quiet"}, {}, {}});
    EXPECT_EQ(whole.exit_code, 0) << whole.err;
    auto study = read_study(study_file(), vocabulary());
    EXPECT_TRUE(study.ok());
    study_ = std::move(*study);
    EXPECT_EQ(study_.points.size(), points);
  }
  [[nodiscard]] std::string study_file() const { return (folder_.path() / "study.toml").string(); }
  [[nodiscard]] std::filesystem::path out() const { return folder_.path() / "whole"; }
  [[nodiscard]] const Study& study() const { return study_; }

 private:
  support::TemporaryFolder folder_;
  Study study_;
};

}  // namespace tenex::crash_tests
