// `tenex show DIR --crossover SETTING`: from which size on which value is the fastest.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "cli/seeing.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;
using testing::Seeing;
using testing::tenex;

/// On fully connected NPUs with 1 us and 1 GB/s: one shot takes 1 us + S/GB/s, two shots 2 (1 us + S/n/GB/s).
constexpr const char* kShots = R"toml(schema = 1
name = "shots"
[[sweep]]
alpha = "1us"
bandwidth = "1GB/s"
collective = "all_reduce"
axes.topology = ["FC(4)", "FC(8)"]
axes.algorithm = ["direct", "one_shot"]
axes.size = ["16KB", "1KB", "4KB"]
)toml";

// FC(4): 2 and 2.5 us at 1 KB, 5 and 4 us at 4 KB, 17 and 10 us at 16 KB; equal at 2 KB, where both take 3 us. FC(8): 2
// and 2.25 us, 5 and 3 us, 17 and 6 us; equal at 4/3 KB.
TEST_F(Seeing, CrossoversSayFromWhichSizeOnWhichAlgorithmWins) {
  ASSERT_EQ(tenex({"run", study(kShots), "--out", out(), "--threads", "1", "--quiet"}).exit_code, 0);
  const auto csv = tenex({"show", out(), "--crossover", "algorithm", "--csv"});
  EXPECT_EQ(csv.out,
            "topology,from,to,crossing,algorithm,least_lead,most_lead\n"
            "FC(4),1000,1000,,one_shot,0.25,0.25\n"
            "FC(4),4000,16000,2000,direct,0.25,0.7\n"
            "FC(8),1000,1000,,one_shot,0.125,0.125\n"
            "FC(8),4000,16000,1333,direct,0.6666666666666667,1.8333333333333335\n")
      << csv.err;
  const auto table = tenex({"show", out(), "--crossover", "algorithm", "--where", "topology = 'FC(8)'"});
  EXPECT_THAT(table.out, HasSubstr("1333B"));
  EXPECT_THAT(tenex({"show", out(), "--crossover", "algorithm", "--json"}).out, HasSubstr(R"("crossing":2000)"));
  // Of the topologies FC(8) is the faster one by direct, and both take one shot alike: the first in the study.
  EXPECT_EQ(
      tenex({"show", out(), "--crossover", "topology", "--where", "size = 16KB", "--csv"}).out,
      "from,to,crossing,topology,least_lead,most_lead\n16000,16000,,FC(8),0.6666666666666667,0.6666666666666667\n");
  for (const auto* column : {"size", "busbw"}) {
    const auto refused = tenex({"show", out(), "--crossover", column});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("cannot be compared at each size"));
    EXPECT_THAT(refused.err, HasSubstr("--crossover algorithm"));
  }
}

}  // namespace
}  // namespace tenex
