// The properties that programs declare, checked against their messages.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>

#include "algorithm/untimed_run.hpp"
#include "support/collectives.hpp"
#include "support/topologies.hpp"

namespace tenex {
namespace {

constexpr const char* kShapes[] = {
    "RI(2)", "RI(5)", "RI(6)", "FC(7)", "SW(8)", "RI(4)_FC(3)", "RI(4)_RI(5)", "LI(3)_RI(4)", "RI(2)_RI(2)_RI(2)"};

/// Calls `check(program, topology, collective)` for an algorithm on shapes, for all collectives that it is defined for.
template <class Check>
void for_every_program(Check&& check) {
  for (const auto& algorithm : algorithms())
    for (const auto kind : algorithm.collectives)
      for (const auto* shape : kShapes)
        for (const std::int64_t chunks : {1, 2, 3})
          for (const AlgorithmOptions& options :
               {AlgorithmOptions{0, DestinationOrder::relative, 1}, AlgorithmOptions{0, DestinationOrder::absolute, 1},
                AlgorithmOptions{2, DestinationOrder::relative, 1}}) {
            const auto topology = support::shape(shape);
            const auto collective = support::any_collective(kind, topology.npus(), bytes(10000), chunks);
            const auto program = algorithm.make(topology, collective, options);
            if (!program.ok()) continue;
            SCOPED_TRACE(std::string(algorithm.name) + " " + std::string(to_string(kind)) + " on " + shape +
                         ", c = " + std::to_string(chunks));
            check(**program, topology, collective);
            if (testing::Test::HasFailure()) return;
          }
}

std::vector<Message> start_npu(ProgramState& state, NpuId npu) {
  std::vector<Message> out;
  state.start(npu, out);
  return out;
}
std::vector<Message> arrive_at_npu(ProgramState& state, const Message& message) {
  std::vector<Message> out;
  state.arrive(message, out);
  return out;
}

TEST(Statements, AnOpenLoopIsItsStartsAndNothingMore) {
  int open_loops = 0;
  int open_mixtures = 0;
  for_every_program([&](const Program& program, const Topology& topology, const Collective& collective) {
    if (!program.open_loop()) return;
    ++(collective.kind() == CollectiveKind::mixed ? open_mixtures : open_loops);
    const auto state = program.begin();
    for (std::uint32_t n = 0; n < topology.npus(); ++n) {
      const auto messages = start_npu(*state, NpuId(n));
      ASSERT_EQ(program.messages_from(NpuId(n)), messages.size());
      for (std::size_t i = 0; i < messages.size(); ++i) ASSERT_EQ(program.message_of(NpuId(n), i), messages[i]);
      for (const auto& message : messages) ASSERT_TRUE(arrive_at_npu(*state, message).empty());
    }
  });
  // Direct except for All-Reduce, 9 shapes, 3 numbers of chunks: 3 collectives, 2 orders, not with a window; 7
  // collectives whose NPUs are not alike, 2 orders, or a window, which they do not read.
  EXPECT_EQ(open_loops, 9 * 3 * (3 * 2 + 7 * 3));
  EXPECT_GT(open_mixtures, 0);
}

TEST(Statements, CyclesTriggerEachMessageByTheOneThatTheySay) {
  int with_cycles = 0;
  for_every_program([&](const Program& program, const Topology& topology, const Collective&) {
    const auto cycles = program.cycles();
    if (cycles.empty()) return;
    ++with_cycles;
    const auto state = program.begin();
    struct Sent {
      std::size_t cycle;
      Message message;
    };
    std::deque<Sent> under_way;
    std::map<std::pair<std::size_t, std::uint32_t>, std::uint64_t> sent;     // by cycle and NPU
    std::map<std::pair<std::size_t, std::uint32_t>, std::uint64_t> arrived;  // by cycle and receiver
    const auto send = [&](std::size_t cycle, const Message& message) {
      ASSERT_EQ(message.destination, cycles[cycle].next[message.source.index()]);
      ASSERT_EQ(message.chunks, cycles[cycle].chunks);
      ++sent[{cycle, message.source.value()}];
      under_way.push_back({cycle, message});
    };
    for (std::uint32_t n = 0; n < topology.npus(); ++n) {
      const auto messages = start_npu(*state, NpuId(n));
      std::size_t i = 0;
      for (std::size_t q = 0; q < cycles.size(); ++q)
        for (std::uint64_t s = 0; s < cycles[q].at_start; ++s, ++i) {
          ASSERT_LT(i, messages.size());
          send(q, messages[i]);
        }
      ASSERT_EQ(i, messages.size());
    }
    // First in, first out from every NPU.
    while (!under_way.empty()) {
      const auto [cycle, message] = under_way.front();
      under_way.pop_front();
      const auto at = std::pair{cycle, message.destination.value()};
      const auto number = arrived[at]++;
      const auto triggered = arrive_at_npu(*state, message);
      const bool goes_on = number + cycles[cycle].at_start < cycles[cycle].messages;
      ASSERT_EQ(triggered.size(), goes_on ? 1U : 0U);
      if (!goes_on) continue;
      ASSERT_EQ(sent[at], number + cycles[cycle].at_start);
      send(cycle, triggered[0]);
    }
    for (const auto& [at, count] : sent) ASSERT_EQ(count, cycles[at.first].messages);
  });
  // One way: 3 collectives; both ways: All-Gather and Reduce-Scatter. 9 shapes, 3 numbers of chunks, 3 options
  // (ignored).
  EXPECT_EQ(with_cycles, (3 + 2) * 9 * 3 * 3);
}

TEST(Statements, ProgramsThatMoveWithAGroupDoAtEveryNpuWhatTheyDoAtTheOrigin) {
  std::map<std::string, int> moving;
  for_every_program([&](const Program& program, const Topology& topology, const Collective& collective) {
    const auto group = TranslationGroup::of(topology);
    if (!group || !program.moves_with(*group)) return;
    ++moving[std::string(to_string(collective.kind()))];
    ASSERT_EQ(program.destination_order(), "relative");
    const auto n = static_cast<std::uint32_t>(topology.npus());
    const auto state = program.begin();
    std::vector<std::unique_ptr<ProgramState>> origins;  // one per NPU: its state as if it were NPU 0
    std::vector<Message> pending;
    const auto compare = [&](NpuId npu, const std::vector<Message>& here, const std::vector<Message>& at_origin) {
      ASSERT_EQ(here.size(), at_origin.size());
      for (std::size_t i = 0; i < here.size(); ++i) {
        ASSERT_EQ(at_origin[i].source, NpuId(0));
        ASSERT_EQ(group->subtract(here[i].destination, npu), at_origin[i].destination);
        ASSERT_EQ(program.to_origin(here[i], *group), program.to_origin(at_origin[i], *group));
        pending.push_back(here[i]);
      }
    };
    for (std::uint32_t u = 0; u < n; ++u) {
      origins.push_back(program.begin());
      compare(NpuId(u), start_npu(*state, NpuId(u)), start_npu(*origins[u], NpuId(0)));
    }
    Random random(3);
    while (!pending.empty() && !testing::Test::HasFailure()) {
      std::swap(pending[random.below(static_cast<std::uint32_t>(pending.size()))], pending.back());
      const auto message = pending.back();
      pending.pop_back();
      const auto moved = program.to_origin(message, *group);
      ASSERT_EQ(moved.destination, NpuId(0));
      ASSERT_EQ(moved.source, group->subtract(message.source, message.destination));
      ASSERT_EQ(moved.chunks, message.chunks);
      ASSERT_EQ(moved.stage, message.stage);
      compare(message.destination, arrive_at_npu(*state, message),
              arrive_at_npu(*origins[message.destination.index()], moved));
    }
  });
  for (const auto* kind : {"all_gather", "reduce_scatter", "all_reduce", "all_to_all"}) EXPECT_GT(moving[kind], 0);
}

TEST(Statements, SaysWhichProgramsMoveWithWhichShapes) {
  const auto moves = [](std::string_view algorithm, std::string_view shape, DestinationOrder order) {
    const auto topology = support::shape(shape);
    const auto collective = support::collective(CollectiveKind::all_gather, topology.npus(), bytes(10000));
    return support::program_of(algorithm, topology, collective, {0, order, 1})
        ->moves_with(TranslationGroup::of(topology).value());
  };
  using enum DestinationOrder;
  for (const auto* shape : {"RI(8)", "FC(8)", "RI(4)_FC(2)", "RI(2)_RI(2)_RI(2)"}) {
    EXPECT_TRUE(moves("direct", shape, relative)) << shape;
    EXPECT_FALSE(moves("direct", shape, absolute)) << shape;
    EXPECT_TRUE(moves("hierarchical", shape, relative)) << shape;
    EXPECT_TRUE(moves("ring_per_dimension", shape, relative)) << shape;
  }
  // Consecutive ranks and differences of ranks agree with a torus's offsets in one dimension only.
  EXPECT_TRUE(moves("ring", "RI(8)", relative));
  EXPECT_TRUE(moves("bruck", "FC(8)", relative));
  EXPECT_FALSE(moves("ring", "RI(4)_FC(2)", relative));
  EXPECT_FALSE(moves("bruck", "RI(4)_FC(2)", relative));
  // Partners that differ in one bit are offsets only in a hypercube.
  EXPECT_TRUE(moves("rhd", "RI(2)_RI(2)_RI(2)", relative));
  EXPECT_FALSE(moves("rhd", "RI(8)", relative));
}

}  // namespace
}  // namespace tenex
