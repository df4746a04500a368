// A log that is measured here becomes a machine, and its times are predicted: Open MPI's ring All-Reduce over TCP
// between four hosts, each a network namespace whose bytes leave at a rate that is set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "slurm/cluster.hpp"

namespace tenex {
namespace {

using namespace slurm_tests;
using ::testing::HasSubstr;

// 800 Mbit/s, after a burst that the kernel lets pass at once: longer ones than a packet of TCP's offload, so that no
// rank waits for the scheduler at each of them.
constexpr double kBytesPerSecond = 1e8;
constexpr double kBurstBytes = 1 << 20;  // what tc calls 1mb
constexpr int kSizes = 11;               // 4 B to 4 MiB in factors of 4
// Of allreduce_times.cpp.
constexpr int kIterations = 20;
constexpr int kWarmUp = 3;

// Hosts wait for each other, and more of them than cores must not spin. Open MPI takes a ring when it is told to.
constexpr const char* kScript = R"SH(
on=$OUT/cluster/on
for host in n1 n2 n3 n4; do
  "$on" "$host" tc qdisc add dev eth0 root tbf rate 800mbit burst 1mb latency 1s >&2 || touch "$OUT/unshaped"
done
mpirun -n 4 --host n1,n2,n3,n4 --mca plm_rsh_agent "$OUT/cluster/remote_shell" --mca mpi_yield_when_idle 1 \
  --mca btl tcp,self --mca btl_tcp_if_include eth0 \
  --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allreduce_algorithm 4 \
  "$ALLREDUCE_TIMES" "$OUT/whole.log")SH";

// Lines of a size and a time in us, where others are comments.
std::map<std::int64_t, double> times_by_size(const std::string& text) {
  std::map<std::int64_t, double> times;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::int64_t bytes = 0;
    double us = 0;
    if (line.starts_with('#') || !(std::istringstream(line) >> bytes >> us)) continue;
    times[bytes] = us;
  }
  return times;
}

// Other work on this machine makes times longer, never shorter. So they are compared with what the rate permits, from
// below alone: a ring sends 2(n-1)/n = 1.5 times the bytes from each host in every iteration, and a host sends within t
// seconds at most a burst and what the rate lets pass in t. t counts from before the first iteration until after the
// last, since the burst is saved again while a rank is not within an iteration, whose times alone stand in the log.
void expect_the_rate(const std::string& log, const std::string& whole) {
  const auto means_us = times_by_size(log);
  const auto wholes_us = times_by_size(whole);
  EXPECT_EQ(means_us.size(), kSizes) << log;
  EXPECT_EQ(wholes_us.size(), kSizes) << whole;
  for (const auto& [bytes, whole_us] : wholes_us) {
    const double sent = 1.5 * static_cast<double>(bytes) * (kWarmUp + kIterations);
    EXPECT_GE(whole_us, (sent - kBurstBytes) / kBytesPerSecond * 1e6) << bytes;
    ASSERT_TRUE(means_us.contains(bytes)) << log;
    EXPECT_LE(means_us.at(bytes) * kIterations, whole_us) << bytes;
  }
}

TEST(MeasuredLog, OfOpenMpiBetweenHostsBecomesAMachine) {
  const Site site({1, 0});
  const auto measured = site.in_cluster(Kind::hosts, 4, kScript, {{"ALLREDUCE_TIMES", TENEX_ALLREDUCE_TIMES}});
  NEEDS_SLURM(measured);
  ASSERT_EQ(measured.exit_code, 0) << measured.err;
  const auto log = (site.path() / "allreduce.log").string();
  const auto machine = (site.path() / "machine.toml").string();
  support::write_text(log, measured.out);

  const auto fitted = support::run({{TENEX_BINARY, "fit", log, "--ranks", "4", "-o", machine, "--json"}, {}, {}});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.err;
  EXPECT_THAT(fitted.out, HasSubstr("\"collective\":\"all_reduce\",\"ranks\":4"));
  EXPECT_THAT(fitted.out, HasSubstr("\"size_bytes\":4194304"));

  const auto predicted = support::run({{TENEX_BINARY, "predict", machine, log, "--ranks", "4", "--json"}, {}, {}});
  ASSERT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_THAT(predicted.out, HasSubstr("\"size_bytes\":4194304"));
  RecordProperty("predicted", predicted.out);
  if (std::filesystem::exists(site.path() / "unshaped")) GTEST_SKIP() << "no rate can be set: " << measured.err;
  expect_the_rate(measured.out, support::read_text(site.path() / "whole.log"));
}

}  // namespace
}  // namespace tenex
