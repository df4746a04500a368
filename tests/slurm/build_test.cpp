// jobs/build.sh where nothing may be installed: it lists everything that is missing at once and calls no package
// manager.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "support/process.hpp"

namespace tenex {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

/// A machine with little more than a shell, whose package managers record their calls.
class BareMachine {
 public:
  BareMachine() {
    fs::create_directories(tools());
    for (const std::string tool : {"bash", "env", "sed", "sort", "head", "dirname", "realpath", "mktemp", "rm", "nproc",
                                   "mkdir", "grep", "awk", "cat"})
      for (const std::string folder : {"/bin/", "/usr/bin/"})
        if (std::error_code error; fs::exists(folder + tool, error) && !fs::exists(tools() / tool))
          fs::create_symlink(folder + tool, tools() / tool);
    for (const std::string manager :
         {"apt", "apt-get", "dnf", "yum", "zypper", "pip", "pip3", "conda", "spack", "wget", "curl", "git", "sudo"})
      add(manager, "echo " + manager + " >>" + called().string());
  }
  /// Adds a program to the machine: a shell script.
  void add(const std::string& name, const std::string& script) const {
    support::write_text(tools() / name, "#!/bin/bash\n" + script + "\n");
    fs::permissions(tools() / name, fs::perms::owner_all);
  }
  [[nodiscard]] support::Finished build(std::vector<std::pair<std::string, std::string>> environment = {}) const {
    environment.insert(environment.begin(), {{"PATH", tools().string()},
                                             {"BUILD", (folder_.path() / "build").string()},
                                             {"CXX", "c++"},
                                             {"CPATH", ""},
                                             {"CMAKE_PREFIX_PATH", ""}});
    return support::run({{(tools() / "bash").string(), TENEX_SOURCE_DIR "/jobs/build.sh"}, environment, {}});
  }
  [[nodiscard]] fs::path path() const { return folder_.path(); }
  [[nodiscard]] std::string managers_called() const { return support::read_text(called()); }

 private:
  [[nodiscard]] fs::path tools() const { return folder_.path() / "bin"; }
  [[nodiscard]] fs::path called() const { return folder_.path() / "called"; }
  support::TemporaryFolder folder_;
};

TEST(BuildWithoutRoot, SaysAllThatIsMissingAtOnce) {
  const BareMachine machine;
  const auto nothing = machine.build({{"TENEX_FMT", "/nowhere"}, {"TENEX_CLI11", "/nor/there"}});
  EXPECT_EQ(nothing.exit_code, 2);
  for (const std::string said :
       {"  CMake 3.25 (no cmake here) load a module of it", "  a C++ compiler (c++ is not here)",
        "  make or ninja (neither", "  MPI 3.1 (no mpicc)",
        "  fmt/core.h (TENEX_FMT names /nowhere, which does not hold it)",
        "  CLI/CLI.hpp (TENEX_CLI11 names /nor/there, which does not hold it)"})
    EXPECT_THAT(nothing.err, HasSubstr(said));
  EXPECT_EQ(machine.managers_called(), "");
}

TEST(BuildWithoutRoot, NamesTheVersionsThatAreTooOld) {
  const BareMachine machine;
  machine.add("cmake", "echo 'cmake version 3.20.4'");
  machine.add("c++", "[ \"$1\" = -dumpversion ] && echo 8 && exit 0; exit 1");
  machine.add("make", "exit 0");
  machine.add("mpicc", "exit 0");
  const auto old = machine.build();
  EXPECT_EQ(old.exit_code, 2);
  EXPECT_THAT(old.err, HasSubstr("  CMake 3.25 (3.20.4 is here) load a newer module"));
  EXPECT_THAT(old.err, HasSubstr("  C++20 (c++ of 8 lacks parts of it)"));
  EXPECT_THAT(old.err, Not(HasSubstr("MPI")));
  EXPECT_EQ(machine.managers_called(), "");
}

support::Finished check(const std::string& options, std::vector<std::pair<std::string, std::string>> environment = {}) {
  return support::run(
      {{"bash", "-c", TENEX_SOURCE_DIR "/jobs/build.sh --check " + options}, std::move(environment), {}});
}

TEST(BuildWithoutRoot, LetsCMakeAskForEveryLibraryBeforeItGivesUp) {
  const auto found = check("-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON -DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON",
                           {{"TENEX_TOMLPLUSPLUS", "/nowhere"}});
  EXPECT_EQ(found.exit_code, 2) << found.err;
  EXPECT_THAT(found.err, HasSubstr("  MPI (no working mpicc) load the module of an MPI library"));
  EXPECT_THAT(found.err, HasSubstr("  HDF5 with its HL library (no h5cc, no hdf5.h)"));
  EXPECT_THAT(found.err, HasSubstr("  toml++/toml.h (TENEX_TOMLPLUSPLUS names /nowhere, which does not hold it)"));
}

TEST(BuildWithoutRoot, SaysThatItMayNotWriteToTheBuildFolder) {
  const support::Command as_nobody{
      {TENEX_SOURCE_DIR "/jobs/build.sh"}, {{"BUILD", "/proc/no/build"}, {"HOME", "/nonexistent"}}, {}, true};
  const auto refused = support::run(as_nobody);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_EQ(refused.err, "/proc/no/build: not writable (the build goes there) set BUILD to a folder of yours\n");
}

TEST(BuildWithoutRoot, TakesHeadersByPath) {
  // Folders that hold only empty headers: enough to configure.
  const support::TemporaryFolder folder;
  for (const std::string header :
       {"fmt/core.h", "xxhash.h", "toml++/toml.h", "nlohmann/json.hpp", "CLI/CLI.hpp", "protozero/pbf_reader.hpp"}) {
    fs::create_directories((folder.path() / header).parent_path());
    support::write_text(folder.path() / header, "");
  }
  const auto here = folder.path().string();
  const auto found = check("", {{"TENEX_FMT", here},
                                {"TENEX_XXHASH", here},
                                {"TENEX_TOMLPLUSPLUS", here},
                                {"TENEX_NLOHMANN_JSON", here},
                                {"TENEX_CLI11", here},
                                {"TENEX_PROTOZERO", here}});
  EXPECT_EQ(found.exit_code, 0) << found.err;
  EXPECT_EQ(found.out, "nothing is missing: jobs/build.sh builds\n");
}

}  // namespace
}  // namespace tenex
