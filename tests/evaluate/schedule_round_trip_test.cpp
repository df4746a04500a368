// Schedules go out as MSCCLang XML, mscclpp plans and Chakra traces, are found valid by the interpreters, which share
// no code with what wrote them, and come back as the same collective, which the verifier of tenex accepts.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluate/recorded.hpp"
#include "support/draws.hpp"
#include "support/topologies.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/exchange/foreign_schedule.hpp"
#include "tenex/exchange/schedule_export.hpp"
#include "tenex/files/input_files.hpp"
#include "tenex/schedule/verifier/verifier.hpp"
#include "tenex/simulation/simulator.hpp"

namespace tenex {
namespace {

using support::recorded;

constexpr Bytes kSize = Bytes::of(1 << 20);

/// Whether what was read back is verified by tenex on the topology; counts where sums pass NPUs in other pieces than
/// they left, which are no messages of tenex.
bool verified_again(ForeignSchedule schedule, const Topology& topology) {
  join_relays(schedule);
  const auto collective = collective_of(schedule, kSize);
  EXPECT_TRUE(collective.ok()) << to_string(collective.errors());
  const auto program = make_transfer_program(schedule);
  SimulationOptions options;
  options.record_sends = true;
  const auto simulation = simulate(topology, *collective, *program, options);
  EXPECT_TRUE(simulation.ok()) << to_string(simulation.errors());
  return verify({topology, *collective, Occupancy::serialization}, simulation->sends).valid();
}

/// The schedule as traces, read back.
Result<ForeignSchedule> traced(const ScheduleFile& file) {
  const auto files = to_checked_chakra(file, {.name = "exported"});
  if (!files) return files.errors();
  std::vector<SourceText> traces;
  for (const auto& [name, bytes] : *files)
    if (name == fmt::format(".{}.et", traces.size())) traces.push_back({"exported" + name, bytes});
  EXPECT_EQ(traces.size(), file.topology.npus());
  return interpret_traces(traces);
}

constexpr std::array kKinds{CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_reduce,
                            CollectiveKind::all_to_all};

TEST(ScheduleRoundTrip, EveryAlgorithmGoesOutIsFoundValidAndComesBack) {
  std::vector<std::string_view> shapes{"RI(4)", "SW(4)"};
  if (support::long_run())
    shapes = {"RI(4)", "FC(4)", "SW(4)", "FC(8)", "RI(3)_RI(3)", "SW(8)", "FC(2)_SW(4)", "RI(8)"};
  int exported = 0;
  int again = 0;
  int forests = 0;
  for (const auto shape : shapes) {
    const auto topology = support::shape(shape);
    for (const auto kind : kKinds) {
      const auto collective = Collective::make({kind, topology.npus(), {}, 1, kSize, 0});
      for (const auto* const algorithm : candidates(topology, *collective)) {
        SCOPED_TRACE(fmt::format("{} {} {}", shape, to_string(kind), algorithm->name));
        const auto file = recorded(topology, *collective, *algorithm);
        const std::array<Result<std::string>, 4> texts{
            to_mscclang(file, {}), to_mscclpp(file, {}), to_mscclpp(file, {.protocol = "LL"}),
            to_mscclpp(file, {.protocol = "LL", .node_npus = topology.npus() > 3 ? 2U : 0U})};
        for (const auto& text : texts) {
          ASSERT_TRUE(text.ok()) << to_string(text.errors());
          const auto back = interpret_schedule({"exported", *text});
          ASSERT_TRUE(back.ok()) << to_string(back.errors());
          EXPECT_TRUE(back->valid() || back->wrong.front().wrong == Wrong::hang) << back->wrong.front().message;
          EXPECT_EQ(back->kind, kind);
          EXPECT_EQ(back->npus, topology.npus());
          ++exported;
          again += verified_again(*back, topology) ? 1 : 0;
        }
        if (const auto trees = to_checked_forestcoll(file, {}); trees.ok()) {
          EXPECT_TRUE(verified_again(*interpret_schedule({"trees", *trees}), topology)) << *trees;
          ++forests;
        } else {
          EXPECT_TRUE(kind != CollectiveKind::all_gather ||
                      to_string(trees.errors()).find("is not made of trees") != std::string::npos)
              << to_string(trees.errors());
        }
        const auto traces = traced(file);
        ASSERT_TRUE(traces.ok()) << to_string(traces.errors());
        EXPECT_TRUE(traces->valid()) << traces->wrong.front().message;
        EXPECT_EQ(traces->kind, kind);
        EXPECT_EQ(traces->own_size, kSize);
        ++exported;
        again += verified_again(*traces, topology) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(forests, 4);
  // Recursive doubling and whole inputs on a ring pass sums on in other pieces: 13 of 1,224 on the shapes of `long`.
  EXPECT_GE(again, exported * 95 / 100) << exported;
}

TEST(ScheduleRoundTrip, TheCheckedTextKeepsItsLimits) {
  const auto topology = support::shape("FC(4)");
  const auto collective = Collective::make({CollectiveKind::all_gather, 4, {}, 2, kSize, 0});
  const auto file = recorded(topology, *collective, *find_algorithm("direct"));
  const auto text = to_checked_mscclang(file, {.executor = "azure", .protocol = "LL", .name = "mine"});
  ASSERT_TRUE(text.ok()) << to_string(text.errors());
  EXPECT_THAT(*text, ::testing::HasSubstr("<algo name=\"mine\" proto=\"LL\" nchannels=\"1\" nchunksperloop=\"8\""));
  EXPECT_FALSE(to_checked_mscclang(file, {.executor = "nccl"}).ok());
  // Each of 4 GPUs puts over a port to the two of the other node, over memory to the one of its own.
  const auto plan = to_checked_mscclpp(file, {.node_npus = 2});
  ASSERT_TRUE(plan.ok()) << to_string(plan.errors());
  EXPECT_THAT(*plan, ::testing::HasSubstr("\"channel_type\": \"port\", \"connected_to\": [2, 3"));
  EXPECT_THAT(interpret_schedule({"plan", *plan})->notes, ::testing::IsEmpty()) << *plan;
}

// Two NPUs joined by a slow and a fast link: each NPU's first chunk goes over the slow one, and the second, sent later
// over the fast one, overtakes it. A channel is first in, first out, so they take two.
TEST(ScheduleRoundTrip, AChunkThatOvertakesTakesAnotherChannel) {
  const auto machine = parse_machine(
      "schema = 1\nkind = \"machine\"\nname = \"two links\"\nsource = \"none\"\nnpus = 2\n[[links]]\nbandwidth = "
      "\"1GB/s\"\nalpha = \"1us\"\npairs = [[0, 1]]\n[[links]]\nbandwidth = \"10GB/s\"\nalpha = \"1us\"\npairs = [[0, "
      "1]]\n",
      "two.toml");
  ASSERT_TRUE(machine.ok()) << to_string(machine.errors());
  const Topology topology = topology_of(*machine);
  const auto collective = Collective::make({CollectiveKind::all_gather, 2, {}, 2, kSize, 0});
  std::vector<Send> sends;
  for (std::uint32_t npu = 0; npu < 2; ++npu)
    for (const auto link : topology.out_links(vertex_of(NpuId(npu)))) {
      const bool fast = topology.bandwidth(link) > gigabytes_per_second(1);
      sends.push_back({fast ? nanoseconds(10) : SimTime::zero(), link, ChunkId(2 * npu + (fast ? 1 : 0))});
    }
  std::ranges::sort(sends, {}, [](const Send& send) { return std::pair(send.start, send.link); });
  const ScheduleFile file{topology, *collective, Occupancy::serialization, make_list_schedule(sends), "hand", {}};
  const auto program = to_checked_mscclang(file, {});
  ASSERT_TRUE(program.ok()) << to_string(program.errors());
  EXPECT_THAT(*program, ::testing::HasSubstr("nchannels=\"2\""));
  for (const auto* const protocol : {"Simple", "LL"}) {
    const auto plan = to_checked_mscclpp(file, {.protocol = protocol});
    EXPECT_TRUE(plan.ok()) << to_string(plan.errors());
  }
}

// Up to 64 KiB a plan has packets and no signal; a larger one says so if it is asked for them.
TEST(ScheduleRoundTrip, SmallSizesHavePackets) {
  const auto topology = support::shape("FC(4)");
  const auto plan_of = [&](std::int64_t bytes, const std::string& protocol) {
    const auto collective = Collective::make({CollectiveKind::all_reduce, 4, {}, 4, Bytes::of(bytes), 0});
    return to_checked_mscclpp(recorded(topology, *collective, *find_algorithm("direct")),
                              {.protocol = protocol, .node_npus = 2});
  };
  const auto small = plan_of(64 << 10, "");
  ASSERT_TRUE(small.ok()) << to_string(small.errors());
  EXPECT_THAT(*small, ::testing::HasSubstr("\"protocol\": \"LL\""));
  EXPECT_THAT(*small, ::testing::HasSubstr("\"max_message_size\": 65536"));
  for (const auto* const name : {"\"signal\"", "\"wait\"", "\"rlxsignal\"", "\"put\"", "\"pws\""})
    EXPECT_THAT(*small, ::testing::Not(::testing::HasSubstr(name)));
  EXPECT_THAT(*small, ::testing::HasSubstr("\"rppkt\""));  // between nodes
  EXPECT_THAT(*plan_of((64 << 10) + 16, ""), ::testing::HasSubstr("\"protocol\": \"Simple\""));
  EXPECT_THAT(*plan_of(1 << 20, "LL"), ::testing::HasSubstr("\"max_message_size\": 1048576"));
  EXPECT_THAT(to_string(plan_of(1 << 20, "LL128").errors()), ::testing::HasSubstr("its executor has Simple and LL"));
}

}  // namespace
}  // namespace tenex
