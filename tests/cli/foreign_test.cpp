// verify and export of other tools' files: what is written is judged valid, with the time and bound that hands derive,
// and a broken file ends with 1 and its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/seeing.hpp"

namespace tenex {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::number_of;
using testing::tenex;
using testing::text_of;

class ForeignFiles : public testing::Seeing {
 protected:
  /// An All-Gather of 4 NPUs in MSCCLang's words.
  std::string exported() {
    const auto made =
        tenex({"synthesize", "--topology", "RI(4)", "--alpha", "0us", "--bandwidth", "1GB/s", "--collective",
               "all_gather", "--size", "4000B", "--synthesizer", "tacos", "--out", out("gather.h5")});
    EXPECT_EQ(made.exit_code, 0) << made.out << made.err;
    const auto ran = tenex({"export", out("gather.h5"), "--format", "mscclang", "-o", out("gather.xml")});
    EXPECT_EQ(ran.exit_code, 0) << ran.out << ran.err;
    return out("gather.xml");
  }
};

// An NPU of RI(4) receives three chunks of 1,000 bytes over two links of 1 GB/s: one link carries two of them, 2 us.
// An order without gaps takes no longer.
TEST_F(ForeignFiles, AnExportedAllGatherIsValidAtItsBound) {
  const auto ran = tenex({"verify", exported(), "--topology", "RI(4)", "--alpha", "0us", "--bandwidth", "1GB/s",
                          "--size", "4000B", "--json"});
  ASSERT_EQ(ran.exit_code, 0) << ran.out << ran.err;
  EXPECT_EQ(text_of(ran.out, "format"), "MSCCLang XML");
  EXPECT_EQ(number_of(ran.out, "collective_time_ps"), 2e6);
  EXPECT_EQ(number_of(ran.out, "bound_ps"), 2e6);
  EXPECT_EQ(text_of(ran.out, "replay_check"), "valid");
}

TEST_F(ForeignFiles, ABrokenFileEndsWith1AndItsPlace) {
  auto text = support::read_text(exported());
  // NPU 0 no longer receives the chunk of NPU 1.
  const auto at = text.find("type=\"r\"");
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, 8, "type=\"nop\"");
  const auto ran = tenex({"verify", study(text, "broken.xml")});
  EXPECT_EQ(ran.exit_code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("broken.xml:2:4"), HasSubstr("lacks chunk 0 of gpu 1's input")));
}

// The best All-Reduce on LI(5) has more chunks than RCCL's executor has steps for, so one of fewer chunks is
// written, and what that costs is said.
TEST_F(ForeignFiles, APointIsWrittenInAsManyChunksAsTheExecutorRuns) {
  const std::vector<std::string> network{"--topology",  "LI(5)",  "--alpha", "0.5us",
                                         "--bandwidth", "50GB/s", "--size",  "1GiB"};
  auto words = network;
  words.insert(words.begin(), {"export", "--collective", "all_reduce", "--format", "mscclang", "--for", "rccl", "-o",
                               out("best.xml"), "--json"});
  const auto written = tenex(words);
  ASSERT_EQ(written.exit_code, 0) << written.out << written.err;
  const double chunks = number_of(written.out, "chunks");
  EXPECT_GT(number_of(written.out, "without_limits_chunks"), chunks);
  const double time = number_of(written.out, "collective_time_ps");
  const double unlimited = number_of(written.out, "without_limits_ps");
  EXPECT_NEAR(number_of(written.out, "longer_by_percent"), 100 * (time / unlimited - 1), 1e-3);
  EXPECT_LT(number_of(written.out, "longer_by_percent"), 2);
  words = network;
  words.insert(words.begin(), {"verify", out("best.xml"), "--json"});
  const auto judged = tenex(words);
  ASSERT_EQ(judged.exit_code, 0) << judged.out << judged.err;
  EXPECT_EQ(number_of(judged.out, "chunks"), chunks);
  EXPECT_EQ(text_of(judged.out, "replay_check"), "valid");

  // A named algorithm has as many, too: it is the one that the best schedule is of. How many are best without limits is
  // searched for without others beside it.
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--chunks", "auto"}}) {
    words = network;
    words.insert(words.begin(), {"export", "--collective", "all_reduce", "--format", "mscclang", "--for", "rccl", "-o",
                                 out("named.xml"), "--json", "--algorithm", text_of(written.out, "algorithm")});
    words.insert(words.end(), more.begin(), more.end());
    const auto named = tenex(words);
    ASSERT_EQ(named.exit_code, 0) << named.out << named.err;
    EXPECT_EQ(number_of(named.out, "chunks"), chunks);
    EXPECT_EQ(number_of(named.out, "collective_time_ps"), time);
    EXPECT_GT(number_of(named.out, "longer_by_percent"), 0);
    EXPECT_LT(number_of(named.out, "longer_by_percent"), 2);
  }
}

TEST_F(ForeignFiles, APointAndAFileAreNotExportedTogether) {
  const auto both = tenex({"export", exported(), "--topology", "RI(4)", "--format", "mscclpp", "-o", out("p.json")});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("a file and the options of a point"));
  const auto none = tenex({"export", "--format", "mscclpp", "-o", out("p.json")});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("name a file, or a point"));
}

TEST_F(ForeignFiles, AnOptionOfANetworkWithoutOneIsRefused) {
  const auto ran = tenex({"verify", exported(), "--size", "4000B"});
  EXPECT_EQ(ran.exit_code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--topology"));
}

}  // namespace
}  // namespace tenex
