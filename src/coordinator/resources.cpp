// Linux: the OpenMP runtime's count of cores, /proc/meminfo and control groups of version 2.
#include "tenex/coordinator/resources.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>

#include "tenex/base/decimal.hpp"

namespace tenex {

namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// Bytes of MemAvailable.
std::uint64_t available_on_host() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t kibibytes = 0;
  std::string unit;
  while (file >> name >> kibibytes) {
    std::getline(file, unit);
    if (name == "MemAvailable:") return kibibytes * 1024;
  }
  return std::uint64_t{1} << 30;
}

/// A number in a file of the control group; `unlimited` if the file is missing or says "max".
std::uint64_t read_limit(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : unlimited;
}

/// The number after a name in a file of `name number` lines; 0 if there is none.
std::uint64_t named_number(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  std::string word;
  std::uint64_t value = 0;
  while (file >> word >> value) {
    if (word == name) return value;
  }
  return 0;
}

/// The memory that the batch system's control groups leave: the least over this group and those above it.
std::uint64_t available_in_control_group() {
  std::ifstream file("/proc/self/cgroup");
  std::uint64_t least = unlimited;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::/")) continue;
    for (std::string group = line.substr(3); !group.empty(); group.erase(group.rfind('/'))) {
      const std::string folder = "/sys/fs/cgroup" + group;
      const auto limit = read_limit(folder + "/memory.max");
      if (limit == unlimited) continue;
      const auto used = read_limit(folder + "/memory.current");
      least = std::min(least, limit > used ? limit - used : 0);
    }
  }
  return least;
}

}  // namespace

int affinity_cores() {
  // Not sched_getaffinity(): with OMP_PROC_BIND the runtime has bound this thread to one place of the set.
  return std::max(1, omp_get_num_procs());
}

int host_cores() { return std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN))); }

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "unknown";
}

int resolve_threads(int asked) { return asked > 0 ? asked : std::max(1, omp_get_max_threads()); }

std::size_t resolve_memory_limit(std::size_t asked, int ranks_on_host) {
  if (asked > 0) return asked;
  const auto available = std::min(available_on_host(), available_in_control_group());
  return static_cast<std::size_t>(available / 10 * 8 / static_cast<std::uint64_t>(std::max(1, ranks_on_host)));
}

std::uint64_t memory_kills() {
  std::ifstream file("/proc/self/cgroup");
  std::string limited;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::/")) continue;
    for (std::string group = line.substr(3); group.size() > 1;
         group.erase(std::max<std::size_t>(1, group.rfind('/')))) {
      const std::string folder = "/sys/fs/cgroup" + group;
      if (read_limit(folder + "/memory.max") != unlimited) limited = folder;
    }
  }
  return limited.empty() ? named_number("/proc/vmstat", "oom_kill")
                         : named_number(limited + "/memory.events", "oom_kill");
}

std::optional<double> resolve_time_limit(double asked_seconds) {
  if (asked_seconds > 0) return asked_seconds;
  const char* const text = std::getenv("SLURM_JOB_END_TIME");
  if (text == nullptr) return std::nullopt;
  const auto end = read_number<std::int64_t>(text);
  if (!end) return std::nullopt;
  const auto now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return std::max(0.0, static_cast<double>(*end) - now);
}

double reserve_of(double time_limit_seconds) { return std::min(30.0, time_limit_seconds / 20); }

std::optional<std::string> affinity_warning(int threads, bool chosen, int cores, int cores_of_host, int ranks_on_host) {
  if (threads > cores) {
    return fmt::format(
        "warning: {} threads share {} core{} (the affinity set of this rank holds no more) give mpirun `--bind-to "
        "none`, or srun `--cpus-per-task={}`",
        threads, cores, cores == 1 ? "" : "s", threads);
  }
  if (!chosen && cores == 1 && ranks_on_host < cores_of_host) {
    return fmt::format(
        "warning: this rank is bound to 1 of {} cores while {} rank{} run{} here (mpirun binds each rank to a core) "
        "give "
        "mpirun `--bind-to none` to use the others by threads",
        cores_of_host, ranks_on_host, ranks_on_host == 1 ? "" : "s", ranks_on_host == 1 ? "s" : "");
  }
  return std::nullopt;
}

}  // namespace tenex
