#include "tenex/pages/png.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "tenex/files/atomic_write.hpp"

extern char** environ;

namespace tenex {
namespace {

/// A folder that is removed with all that is in it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    auto name = (std::filesystem::temp_directory_path(error) / "tenex-png-XXXXXX").string();
    if (!error && ::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Runs a program of PATH to its end without its output; its exit code, or nullopt where it cannot be started.
std::optional<int> run_quietly(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (auto& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return std::nullopt;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return std::nullopt;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 127;
  return code == 127 ? std::nullopt : std::optional(code);
}

/// The number of an attribute of the first element.
int attribute_of(std::string_view svg, std::string_view name) {
  int value = 0;
  const auto at = svg.find(fmt::format(" {}=\"", name));
  if (at == std::string_view::npos) return 1;
  const auto* const first = svg.data() + at + name.size() + 3;
  std::from_chars(first, svg.data() + svg.size(), value);
  return value;
}

}  // namespace

Status write_png(std::string_view svg, const std::filesystem::path& path) {
  const ScratchFolder folder;
  if (folder.path().empty()) return system_error("cannot make a folder for the picture", errno);
  const auto page = folder.path() / "picture.svg";
  const auto png = folder.path() / "picture.png";
  if (auto written = write_file_atomically(page, svg); !written) return written;
  const std::array<const char*, 3> names{"chromium", "chromium-browser", "google-chrome"};
  for (const char* name : names) {
    std::vector<std::string> words{
        name,
        "--headless",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--hide-scrollbars",
        "--force-device-scale-factor=2",
        "--user-data-dir=" + (folder.path() / "profile").string(),
        "--screenshot=" + png.string(),
        fmt::format("--window-size={},{}", attribute_of(svg, "width"), attribute_of(svg, "height"))};
    if (::geteuid() == 0) words.emplace_back("--no-sandbox");  // Chromium has no sandbox for root
    words.push_back("file://" + page.string());
    if (!run_quietly(std::move(words))) continue;
    const auto drawn = read_file(png);
    if (!drawn)
      return environment_error("no picture was drawn", fmt::format("{} wrote no PNG", name),
                               "use --svg, which needs no browser");
    return write_file_atomically(path, *drawn);
  }
  return environment_error("PNG needs a browser", "Chromium is not on PATH",
                           "install chromium, or use --svg, which needs none");
}

}  // namespace tenex
