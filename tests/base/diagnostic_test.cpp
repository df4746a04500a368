// The message grammar and results.
#include "tenex/base/diagnostic.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "tenex/base/version.hpp"

namespace tenex {
namespace {

TEST(Diagnostic, PrintsPlaceProblemWhyAndSuggestion) {
  const auto error =
      input_error({"study.toml", 12, 5}, "unknown key \"chunk\"", "keys are fixed", "did you mean \"chunks\"?");
  EXPECT_EQ(to_string(error), "study.toml:12:5: unknown key \"chunk\" (keys are fixed) did you mean \"chunks\"?");
}

TEST(Diagnostic, LeavesOutWhatIsAbsent) {
  EXPECT_EQ(to_string(input_error({}, "problem")), "problem");
  EXPECT_EQ(to_string(input_error({"f", 0, 0}, "problem")), "f: problem");
  EXPECT_EQ(to_string(input_error({"f", 2, 0}, "problem")), "f:2: problem");
  EXPECT_EQ(to_string(input_error({"", 2, 3}, "problem")), "2:3: problem");
  EXPECT_EQ(to_string(input_error({}, "problem", "why")), "problem (why)");
  EXPECT_EQ(to_string(input_error({}, "problem", "", "do this")), "problem do this");
}

TEST(Diagnostic, ListsOnePerLine) {
  EXPECT_EQ(to_string(Diagnostics{input_error({}, "a"), input_error({}, "b")}), "a\nb");
  EXPECT_EQ(to_string(Diagnostics{}), "");
}

TEST(Diagnostic, KnowsWhoIsAtFault) {
  EXPECT_EQ(input_error({}, "p").fault, Fault::input);
  EXPECT_EQ(environment_error("p").fault, Fault::environment);
  EXPECT_EQ(resource_error("p").fault, Fault::resource);
  EXPECT_EQ(unsupported_error({}, "p").fault, Fault::unsupported);
}

TEST(Result, HoldsAValueOrItsErrors) {
  const Result<int> good = 3;
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(*good, 3);
  EXPECT_TRUE(good.errors().empty());
  const Result<int> bad = input_error({}, "no");
  EXPECT_FALSE(bad.ok());
  ASSERT_EQ(bad.errors().size(), 1U);
  EXPECT_EQ(bad.errors()[0].problem, "no");
}

TEST(Result, ThrowsWhenAFailedOneIsUsed) {
  const Result<int> bad = input_error({"f", 1, 1}, "no");
  EXPECT_THROW(static_cast<void>(bad.value()), InvariantError);
  EXPECT_THROW(Result<int>{Diagnostics{}}, InvariantError);
}

TEST(Result, MovesItsValueOut) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(4);
  const std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 4);
}

TEST(Status, SucceedsOrFails) {
  EXPECT_TRUE(success().ok());
  EXPECT_FALSE(Status(input_error({}, "no")).ok());
}

TEST(Append, KeepsTheOrder) {
  Diagnostics all{input_error({}, "a")};
  append(all, {input_error({}, "b"), input_error({}, "c")});
  EXPECT_EQ(to_string(all), "a\nb\nc");
}

TEST(Ensure, ThrowsOnlyWhenBroken) {
  EXPECT_NO_THROW(ensure(true, "fine"));
  EXPECT_THROW(ensure(false, "broken"), InvariantError);
}

TEST(Version, IsThatOfTheProject) {
  EXPECT_FALSE(version().empty());
  EXPECT_NE(version().find('.'), std::string_view::npos);
  // A full revision, or the word for none.
  EXPECT_TRUE(git_revision() == "unknown" || git_revision().size() == 40);
}

}  // namespace
}  // namespace tenex
