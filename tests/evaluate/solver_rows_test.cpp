// Rows of synthesizers with solvers beside those of all others.
#include <gtest/gtest.h>

#include <string>

#include "evaluate/points.hpp"
#include "tenex/algorithm/algorithm.hpp"

namespace tenex {
namespace {

using support::point;
using support::row_of;
using support::Words;

// A search that may look at one node only ends no later than any textbook algorithm whose messages carry single chunks.
TEST(SolverRows, LoseToNoTextbookAlgorithm) {
  for (const char* topology : {"RI(6)", "mesh(2,3)", "SW(4)"})
    for (const char* collective : {"all_reduce", "all_gather", "broadcast", "all_to_all"}) {
      Words words{{"topology", topology}, {"alpha", "1us"},           {"bandwidth", "50GB/s"}, {"size", "60KB"},
                  {"chunks", "2"},        {"collective", collective}, {"solver_nodes", "1"}};
      const auto of = [&](std::string_view algorithm) {
        auto named = words;
        named.emplace_back("algorithm", std::string(algorithm));
        const auto made = make_point(named, vocabulary());
        return made ? row_of(*made) : Evaluation{};
      };
      const auto solved = of("te_ccl");
      ASSERT_EQ(solved.status, PointStatus::ok) << topology << ' ' << collective << ": " << solved.reason;
      EXPECT_EQ(solved.verified, Verified::yes);
      for (const Algorithm& algorithm : algorithms()) {
        if (!algorithm.single_chunks) continue;
        const auto row = of(algorithm.name);
        if (row.status != PointStatus::ok) continue;
        EXPECT_LE(solved.collective_time_ps, row.collective_time_ps) << topology << ' ' << collective << algorithm.name;
      }
    }
}

// te_ccl takes the best textbook algorithm's schedule where that ends sooner, which is run after the solver.
TEST(SolverRows, PlanTheTextbookAlgorithmThatFollows) {
  const auto planned = [&](const char* algorithm) {
    return estimate(point({{"topology", "RI(3)"}, {"algorithm", algorithm}, {"chunks", "2000"}, {"size", "6MB"}}));
  };
  EXPECT_GE(planned("te_ccl").bytes, planned("auto").bytes);
}

}  // namespace
}  // namespace tenex
