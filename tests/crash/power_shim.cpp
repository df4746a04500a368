// Preloaded into a process whose host is to lose its power. It keeps a copy of a result folder, the platter, which has
// only what the process has made durable. The page cache survives a killed process, so a test that only kills never
// detects a missing fsync. Here the tester (platter.hpp) replaces the folder by the platter.
//
//   CRASH_FOLDER   the result folder
//   CRASH_PLATTER  a folder on the same file system, laid out by platter.hpp
//
// The model is the strictest that POSIX allows. fsync() of a file makes its contents durable, but not its name. fsync()
// of a folder makes its names durable (made, renamed or removed), but not the contents of its files. Files are
// identified by inode; a second link to every new file prevents its number from being used again.
//
// It comes before fault_shim.cpp in LD_PRELOAD: a process that dies in fsync() has made nothing durable.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "crash/preloaded.hpp"

namespace {

namespace fs = std::filesystem;

const std::string& folder() {
  static const std::string path = variable("CRASH_FOLDER");
  return path;
}
const fs::path& platter() {
  static const fs::path path = variable("CRASH_PLATTER");
  return path;
}

/// The path below the result folder ("." for itself), or nothing.
std::string below_folder(const std::string& path) {
  if (folder().empty() || platter().empty() || !path.starts_with(folder())) return "";
  if (path.size() == folder().size()) return ".";
  return path[folder().size()] == '/' ? path.substr(folder().size() + 1) : "";
}

std::string path_of(int descriptor) {
  std::error_code error;
  return fs::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error).string();
}

/// A name that no other thread of any rank uses now.
fs::path draft_of(const fs::path& path) {
  auto draft = path;
  draft += ".draft-" + std::to_string(::gettid());
  return draft;
}

std::string number_of(const struct stat& facts) { return std::to_string(facts.st_ino); }

/// Calls fsync() and copies the file's contents to the platter.
template <class Sync>
int sync_contents(int descriptor, const struct stat& facts, const Sync& sync) {
  const auto contents = platter() / "contents" / number_of(facts);
  const auto draft = draft_of(contents);
  std::error_code error;
  fs::copy_file("/proc/self/fd/" + std::to_string(descriptor), draft, fs::copy_options::overwrite_existing, error);
  const int result = sync();
  if (result == 0 && !error) fs::rename(draft, contents, error);
  return result;
}

/// Calls fsync() and copies the folder's names to the platter, one process at a time: the latest names win.
template <class Sync>
int sync_names(const std::string& name, const Sync& sync) {
  const int turn = ::open((platter() / "turn").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  ::flock(turn, LOCK_EX);
  const auto names = platter() / "names" / ("of " + name);
  const auto draft = draft_of(names);
  {
    std::ofstream out(draft);
    std::error_code error;
    for (const auto& file : fs::directory_iterator(fs::path(folder()) / name, error)) {
      struct stat facts {};
      if (::lstat(file.path().c_str(), &facts) == 0)
        out << number_of(facts) << ' ' << file.path().filename().string() << '\n';
    }
  }
  const int result = sync();
  std::error_code error;
  if (result == 0) fs::rename(draft, names, error);
  ::close(turn);
  return result;
}

/// Makes a second link to a file that open() may have made.
int keep_inode(const char* path, int flags, int descriptor) {
  struct stat facts {};
  if (descriptor < 0 || (flags & O_CREAT) == 0 || below_folder(path).empty() || ::fstat(descriptor, &facts) != 0)
    return descriptor;
  const int saved = errno;
  (void)!::link(path, (platter() / "inodes" / number_of(facts)).c_str());
  errno = saved;
  return descriptor;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  std::va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return keep_inode(path, flags, real(path, flags, mode));
}

int open64(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open64");
  std::va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return keep_inode(path, flags, real(path, flags, mode));
}

int fsync(int descriptor) {
  static const auto real = next<int (*)(int)>("fsync");
  const auto sync = [descriptor] { return real(descriptor); };
  const auto name = below_folder(path_of(descriptor));
  struct stat facts {};
  if (name.empty() || ::fstat(descriptor, &facts) != 0) return sync();
  return S_ISDIR(facts.st_mode) ? sync_names(name, sync) : sync_contents(descriptor, facts, sync);
}

}  // extern "C"
