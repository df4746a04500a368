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

/// 12 KB of four NPUs, of equal bandwidth per NPU. FC(4) sends three chunks of 3 KB over three links at once; on RI(4)
/// two of an NPU's own and one that it passes on go over the busier one of its two links. RI(2)_RI(2) shares an NPU's
/// bandwidth between two dimensions, and a far chunk goes second over the first one, then over the other.
constexpr const char* kEqual = R"toml(schema = 1
name = "equal bandwidth"
[[sweep]]
alpha = "0us"
collective = "all_gather"
algorithm = "direct"
size = "12KB"
axes.topology = ["FC(4)", "RI(4)", "RI(2)_RI(2)"]
axes.total_bandwidth = ["3GB/s", "6GB/s"]
)toml";

// FC(4): 3 us at 1 GB/s a link. RI(4): 3 * 2 us at 1.5 GB/s. RI(2)_RI(2): 3 * 2 us, too.
TEST_F(Seeing, CrossoversCompareTopologiesOfEqualBandwidth) {
  ASSERT_EQ(tenex({"run", study(kEqual), "--out", out(), "--threads", "1", "--quiet"}).exit_code, 0);
  const auto topologies = tenex({"show", out(), "--crossover", "topology", "--csv"});
  EXPECT_EQ(topologies.out,
            "total_bandwidth,from,to,crossing,topology,least_lead,most_lead\n"
            "3000000000,12000,12000,,FC(4),1,1\n"
            "6000000000,12000,12000,,FC(4),1,1\n")
      << topologies.err;
  // A setting of rates: 6 GB/s is twice as fast on both.
  const auto rates = tenex({"show", out(), "--crossover", "npu_bandwidth", "--csv"});
  EXPECT_EQ(rates.out,
            "topology,from,to,crossing,npu_bandwidth,least_lead,most_lead\n"
            "FC(4),12000,12000,,6000000000,1,1\n"
            "RI(4),12000,12000,,6000000000,1,1\n"
            "RI(2)_RI(2),12000,12000,,3000000000,1,1\n")
      << rates.err;
  EXPECT_EQ(tenex({"show", out(), "--crossover", "npu_bandwidth"}).exit_code, 0);  // rates are shown with their units
  const auto none = tenex({"show", out(), "--crossover", "total_bandwidth"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("no row has a value of \"total_bandwidth\""));
  EXPECT_THAT(tenex({"show", out(), "--crossover", "seed"}).err, HasSubstr("other than the size and the seed"));
}

/// Two algorithms on links of unlike rates.
constexpr const char* kUnlike = R"toml(schema = 1
name = "unlike rates"
[defaults]
alpha = "0us"
collective = "all_gather"
size = "12KB"
topology = "FC(4)"
[[sweep]]
algorithm = "direct"
bandwidth = "1GB/s"
[[sweep]]
algorithm = "ring"
bandwidth = "2GB/s"
)toml";

TEST_F(Seeing, CrossoversDoNotCompareAlgorithmsOnUnlikeLinks) {
  ASSERT_EQ(tenex({"run", study(kUnlike), "--out", out(), "--threads", "1", "--quiet"}).exit_code, 0);
  const auto csv = tenex({"show", out(), "--crossover", "algorithm", "--csv"}).out;
  EXPECT_THAT(csv, HasSubstr("1000000000,12000,12000,,direct,,\n"));
  EXPECT_THAT(csv, HasSubstr("2000000000,12000,12000,,ring,,\n"));
}

}  // namespace
}  // namespace tenex
