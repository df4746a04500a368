// Messages for users when the system refuses to write. They tell a full disk, a used-up quota and a limit of file sizes
// apart, and name the file and the remedy. The folder can be resumed: the same command ends the study with the same
// rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "crash/study.hpp"
#include "support/process.hpp"
#include "support/results.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

const std::string study_text = crash_tests::cheap_points(5);  // 30 points
const std::string rows_of_a_shard = "6";

struct Reason {
  const char* name;
  int number;
  const char* advice;
};
void PrintTo(const Reason& reason, std::ostream* out) { *out << reason.name; }

/// A kind of call on a kind of file; the first `at - 1` of them succeed.
struct Call {
  const char* name;
  const char* call;
  const char* part;
  int at;
};
void PrintTo(const Call& call, std::ostream* out) { *out << call.name; }

support::Command run_into(const fs::path& folder, const std::string& out) {
  const auto study = folder / "study.toml";
  support::write_text(study, study_text);
  return {{TENEX_BINARY, "run", study.string(), "--out", (folder / out).string(), "--quiet", "--threads", "1"},
          {{"TENEX_FLUSH_ROWS", rows_of_a_shard}},
          {}};
}

/// The undisturbed result.
const fs::path& untouched() {
  static const support::TemporaryFolder folder;
  static const fs::path result = [] {
    const auto whole = support::run(run_into(folder.path(), "whole"));
    EXPECT_EQ(whole.exit_code, 0) << whole.err;
    return folder.path() / "whole" / "study.h5";
  }();
  return result;
}

std::size_t temporary_files(const fs::path& out) {
  std::size_t count = 0;
  for (const auto& file : fs::recursive_directory_iterator(out))
    count += file.path().filename().string().find(".tmp-") == std::string::npos ? 0 : 1;
  return count;
}

class RefusedWrite : public ::testing::TestWithParam<std::tuple<Call, Reason>> {};

TEST_P(RefusedWrite, IsToldWithItsFileAndWhatToDoAndTheSameCommandContinues) {
  const auto& [call, reason] = GetParam();
  const support::TemporaryFolder folder;
  const auto out = folder.path() / "out";
  auto refused = run_into(folder.path(), "out");
  refused.environment.insert(refused.environment.end(), {{"LD_PRELOAD", CRASH_SHIM},
                                                         {"CRASH_FOLDER", out.string()},
                                                         {"CRASH_RANK", "any"},
                                                         {"CRASH_WHAT", "refuse"},
                                                         {"CRASH_CALL", call.call},
                                                         {"CRASH_PART", call.part},
                                                         {"CRASH_ERRNO", std::to_string(reason.number)},
                                                         {"CRASH_AT", std::to_string(call.at)}});
  const auto first = support::run(refused);
  EXPECT_EQ(first.exit_code, 3) << first.out << first.err;
  EXPECT_THAT(first.err, HasSubstr(out.string() + call.part)) << "the file";
  EXPECT_THAT(first.err, HasSubstr(std::strerror(reason.number)));
  EXPECT_THAT(first.err, HasSubstr(reason.advice));
  EXPECT_THAT(first.err, HasSubstr("then run the same command again"));
  EXPECT_FALSE(fs::exists(out / "study.h5"));
  EXPECT_EQ(temporary_files(out), 0U);

  const auto again = support::run(run_into(folder.path(), "out"));
  ASSERT_EQ(again.exit_code, 0) << again.out << again.err;
  support::expect_same_rows(untouched(), out / "study.h5");
  // The shard that was written before the fault is kept.
  if (call.at > 1) {
    EXPECT_EQ(again.out.find(" 0 from before"), std::string::npos) << again.out;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedWrite,
    ::testing::Combine(
        ::testing::Values(
            Call{"MakingAShard", "open", "/shards/", 2}, Call{"WritingAShard", "write", "/shards/", 2},
            Call{"SyncingAShard", "fsync", "/shards/", 2}, Call{"ClosingAShard", "close", "/shards/", 2},
            Call{"NamingAShard", "rename", "/shards/", 2}, Call{"MakingAJournal", "open", "/journal/", 1},
            // The third write: the journal's header, the first shard's line, the second's.
            Call{"WritingAJournal", "write", "/journal/", 3}, Call{"SyncingAJournal", "fsync", "/journal/", 3},
            Call{"WritingTheState", "write", "/state.toml", 1}, Call{"WritingTheResult", "write", "/study.h5", 1},
            Call{"SyncingTheResult", "fsync", "/study.h5", 1}, Call{"ClosingTheResult", "close", "/study.h5", 1},
            Call{"NamingTheResult", "rename", "/study.h5", 1}),
        ::testing::Values(Reason{"FullDisk", ENOSPC, "free some space"},
                          Reason{"Quota", EDQUOT, "your quota is used up"}, Reason{"FileSize", EFBIG, "ulimit -f"})),
    [](const auto& cell) { return std::string(std::get<0>(cell.param).name) + std::get<1>(cell.param).name; });

}  // namespace
}  // namespace tenex
