// Files of reductions on one-way links: they are read backwards in time, on reversed links.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "support/draws.hpp"
#include "support/process.hpp"

namespace tenex {
namespace {

using support::Finished;
using support::TemporaryFolder;
using ::testing::HasSubstr;

/// Runs the binary with words separated by blanks.
Finished run_line(const std::string& line) {
  std::vector<std::string> words{TENEX_BINARY};
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  return support::run({words, {}, {}});
}

/// `"schedule_hash":"..."` of a line of JSON.
std::string hash_in(const std::string& json) {
  const auto at = json.find("\"schedule_hash\":");
  return at == std::string::npos ? "none" : json.substr(at, 34);
}

TEST(OneWayFiles, HoldTheScheduleThatWasMade) {
  // An unwound switch has a link from each NPU to the next and none back, so a reduction uses other in-ports than a
  // gather.
  const TemporaryFolder folder;
  int number = 0;
  for (const auto* topology : {"SW(4)_LI(4)", "SW(3)_FC(4)"})
    for (const auto* collective : {"all_gather", "reduce_scatter", "all_reduce"})
      for (const auto* engine : {"coarse", "exact", "event_driven"}) {
        if (++number % 2 == 0 && !support::long_run()) continue;  // so every engine makes every collective
        const auto file = (folder.path() / (std::string(topology) + collective + engine + ".h5")).string();
        std::string line = "synthesize --alpha 0.5us --bandwidth 7GB/s --size 1MiB --json --topology ";
        line.append(topology).append(" --collective ").append(collective).append(" --engine ").append(engine);
        const auto made = run_line(line.append(" --out ").append(file));
        ASSERT_EQ(made.exit_code, 0) << made.err;
        const auto verified = run_line("verify --json " + file);
        EXPECT_EQ(verified.exit_code, 0) << file << verified.out << verified.err;
        EXPECT_THAT(verified.out, HasSubstr("\"verified\":true")) << file;
        EXPECT_EQ(hash_in(verified.out), hash_in(made.out)) << file;
        EXPECT_EQ(run_line("simulate --schedule " + file).exit_code, 0) << file;
      }
}

}  // namespace
}  // namespace tenex
