#include "pager.hpp"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <string>

namespace tenex::cli {
namespace {

constexpr const char* kDefaultPager = "less";

/// Whether a program of this name is on PATH.
bool is_on_path(std::string_view name) {
  const char* const path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const auto end = std::min(folders.find(':'), folders.size());
    const auto program = std::string(folders.substr(0, end)) + "/" + std::string(name);
    if (access(program.c_str(), X_OK) == 0) return true;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return false;
}

/// The command of the pager; empty: none.
std::string pager_command() {
  if (isatty(STDOUT_FILENO) != 1) return {};
  if (const char* const asked = std::getenv("PAGER")) return asked == std::string_view("cat") ? "" : asked;
  return is_on_path(kDefaultPager) ? kDefaultPager : "";
}

}  // namespace

PagedOutput::PagedOutput() {
  const auto command = pager_command();
  if (command.empty()) return;
  setenv("LESS", "FRX", 0);  // leave at once what fits on the screen, keep colours, do not clear
  std::signal(SIGPIPE, SIG_IGN);
  std::fflush(stdout);
  pager_ = popen(command.c_str(), "w");  // NOLINT(cert-env33-c): the user's own pager, as a shell runs it
}

PagedOutput::~PagedOutput() {
  if (pager_ == nullptr) return;
  pclose(pager_);
  std::signal(SIGPIPE, SIG_DFL);
}

bool PagedOutput::print(std::string_view text) {
  std::FILE* const stream = pager_ == nullptr ? stdout : pager_;
  return std::fwrite(text.data(), 1, text.size(), stream) == text.size() && std::ferror(stream) == 0;
}

}  // namespace tenex::cli
