// Child processes on a terminal of their own.
#pragma once

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/process.hpp"

namespace tenex::support {

/// Runs a command whose three standard streams are a terminal of this width. `out` has what it wrote to either stream,
/// with plain newlines.
inline Finished run_on_terminal(std::vector<std::string> words, unsigned short columns) {
  winsize size{};
  size.ws_row = 40;
  size.ws_col = columns;
  int terminal = -1;
  const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (pid == 0) {
    ::setenv("TERM", "xterm", 1);
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  Finished finished;
  std::array<char, 4096> block{};
  // Reading fails once the child has closed its end.
  for (ssize_t got = 0; (got = ::read(terminal, block.data(), block.size())) > 0;)
    finished.out.append(block.data(), static_cast<std::size_t>(got));
  int status = 0;
  ::waitpid(pid, &status, 0);
  ::close(terminal);
  if (WIFEXITED(status)) finished.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
  for (std::size_t at = 0; (at = finished.out.find("\r\n", at)) != std::string::npos;) finished.out.erase(at, 1);
  return finished;
}

}  // namespace tenex::support
