// The lock of a result folder: one run at a time, also over network file systems.
//
// It is a file made with O_EXCL. A thread of its own touches it as a heartbeat, so that a run never seems dead however
// long one of its steps takes. The heartbeat's age is judged by the file server's clock alone: the file's time against
// that of a file made just now. A pid counts only on the host (boot and namespace) that it belongs to. There it alone
// decides, and a living process never loses its lock.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tenex/base/diagnostic.hpp"

namespace tenex::store {

/// A lock of another host is stale after this long without a heartbeat.
inline constexpr int kStaleSeconds = 30;

/// The owner of a lock, as far as its file tells.
struct LockFacts {
  std::string host;
  long pid = 0;
  double heartbeat_age = 0;  ///< seconds, by this host's clock
  bool alive = false;        ///< same host: the process runs; another host: the heartbeat is recent
};
/// Reads the lock without changing anything; nullopt where there is none.
[[nodiscard]] std::optional<LockFacts> look_at_lock(const std::filesystem::path& path);

class FolderLock {
 public:
  /// Takes the lock and touches it every `heartbeat`. Errors (environment): held by a live run (named), not writable.
  [[nodiscard]] static Result<FolderLock> take(const std::filesystem::path& path, std::chrono::milliseconds heartbeat);
  /// Stops the heartbeat, and removes the file if it is still this process's own.
  ~FolderLock();
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&& other) noexcept;

  /// The result of the last heartbeat. Errors (environment): another run took the lock, or the folder is gone.
  [[nodiscard]] Status health() const;

 private:
  class Held;
  explicit FolderLock(std::unique_ptr<Held> held);
  void release();

  std::unique_ptr<Held> held_;
};

}  // namespace tenex::store
