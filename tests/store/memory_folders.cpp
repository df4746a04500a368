// Puts the temporary folders of these tests in memory where the system has such a place. The tests do not depend on the
// disk, and thousands of fsync calls on a busy disk take minutes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace tenex {
namespace {

class MemoryFolders : public ::testing::Environment {
 public:
  void SetUp() override {
    constexpr std::uintmax_t kNeeded = std::uintmax_t{48} << 20;
    std::error_code error;
    const auto space = std::filesystem::space("/dev/shm", error);
    if (!error && space.available >= kNeeded && ::access("/dev/shm", W_OK) == 0) ::setenv("TMPDIR", "/dev/shm", 1);
  }
};

[[maybe_unused]] const auto* const kFolders = ::testing::AddGlobalTestEnvironment(new MemoryFolders);

}  // namespace
}  // namespace tenex
