#include <gtest/gtest.h>

#include <algorithm>

#include "support/collectives.hpp"
#include "support/topologies.hpp"
#include "tenex/algorithm/algorithm.hpp"
#include "tenex/schedule/program.hpp"
#include "tenex/topology/translation.hpp"

namespace tenex {
namespace {

/// The algorithms that must be in the table; there may be others.
const std::vector<std::string_view> kPublished{"ring",
                                               "ring_unidirectional",
                                               "ring_per_dimension",
                                               "direct",
                                               "rhd",
                                               "dbt",
                                               "bruck",
                                               "hierarchical",
                                               "blueconnect",
                                               "themis",
                                               "multitree",
                                               "c_cube",
                                               "tto",
                                               "blink",
                                               "binomial",
                                               "rings",
                                               "one_shot",
                                               "one_shot_per_dimension",
                                               "recursive_doubling"};

/// The published ones of `names`, in their order.
std::vector<std::string_view> published(std::vector<std::string_view> names) {
  std::erase_if(names, [](std::string_view name) { return std::ranges::find(kPublished, name) == kPublished.end(); });
  return names;
}

TEST(AlgorithmRegistry, ListsTheTextbookAlgorithms) {
  std::vector<std::string_view> names;
  for (const auto& algorithm : algorithms()) {
    EXPECT_EQ(std::ranges::count(names, algorithm.name), 0) << algorithm.name;
    names.push_back(algorithm.name);
  }
  EXPECT_EQ(published(names), kPublished);
}

TEST(AlgorithmRegistry, FindsByNameAlone) {
  ASSERT_NE(find_algorithm("direct"), nullptr);
  EXPECT_EQ(find_algorithm("direct")->name, "direct");
  EXPECT_EQ(find_algorithm("rin"), nullptr);
  EXPECT_EQ(find_algorithm("ringss"), nullptr);
}

TEST(AlgorithmRegistry, SaysWhatFollowsFromTheEntries) {
  EXPECT_TRUE(find_algorithm("ring")->reads.phases);  // it makes both halves of an All-Reduce
  EXPECT_FALSE(find_algorithm("dbt")->reads.phases);
  EXPECT_TRUE(find_algorithm("dbt")->reads.switches);
  EXPECT_FALSE(find_algorithm("multitree")->reads.switches);
  for (const auto& algorithm : algorithms())
    for (const auto kind : algorithm.collectives) EXPECT_TRUE(auto_algorithm().makes(kind)) << algorithm.name;
  EXPECT_EQ(find_algorithm(auto_algorithm().name), nullptr);  // it is no candidate of itself
}

TEST(AlgorithmRegistry, RefusesACollectiveThatTheAlgorithmIsNotDefinedFor) {
  const auto topology = support::ring(4);
  int refused = 0;
  for (const auto& algorithm : algorithms())
    for (const auto name : collective_names()) {
      const auto kind = parse_collective_kind(name).value();
      if (algorithm.makes(kind)) continue;
      const auto program = algorithm.make(topology, support::any_collective(kind, 4, bytes(1000)), {});
      ASSERT_FALSE(program.ok()) << algorithm.name;
      EXPECT_EQ(program.errors()[0].fault, Fault::input);
      EXPECT_EQ(program.errors()[0].problem,
                "algorithm \"" + std::string(algorithm.name) + "\" does not do " + std::string(name));
      EXPECT_TRUE(program.errors()[0].why.starts_with("it is defined for ")) << program.errors()[0].why;
      ++refused;
    }
  // Of 12 collectives, direct does all, binomial 5, hierarchical 4, eight algorithms 3, bruck 2, and seven one.
  EXPECT_GE(refused, 7 + 8 + 8 * 9 + 10 + 7 * 11);
}

TEST(AlgorithmRegistry, RefusesWhatAnAlgorithmCannotDoAndSaysWhy) {
  struct Case {
    std::string_view algorithm;
    std::string_view shape;
    std::string_view groups;
    std::string problem;
    std::string why;
  };
  for (const auto& [algorithm, shape, groups, problem, why] : {
           Case{"rhd", "RI(6)", "all", "algorithm \"rhd\" for 6 NPUs",
                "recursive halving-doubling is defined for powers of two"},
           Case{"hierarchical", "dragonfly(3,4)", "all",
                "algorithm \"hierarchical\" on a topology of 12 NPUs that has no dimensions",
                "it works along the dimensions of an intact product of blocks; families and lists of links have none"},
           Case{"blueconnect", "RI(4)_RI(4)", "0,1,6,7; 2,3",
                "algorithm \"blueconnect\" for a process group of 4 NPUs from NPU 0 on",
                "it needs groups that are boxes of RI(4)_RI(4) in order of id"},
           Case{"themis", "RI(4)_RI(4)", "0-3; 5,4", "algorithm \"themis\" for a process group of 2 NPUs from NPU 5 on",
                "it needs groups that are boxes of RI(4)_RI(4) in order of id"},
           Case{"c_cube", "RI(8)", "all", "algorithm \"c_cube\" on 8 NPUs of which 0 and 2 are not linked",
                "its two trees are laid out by hand on the links of a DGX-1"},
           Case{"tto", "RI(4)_RI(4)", "all", "algorithm \"tto\" on 16 NPUs of RI(4)_RI(4)",
                "its three trees are laid on a two-dimensional mesh"},
           Case{"blink", "SW(5)", "all", "algorithm \"blink\" on a topology with switches",
                "its trees run over links between NPUs"},
           Case{"multitree", "RI(8)", "0-3; 4-7", "algorithm \"multitree\" for 2 process groups on 8 NPUs",
                "its trees span the topology: it is defined for one group of all NPUs in order of id"},
       }) {
    const auto topology = support::shape(shape);
    const auto collective = support::collective(CollectiveKind::all_reduce, topology.npus(), bytes(1000), 1, groups);
    const auto program = find_algorithm(algorithm)->make(topology, collective, {});
    ASSERT_FALSE(program.ok()) << algorithm;
    EXPECT_EQ(program.errors()[0].fault, Fault::input);
    EXPECT_EQ(program.errors()[0].problem, problem);
    EXPECT_EQ(program.errors()[0].why, why);
    EXPECT_FALSE(program.errors()[0].suggestion.empty());
  }
}

TEST(AlgorithmRegistry, OffersTheAlgorithmsThatFitAsCandidates) {
  const auto names = [](std::string_view shape, CollectiveKind kind) {
    const auto topology = support::shape(shape);
    std::vector<std::string_view> able;
    for (const auto* algorithm : candidates(topology, support::any_collective(kind, topology.npus(), bytes(1000))))
      able.push_back(algorithm->name);
    return published(able);
  };
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(
      names("RI(4)_SW(2)", CollectiveKind::all_reduce),
      (Names{"ring", "ring_unidirectional", "ring_per_dimension", "direct", "rhd", "dbt", "hierarchical", "blueconnect",
             "themis", "binomial", "rings", "one_shot", "one_shot_per_dimension", "recursive_doubling"}));
  // A topology without dimensions and with a number of NPUs that is no power of two.
  EXPECT_EQ(names("dragonfly(3,4)", CollectiveKind::all_reduce),
            (Names{"ring", "ring_unidirectional", "direct", "dbt", "multitree", "blink", "binomial", "rings",
                   "one_shot", "recursive_doubling"}));
  EXPECT_EQ(names("mesh(3,4)", CollectiveKind::all_reduce),
            (Names{"ring", "ring_unidirectional", "ring_per_dimension", "direct", "dbt", "hierarchical", "blueconnect",
                   "themis", "multitree", "tto", "blink", "binomial", "rings", "one_shot", "one_shot_per_dimension",
                   "recursive_doubling"}));
  EXPECT_EQ(names("FC(8)", CollectiveKind::all_reduce).size(), 17U) << "all but bruck and tto";
  // Whole inputs are tried for up to 128 NPUs.
  EXPECT_EQ(names("SW(129)", CollectiveKind::all_reduce).back(), "rings");
  // Trees are grown and rings packed for up to 256 NPUs.
  EXPECT_EQ(names("RI(257)", CollectiveKind::all_gather),
            (Names{"ring", "ring_unidirectional", "ring_per_dimension", "direct", "bruck", "hierarchical",
                   "blueconnect", "themis"}));
  EXPECT_EQ(names("RI(3)_RI(3)", CollectiveKind::all_to_all), (Names{"direct", "bruck", "hierarchical"}));
  for (const auto kind :
       {CollectiveKind::broadcast, CollectiveKind::reduce, CollectiveKind::gather, CollectiveKind::scatter})
    EXPECT_EQ(names("RI(3)_RI(3)", kind), (Names{"direct", "binomial"}));
  for (const auto kind :
       {CollectiveKind::all_to_allv, CollectiveKind::halo_exchange, CollectiveKind::conditions, CollectiveKind::mixed})
    EXPECT_EQ(names("RI(3)_RI(3)", kind), (Names{"direct"}));
}

// What an entry says of its program's symmetry is what the program says: plans count one NPU's messages by the entry.
// (A hypercube moves rhd, too, and a prime number recursive_doubling: an entry says what holds of all shapes.)
TEST(AlgorithmRegistry, SaysWithWhichShapesProgramsMove) {
  int moving = 0;
  for (const std::string_view shape : {"RI(8)", "FC(8)", "FC(6)", "RI(4)_RI(4)", "FC(4)_RI(5)", "RI(4)_FC(2)_RI(2)"}) {
    const auto topology = support::shape(shape);
    const auto group = TranslationGroup::of(topology).value();
    for (const auto& algorithm : algorithms())
      for (const auto kind : algorithm.collectives) {
        const bool whole = kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
                           kind == CollectiveKind::all_reduce || kind == CollectiveKind::all_to_all;
        if (!whole) continue;
        const auto program = algorithm.make(topology, support::any_collective(kind, topology.npus(), bytes(4800)), {});
        if (!program.ok()) continue;
        const bool expected = algorithm.moves_with == MovesWith::all ||
                              (algorithm.moves_with == MovesWith::one_dimension && group.dimensions().size() == 1);
        EXPECT_EQ((*program)->moves_with(group), expected) << algorithm.name << " on " << shape;
        moving += expected ? 1 : 0;
      }
  }
  EXPECT_GE(moving, 6 * 15);
}

TEST(AlgorithmRegistry, RefusesACollectiveOfAnotherTopology) {
  const auto program =
      find_algorithm("ring")->make(support::ring(4), support::collective(CollectiveKind::all_gather, 5, bytes(5)), {});
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.errors()[0].problem, "the collective is for 5 NPUs");
}

}  // namespace
}  // namespace tenex
