// Preloaded into a process that is to fail at a chosen instant. It replaces the C library's calls that change files,
// counts those on a result folder, and at the given one kills the process, fills the disk or tears a write. So every
// call of the store is a possible fault, and the program itself is unchanged.
//
//   CRASH_FOLDER  only calls on files below it count
//   CRASH_RANK    the rank that fails, or `any`; a process is rank CRASH_MY_RANK, OMPI_COMM_WORLD_RANK or 0
//   CRASH_AT      the number of the call, from 1
//   CRASH_FROM    no call counts before the first on a file with this in its name
//   CRASH_WHAT    SIGKILL, SIGTERM, full (this write gets half way, and from here on there is no space), or the name of
//                 a folder: the next write into it is torn and the process killed. Or refuse: from here on one kind of
//                 call on some files fails, and CRASH_AT counts only such calls
//   CRASH_CALL    the kind that is refused: open (to create), write, fsync, rename or close
//   CRASH_PART    part of the names of the files on which it is refused
//   CRASH_ERRNO   the errno of the refusal
//   CRASH_SCOPE   group: the signal goes to the whole process group, and the disk is full for all ranks
//   CRASH_NOTE    file that is made when it happens
//
// fsync() does nothing here: the page cache survives a process that dies, and tests run faster.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <string>
#include <string_view>

#include "crash/preloaded.hpp"

namespace {

std::string own_rank() {
  for (const char* name : {"CRASH_MY_RANK", "OMPI_COMM_WORLD_RANK"})
    if (const auto rank = variable(name); !rank.empty()) return rank;
  return "0";
}

/// The fault of this process, from its environment. Read at the first call, when a forked rank knows its number.
struct Fault {
  std::string folder = variable("CRASH_FOLDER");
  std::string what = variable("CRASH_WHAT");
  std::string note = variable("CRASH_NOTE");
  bool group = variable("CRASH_SCOPE") == "group";
  bool mine = variable("CRASH_RANK") == "any" || variable("CRASH_RANK") == own_rank();
  long at = std::atol(variable("CRASH_AT").c_str());
  std::string from = variable("CRASH_FROM");
  std::string call = variable("CRASH_CALL");
  std::string part = variable("CRASH_PART");
  int error = std::atoi(variable("CRASH_ERRNO").c_str());
  std::atomic<bool> counts = from.empty();
  std::atomic<long> calls = 0;
  std::atomic<long> refusable = 0;
  std::atomic<bool> noted = false;
  std::atomic<bool> full = false;
};

Fault& fault() {
  static Fault the_fault;
  return the_fault;
}

bool is_watched(std::string_view path) {
  auto& it = fault();
  if (it.folder.empty() || !path.starts_with(it.folder)) return false;
  if (!it.counts && path.find(it.from) != std::string_view::npos) it.counts = true;
  return true;
}

std::string path_of(int descriptor) {
  char text[4096];
  const auto length = ::readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), text, sizeof text);
  return length > 0 ? std::string(text, static_cast<std::size_t>(length)) : "";
}

bool exists(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0;
}

void note_it() {
  if (fault().noted.exchange(true) || fault().note.empty()) return;
  static const auto real_open = next<int (*)(const char*, int, ...)>("open");
  ::close(real_open(fault().note.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
}

void die(int signal) {
  note_it();
  ::kill(fault().group ? 0 : ::getpid(), signal);
  while (signal == SIGKILL) ::pause();  // no further call is made
}

/// Counts a call; returns whether the fault happens at it.
bool has_come() {
  auto& it = fault();
  if (it.at == 0 || !it.counts) return false;
  if (it.group && it.what == "full" && exists(it.note)) it.full = true;
  const bool come = it.mine && ++it.calls >= it.at;
  if (come && it.what == "SIGKILL") die(SIGKILL);
  if (come && it.what == "SIGTERM" && !it.noted) die(SIGTERM);
  return come;
}

/// Whether a call of this kind fails, with its errno set.
bool is_refused(std::string_view call, std::string_view path) {
  auto& it = fault();
  if (it.what != "refuse" || it.call != call || path.find(it.part) == std::string_view::npos) return false;
  if (++it.refusable < it.at) return false;
  note_it();
  errno = it.error;
  return true;
}

/// For calls that need space: whether there is none left.
bool has_no_room() {
  const bool come = has_come();
  if (fault().what != "full" || !(come || fault().full)) return false;
  fault().full = true;
  note_it();
  errno = ENOSPC;
  return true;
}

/// Number of bytes to write before the fault; all of them without one.
std::size_t room_for(const std::string& path, std::size_t size, bool& torn) {
  auto& it = fault();
  const bool was_full = it.full;
  const bool come = has_come();
  torn = come && path.find("/" + it.what + "/") != std::string::npos;
  if (torn) return size * static_cast<std::size_t>(it.at % 7) / 7;
  if (it.what == "full" && (come || it.full)) {
    it.full = true;
    note_it();
    return was_full ? 0 : size / 2;
  }
  return size;
}

template <class Write>
ssize_t write_some(int descriptor, std::size_t size, const Write& real_write) {
  const auto path = path_of(descriptor);
  if (!is_watched(path)) return real_write(size);
  if (is_refused("write", path)) return -1;
  bool torn = false;
  const auto room = room_for(path, size, torn);
  if (room == 0 && size > 0 && !torn) {
    errno = ENOSPC;
    return -1;
  }
  const auto written = real_write(room);
  if (torn) die(SIGKILL);
  return written;
}

}  // namespace

extern "C" {

ssize_t write(int descriptor, const void* data, size_t size) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t)>("write");
  return write_some(descriptor, size, [&](std::size_t some) { return real(descriptor, data, some); });
}

ssize_t pwrite(int descriptor, const void* data, size_t size, off_t offset) {
  static const auto real = next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite");
  return write_some(descriptor, size, [&](std::size_t some) { return real(descriptor, data, some, offset); });
}

int open(const char* path, int flags, ...) {
  static const auto real = next<int (*)(const char*, int, ...)>("open");
  std::va_list more;
  va_start(more, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  if ((flags & O_CREAT) != 0 && is_watched(path) && (is_refused("open", path) || has_no_room())) return -1;
  return real(path, flags, mode);
}

int link(const char* from, const char* to) noexcept {
  static const auto real = next<int (*)(const char*, const char*)>("link");
  if (is_watched(to) && has_no_room()) return -1;
  return real(from, to);
}

int rename(const char* from, const char* to) noexcept {
  static const auto real = next<int (*)(const char*, const char*)>("rename");
  if (is_watched(to) && is_refused("rename", to)) return -1;
  if (is_watched(to)) has_come();
  return real(from, to);
}

int unlink(const char* path) noexcept {
  static const auto real = next<int (*)(const char*)>("unlink");
  if (is_watched(path)) has_come();
  return real(path);
}

int close(int descriptor) {
  static const auto real = next<int (*)(int)>("close");
  // Not fault(), because a rank closes files right after the fork, before it knows its number.
  if (variable("CRASH_CALL") != "close") return real(descriptor);
  const auto path = path_of(descriptor);
  const bool refused = is_watched(path) && is_refused("close", path);
  const int error = errno;
  const int done = real(descriptor);  // a file is closed even if its last bytes could not be written
  if (!refused) return done;
  errno = error;
  return -1;
}

int fsync(int descriptor) {
  if (const auto path = path_of(descriptor); is_watched(path)) {
    if (is_refused("fsync", path)) return -1;
    has_come();
    return 0;
  }
  static const auto real = next<int (*)(int)>("fsync");
  return real(descriptor);
}

}  // extern "C"
