// Schedule files in both forms: reading gives what was written, and wrong files are refused.
#include "tenex/files/schedule_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <utility>
#include <variant>
#include <vector>

#include "files/schedule_samples.hpp"
#include "support/process.hpp"
#include "support/topologies.hpp"
#include "tenex/base/random.hpp"
#include "tenex/files/atomic_write.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/topology/slow_windows.hpp"
#include "tenex/topology/transform.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

using samples::copies;
using samples::message_of;
using samples::mixed;
using samples::recipe;
using samples::sample;
using samples::with_payloads;
using support::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

void expect_same(const ScheduleFile& a, const ScheduleFile& b) {
  EXPECT_EQ(list_sends(a.schedule), list_sends(b.schedule));
  EXPECT_EQ(schedule_hash(a.schedule), schedule_hash(b.schedule));
  EXPECT_EQ(a.occupancy, b.occupancy);
  EXPECT_EQ(a.algorithm, b.algorithm);
  EXPECT_EQ(a.canonical, b.canonical);
  ASSERT_EQ(a.topology.links(), b.topology.links());
  EXPECT_EQ(a.topology.npus(), b.topology.npus());
  EXPECT_EQ(a.topology.switches(), b.topology.switches());
  EXPECT_EQ(a.topology.shape(), b.topology.shape());
  for (std::size_t i = 0; i < a.topology.links(); ++i) {
    EXPECT_EQ(a.topology.link(LinkId::at(i)), b.topology.link(LinkId::at(i)));
    EXPECT_EQ(a.topology.class_of(LinkId::at(i)), b.topology.class_of(LinkId::at(i)));
  }
  EXPECT_EQ(a.collective.kind(), b.collective.kind());
  EXPECT_EQ(a.collective.groups(), b.collective.groups());
  EXPECT_EQ(a.collective.size(), b.collective.size());
  EXPECT_EQ(a.collective.chunks_per_npu(), b.collective.chunks_per_npu());
}

class ScheduleFiles : public ::testing::TestWithParam<const char*> {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return folder_.path() / GetParam(); }
  void write(const ScheduleFile& schedule) const {
    const auto status = write_schedule_file(file(), schedule);
    ASSERT_TRUE(status.ok()) << message_of(status);
  }
  TemporaryFolder folder_;
};

TEST_P(ScheduleFiles, GiveBackCopies) {
  const auto written = sample(copies(17));
  write(written);
  const auto read = read_schedule_file(file());
  ASSERT_TRUE(read.ok()) << message_of(read);
  expect_same(written, *read);
}

TEST_P(ScheduleFiles, GiveBackStartDelays) {
  auto written = sample(copies(10));
  written.start_delays = {{NpuId(4), microseconds(7)}, {NpuId(0), nanoseconds(3)}};
  write(written);
  const auto read = read_schedule_file(file());
  ASSERT_TRUE(read.ok()) << message_of(read);
  expect_same(written, *read);
  ASSERT_EQ(read->start_delays.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read->start_delays[i].npu, written.start_delays[i].npu);
    EXPECT_EQ(read->start_delays[i].time, written.start_delays[i].time);
  }
}

// Links that differ in their windows alone stay apart, and those with the same windows are of one class.
TEST_P(ScheduleFiles, GiveBackWindows) {
  auto written = sample(copies(17));
  const SlowWindow early{nanoseconds(1), nanoseconds(5), 1500};
  const SlowWindow late{nanoseconds(7), nanoseconds(9), 2000};
  written.topology = with_slow_windows(written.topology, {{VertexId(0), VertexId(2), early},
                                                          {VertexId(0), VertexId(2), late},
                                                          {VertexId(2), VertexId(0), early},
                                                          {VertexId(1), VertexId(2), early}})
                         .value();
  write(written);
  const auto read = read_schedule_file(file());
  ASSERT_TRUE(read.ok()) << message_of(read);
  ASSERT_EQ(read->topology.links(), written.topology.links());
  EXPECT_EQ(read->topology.classes().size(), written.topology.classes().size());
  EXPECT_EQ(read->topology.shape(), written.topology.shape());
  std::size_t varying = 0;
  for (std::size_t i = 0; i < read->topology.links(); ++i) {
    const auto windows = read->topology.windows(read->topology.class_of(LinkId::at(i)));
    const auto before = written.topology.windows(written.topology.class_of(LinkId::at(i)));
    EXPECT_TRUE(std::ranges::equal(windows, before)) << i;
    varying += windows.empty() ? 0 : 1;
  }
  EXPECT_EQ(varying, 3U);
  EXPECT_EQ(schedule_hash(read->schedule), schedule_hash(written.schedule));
}

TEST_P(ScheduleFiles, GiveBackOverheads) {
  auto written = sample(copies(17));
  written.topology = with_overhead(written.topology, nanoseconds(40)).value();
  write(written);
  const auto read = read_schedule_file(file());
  ASSERT_TRUE(read.ok()) << message_of(read);
  ASSERT_EQ(read->topology.links(), written.topology.links());
  for (std::size_t i = 0; i < read->topology.links(); ++i)
    EXPECT_EQ(read->topology.link(LinkId::at(i)), written.topology.link(LinkId::at(i))) << i;
  EXPECT_EQ(schedule_hash(read->schedule), schedule_hash(written.schedule));
}

TEST_P(ScheduleFiles, GiveBackHowSwitchesForward) {
  auto written = sample(copies(17));
  std::vector<SwitchProperties> switches(written.topology.switches());
  switches.front() = {.forwarding = Forwarding::virtual_cut_through, .buffer = 3};
  written.topology = written.topology.with_switches(switches);
  write(written);
  const auto read = read_schedule_file(file());
  ASSERT_TRUE(read.ok()) << message_of(read);
  for (std::size_t i = 0; i < switches.size(); ++i)
    EXPECT_EQ(read->topology.switch_properties(VertexId::at(read->topology.npus() + i)), switches[i]);
}

TEST_P(ScheduleFiles, GiveBackWiresAndWhatSwitchesDo) {
  auto written = sample(copies(17));
  std::vector<SwitchProperties> switches(written.topology.switches(), {.copy = true, .buffer = 2});
  switches.front() = {.reduce = true, .forwarding = Forwarding::cut_through};
  written.topology = wires_of(written.topology.with_switches(std::move(switches))).value();
  ASSERT_NE(written.topology.wires(), nullptr);
  write(written);
  const auto read = read_schedule_file(file());
  ASSERT_TRUE(read.ok()) << message_of(read);
  ASSERT_NE(read->topology.wires(), nullptr);
  const Topology& network = read->topology.wires()->network();
  const Topology& before = written.topology.wires()->network();
  for (std::size_t v = network.npus(); v < network.vertices(); ++v)
    EXPECT_EQ(network.switch_properties(VertexId::at(v)), before.switch_properties(VertexId::at(v)));
  ASSERT_EQ(read->topology.links(), written.topology.links());
  for (std::size_t i = 0; i < read->topology.links(); ++i) {
    EXPECT_EQ(read->topology.link(LinkId::at(i)), written.topology.link(LinkId::at(i)));
    const auto spans = read->topology.wires()->spans(LinkId::at(i));
    const auto other = written.topology.wires()->spans(LinkId::at(i));
    EXPECT_TRUE(std::equal(spans.begin(), spans.end(), other.begin(), other.end()));
  }
  EXPECT_EQ(schedule_hash(read->schedule), schedule_hash(written.schedule));
}

TEST_P(ScheduleFiles, GiveBackStagesAndMessages) {
  const auto written = sample(mixed());
  write(written);
  const auto read = read_schedule_file(file());
  ASSERT_TRUE(read.ok()) << message_of(read);
  expect_same(written, *read);
}

TEST_P(ScheduleFiles, GiveBackManySegments) {
  const auto written = sample(copies(100'000));
  ASSERT_GT(written.schedule.segments(), 3U);
  write(written);
  const auto read = read_schedule_file(file());
  ASSERT_TRUE(read.ok()) << message_of(read);
  EXPECT_EQ(list_sends(written.schedule), list_sends(read->schedule));
}

TEST_P(ScheduleFiles, GiveBackAnEmptySchedule) {
  write(sample({}));
  const auto read = read_schedule_file(file());
  ASSERT_TRUE(read.ok()) << message_of(read);
  EXPECT_EQ(read->schedule.sends(), 0U);
}

TEST_P(ScheduleFiles, HaveTheSameBytesEachTime) {
  write(sample(mixed()));
  const auto first = support::read_text(file());
  write(sample(mixed()));
  EXPECT_EQ(support::read_text(file()), first);
}

TEST_P(ScheduleFiles, ForgetAShapeThatIsNotIntact) {
  auto schedule = sample(copies(3));
  std::vector<bool> drop(schedule.topology.links(), false);
  drop[4] = true;
  schedule.topology = schedule.topology.without(drop);
  write(schedule);
  const auto read = read_schedule_file(file());
  ASSERT_TRUE(read.ok()) << message_of(read);
  EXPECT_FALSE(read->topology.shape().has_value());
  expect_same(schedule, *read);
}

TEST_P(ScheduleFiles, GiveBackTheShapeThatWasUnwound) {
  auto schedule = sample(copies(3));
  schedule.topology = unwind_switches(support::shape("RI(3)_SW(2)"), 1).value();
  write(schedule);
  const auto read = read_schedule_file(file());
  ASSERT_TRUE(read.ok()) << message_of(read);
  EXPECT_FALSE(read->topology.shape().has_value());
  EXPECT_EQ(read->topology.unwound_shape(), (UnwoundShape{parse_shape("RI(3)_SW(2)").value(), 1}));
}

TEST_P(ScheduleFiles, AreRefusedWhenCutOff) {
  write(sample(mixed()));
  const auto whole = support::read_text(file());
  for (std::size_t part = 0; part < 10; ++part) {
    support::write_text(file(), whole.substr(0, whole.size() * part / 10));
    EXPECT_FALSE(read_schedule_file(file()).ok()) << part;
  }
}

TEST_P(ScheduleFiles, GiveBackRecipes) {
  ASSERT_TRUE(write_recipe_file(file(), recipe()).ok());
  const auto read = read_schedule(file());
  ASSERT_TRUE(read.ok()) << message_of(read);
  ASSERT_TRUE(std::holds_alternative<ScheduleRecipe>(*read));
  EXPECT_EQ(std::get<ScheduleRecipe>(*read), recipe());
  EXPECT_LT(std::filesystem::file_size(file()), 20'000U);
  EXPECT_THAT(message_of(read_schedule_file(file())), AllOf(HasSubstr("this is a recipe"), HasSubstr("tenex export")));
  const auto whole = support::read_text(file());
  for (std::size_t part = 0; part < 10; ++part) {
    support::write_text(file(), whole.substr(0, whole.size() * part / 10));
    EXPECT_FALSE(read_schedule(file()).ok()) << part;
  }
}

TEST_P(ScheduleFiles, GiveBackSendsOfSeveralChunks) {
  const Payloads payloads{{0, 2, 5}, {ChunkId(0), ChunkId(2), ChunkId(1), ChunkId(2), ChunkId(3)}};
  const auto written = with_payloads(payloads);
  write(written);
  const auto read = read_schedule_file(file());
  ASSERT_TRUE(read.ok()) << message_of(read);
  expect_same(written, *read);
  ASSERT_NE(read->schedule.payloads(), nullptr);
  EXPECT_EQ(read->schedule.payloads()->first, payloads.first);
  EXPECT_EQ(read->schedule.payloads()->chunks, payloads.chunks);
  // A choice of chunks finds them inside payloads: chunk 1 is in payload 1 alone, chunk 3 in it and on its own.
  for (const auto& [chunk, links] : {std::pair(1U, std::vector{1U}), std::pair(3U, std::vector{1U, 2U})}) {
    const auto part = write_schedule_file(file(), written, {1, {.chunks = {ChunkId(chunk)}}});
    ASSERT_TRUE(part.ok()) << message_of(part);
    std::vector<std::uint32_t> found;
    for (const Send& send : list_sends(read_schedule_file(file()).value().schedule)) found.push_back(send.link.value());
    EXPECT_EQ(found, links);
  }
}

TEST_P(ScheduleFiles, GiveBackTheContributorsOfSums) {
  // Payload 0 states two ranks, payload 1 none.
  Payloads payloads;
  payloads.add(std::vector{ChunkId(0), ChunkId(2)}, std::vector<std::uint32_t>{0, 1});
  payloads.add(std::vector{ChunkId(1), ChunkId(2), ChunkId(3)});
  const auto written = with_payloads(payloads);
  write(written);
  const auto read = read_schedule_file(file());
  ASSERT_TRUE(read.ok()) << message_of(read);
  expect_same(written, *read);
  ASSERT_NE(read->schedule.payloads(), nullptr);
  EXPECT_EQ(read->schedule.payloads()->first_contributor, (std::vector<std::uint64_t>{0, 2, 2}));
  EXPECT_EQ(read->schedule.payloads()->contributors, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_NE(schedule_hash(read->schedule), schedule_hash(with_payloads({payloads.first, payloads.chunks}).schedule));
}

TEST_P(ScheduleFiles, AreWholeOrAbsentOnAFullDisk) {
  const auto schedule = sample(copies(100'000));
  const auto fails_within = [&](rlim_t bytes, const std::function<Status()>& write_it) {
    const auto child = ::fork();
    if (child == 0) {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{bytes, bytes};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      const auto status = write_it();
      ::_exit(!status.ok() && message_of(status).find("File too large") != std::string::npos ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  };
  fails_within(10'000, [&] { return write_schedule_file(file(), schedule); });
  fails_within(100, [&] { return write_recipe_file(file(), recipe()); });
}

// A killed writer leaves its temporary file, and never one with the schedule's name.
TEST_P(ScheduleFiles, AreAbsentOrOldWhenTheWriterIsKilled) {
  write(sample(copies(3)));
  const auto old = support::read_text(file());
  const auto schedule = sample(copies(1'000'000));
  const auto child = ::fork();
  if (child == 0) {
    (void)write_schedule_file(file(), schedule);
    ::_exit(0);
  }
  ::usleep(50'000);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  const auto text = support::read_text(file());
  const auto read = read_schedule_file(file());
  ASSERT_TRUE(read.ok()) << message_of(read);
  EXPECT_TRUE(text == old || read->schedule.sends() == 1'000'000U);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path()))
    EXPECT_TRUE(entry.path() == file() || is_temporary_name(entry.path().filename().string())) << entry.path();
}

INSTANTIATE_TEST_SUITE_P(Forms, ScheduleFiles, ::testing::Values("s.h5", "s.json"));

}  // namespace
}  // namespace tenex
