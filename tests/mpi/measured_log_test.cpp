// A log that is measured here, Open MPI over TCP on the loopback, becomes a machine, and its times are predicted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "support/process.hpp"

namespace tenex {
namespace {

using support::TemporaryFolder;
using ::testing::HasSubstr;

// Times are those of a machine with other work, so nothing is asserted of them but what they are for: sizes 4 B to
// 4 MiB in factors of 4, of which every one is fitted or listed.
TEST(MeasuredLog, OfOpenMpiOverTcpBecomesAMachine) {
  const TemporaryFolder folder;
  const auto log = (folder.path() / "allreduce.log").string();
  const auto machine = (folder.path() / "machine.toml").string();
  auto measuring = support::mpirun(4, {TENEX_ALLREDUCE_TIMES});
  measuring.arguments.insert(measuring.arguments.begin() + 1,
                             {"--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"});
  const auto measured = support::run(measuring);
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  std::ofstream(log) << measured.out;

  const auto fitted = support::run({{TENEX_BINARY, "fit", log, "--ranks", "4", "-o", machine, "--json"}, {}, {}});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  EXPECT_THAT(fitted.out, HasSubstr("\"collective\":\"all_reduce\",\"ranks\":4"));
  EXPECT_THAT(fitted.out, HasSubstr("\"size_bytes\":4194304"));

  const auto predicted = support::run({{TENEX_BINARY, "predict", machine, log, "--ranks", "4", "--json"}, {}, {}});
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_THAT(predicted.out, HasSubstr("\"size_bytes\":4194304"));
}

}  // namespace
}  // namespace tenex
