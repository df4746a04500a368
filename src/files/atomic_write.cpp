// Replaces a file atomically by POSIX calls.
//
// Order matters. The data is synced before the rename, so that after a crash the name refers to the old file or to the
// whole new one. The folder is synced after it, so that the rename itself survives.
#include "tenex/files/atomic_write.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include <fmt/core.h>

namespace tenex {
namespace {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool ok() const { return fd_ >= 0; }
  /// Closes now; network file systems report failed writes only here.
  [[nodiscard]] bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

/// Writes everything or fails with errno set.
bool write_all(int fd, std::span<const std::byte> bytes) {
  // One call writes at most about 2 GiB; smaller pieces keep the process interruptible.
  constexpr std::size_t kPiece = std::size_t{64} << 20;
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), std::min(bytes.size(), kPiece));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  auto name = path;
  name += fmt::format(".tmp-{}-{}", ::getpid(), counter.fetch_add(1));
  return name;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

/// Writes and syncs the temporary file; 0 or an errno.
int write_temporary(const std::filesystem::path& name, std::span<const std::byte> bytes) {
  Descriptor file(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file.ok()) return errno;
  if (!write_all(file.get(), bytes) || ::fsync(file.get()) != 0 || !file.close()) {
    const int reason = errno;
    ::unlink(name.c_str());
    return reason;
  }
  return 0;
}

}  // namespace

Diagnostic system_error(std::string problem, int error_number) {
  std::string suggestion;
  switch (error_number) {
    case ENOSPC:
      suggestion =
          "the disk is full, or has no room for further files: free some space, then run the same command again";
      break;
    case EDQUOT:
      suggestion =
          "your quota is used up, whatever the disk has left: free some space or ask for more, then run the same "
          "command "
          "again";
      break;
    case EFBIG:
      suggestion = "files may not be that large here: raise the limit (ulimit -f), then run the same command again";
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      suggestion = "choose a folder that you may write";
      break;
    default:
      break;
  }
  return environment_error(std::move(problem), std::strerror(error_number), std::move(suggestion));
}

Status write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  const auto temporary = temporary_name(path);
  if (const int reason = write_temporary(temporary, bytes); reason != 0)
    return system_error(fmt::format("cannot write \"{}\"", path.string()), reason);
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(temporary.c_str());
    return system_error(fmt::format("cannot replace \"{}\"", path.string()), reason);
  }
  return sync_folder(folder_of(path));
}

Status write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  return write_file_atomically(path, bytes_of(text));
}

Result<AtomicFile> AtomicFile::create(std::filesystem::path path) {
  auto temporary = temporary_name(path);
  const int descriptor = ::open(temporary.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return system_error(fmt::format("cannot write \"{}\"", path.string()), errno);
  return AtomicFile(std::move(path), std::move(temporary), descriptor);
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

AtomicFile& AtomicFile::operator=(AtomicFile&& other) noexcept {
  if (this != &other) {
    discard();
    path_ = std::move(other.path_);
    temporary_ = std::move(other.temporary_);
    descriptor_ = std::exchange(other.descriptor_, -1);
  }
  return *this;
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (descriptor_ < 0) return;
  ::close(std::exchange(descriptor_, -1));
  ::unlink(temporary_.c_str());
}

Status AtomicFile::commit() {
  const bool synced = ::fsync(descriptor_) == 0;
  // Network file systems report failed writes only when a file is closed.
  const int reason = synced ? 0 : errno;
  if (::close(std::exchange(descriptor_, -1)) != 0 || !synced) {
    const int failure = synced ? errno : reason;
    ::unlink(temporary_.c_str());
    return system_error(fmt::format("cannot write \"{}\"", path_.string()), failure);
  }
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    const int failure = errno;
    ::unlink(temporary_.c_str());
    return system_error(fmt::format("cannot replace \"{}\"", path_.string()), failure);
  }
  return sync_folder(folder_of(path_));
}

bool is_temporary_name(std::string_view file_name) {
  const auto at = file_name.rfind(".tmp-");
  if (at == std::string_view::npos) return false;
  const auto rest = file_name.substr(at + 5);
  return rest.find('-') != std::string_view::npos && rest.find_first_not_of("0123456789-") == std::string_view::npos;
}

Result<std::vector<std::byte>> read_file(const std::filesystem::path& path) {
  const auto problem = [&path] { return fmt::format("cannot read \"{}\"", path.string()); };
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (!file.ok() || ::fstat(file.get(), &facts) != 0) return system_error(problem(), errno);
  if (!S_ISREG(facts.st_mode)) return environment_error(problem(), "it is not a regular file");
  std::vector<std::byte> bytes(static_cast<std::size_t>(facts.st_size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error(problem(), errno);
    if (got == 0) break;  // the file was shortened meanwhile: its contents end here
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

Status sync_folder(const std::filesystem::path& folder) {
  const Descriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A folder that the user may write but not read cannot be opened, and some file systems refuse to sync folders
  // (EINVAL). There the rename cannot be made more durable.
  if (!handle.ok() && errno == EACCES) return success();
  if (!handle.ok() || (::fsync(handle.get()) != 0 && errno != EINVAL))
    return system_error(fmt::format("cannot sync the folder \"{}\"", folder.string()), errno);
  return success();
}

}  // namespace tenex
