// A child process for tests: started with its output in files, signalled, awaited with a limit, never left behind.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace tenex::testing {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Returns when a killed process runs no more: gone, or left in the process table by a parent that does not wait for it.
inline void wait_until_dead(pid_t pid) {
  for (int i = 0; i < 1000; ++i) {
    const auto stat = read_text("/proc/" + std::to_string(pid) + "/stat");
    const auto name_end = stat.rfind(')');
    if (name_end == std::string::npos || stat.substr(name_end + 2, 1) == "Z") return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

class ChildProcess {
 public:
  /// `environment`: added to this process's. Output goes to `prefix`.out and `prefix`.err.
  ChildProcess(const std::vector<std::string>& command, const std::vector<std::string>& environment,
               const std::filesystem::path& prefix)
      : out_(prefix.string() + ".out"), err_(prefix.string() + ".err") {
    std::vector<char*> arguments;
    for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    pid_ = fork();
    if (pid_ != 0) return;
    for (const auto& assignment : environment) putenv(const_cast<char*>(assignment.c_str()));
    redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
    redirect(STDOUT_FILENO, out_, O_WRONLY | O_CREAT | O_TRUNC);
    redirect(STDERR_FILENO, err_, O_WRONLY | O_CREAT | O_TRUNC);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  ~ChildProcess() {
    if (ended_) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  void signal(int number) const { kill(pid_, number); }

  /// The exit status, 128 + the signal that ended it, or -1 when it is still running after `limit`.
  int wait(std::chrono::seconds limit = std::chrono::seconds(60)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > deadline) return -1;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    ended_ = true;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  [[nodiscard]] std::string out() const { return read_text(out_); }
  [[nodiscard]] std::string err() const { return read_text(err_); }
  /// The number that follows `name` on standard output, or -1.
  [[nodiscard]] long number(const std::string& name) const {
    std::istringstream words(out());
    for (std::string word; words >> word;) {
      long value = 0;
      if (word == name && words >> value) return value;
    }
    return -1;
  }

 private:
  static void redirect(int target, const std::filesystem::path& path, int flags) {
    const int file = open(path.c_str(), flags, 0644);
    if (file >= 0) dup2(file, target);
  }
  std::filesystem::path out_;
  std::filesystem::path err_;
  pid_t pid_ = -1;
  bool ended_ = false;
};

}  // namespace tenex::testing
