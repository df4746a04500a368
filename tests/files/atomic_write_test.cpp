// A file is replaced whole or not at all.
#include "tenex/files/atomic_write.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <csignal>

#include "support/process.hpp"

namespace tenex {
namespace {

using support::TemporaryFolder;
using ::testing::HasSubstr;

std::size_t files_in(const std::filesystem::path& folder) {
  const std::filesystem::directory_iterator files(folder);
  return static_cast<std::size_t>(std::distance(begin(files), end(files)));
}

TEST(AtomicWrite, ReplacesAFileAndLeavesNothingElse) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "file";
  ASSERT_TRUE(write_file_atomically(file, "one").ok());
  ASSERT_TRUE(write_file_atomically(file, "another").ok());
  EXPECT_EQ(support::read_text(file), "another");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(AtomicWrite, ReadsBackWhatItWrote) {
  const TemporaryFolder folder;
  const std::string text("with\0zero", 9);
  ASSERT_TRUE(write_file_atomically(folder.path() / "file", text).ok());
  const auto bytes = read_file(folder.path() / "file");
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(text_of(*bytes), text);
}

TEST(AtomicWrite, SaysWhyAFileCannotBeWritten) {
  const TemporaryFolder folder;
  const auto missing = write_file_atomically(folder.path() / "absent" / "file", "text");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.errors()[0].fault, Fault::environment);
  EXPECT_THAT(to_string(missing.errors()), HasSubstr("No such file or directory"));
  const auto under_a_file = write_file_atomically("/proc/version/file", "text");
  ASSERT_FALSE(under_a_file.ok());
  EXPECT_THAT(to_string(under_a_file.errors()), HasSubstr("Not a directory"));
  std::filesystem::create_directory(folder.path() / "folder");
  EXPECT_FALSE(write_file_atomically(folder.path() / "folder", "text").ok());
  EXPECT_EQ(files_in(folder.path()), 1U);  // in the folder: no temporary file is left
}

TEST(AtomicWrite, OnAFullDiskKeepsTheOldFile) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "file";
  ASSERT_TRUE(write_file_atomically(file, "old").ok());
  const auto child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1'000, 1'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto status = write_file_atomically(file, std::string(5'000, 'x'));
    const bool good = !status.ok() && to_string(status.errors()).find("raise the limit") != std::string::npos;
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(support::read_text(file), "old");
  EXPECT_EQ(files_in(folder.path()), 1U);
}

TEST(AtomicWrite, RecognizesTheNamesOfItsTemporaryFiles) {
  EXPECT_TRUE(is_temporary_name("study.h5.tmp-4711-0"));
  EXPECT_FALSE(is_temporary_name("study.h5"));
  EXPECT_FALSE(is_temporary_name("notes.tmp-old"));
  EXPECT_FALSE(is_temporary_name("notes.tmp-17"));
}

TEST(ReadFile, RefusesWhatIsNoFile) {
  EXPECT_THAT(to_string(read_file("/").errors()), HasSubstr("it is not a regular file"));
  EXPECT_THAT(to_string(read_file("/absent").errors()), HasSubstr("No such file"));
}

}  // namespace
}  // namespace tenex
