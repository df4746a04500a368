// Schedule files in both forms: reading gives what was written, and wrong files are refused.
#include "tenex/files/schedule_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>

#include "support/process.hpp"
#include "support/topologies.hpp"
#include "tenex/base/random.hpp"
#include "tenex/files/column_file.hpp"
#include "tenex/topology/slow_windows.hpp"
#include "tenex/topology/transform.hpp"
#include "tenex/topology/wires.hpp"

namespace tenex {
namespace {

using support::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;

template <class T>
std::string message_of(const Result<T>& result) {
  return result.ok() ? "(no error)" : to_string(result.errors());
}

/// RI(3)_SW(2): 6 NPUs, 3 switches; All-Reduce in two groups.
ScheduleFile sample(std::vector<Send> sends) {
  const Shape shape{{support::block("RI", 3), support::block("SW", 2)}};
  auto topology = build_topology(
      shape, {{nanoseconds(500), nanoseconds(700)}, {gigabytes_per_second(50), gigabytes_per_second(25)}, false});
  CollectiveRequest request;
  request.kind = CollectiveKind::all_reduce;
  request.npus = 6;
  request.groups = {{{NpuId(2), NpuId(0)}}, {{NpuId(1), NpuId(3), NpuId(5)}}};
  request.chunks = 2;
  request.size = mebibytes(1);
  auto collective = Collective::make(request);
  return {std::move(topology).value(),
          std::move(collective).value(),
          Occupancy::transfer,
          make_list_schedule(std::move(sends)),
          "tacos",
          "physics=1\nsize=1048576\n"};
}

std::vector<Send> copies(std::size_t count) {
  std::vector<Send> sends;
  for (std::size_t i = 0; i < count; ++i)
    sends.push_back({picoseconds(static_cast<std::int64_t>(i / 3) * 1000), LinkId(static_cast<std::uint32_t>(i % 3)),
                     ChunkId(static_cast<std::uint32_t>(i % 10))});
  return sends;
}

/// Sends that use every column.
std::vector<Send> mixed() {
  auto sends = copies(30);
  for (std::size_t i = 0; i < sends.size(); ++i) {
    if (i % 2 == 0) sends[i].stage = Stage::reduce;
    sends[i].message = MessageId(static_cast<std::uint32_t>(i / 2));
    sends[i].destination = NpuId(static_cast<std::uint32_t>(i % 6));
  }
  return sends;
}

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

TEST_P(ScheduleFiles, AreWholeOrAbsentOnAFullDisk) {
  const auto schedule = sample(copies(100'000));
  const auto child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{10'000, 10'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto status = write_schedule_file(file(), schedule);
    ::_exit(!status.ok() && message_of(status).find("File too large") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

INSTANTIATE_TEST_SUITE_P(Forms, ScheduleFiles, ::testing::Values("s.h5", "s.json"));

TEST(ScheduleFile, IsRefusedByAnotherExtension) {
  EXPECT_THAT(message_of(read_schedule_file("s.txt")), HasSubstr("use .h5"));
  EXPECT_THAT(message_of(write_schedule_file("s.xml", sample({}))), HasSubstr("use .h5"));
}

TEST(ScheduleFile, OfAnotherKindOrNewerSchemaIsRefused) {
  const TemporaryFolder folder;
  ColumnFileWriter result;
  result.set_attribute("/", "kind", "tenex result");
  result.set_attribute("/", "schema", std::int64_t{1});
  ASSERT_TRUE(result.save(folder.path() / "r.h5").ok());
  EXPECT_THAT(message_of(read_schedule_file(folder.path() / "r.h5")), HasSubstr("this is no tenex schedule"));
  ColumnFileWriter newer;
  newer.set_attribute("/", "kind", "tenex schedule");
  newer.set_attribute("/", "schema", std::int64_t{3});
  ASSERT_TRUE(newer.save(folder.path() / "n.h5").ok());
  EXPECT_THAT(message_of(read_schedule_file(folder.path() / "n.h5")), HasSubstr("newer than this version"));
  support::write_text(folder.path() / "a.json", R"({"kind": "something"})");
  EXPECT_THAT(message_of(read_schedule_file(folder.path() / "a.json")), HasSubstr("this is no schedule file"));
  support::write_text(folder.path() / "b.json", R"({"kind": "tenex schedule", "schema": 2})");
  EXPECT_THAT(message_of(read_schedule_file(folder.path() / "b.json")), HasSubstr("newer than this version"));
  support::write_text(folder.path() / "c.json", "[1, 2");
  EXPECT_THAT(message_of(read_schedule_file(folder.path() / "c.json")), HasSubstr("no sound schedule"));
}

/// Replaces the first occurrence of `from` in a JSON schedule, reads it and returns the message.
std::string message_after(const std::string& from, const std::string& to) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "s.json";
  if (!write_schedule_file(file, sample(mixed())).ok()) return "(not written)";
  auto text = support::read_text(file);
  const auto at = text.find(from);
  if (at == std::string::npos) return "(not found)";
  support::write_text(file, text.replace(at, from.size(), to));
  return message_of(read_schedule_file(file));
}

TEST(ScheduleFile, WithUnsoundContentIsRefused) {
  EXPECT_THAT(message_after("\"transfer\"", "\"sometimes\""), HasSubstr("unknown occupancy \"sometimes\""));
  EXPECT_THAT(message_after("\"all_reduce\"", "\"all_reduced\""), HasSubstr("s.json"));
  EXPECT_THAT(message_after("[2,0]", "[2,2]"), HasSubstr("twice in a process group"));
  EXPECT_THAT(message_after("[2,0]", "[2,9]"), HasSubstr("NPU 9"));
  EXPECT_THAT(message_after("\"npus\":6", "\"npus\":7"), HasSubstr("the links are not those of the shape"));
  EXPECT_THAT(message_after("\"npus\":6", "\"npus\":2147483648"), HasSubstr("2147483648 NPUs"));
  EXPECT_THAT(message_after("\"shape\":\"RI(3)_SW(2)\"", "\"shape\":\"FC(6)\""), HasSubstr("not those of the shape"));
  EXPECT_THAT(message_after("\"alpha_ps\":500000", "\"alpha_ps\":-1"), HasSubstr("s.json"));
  EXPECT_THAT(message_after("\"reduce\"]", "\"add\"]"), HasSubstr("(not found)"));
  EXPECT_THAT(message_after("\"reduce\", 0", "\"add\", 0"), HasSubstr("\"add\" is no stage"));
  EXPECT_THAT(message_after("[0, 0, 0", "[0, -1, 0"), HasSubstr("out of range"));
  EXPECT_THAT(message_after("[0, 0, 0", "[0.5, 0, 0"), HasSubstr("is no integer"));
  EXPECT_THAT(message_after("\"sends\"", "\"send\""), HasSubstr("sends"));
}

TEST(ScheduleFile, WhoseTimesDoNotFitIsRefused) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "s.json";
  ASSERT_TRUE(write_schedule_file(path, sample(mixed())).ok());
  const auto text = support::read_text(path);
  const auto message_after = [&](std::string_view part, std::string_view other) {
    const auto at = text.find(part);
    EXPECT_NE(at, std::string::npos) << part;
    support::write_text(path, std::string(text).replace(at, part.size(), other));
    return message_of(read_schedule_file(path));
  };
  // A quarter of 2^63-1 B (2 NPUs of 2 chunks) takes 9.2e7 s at 25 GB/s. A byte of 1 MiB/4 at 1 B/s takes 262,144 s;
  // ten such sends on the busiest link and 9 vertices make 5.0e6 s. The limit of 2^61 ps is 2.3e6 s.
  EXPECT_THAT(message_after("\"size_bytes\":1048576", "\"size_bytes\":9223372036854775807"),
              AllOf(HasSubstr("s.json"), HasSubstr("26 days")));
  EXPECT_THAT(message_after("\"alpha_ps\":500000", "\"alpha_ps\":9223372036854775807"), HasSubstr("26 days"));
  EXPECT_THAT(message_after("\"bandwidth_bytes_per_s\":50000000000", "\"bandwidth_bytes_per_s\":1"),
              HasSubstr("26 days"));
  EXPECT_THAT(message_after("[0, 0, 0", "[9223372036854775807, 0, 0"), HasSubstr("starts at 9223372036854775807 ps"));
  EXPECT_THAT(message_after("[0, 0, 0", "[-9223372036854775808, 0, 0"), HasSubstr("starts at"));
  // Within the range only the verifier checks times.
  EXPECT_EQ(message_after("[0, 0, 0", "[-1, 0, 0"), "(no error)");
}

TEST(ScheduleFile, OfFewSendsIsSmall) {
  // 100,000 sends of 16 bytes that repeat a pattern: compressed far below their 1.6 MB.
  const TemporaryFolder folder;
  ASSERT_TRUE(write_schedule_file(folder.path() / "s.h5", sample(copies(100'000))).ok());
  EXPECT_LT(std::filesystem::file_size(folder.path() / "s.h5"), 300'000U);
}

}  // namespace
}  // namespace tenex
