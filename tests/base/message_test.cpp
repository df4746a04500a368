// Diagnostics line by line.
#include "tenex/base/message.hpp"

#include <gtest/gtest.h>

namespace tenex {
namespace {

TEST(Message, HasPlaceReasonAndHelpOnLinesOfTheirOwn) {
  const Diagnostics errors{
      input_error({"study.toml", 12, 5}, "unknown key \"chunk\"", "keys are fixed", "did you mean \"chunks\"?"),
      input_error({"--size", 0, 0}, "\"5\" has no unit")};
  EXPECT_EQ(render(errors),
            "study.toml:12:5: error: unknown key \"chunk\"\n"
            "  reason: keys are fixed\n"
            "  help: did you mean \"chunks\"?\n"
            "--size: error: \"5\" has no unit\n");
}

TEST(Message, LeavesOutWhatIsAbsent) {
  EXPECT_EQ(render({}), "");
  EXPECT_EQ(render({input_error({}, "problem")}), "error: problem\n");
  EXPECT_EQ(render({input_error({"f", 2, 0}, "problem", "", "do this")}), "f:2: error: problem\n  help: do this\n");
  EXPECT_EQ(render({input_error({"", 2, 3}, "problem", "why")}), "2:3: error: problem\n  reason: why\n");
}

TEST(Message, CountsWhatItLeavesOut) {
  Diagnostics errors(11, input_error({}, "problem"));
  std::string ten;
  for (int i = 0; i < 10; ++i) ten += "error: problem\n";
  EXPECT_EQ(render(errors), ten + "error: problem\n");
  errors.resize(204'000, input_error({}, "problem"));
  EXPECT_EQ(render(errors), ten + "... and 203990 more errors\n");
}

TEST(Message, MarksWordsOnATerminalOnly) {
  const Diagnostics errors{input_error({"f", 2, 3}, "problem", "why")};
  EXPECT_EQ(render(errors, Colours::terminal),
            "\x1b[1mf:2:3:\x1b[0m \x1b[1;31merror:\x1b[0m problem\n  \x1b[1;36mreason:\x1b[0m why\n");
  EXPECT_EQ(render(errors).find('\x1b'), std::string::npos);
  EXPECT_EQ(render_warning("few cores"), "warning: few cores\n");
}

}  // namespace
}  // namespace tenex
