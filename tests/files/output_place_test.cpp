// Paths that cannot be written are refused before there is anything to write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "support/process.hpp"
#include "tenex/files/output_place.hpp"

namespace tenex {
namespace {

namespace fs = std::filesystem;
using support::TemporaryFolder;
using ::testing::HasSubstr;

const Place option{"--out", 0, 0};

std::string refusal(const Status& status) {
  if (status.ok()) return "accepted";
  EXPECT_EQ(status.errors()[0].fault, Fault::input);
  return to_string(status.errors());
}

std::string said(fmt::format_string<std::string> text, const fs::path& path) {
  return fmt::format(text, path.string());
}

class OutputPlace : public ::testing::Test {
 protected:
  OutputPlace() { support::write_text(file(), "text"); }
  [[nodiscard]] fs::path folder() const { return folder_.path(); }
  [[nodiscard]] fs::path file() const { return folder() / "file"; }
  TemporaryFolder folder_;
};

TEST_F(OutputPlace, OfAFolderIsAFolderOrMadeInOne) {
  for (const auto& good : {folder(), folder() / "", folder() / "new", folder() / "new" / "newer", fs::path("new")})
    EXPECT_TRUE(check_output_folder(good, option).ok()) << good;
  for (const auto& bad : {file(), file() / "", file() / "new", folder() / "absent" / ".." / "file"})
    EXPECT_THAT(refusal(check_output_folder(bad, option)), HasSubstr(said("--out: \"{}\" is no folder", file())))
        << bad;
  EXPECT_THAT(refusal(check_output_folder("/dev/null", option)), HasSubstr("\"/dev/null\" is no folder"));
  EXPECT_THAT(refusal(check_output_folder("", option)), HasSubstr("empty name"));
  EXPECT_THAT(refusal(check_output_folder(folder() / std::string(256, 'x'), option)), HasSubstr("too long"));
  fs::create_symlink("loop", folder() / "loop");
  EXPECT_THAT(refusal(check_output_folder(folder() / "loop", option)), HasSubstr("symbolic links"));
}

TEST_F(OutputPlace, OfAFileIsAFileInAFolder) {
  for (const auto& good : {file(), folder() / "new", fs::path("new"), folder() / std::string(223, 'x')})
    EXPECT_TRUE(check_output_file(good, option).ok()) << good;
  fs::create_symlink("file", folder() / "link");
  EXPECT_TRUE(check_output_file(folder() / "link", option).ok());
  EXPECT_THAT(refusal(check_output_file(folder(), option)), HasSubstr("is a folder"));
  EXPECT_THAT(refusal(check_output_file(folder() / "new" / "", option)), HasSubstr("is a folder"));
  EXPECT_THAT(refusal(check_output_file("/dev/null", option)), HasSubstr("is no regular file"));
  EXPECT_THAT(refusal(check_output_file(folder() / "absent" / "new", option)),
              HasSubstr(said("there is no folder \"{}\"", folder() / "absent")));
  EXPECT_THAT(refusal(check_output_file(file() / "new", option)), HasSubstr(said("\"{}\" is no folder", file())));
  EXPECT_THAT(refusal(check_output_file("", option)), HasSubstr("empty name"));
  EXPECT_THAT(refusal(check_output_file(folder() / std::string(224, 'x'), option)), HasSubstr("223 bytes"));
}

TEST_F(OutputPlace, OfAScheduleGoesByItsNameAndSends) {
  EXPECT_TRUE(check_schedule_output(folder() / "s.json", 1'000'000, option).ok());
  EXPECT_TRUE(check_schedule_output(folder() / "s.h5", 1'000'001, option).ok());
  const auto large = refusal(check_schedule_output(folder() / "s.json", 1'000'001, option));
  EXPECT_THAT(large, HasSubstr("at least 1000001 sends is too large for JSON (JSON takes up to 1000000)"));
  EXPECT_THAT(large, HasSubstr("use a name that ends in .h5"));
  EXPECT_THAT(refusal(check_schedule_output(folder() / "s.txt", 1, option)), HasSubstr(".txt"));
  EXPECT_THAT(refusal(check_schedule_output(folder() / "absent" / "s.h5", 1, option)), HasSubstr("no folder"));
}

}  // namespace
}  // namespace tenex
