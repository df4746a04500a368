// Child processes for tests of the binary: run to the end with captured output, or start, signal and wait.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tenex::support {

/// A new folder in the system's temporary folder, removed with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    auto pattern = (std::filesystem::temp_directory_path() / "tenex-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string read_text(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

inline void write_text(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

/// Returns when a killed process does not run any more: it is gone, or left in the process table by a parent that does
/// not wait for it.
inline void wait_until_dead(pid_t pid) {
  for (int i = 0; i < 12'000; ++i) {
    const auto stat = read_text("/proc/" + std::to_string(pid) + "/stat");
    const auto name_end = stat.rfind(')');
    if (name_end == std::string::npos || stat.substr(name_end + 2, 1) == "Z") return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// What takes longer hangs, even on a machine that is busy with other things.
inline constexpr std::chrono::seconds longest_wait{240};

struct Finished {
  bool finished = true;
  int exit_code = -1;  ///< -1 when a signal ended it
  int signal = 0;
  std::string out = {};
  std::string err = {};
  /// The exit code, or 128 + the signal as a shell reports it, or -1 while the process runs.
  [[nodiscard]] int status() const { return !finished ? -1 : signal != 0 ? 128 + signal : exit_code; }
};

struct Command {
  std::vector<std::string> arguments;                            ///< the first one is the program, looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment;  ///< set in addition to the inherited one
  std::optional<rlim_t> file_size_limit = {};  ///< RLIMIT_FSIZE, with SIGXFSZ ignored: simulates a full disk
  bool unprivileged = false;                   ///< runs as `nobody` if the test runs as root
};

/// A started child in a process group of its own, so that a whole mpirun job can be signalled.
class Child {
 public:
  Child(const Command& command, const std::filesystem::path& folder)
      : out_(folder / "stdout.txt"), err_(folder / "stderr.txt"), pid_(::fork()) {
    if (pid_ == 0) become(command);
    ::setpgid(pid_, pid_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) {
      signal_group(SIGKILL);
      wait();
    }
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const { ::kill(pid_, number); }
  void signal_group(int number) const { ::kill(-pid_, number); }
  [[nodiscard]] bool running() {
    if (pid_ > 0 && ::waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = 0;
    return pid_ > 0;
  }
  /// Waits for the end, or for `limit`: then `finished` is false and the child goes on.
  Finished wait(std::chrono::seconds limit = std::chrono::hours(1)) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (running()) {
      if (std::chrono::steady_clock::now() > deadline) return {.finished = false, .out = out(), .err = err()};
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    Finished finished;
    if (WIFEXITED(status_)) finished.exit_code = WEXITSTATUS(status_);
    if (WIFSIGNALED(status_)) finished.signal = WTERMSIG(status_);
    finished.out = out();
    finished.err = err();
    return finished;
  }
  [[nodiscard]] std::string out() const { return read_text(out_); }
  [[nodiscard]] std::string err() const { return read_text(err_); }

 private:
  [[noreturn]] void become(const Command& command) const {
    ::setpgid(0, 0);
    for (const auto& [name, value] : command.environment) ::setenv(name.c_str(), value.c_str(), 1);
    ::dup2(::open("/dev/null", O_RDONLY), 0);
    ::dup2(::open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), 1);
    ::dup2(::open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644), 2);
    if (command.file_size_limit) {
      ::signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{*command.file_size_limit, *command.file_size_limit};
      ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    constexpr uid_t nobody = 65534;
    if (command.unprivileged && ::getuid() == 0 && (::setgid(nobody) != 0 || ::setuid(nobody) != 0)) ::_exit(126);
    std::vector<char*> argv;
    for (const auto& argument : command.arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }

  std::filesystem::path out_;
  std::filesystem::path err_;
  pid_t pid_;
  int status_ = 0;
};

inline Finished run(const Command& command) {
  const TemporaryFolder folder;
  return Child(command, folder.path()).wait();
}

/// The environment that mpirun needs as root, and with more ranks than cores.
inline std::vector<std::pair<std::string, std::string>> mpi_environment() {
  return {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
          {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
          {"OMPI_MCA_rmaps_base_oversubscribe", "1"}};
}

/// `mpirun -n ranks` before the program, also as root and with more ranks than cores.
inline Command mpirun(int ranks, std::vector<std::string> program, int threads = 1) {
  Command command;
  command.arguments = {"mpirun", "-n", std::to_string(ranks), "--bind-to", "none"};
  for (auto& word : program) command.arguments.push_back(std::move(word));
  command.environment = mpi_environment();
  command.environment.emplace_back("OMP_NUM_THREADS", std::to_string(threads));
  return command;
}

}  // namespace tenex::support
