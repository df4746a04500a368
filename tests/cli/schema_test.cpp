// The description of the keys: the reference page equals the one in experiments/, and every example is accepted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "support/process.hpp"
#include "support/results.hpp"
#include "tenex/design/setting.hpp"
#include "tenex/design/study.hpp"
#include "tenex/evaluate/evaluate.hpp"

namespace tenex {
namespace {

using ::testing::HasSubstr;

std::string printed(std::vector<std::string> words) {
  words.insert(words.begin(), TENEX_BINARY);
  const auto finished = support::run({words, {}, {}});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  return finished.out;
}

TEST(Schema, IsTheReferencePage) {
  EXPECT_EQ(printed({"schema", "--markdown"}), support::read_text(TENEX_SOURCE_DIR "/experiments/reference.md"))
      << "write it again: tenex schema --markdown > experiments/reference.md";
}

TEST(Schema, IsThePageOfColumns) {
  EXPECT_EQ(printed({"schema", "--columns"}), support::read_text(TENEX_SOURCE_DIR "/analysis/columns.md"))
      << "write it again: tenex schema --columns > analysis/columns.md";
}

TEST(Schema, NamesEveryKeyWithItsColumnAndWords) {
  const auto json = printed({"schema"});
  for (const auto& setting : settings()) EXPECT_THAT(json, HasSubstr("\"name\":\"" + std::string(setting.name) + "\""));
  EXPECT_THAT(json, HasSubstr("\"name\":\"engine_setting\""));
  EXPECT_THAT(json, HasSubstr("\"multitree\""));
  EXPECT_THAT(json, HasSubstr("\"physics\":" + std::to_string(physics_version)));
}

/// A study of one sweep with the example of the key, and the other keys that it needs.
std::string study_with(const Setting& setting) {
  std::map<std::string, std::string, std::less<>> keys;
  if (setting.read_by == ReadBy::training) {
    keys = {{"topology", "\"RI(4)_FC(8)_RI(4)_SW(32)\""},
            {"workload", "\"gpt3\""},
            {"hp", "\"16,256\""},
            {"alpha", "\"0.5us\""},
            {"collective_time", "\"synthesized\""},
            {"scheme", "\"perf_opt\""},
            {"total_bandwidth", "\"1000GB/s\""}};
    const bool of_dimensions = setting.key == Key::global_batch || setting.key == Key::zero_stage ||
                               setting.key == Key::recomputation || setting.key == Key::sequence_parallelism ||
                               setting.key == Key::flash_attention;
    if (of_dimensions) keys["workload"] = "\"gpt3_generated\"", keys["compute"] = "\"234TFLOPS\"";
    if (setting.key == Key::in_network) keys["collective_time"] = "\"libra\"", keys.erase("alpha");
  } else {
    keys = {{"topology", "\"RI(4)_FC(8)_SW(32)\""}, {"alpha", "\"0.5us\""}, {"bandwidth", "\"50GB/s\""},
            {"collective", "\"broadcast\""},        {"size", "\"1GiB\""},   {"algorithm", "\"tacos\""}};
    if (setting.key == Key::stragglers) keys["algorithm"] = "\"ring\"", keys["collective"] = "\"all_gather\"";
    if (setting.key == Key::npu_bandwidth || setting.key == Key::total_bandwidth) keys.erase("bandwidth");
    if (setting.key == Key::split)
      keys.erase("bandwidth"), keys["total_bandwidth"] = "\"1000GB/s\"",
                               keys["topology"] = "\"RI(4)_FC(8)_RI(4)_SW(32)\"";
    if (setting.key == Key::priorities) keys["algorithm"] = "\"te_ccl\"", keys["groups"] = "\"0-3; 4-7\"";
    if (setting.key == Key::link_protocol)
      keys["topology"] = "\"dgx_h100\"", keys.erase("alpha"), keys.erase("bandwidth");
    if (setting.key == Key::unwind) keys["algorithm"] = "\"ring\"", keys["collective"] = "\"all_gather\"";
  }
  keys[std::string(setting.name)] = setting.example;
  std::string text = "schema = 1\nname = \"example\"\n[[sweep]]\n";
  for (const auto& [name, value] : keys) text += name + " = " + value + "\n";
  return text;
}

TEST(Schema, GivesExamplesThatAreAccepted) {
  const auto words = vocabulary();
  for (const auto& setting : settings()) {
    const auto study = parse_study(study_with(setting), "example.toml", words);
    EXPECT_TRUE(study.ok()) << setting.name << ": " << to_string(study.errors());
    EXPECT_EQ(study.ok() ? study->points.size() : 0, 1U) << setting.name;
  }
}

TEST(Schema, GivesDefaultsThatChangeNothing) {
  // A key at its default is not in the canonical text; prices and the seed always are. The scheme and the collective
  // time are skipped: with their defaults no point reads the other keys of the study above.
  const auto words = vocabulary();
  for (const auto& setting : settings()) {
    const bool shown = setting.key == Key::seed || setting.key == Key::cost_model;
    const bool decides = setting.key == Key::scheme || setting.key == Key::collective_time;
    if (!setting.fallback || setting.fallback->empty() || setting.written == Written::pairs || shown || decides)
      continue;
    Setting plain = setting;
    const std::string quoted = "\"" + std::string(*setting.fallback) + "\"";
    const bool word = setting.written == Written::integer && setting.fallback->find_first_not_of("0123456789") == 0;
    plain.example = setting.written == Written::string || word ? std::string_view(quoted) : *setting.fallback;
    const auto with = parse_study(study_with(plain), "with.toml", words);
    ASSERT_TRUE(with.ok()) << setting.name << ": " << to_string(with.errors());
    const auto canonical = with->points[0].canonical;
    EXPECT_EQ(canonical.find("\n" + std::string(setting.name) + "="), std::string::npos) << setting.name << '\n'
                                                                                         << canonical;
  }
}

}  // namespace
}  // namespace tenex
