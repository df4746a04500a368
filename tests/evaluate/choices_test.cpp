// Points that leave the algorithm or the number of chunks to their evaluation: the choice equals the best of all named
// ones, and ends early where that is good enough.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "evaluate/points.hpp"
#include "evaluate/trials.hpp"
#include "tenex/evaluate/search.hpp"
#include "tenex/execution/algorithm_table.hpp"

namespace tenex {
namespace {

using support::point;
using support::results_of;
using support::row_of;
using support::Words;
using testing::HasSubstr;
using testing::Not;

Words with_word(Words words, const std::string& name, const std::string& value) {
  words.emplace_back(name, value);
  return words;
}

/// The least time of all algorithms and synthesizers that have one on the network as it is, but for solvers and
/// references: `best` never starts these, because they may take minutes, a build may lack them, or they are slow
/// copies.
std::int64_t least_time(const Words& words) {
  std::int64_t least = -1;
  for (const AlgorithmTraits* traits : algorithm_traits()) {
    if (traits->family == AlgorithmFamily::any || traits->reads.solves || traits->is_reference) continue;
    const auto named = make_point(with_word(words, "algorithm", std::string(traits->name)), vocabulary());
    if (!named) continue;  // it is not defined for the collective
    const auto row = row_of(*named);
    if (row.status != PointStatus::ok || row.unwound_degree > 0) continue;
    if (least < 0 || row.collective_time_ps < least) least = row.collective_time_ps;
  }
  return least;
}

TEST(BestAlgorithm, IsTheFastestOfAllThatAreNamed) {
  for (const char* topology : {"mesh(3,3)", "RI(4)_SW(4)", "FC(8)", "hypercube(3)", "dragonfly(2,3)"})
    for (const char* collective : {"all_reduce", "all_gather", "broadcast", "all_to_all", "scatter"})
      for (const char* size : {"1440B", "1440KB"}) {
        const Words words{{"topology", topology},     {"alpha", "1us"}, {"bandwidth", "50GB/s"},
                          {"collective", collective}, {"size", size},   {"chunks", "2"}};
        const auto row = row_of(point(with_word(words, "algorithm", "best")));
        ASSERT_EQ(row.status, PointStatus::ok) << topology << ' ' << collective << ": " << row.reason;
        EXPECT_EQ(row.collective_time_ps, least_time(words)) << topology << ' ' << collective << ' ' << size;
        EXPECT_EQ(row.verified, Verified::yes);
        EXPECT_GE(row.candidates, 1);
        auto chosen = row_of(point(with_word(words, "algorithm", row.chosen_algorithm)));
        chosen.chosen_algorithm = row.chosen_algorithm;
        chosen.candidates = row.candidates;
        chosen.optimal = row.optimal;
        chosen.optimality_gap = row.optimality_gap;
        EXPECT_EQ(results_of(chosen), results_of(row)) << row.chosen_algorithm;
      }
}

// Groups "0,1" and "1,2" of RI(4) use one link each way, which no other group uses. By hand, at 50 GB/s without alpha:
// a Broadcast of 1 MB takes 20 us over that link, as three hops the other way take longer for half of it.
TEST(BestAlgorithm, ServesGroupsThatShareNpus) {
  for (const char* collective : {"broadcast", "reduce", "all_gather", "reduce_scatter", "all_reduce", "all_to_all"}) {
    const Words words{{"topology", "RI(4)"},      {"alpha", "0us"}, {"bandwidth", "50GB/s"}, {"groups", "0,1;1,2"},
                      {"collective", collective}, {"size", "1MB"},  {"chunks", "2"}};
    const auto row = row_of(point(with_word(words, "algorithm", "best")));
    ASSERT_EQ(row.status, PointStatus::ok) << collective << ": " << row.reason;
    EXPECT_EQ(row.verified, Verified::yes) << collective;
    EXPECT_EQ(row.collective_time_ps, least_time(words)) << collective;
    if (std::string_view(collective) == "broadcast") {
      EXPECT_EQ(row.collective_time_ps, 20'000'000);
    }
  }
}

// By hand: 64 MB in 8 * 16 chunks of 500 KB take 10 us each at 50 GB/s. Through a switch that copies and adds, an NPU
// sends its 128 contributions and receives 128 sums: 1,280 us and two alphas of 0.5 us. Without, 2 * 7 * 16 chunks
// cross each port: 2,240 us. What the switch can do is the network's, whatever the algorithm makes of it.
TEST(BestAlgorithm, ComparesWithTheBoundOfSwitchesThatCopyAndAdd) {
  const Words words{{"topology", "SW(8)"},        {"alpha", "0.5us"},       {"bandwidth", "50GB/s"},
                    {"collective", "all_reduce"}, {"size", "64MB"},         {"chunks", "16"},
                    {"switch_copy", "yes"},       {"switch_reduce", "yes"}, {"forwarding", "cut_through"}};
  const auto halving = row_of(point(with_word(words, "algorithm", "rhd")));
  EXPECT_EQ(halving.collective_time_ps, 2'241'000'000 + 0);
  EXPECT_EQ(halving.bound_ps, 1'281'000'000);
  const auto best = row_of(point(with_word(words, "algorithm", "best")));
  EXPECT_EQ(best.bound_ps, 1'281'000'000);
  EXPECT_EQ(best.chosen_algorithm, "pccl");
  EXPECT_LT(best.collective_time_ps, 1'400'000'000);
}

// By hand, `transfer`, two chunks of 1 byte on each of four NPUs of a line, gathered at its end: one by one, six chunks
// over the last link take 6 * (1 us + 20 ps); in one message the alpha of 1 us is paid once on each link.
TEST(BestAlgorithm, DoesNotStopAtABoundOfSchedulesThatSendSingleChunks) {
  const Words words{{"topology", "LI(4)"}, {"alpha", "1us"}, {"bandwidth", "50GB/s"},  {"collective", "gather"},
                    {"size", "8B"},        {"chunks", "2"},  {"occupancy", "transfer"}};
  const auto direct = row_of(point(with_word(words, "algorithm", "direct")));
  EXPECT_EQ(direct.bound_ps, 6 * 1'000'020);
  EXPECT_EQ(direct.bound_class, "single_chunks");
  const auto messages = row_of(point(with_word(words, "algorithm", "binomial")));
  EXPECT_EQ(messages.bound_class, "all");
  EXPECT_LT(messages.collective_time_ps, direct.bound_ps);
  const auto best = row_of(point(with_word(words, "algorithm", "best")));
  EXPECT_EQ(best.bound_class, "all");
  EXPECT_EQ(best.collective_time_ps, messages.collective_time_ps);
}

TEST(Overlap, IsRefusedByWhatHasNoHalves) {
  for (const char* algorithm : {"trees", "dbt"}) {
    const auto row = row_of(point({{"topology", "RI(4)"},
                                   {"collective", "all_reduce"},
                                   {"size", "1MB"},
                                   {"overlap", "false"},
                                   {"algorithm", algorithm}}));
    EXPECT_EQ(row.status, PointStatus::unsupported) << algorithm;
    EXPECT_THAT(row.reason, HasSubstr("without overlap"));
  }
}

// By hand, alpha 1 us and 50 GB/s (20 ps a byte): on RI(5), shards of 72,000 bytes take 1 + 1.44 us a hop. Each NPU
// receives 4 shards over 2 links: 2 hops, which shortest paths reach. An All-to-All on mesh(2,3) reaches no bound.
TEST(BestAlgorithm, EndsWithAProofOrAGap) {
  const auto best_of = [](const std::string& topology, const std::string& collective) {
    return row_of(point({{"topology", topology},
                         {"alpha", "1us"},
                         {"bandwidth", "50GB/s"},
                         {"collective", collective},
                         {"size", "360KB"},
                         {"chunks", "1"},
                         {"algorithm", "best"}}));
  };
  const auto ring = best_of("RI(5)", "all_gather");
  EXPECT_EQ(ring.collective_time_ps, 4'880'000);
  EXPECT_EQ(ring.optimal, 1);
  EXPECT_EQ(ring.optimality_gap, 0);
  for (const char* topology : {"mesh(2,3)", "SW(4)", "mesh(3,6)"})
    for (const char* collective : {"all_gather", "reduce_scatter", "all_reduce", "all_to_all"}) {
      const auto row = best_of(topology, collective);
      ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
      EXPECT_EQ(row.optimal, row.collective_time_ps == row.bound_ps ? 1 : 0) << topology << ' ' << collective;
      EXPECT_DOUBLE_EQ(row.optimality_gap,
                       1 - static_cast<double>(row.bound_ps) / static_cast<double>(row.collective_time_ps));
      EXPECT_NEAR(row.optimality_gap, 1 - row.efficiency, 1e-9);
    }
  EXPECT_GT(best_of("mesh(2,3)", "all_to_all").optimality_gap, 0.05);
}

// By hand, as for AreTheBestNumberByHand: 12 chunks take 54 us, one takes 7 hops of 25 us.
TEST(BestAlgorithm, ChoosesTheNumberOfChunksUnlessItIsGiven) {
  const Words words{{"topology", "LI(8)"},       {"alpha", "1us"},          {"bandwidth", "50GB/s"}, {"size", "1200KB"},
                    {"collective", "broadcast"}, {"occupancy", "transfer"}, {"algorithm", "best"}};
  const auto left = point(words);
  const auto row = row_of(left);
  ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_LE(row.collective_time_ps, 54'000'000);
  EXPECT_GT(row.chosen_chunks, 1);
  EXPECT_EQ(left.canonical, point(with_word(words, "chunks", "auto")).canonical);
  EXPECT_THAT(left.canonical, Not(HasSubstr("chunks=")));

  const auto given = point(with_word(words, "chunks", "1"));
  EXPECT_THAT(given.canonical, HasSubstr("chunks=1\n"));
  const auto one = row_of(given);
  EXPECT_EQ(one.collective_time_ps, 175'000'000);
  EXPECT_THAT(one.reason, HasSubstr("with 4 chunks; chunks = \"auto\" chooses the number"));
  EXPECT_THAT(row.reason, Not(HasSubstr("chunks")));
}

// Groups with a collective of their own have their own chunks, so there is no number to choose.
TEST(BestAlgorithm, ChoosesNoNumberForGroupsOfTheirOwn) {
  const Words words{{"topology", "RI(8)"},
                    {"groups", "0-3 all_gather 1MB 2 chunks; 4-7 all_reduce 2MB"},
                    {"collective", "all_gather"},
                    {"size", "1MB"},
                    {"algorithm", "best"}};
  const auto mixed = point(words);
  EXPECT_EQ(mixed.chunks, 1);
  const auto row = row_of(mixed);
  EXPECT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.verified, Verified::yes);
}

TEST(BestAlgorithm, LeavesReferencesAlone) {
  const Words words{{"topology", "mesh(3,3)"}, {"size", "9KB"}, {"algorithm", "best"}, {"chunks", "1"}};
  EvaluateOptions options;
  const auto row = row_of(point(words), options);
  EXPECT_NE(row.chosen_algorithm, "tacos_reference");
  EXPECT_THAT(row.reason, Not(HasSubstr("reference")));
}

TEST(BestAlgorithm, LeavesSwitchesAsTheyAreUnlessUnwindingIsAskedFor) {
  const Words words{{"topology", "SW(8)"}, {"size", "8KB"}, {"algorithm", "best"}};
  const auto kept = row_of(point(words));
  const auto unwound = row_of(point(with_word(words, "unwind", "2")));
  EXPECT_EQ(kept.unwound_degree, 0);
  EXPECT_EQ(unwound.unwound_degree, 2);
  EXPECT_GE(kept.candidates, unwound.candidates);  // what needs direct links is played on the switches
}

// What switches can do beside forwarding is no harm: schedules that do not use it stay valid, but for sums where
// switches reduce, which send on all that they have.
TEST(BestAlgorithm, IsNoSlowerWhereSwitchesCanDoMore) {
  struct Case {
    const char* topology;
    const char* collective;
    const char* ability;
  };
  for (const auto& [topology, collective, ability] :
       {Case{"SW(8)", "broadcast", "switch_copy"}, Case{"SW(8)", "reduce", "switch_copy"},
        Case{"SW(8)", "all_gather", "switch_copy"}, Case{"SW(8)", "broadcast", "switch_reduce"},
        Case{"rail_spine(2,2,2)", "all_gather", "switch_reduce"}, Case{"rail_spine(2,2,2)", "reduce", "switch_copy"}}) {
    const Words words{{"topology", topology},     {"alpha", "0.5us"}, {"bandwidth", "50GB/s"},
                      {"collective", collective}, {"size", "4MB"},    {"algorithm", "best"}};
    const auto plain = row_of(point(words));
    const auto able = row_of(point(with_word(words, ability, "yes")));
    ASSERT_EQ(able.status, PointStatus::ok) << topology << ' ' << collective << ": " << able.reason;
    EXPECT_EQ(able.verified, Verified::yes) << topology << ' ' << collective;
    EXPECT_LE(able.collective_time_ps, plain.collective_time_ps) << topology << ' ' << collective << ' ' << ability;
  }
}

// On a network so large that every algorithm is heavy, the first one is tried all the same.
TEST(BestAlgorithm, TriesTheFirstWhateverItWeighs) {
  const auto any = point({{"topology", "RI(4)"}, {"size", "4KB"}, {"algorithm", "best"}});
  Cache cache;
  Trials trials(any, cache.impl(), {});
  EXPECT_GT(trials.most_weight(), 1e9);
  EXPECT_TRUE(trials.run(with_chunks(point({{"topology", "RI(4)"}, {"size", "4KB"}, {"algorithm", "ring"}}), 1)));
  EXPECT_LT(trials.most_weight(), 1e3);
}

// A trial weighs no more than it could save: direct's 0.9 % above the bound are worth 2.2 s of weights, and `trees`
// weighs more with 16 chunks.
TEST(BestAlgorithm, LeavesOutWhatWeighsMoreThanItCouldSave) {
  const auto row = row_of(point({{"topology", "SW(72)"},
                                 {"alpha", "0.35us"},
                                 {"bandwidth", "1800GB/s"},
                                 {"collective", "all_reduce"},
                                 {"size", "64KiB"},
                                 {"chunks", "16"},
                                 {"forwarding", "virtual_cut_through"},
                                 {"algorithm", "best"}}));
  ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.chosen_algorithm, "direct");
  EXPECT_GT(row.efficiency, 0.99);
  EXPECT_THAT(row.reason, HasSubstr("1 heavy algorithm was not tried: the result is within 0."));
}

// Trees and tacos take equally long with 4 and with 8 chunks, which is no sign that they do the same: with 16 and more
// only trees goes on.
TEST(BestAlgorithm, TakesTwoEqualTimesForNoCopy) {
  const auto time_of = [](const char* algorithm, const char* chunks) {
    Words words = {{"topology", "amd_1ch"}, {"collective", "all_reduce"}, {"size", "16KiB"}};
    words.emplace_back("algorithm", algorithm);
    return row_of(make_point(with_word(words, "chunks", chunks), vocabulary()).value()).collective_time_ps;
  };
  ASSERT_EQ(time_of("trees", "8"), time_of("tacos", "8"));
  EXPECT_LE(time_of("best", "auto"), time_of("trees", "64"));
}

TEST(BestAlgorithm, EndsAtTheFirstThatIsGoodEnough) {
  const Words words{{"topology", "mesh(4,4)"}, {"size", "16KB"}, {"algorithm", "best"}, {"chunks", "1"}};
  const auto all = row_of(point(words));
  const auto some = row_of(point(with_word(words, "good_enough", "10%")));
  EXPECT_EQ(all.efficiency, 1);
  EXPECT_GE(some.efficiency, 0.1);
  EXPECT_LT(some.candidates, all.candidates);
  EXPECT_THAT(point(with_word(words, "good_enough", "10%")).canonical, HasSubstr("good_enough=10%\n"));
  EXPECT_EQ(point(with_word(words, "good_enough", "100%")).canonical, point(words).canonical);
}

TEST(BestAlgorithm, GivesTheScheduleOfTheChosenOne) {
  const Words words{{"topology", "mesh(3,3)"}, {"size", "9KB"}, {"algorithm", "best"}, {"chunks", "auto"}};
  Cache cache;
  EvaluateOptions options;
  options.keep_schedule = true;
  const auto output = evaluate(point(words), cache, options);
  ASSERT_EQ(output.row.status, PointStatus::ok) << output.row.reason;
  EXPECT_EQ(output.schedule.sends(), static_cast<std::uint64_t>(output.row.sends));
  EXPECT_EQ(results_of(output.row), results_of(row_of(point(words))));
}

TEST(BestAlgorithm, SaysWhatDidNotFitIntoTheMemory) {
  const Words words{{"topology", "mesh(8,8)"}, {"size", "64KB"}, {"collective", "all_reduce"}};
  const auto plan = [&](const char* algorithm) {
    return estimate(point(with_word(words, "algorithm", algorithm))).bytes;
  };
  EvaluateOptions options;
  options.memory_limit_bytes = plan("pccl") - 1;
  const auto row = row_of(point(with_word(words, "algorithm", "best")), options);
  ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_THAT(row.reason, HasSubstr("pccl was left out: it needs "));
}

TEST(BestAlgorithm, IsEstimatedByAllThatItTries) {
  const Words words{{"topology", "mesh(8,8)"}, {"size", "64KB"}};
  const auto best = estimate(point(with_word(words, "algorithm", "best")));
  for (const char* algorithm : {"ring", "direct", "tacos", "pccl"}) {
    const auto one = estimate(point(with_word(words, "algorithm", algorithm)));
    EXPECT_GE(best.seconds, one.seconds);
    EXPECT_GE(best.bytes, one.bytes);
  }
  // Where all algorithms are heavy, what comes first is expected all the same.
  const Words large{{"topology", "mesh(100,100)"}, {"collective", "all_reduce"}, {"size", "1GB"}};
  const auto all = estimate(point(with_word(large, "algorithm", "best")));
  for (const char* algorithm : {"tacos", "trees"})
    EXPECT_GE(all.seconds, estimate(point(with_word(large, "algorithm", algorithm))).seconds);
}

// A Broadcast of B along eight NPUs in c chunks takes c + 6 hops of alpha + beta*B/c. With alpha = 1 us and
// beta*B = 24 us the best c is sqrt(6 * 24) = 12: 18 * 3 us = 54 us; 8 chunks take 56 us, 16 take 55 us.
TEST(AutomaticChunks, AreTheBestNumberByHand) {
  const Words words{{"topology", "LI(8)"},       {"alpha", "1us"},   {"bandwidth", "50GB/s"},   {"size", "1200KB"},
                    {"collective", "broadcast"}, {"chunks", "auto"}, {"occupancy", "transfer"}, {"algorithm", "tacos"}};
  const auto row = row_of(point(words));
  ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_EQ(row.chosen_chunks, 12);
  EXPECT_EQ(row.collective_time_ps, 54'000'000);
  EXPECT_EQ(row.total_chunks, 12);
  const auto quick = row_of(point(with_word(words, "good_enough", "50%")));  // alpha alone: 7 of 25 hops
  EXPECT_LT(quick.chosen_chunks, 12);
  EXPECT_GE(quick.efficiency, 0.5);
}

// Six of the eight GPUs of an MI300X, which are fully connected at 64 GB/s: up to four chunks a link carries more than
// its share, and the time stays. With 64 chunks it is 4.02 ms.
TEST(AutomaticChunks, PassAPlateau) {
  const auto of = [](const char* chunks) {
    const auto six = make_point({{"topology", "mi300x"},
                                 {"collective", "all_reduce"},
                                 {"size", "1GiB"},
                                 {"groups", "0-5"},
                                 {"algorithm", "pccl"},
                                 {"chunks", chunks}},
                                vocabulary());
    return row_of(six.value()).collective_time_ps;
  };
  EXPECT_GT(of("1"), of("64") * 5 / 4);
  EXPECT_GT(of("4"), of("64") * 5 / 4);
  EXPECT_LE(of("auto"), of("64"));
}

TEST(AutomaticChunks, StopWhereAChunkWouldHaveNoByte) {
  const auto row = row_of(point(
      {{"topology", "RI(4)"}, {"size", "12B"}, {"chunks", "auto"}, {"algorithm", "tacos"}, {"occupancy", "transfer"}}));
  ASSERT_EQ(row.status, PointStatus::ok) << row.reason;
  EXPECT_LE(row.chosen_chunks, 3);
}

TEST(AutomaticChunks, AreBoundedByTheLeastOfAllNumbers) {
  Cache cache;
  const auto given = point({{"topology", "RI(8)"}, {"size", "64KB"}, {"chunks", "auto"}, {"algorithm", "tacos"}});
  const auto early = evaluate_early(given, Fidelity::bound, cache, {});
  ASSERT_EQ(early.status, PointStatus::ok) << early.reason;
  EXPECT_LE(early.bound_ps, row_of(given).collective_time_ps);
}

}  // namespace
}  // namespace tenex
