#include "store/host_facts.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/core.h>

namespace tenex::store {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string processor() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("model name")) continue;
    const auto colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

/// Field 3 of /proc/<pid>/stat, the state, and field 22, the start time. Fields are counted from the last ")", because
/// a program's name may hold blanks.
struct ProcessStat {
  std::string state;
  std::string started;
};

ProcessStat stat_of(long pid) {
  const auto line = first_line(fmt::format("/proc/{}/stat", pid));
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(line.substr(name_end + 1));
  ProcessStat stat;
  fields >> stat.state;
  for (int number = 4; number <= 22; ++number)
    if (!(fields >> stat.started)) return {};
  return stat;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::string host_facts() {
  utsname system{};
  if (::uname(&system) != 0) return "unknown";
  return fmt::format("{} {} {}, {}, {} cores", system.sysname, system.release, system.machine, processor(),
                     ::sysconf(_SC_NPROCESSORS_ONLN));
}

ProcessIdentity this_process() {
  std::error_code error;
  const auto names = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
  const long pid = ::getpid();
  return {fmt::format("{}/{}/{}", host_name(), first_line("/proc/sys/kernel/random/boot_id"), names), pid,
          stat_of(pid).started};
}

bool is_alive(const ProcessIdentity& process) {
  if (::kill(static_cast<pid_t>(process.pid), 0) != 0 && errno == ESRCH) return false;
  const auto stat = stat_of(process.pid);
  // A killed process that has not been waited for yet. Where the first process of a container reaps no orphans it stays
  // so for ever.
  if (stat.state == "Z" || stat.state == "X") return false;
  return process.started.empty() || stat.started.empty() || stat.started == process.started;
}

}  // namespace tenex::store
