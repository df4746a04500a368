// Properties of all algorithms on any network, tested with messages that arrive in random orders.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string>

#include "algorithm/untimed_run.hpp"
#include "support/collectives.hpp"
#include "support/draws.hpp"
#include "support/topologies.hpp"

namespace tenex {
namespace {

bool on_trees_of_the_topology(std::string_view name) {
  return name == "multitree" || name == "c_cube" || name == "tto" || name == "blink";
}

bool works_on_boxes(std::string_view name) {
  return name == "hierarchical" || name == "blueconnect" || name == "ring_per_dimension" || name == "themis" ||
         name == "one_shot_per_dimension" || name == "one_shot_across";
}

/// Whether an algorithm works there; elsewhere it must refuse.
bool can(const Algorithm& algorithm, const Topology& topology, const Collective& collective) {
  if (algorithm.name == "rhd" || algorithm.name == "swing_whole")
    return std::all_of(collective.groups().begin(), collective.groups().end(),
                       [](const ProcessGroup& group) { return std::has_single_bit(group.members.size()); });
  if (algorithm.name == "bine")
    return std::all_of(collective.groups().begin(), collective.groups().end(),
                       [](const ProcessGroup& group) { return group.members.size() % 2 == 0; });
  if (works_on_boxes(algorithm.name))
    return std::all_of(collective.groups().begin(), collective.groups().end(), [](const ProcessGroup& group) {
      return std::is_sorted(group.members.begin(), group.members.end());
    });
  if (!on_trees_of_the_topology(algorithm.name)) return true;
  const auto& blocks = topology.shape()->blocks;
  const auto count = [&](std::string_view name) {
    return std::count_if(blocks.begin(), blocks.end(), [&](const Block& block) { return block.rule->name == name; });
  };
  if (collective.groups().size() != 1 || topology.switches() > 0) return false;
  if (algorithm.name == "c_cube") return topology.npus() == 8 && count("FC") == 1;
  return algorithm.name != "tto" || count("LI") == 2;
}

/// Runs the program and checks the properties of every program.
void check_program(const Algorithm& algorithm, const Topology& topology, const Collective& collective,
                   std::uint64_t seed, const AlgorithmOptions& options) {
  const auto program = algorithm.make(topology, collective, options);
  ASSERT_EQ(program.ok(), can(algorithm, topology, collective));
  if (!program.ok()) return;
  const auto run = support::run_untimed(**program, collective, seed);
  ASSERT_FALSE(testing::Test::HasFailure());
  for (std::uint32_t n = 0; n < collective.npus(); ++n)
    for (std::uint32_t c = 0; c < collective.chunks(); ++c) {
      if (!collective.must_hold(NpuId(n), ChunkId(c))) continue;
      ASSERT_EQ(run.held[n][c], support::complete(collective, ChunkId(c))) << "NPU " << n << ", chunk " << c;
    }
  ASSERT_EQ((*program)->messages(), run.messages.size());
  std::set<std::uint32_t> sizes;
  for (const auto& message : run.messages) {
    ASSERT_NE(message.source, message.destination);
    sizes.insert(message.chunks);
  }
  ASSERT_EQ((*program)->message_sizes(), std::vector<std::uint32_t>(sizes.begin(), sizes.end()));
  ASSERT_TRUE(!algorithm.single_chunks || sizes == std::set<std::uint32_t>{1});
}

class Programs : public testing::TestWithParam<std::string_view> {
 protected:
  const Algorithm& algorithm() const { return *find_algorithm(GetParam()); }

  /// Checks the algorithm for all collectives that it is defined for.
  void check_all(const Topology& topology, std::string_view groups, std::int64_t chunks, std::uint64_t seed,
                 const AlgorithmOptions& options = {}) {
    for (const auto kind : algorithm().collectives) {
      SCOPED_TRACE(std::string(to_string(kind)) + " of " + std::to_string(topology.npus()) + " NPUs, groups " +
                   std::string(groups) + ", c = " + std::to_string(chunks) + ", order " + std::to_string(seed));
      check_program(algorithm(), topology,
                    support::any_collective(kind, topology.npus(), bytes(10000), chunks, groups, seed), seed, options);
      if (HasFatalFailure()) return;
    }
  }
};

TEST_P(Programs, EndWithEveryPostconditionInAnyOrderOfArrivalOnAllSizes) {
  for (std::uint32_t npus = 2; npus <= 33 && !HasFailure(); ++npus) {
    const auto topology = support::fully_connected(npus);
    check_all(topology, "all", 1, npus);
    if (npus <= 17) check_all(topology, "all", 2, npus);
    if (npus > 9) continue;
    for (const std::uint64_t seed : {1, 2, 3})
      for (const std::int64_t chunks : {1, 3, 4}) check_all(topology, "all", chunks, seed);
  }
}

TEST_P(Programs, EndWithEveryPostconditionOnShapes) {
  for (const auto* shape :
       {"RI(4)_FC(3)", "RI(3)_FC(2)_SW(4)", "LI(3)_LI(5)", "RI(2)_RI(5)_SW(3)", "RI(4)_RI(4)", "RI(5)_RI(3)_RI(2)",
        "SW(8)_RI(3)", "RI(2)_RI(2)_RI(2)_RI(2)", "RI(3)_FC(1)_RI(4)", "LI(2)_LI(2)", "LI(6)_LI(2)", "LI(4)_LI(5)"})
    for (const std::int64_t chunks : {1, 2, 5}) {
      SCOPED_TRACE(shape);
      check_all(support::shape(shape), "all", chunks, 7);
      if (HasFailure()) return;
    }
}

TEST_P(Programs, EndWithEveryPostconditionInProcessGroups) {
  struct Case {
    std::string_view shape;
    std::string_view groups;
  };
  // Lines, planes and halves of the shapes; groups of different sizes, or not in order of id; NPUs in no group.
  for (const auto& [shape, groups] :
       {Case{"RI(4)_FC(3)", "0-3; 4-7"}, Case{"RI(4)_FC(3)", "0,4,8; 3,7,11; 2,6"}, Case{"FC(9)", "0-3; 4,6,8"},
        Case{"FC(9)", "5,2,7,0; 4,8,6,1"}, Case{"RI(2)_RI(3)_SW(4)", "0-5; 6-11; 12-23"},
        Case{"RI(8)_LI(3)", "2,3,10,11,18,19; 4-7"}})
    for (const std::int64_t chunks : {1, 2}) {
      SCOPED_TRACE(shape);
      check_all(support::shape(shape), groups, chunks, 5);
      if (HasFailure()) return;
    }
}

TEST_P(Programs, EndWithEveryPostconditionWhateverTheOrderOfPeersAndTheWindow) {
  for (const std::uint32_t window : {0U, 1U, 2U, 5U})
    for (const auto order : {DestinationOrder::relative, DestinationOrder::absolute})
      for (const auto* shape : {"FC(2)", "RI(7)", "RI(4)_FC(3)", "RI(3)_SW(4)", "FC(2)_RI(5)"}) {
        SCOPED_TRACE(std::string(shape) + ", window " + std::to_string(window));
        const std::uint64_t turn = window + (order == DestinationOrder::relative ? 1 : 2);
        for (const std::uint64_t seed : {1, 2})  // one of them in turn, under `long` both
          if (support::long_run() || seed % 2 == turn % 2)
            check_all(support::shape(shape), "all", seed == 1 ? 3 : 7, seed, {window, order, 1});
        if (HasFailure()) return;
      }
}

TEST(Mixtures, EndWithEveryPostconditionInAnyOrderOfArrival) {
  for (std::uint64_t seed = 0; seed < 300 && !HasFailure(); ++seed) {
    Random random(seed, 0x6d69);
    const auto topology = support::shape(seed % 2 == 0 ? "RI(3)_FC(3)" : "SW(7)");
    const auto npus = static_cast<std::uint32_t>(topology.npus());
    const auto groups = support::drawn_groups(npus, random);
    SCOPED_TRACE(groups + ", seed " + std::to_string(seed));
    const auto order = random.below(2) == 0 ? DestinationOrder::relative : DestinationOrder::absolute;
    check_program(*find_algorithm("direct"), topology,
                  support::any_collective(CollectiveKind::mixed, npus, bytes(10000), 1 + random.below(3), groups, seed),
                  seed, {random.below(3), order, 1});
  }
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Programs, testing::ValuesIn([] {
                           std::vector<std::string_view> names;
                           for (const auto& algorithm : algorithms()) names.push_back(algorithm.name);
                           return names;
                         }()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tenex
