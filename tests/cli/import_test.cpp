// `tenex import machine`, and a study that names another tool's topology itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/process.hpp"

namespace tenex {
namespace {

using support::TemporaryFolder;
using ::testing::HasSubstr;

constexpr auto two_gpus = R"(<system version="1"><cpu numaid="0" arch="arm64">
<pci busid="1:0:0.0" class="0x030200"><gpu dev="0" sm="90" rank="0">
<nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/></gpu></pci>
<pci busid="2:0:0.0" class="0x030200"><gpu dev="1" sm="90" rank="1">
<nvlink target="fffffff:ffff:ff" count="18" tclass="0x068000"/></gpu></pci>
<pci busid="3:0:0.0" class="0x020000"><nic><net dev="0" name="n" speed="1000" guid="0x1"/></nic></pci>
</cpu></system>
)";

/// A folder with the topology in it.
class Import : public ::testing::Test {
 protected:
  Import() { support::write_text(folder.path() / "box.xml", two_gpus); }
  [[nodiscard]] std::string file(const char* name) const { return (folder.path() / name).string(); }
  static support::Finished tenex(std::vector<std::string> words) {
    words.insert(words.begin(), TENEX_BINARY);
    return support::run({words, {}, {}});
  }

  TemporaryFolder folder;
};

TEST_F(Import, WritesAMachineFileAndSaysWhatItHas) {
  const auto done = tenex({"import", "machine", file("box.xml"), "-o", file("box.toml"), "--nodes", "2", "--fabric",
                           "switch", "--name", "pair"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("NCCL topology: 4 NPUs, 5 switches, 20 links"));
  EXPECT_THAT(done.err, HasSubstr("below 10 Gb/s"));
  const auto text = support::read_text(folder.path() / "box.toml");
  EXPECT_THAT(text, HasSubstr("name = \"pair\""));
  EXPECT_THAT(text, HasSubstr("--fabric switch"));
}

TEST_F(Import, AsksForWhatIsMissing) {
  const auto done = tenex({"import", "machine", file("box.xml"), "--nodes", "2"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("give --fabric"));
  EXPECT_EQ(done.out, "");
}

TEST_F(Import, ATopologyMayBeNamedItself) {
  const std::vector<std::string> rest{"--collective", "all_gather", "--size", "9000B", "--algorithm", "ring", "--json"};
  const auto simulate = [&](const std::string& topology) {
    std::vector<std::string> words{"simulate", "--topology", topology};
    words.insert(words.end(), rest.begin(), rest.end());
    return tenex(words);
  };
  ASSERT_EQ(tenex({"import", "machine", file("box.xml"), "-o", file("box.toml")}).exit_code, 0);
  const auto direct = simulate(file("box.xml"));
  ASSERT_EQ(direct.exit_code, 0) << direct.err;
  const auto key = [](const std::string& out) { return out.substr(out.find("\"key\""), 50); };
  EXPECT_EQ(key(direct.out), key(simulate(file("box.toml")).out));

  support::write_text(folder.path() / "old.yaml", "connections: [a.0.b.c.0]\n");
  const auto refused = simulate(file("old.yaml"));
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("older schema"));
}

TEST_F(Import, AMachineGoesToAstraSimAndBack) {
  ASSERT_EQ(tenex({"export", "dgx_h100_x32", "--format", "astra_network", "-o", file("network.yml")}).exit_code, 0);
  const auto back = tenex({"import", "machine", file("network.yml")});
  ASSERT_EQ(back.exit_code, 0) << back.err;
  for (const auto* words : {"shape = \"SW(8)_SW(32)\"", "alpha = \"350ns, 1.3us\"", "bandwidth = \"450GB/s, 50GB/s\""})
    EXPECT_THAT(back.out, HasSubstr(words));
  const auto list = tenex({"export", "dgx1", "--format", "astra_network", "-o", file("network.yml")});
  EXPECT_EQ(list.exit_code, 2);
  EXPECT_THAT(list.err, HasSubstr("a machine that lists its links"));
}

TEST_F(Import, AStudyOfItMergesAfterTheFileIsGone) {
  support::write_text(folder.path() / "study.toml",
                      "schema = 1\nname = \"x\"\n[[sweep]]\ntopology = \"box.xml\"\ncollective = \"all_gather\"\n"
                      "algorithm = \"ring\"\naxes.size = [\"1MB\", \"2MB\"]\n");
  const auto ran = tenex({"run", file("study.toml"), "--out", file("out")});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("2 points: 2 evaluated now"));
  std::filesystem::remove(file("box.xml"));
  EXPECT_EQ(tenex({"merge", file("out")}).exit_code, 0);
}

}  // namespace
}  // namespace tenex
