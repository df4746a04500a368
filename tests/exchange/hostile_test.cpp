// Hostile files end with an error that has a place, in bounded memory.
#include "import_support.hpp"

namespace tenex {
namespace {

using namespace exchange_test;  // NOLINT
using ::testing::HasSubstr;

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Hostile, EntitiesAreNotExpanded) {
  EXPECT_THAT(refusal("<!DOCTYPE s [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;&a;\">]>\n<system version=\"&b;\"/>"),
              HasSubstr("DOCTYPE"));
  EXPECT_THAT(refusal("a: &a [x, x]\nb: [*a, *a]\n"), HasSubstr("some.file:2:5: an alias"));
}

TEST(Hostile, LongTextsAreRefusedBeforeTheParserOrAtTheirPlace) {
  EXPECT_THAT(refusal("<system version=\"" + std::string(10 << 20, '1') + "\"/>"), HasSubstr("at most 8388608"));
  EXPECT_THAT(refusal("<system version=\"1\"\n name=\"" + std::string(5'000, '1') + "\"/>"),
              HasSubstr("some.file:2:8"));
  EXPECT_THAT(refusal("topology: [" + std::string(9 << 20, ' ') + "]"), HasSubstr("at most 8388608"));
  EXPECT_THAT(refusal("topology: [" + repeated("1,", 1'100'000) + "1]"), HasSubstr("too many values"));
  EXPECT_THAT(refusal("<system>" + repeated("<cpu/>", 200'000) + "</system>"), HasSubstr("too many elements"));
}

TEST(Hostile, DepthIsBounded) {
  EXPECT_THAT(refusal(repeated("<pci>", 100'000) + repeated("</pci>", 100'000)), HasSubstr("too deep"));
  EXPECT_THAT(refusal("{\"a\": " + repeated("[", 100'000)), HasSubstr("some.file:1:"));
  EXPECT_THAT(refusal("a:\n  " + repeated("- ", 100'000)), HasSubstr("some.file:2:"));
  EXPECT_THAT(refusal("name: d\ndevices: [{name: d, components: [{name: d, choice: device}]}]\ninstances: [{name: i, "
                      "device: d}]"),
              HasSubstr("embed each other too deep"));
}

TEST(Hostile, ProductsAreBounded) {
  const std::string head = "name: d\ncomponents:\n- {name: x, choice: xpu, count: ";
  const std::string tail =
      "}\nlinks: [{name: l}]\nedges: [{ep1: {component: x}, ep2: {component: x}, link: l, scheme: "
      "many2many}]\n";
  EXPECT_THAT(refusal(head + "200000" + tail), HasSubstr("too many links"));
  EXPECT_THAT(refusal(head + "99999999" + tail), HasSubstr("some.file:3:"));
  EXPECT_THAT(refusal("topology: [FullyConnected]\nnpus_count: [4294967295]\nbandwidth: [1]\nlatency: [1]"),
              HasSubstr("some.file:2:"));
  EXPECT_THAT(refusal(two_gpus(), {.nodes = 4'000'000'000U, .fabric = "switch"}), HasSubstr("--nodes"));
}

TEST(Hostile, TruncatedFilesAndNulBytesHaveAPlace) {
  const auto text = two_gpus();
  for (std::size_t length = 1; length + 2 < text.size(); length += 7)
    EXPECT_THAT(refusal(text.substr(0, length)), HasSubstr("some.file:"));
  EXPECT_THAT(refusal(std::string("<system>\n\0</system>", 19)), HasSubstr("some.file:2:1: a NUL byte"));
  EXPECT_THAT(refusal(""), HasSubstr("empty"));
  EXPECT_THAT(refusal("topology: [Ring\n"), HasSubstr("some.file:"));
}

TEST(Hostile, AMachineHasLinks) {
  EXPECT_THAT(refusal(box(cpu(0, pci("0000:01:00.0", gpu(0, "sm=\"90\"", ""))))), HasSubstr("no link"));
  EXPECT_THAT(refusal("name: d\ncomponents: [{name: x, choice: xpu}]\n"), HasSubstr("no link"));
}

TEST(Hostile, WordsOfTheFileCannotLeaveAComment) {
  auto text = two_gpus();
  text.replace(text.find("speed=\"200000\""), 14, "speed=\"9\"");
  text.replace(text.find("net0"), 4, "a&#10;npus = 7");
  const auto made = import_machine({"x\nnpus = 5", text}, {.name = "q\"\nnpus = 3"});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(parse_machine(made->text, "m").value().topology.npus(), 2);
}

}  // namespace
}  // namespace tenex
